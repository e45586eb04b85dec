//! What the records that calls return say, field by field, against what a statement says of them: prices, refunds, states and how
//! many of something a record has.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    evidence::{Evidence, Speaker},
    objects::class_of,
    polarity::{is_negated, is_pending, is_question},
    words::{hash, is_word_char, stem, stems, words},
};

/// The records of a conversation.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Each record as it was last returned, by its id in lower case.
    all: HashMap<String, Record>,
    /// What is priced, by the hash of its name's first word: names in lower case.
    names: HashMap<u64, Vec<String>>,
    /// What stands as an amount in the record of a name, in hundredths.
    amounts: HashMap<String, BTreeSet<i64>>,
    /// What was paid back as calls returned that change something, and as any did, in hundredths.
    refunded: BTreeSet<i64>,
    refunds: BTreeSet<i64>,
}

#[derive(Debug, Default)]
struct Record {
    /// What it is: `order` of an `order_id`.
    kind: String,
    /// Its status, each time that it was returned.
    states: Vec<String>,
    /// How many of something it has.
    counts: HashMap<String, HashSet<usize>>,
    /// What it was paid with, and paid back to, by id in lower case.
    payers: HashSet<String>,
    /// A call that does more than look returned it.
    is_changed: bool,
}

impl Records {
    /// Reads the result of a call, where it is one of records. `serde_json` bounds the depth.
    pub(super) fn note(&mut self, text: &str, is_change: bool) {
        if !text.trim_start().starts_with(['{', '[']) {
            return;
        }
        let Ok(value) = serde_json::from_str::<Value>(text) else { return };
        if let Value::Object(fields) = &value {
            self.note_record(fields, is_change);
        }
        self.walk(&value, &[], false, is_change);
    }

    fn note_record(&mut self, fields: &Map<String, Value>, is_change: bool) {
        // Its own id; those of others name what it belongs to.
        let own = fields.iter().filter_map(|(key, value)| Some((key.strip_suffix("_id")?, value.as_str()?)));
        for (kind, id) in own {
            if kind == "user" || kind == "customer" {
                continue;
            }
            let record = self.all.entry(plain(id)).or_default();
            kind.clone_into(&mut record.kind);
            record.is_changed |= is_change;
            record.states.extend(fields.get("status").and_then(Value::as_str).map(str::to_lowercase));
            for (key, value) in fields {
                if let Value::Array(list) = value {
                    let payers = list.iter().filter(|_| key.contains("payment")).filter_map(payer);
                    record.payers.extend(payers);
                    record.counts.entry(key.clone()).or_default().insert(list.len());
                }
            }
        }
    }

    fn walk(&mut self, value: &Value, names: &[String], is_amount: bool, is_change: bool) {
        match value {
            Value::Array(list) => {
                list.iter().for_each(|value| self.walk(value, names, is_amount, is_change));
            }
            Value::Object(fields) => {
                let is_name = |key: &str| key == "name" || key.ends_with("id") || key.ends_with("_number");
                let own =
                    fields.iter().filter(|(key, _)| is_name(key)).filter_map(|(_, value)| value.as_str());
                // What a part costs its whole does not.
                let mut own: Vec<String> =
                    own.map(plain).filter(|name| name.len() >= SHORTEST_NAME).collect();
                if own.is_empty() {
                    own = names.to_vec();
                } else if let Some(name) = names.first().filter(|_| !fields.contains_key("name")) {
                    own.push(name.clone());
                }
                let is_refund = fields.values().any(|value| value.as_str() == Some("refund"));
                for (key, value) in fields {
                    let counts = is_amount || AMOUNTS.contains(&key.as_str());
                    match value.as_f64().filter(|_| counts).map(|amount| (amount * 100.0).round() as i64) {
                        Some(amount) => {
                            self.note_amount(&own, amount.abs());
                            if is_refund || amount < 0 {
                                self.refunds.insert(amount.abs());
                                self.refunded.extend(is_change.then_some(amount.abs()));
                            }
                        }
                        None => self.walk(value, &own, counts, is_change),
                    }
                }
            }
            _ => {}
        }
    }

    fn note_amount(&mut self, names: &[String], amount: i64) {
        for name in names {
            if !self.amounts.contains_key(name) {
                let first = words(name).next().map_or(0, |(_, word)| hash(word));
                self.names.entry(first).or_default().push(name.clone());
            }
            self.amounts.entry(name.clone()).or_default().insert(amount);
        }
    }

    /// Returns the names in a text in lower case that have amounts, with where they begin and end.
    fn named<'a>(&'a self, lower: &str) -> Vec<(usize, usize, &'a str)> {
        let mut found: Vec<(usize, usize, &str)> = Vec::new();
        for (at, word) in words(lower) {
            let names = self.names.get(&hash(word)).into_iter().flatten();
            let is_here = |name: &&String| {
                let behind = lower[at..].strip_prefix(name.as_str());
                behind.is_some_and(|behind| !behind.starts_with(is_word_char))
            };
            if let Some(name) = names.filter(is_here).max_by_key(|name| name.len()) {
                found.push((at, at + name.len(), name));
            }
        }
        found
    }

    /// Returns whether a text has amounts, and each stands in the record of something that the text names.
    pub(super) fn has_amounts(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let named = self.named(&lower);
        let told = money(&lower);
        let has = |amount: &i64| named.iter().any(|(.., name)| self.amounts[*name].contains(amount));
        !told.is_empty() && told.iter().all(|(.., amount)| has(amount))
    }

    /// Returns the records that a sentence names, or else those of the kind it speaks of that a call changed.
    fn meant(&self, lower: &str, subject: &str) -> Vec<&Record> {
        let named: Vec<&Record> = words(lower).filter_map(|(_, word)| self.all.get(word)).collect();
        if !named.is_empty() {
            return named;
        }
        let subject = subject.trim().trim_start_matches("the ").trim();
        let is_meant = |record: &&Record| {
            record.is_changed
                && (record.kind == subject || record.kind == "reservation" && subject == "booking")
        };
        self.all.values().filter(is_meant).collect()
    }
}

fn payer(payment: &Value) -> Option<String> {
    let mut ids = ["payment_id", "payment_method_id"].iter().filter_map(|key| payment.get(key));
    ids.next().and_then(Value::as_str).map(plain)
}

/// A name as it is compared: `#W12` is told as `W12`, too.
fn plain(name: &str) -> String {
    name.trim_start_matches('#').to_lowercase()
}

/// A shorter name is part of many a word.
const SHORTEST_NAME: usize = 4;

const AMOUNTS: [&str; 8] = ["price", "prices", "amount", "total", "balance", "cost", "fee", "amounts"];

/// Returns the amounts of money in a text, in hundredths, with where each begins and ends.
fn money(text: &str) -> Vec<(usize, usize, i64)> {
    let amount = |(at, _): (usize, &str)| {
        let digits = text[at + 1..].find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.')));
        let number = &text[at + 1..digits.map_or(text.len(), |end| at + 1 + end)];
        let number = number.trim_end_matches([',', '.']);
        let value: f64 = number.replace(',', "").parse().ok()?;
        Some((at, at + 1 + number.len(), (value * 100.0).round() as i64))
    };
    text.match_indices('$').filter_map(amount).collect()
}

/// Returns whether somebody in their own words has an amount in a sentence with a word.
fn is_told(word: &str, amount: i64, evidence: &Evidence) -> bool {
    let Some(word) = stem(word) else { return false };
    evidence.voices(word).any(|clause| {
        clause.speaker != Speaker::Tool
            && money(evidence.sentence_of(clause)).iter().any(|(.., told)| *told == amount)
    })
}

/// Returns whether a statement says that something costs what its records do not say: `the lamp cost $193.38`.
pub(super) fn is_other_price(sentence: &str, evidence: &Evidence) -> bool {
    const COSTS: [&str; 9] =
        ["cost", "costs", "costing", "priced", "price", "worth", "balance", "holds", "was"];
    let lower = sentence.to_lowercase();
    // Of what is compared or added up the amounts are of more than one thing.
    if words(&lower).any(|(_, word)| COMPARING.contains(&word)) {
        return false;
    }
    let named = evidence.records.named(&lower);
    let (mut is_priced, mut from) = (false, 0);
    money(&lower).into_iter().any(|(at, end, amount)| {
        let start = std::mem::replace(&mut from, end);
        // The only thing that is named since the amount before.
        let mut here = named.iter().filter(|(name_at, name_end, _)| *name_at >= start && *name_end <= at);
        let (Some((name_at, name_end, name)), None) = (here.next(), here.next()) else { return false };
        let between: Vec<&str> = words(&lower[*name_end..at]).map(|(_, word)| word).collect();
        is_priced |= between.iter().any(|word| COSTS.contains(word));
        let is_plain = |word: &&str| COSTS.contains(word) || ["is", "a", "of", "at", "has"].contains(word);
        if !is_priced || !between.iter().all(is_plain) || !stems(&lower[start..*name_at]).is_empty() {
            return false;
        }
        let prices = evidence.records.amounts.get(*name);
        let is_multiple = |price: &i64| (1..=9).any(|times| price * times == amount);
        !prices.is_some_and(|prices| prices.iter().any(is_multiple))
            && !words(name).any(|(_, word)| is_told(word, amount, evidence))
    })
}

/// Words by which amounts are of more than one thing.
const COMPARING: [&str; 14] = [
    "above", "below", "more", "less", "than", "over", "under", "cheaper", "dearer", "together", "total",
    "both", "saves", "each",
];

/// More words behind `no refund was` say of which.
const BETWEEN: usize = 5;

/// Returns whether a statement denies a refund that a call's record has, or tells of one of another amount.
pub(super) fn is_other_refund(sentence: &str, evidence: &Evidence) -> bool {
    let lower = sentence.to_lowercase();
    let records = &evidence.records;
    let plain = lower.trim_end_matches(['.', '!']);
    let is_none = ["nothing was refunded", "nothing has been refunded", "there was no refund"]
        .contains(&plain)
        || ["no refund was ", "no refund has been "].iter().any(|lead| {
            plain.strip_prefix(lead).is_some_and(|rest| {
                ["issued", "made", "given", "processed", "paid"].iter().any(|verb| rest.starts_with(verb))
                    && words(rest).count() <= BETWEEN
            })
        });
    if is_none {
        return !records.refunded.is_empty();
    }
    let is_done = ["refunded", "refunds"].iter().any(|verb| words(&lower).any(|(_, word)| word == *verb))
        || lower.starts_with("the refund");
    let amounts = money(&lower);
    let [(_, _, amount)] = amounts[..] else { return false };
    is_done
        && !records.refunded.is_empty()
        && !is_negated(sentence)
        && !is_pending(sentence)
        && !records.refunds.contains(&amount)
        && records.refunds.iter().sum::<i64>() != amount
        && !["refund", "back"].iter().any(|word| is_told(word, amount, evidence))
}

/// Returns whether a call's record has the refund of which a statement tells.
pub(super) fn is_refund_of_record(sentence: &str, evidence: &Evidence) -> bool {
    let mut amounts = money(sentence).into_iter().peekable();
    amounts.peek().is_some()
        && sentence.to_lowercase().contains("refund")
        && amounts.all(|(.., amount)| evidence.records.refunded.contains(&amount))
}

/// Returns whether a statement says that a record stands as its status never said, or as it says no longer.
pub(super) fn is_other_status(sentence: &str, evidence: &Evidence) -> bool {
    let lower = sentence.to_lowercase();
    let told: Vec<(usize, &str)> = words(&lower).collect();
    (1..told.len()).any(|nth| {
        let (at, word) = told[nth];
        let Some(state) = STATES.iter().find(|state| state.0.contains(&word)) else { return false };
        let first = nth.saturating_sub(2);
        let before = || told[first..nth].iter().rev();
        let now = ["is", "remains", "stays", "still"];
        let then = ["was", "been", "got"];
        let is_now = before().any(|(_, word)| now.contains(word));
        let is_past = before().any(|(_, word)| then.contains(word));
        let verb = (first..nth).find(|nth| {
            now.contains(&told[*nth].1)
                || then.contains(&told[*nth].1)
                || ["has", "had"].contains(&told[*nth].1)
        });
        let Some(verb) = verb else { return false };
        let subject = &lower[..told[verb].0];
        // `if it was delivered`, `before it is cancelled`: it is not said to be so.
        let is_supposed = words(subject).any(|(_, word)| SUPPOSED.contains(&word));
        // `is cancelled when …`
        let is_open = state.1 == "pending";
        if is_supposed
            || words(subject).count() > LONGEST_SUBJECT
            || is_negated(&lower[..at])
            || is_question(sentence)
            || !(is_now || is_past && !is_open)
        {
            return false;
        }
        let meant = evidence.records.meant(subject, subject);
        // Of several records one may be meant that stands so.
        let is_other = |record: &&Record| match (is_open, record.states.last()) {
            (true, Some(last)) => FINAL.iter().any(|end| last.contains(end)),
            (false, Some(_)) => !record.states.iter().any(|status| status.contains(state.1)),
            // Where a record has no status a call would have been told so.
            (false, None) => record.is_changed && state.1 == "cancel" && !is_called(word, evidence),
            (true, None) => false,
        };
        let is_said = || {
            stem(word).is_some_and(|stem| {
                evidence.voices(stem).any(|clause| {
                    let said = evidence.sentence_of(clause);
                    !matches!(clause.speaker, Speaker::Tool | Speaker::Call)
                        && words(said).any(|(_, said)| said.eq_ignore_ascii_case(word))
                        && !is_question(said)
                })
            })
        };
        !meant.is_empty() && meant.iter().all(is_other) && (is_open || !is_said())
    })
}

/// Returns whether a call did what a verb says, or something that means as much.
fn is_called(verb: &str, evidence: &Evidence) -> bool {
    class_of(verb).is_some_and(|verbs| evidence.calls.did_anything(verbs))
}

/// Returns whether a statement says that a record was paid with what none of its payments was: `paid with gift_card_12`.
pub(super) fn is_other_payer(sentence: &str, evidence: &Evidence) -> bool {
    let lower = sentence.to_lowercase();
    let lead = [" was paid with ", " was paid by "].iter().find(|lead| lower.contains(**lead));
    let Some((subject, behind)) = lead.and_then(|lead| lower.split_once(lead)) else { return false };
    let Some((at, payer)) = words(behind).next() else { return false };
    let meant = evidence.records.meant(subject, subject);
    at <= 1
        && payer.contains('_')
        && words(subject).count() <= LONGEST_SUBJECT
        && !meant.is_empty()
        && meant.iter().all(|record| !record.payers.is_empty() && !record.payers.contains(payer))
}

/// Returns whether a next step is a refund that a call's record has already.
pub(super) fn is_refund_to_come(sentence: &str, evidence: &Evidence) -> bool {
    let told = words(sentence).map(|(_, word)| word.to_lowercase()).take(3);
    told.into_iter().any(|word| word == "refund") && is_refund_of_record(sentence, evidence)
}

/// Words for how a record stands, with what its status then holds.
const STATES: [(&[&str], &str); 4] = [
    (&["pending", "open"], "pending"),
    (&["cancelled", "canceled"], "cancel"),
    (&["delivered"], "deliver"),
    (&["returned"], "return"),
];
/// What a status holds that comes after all others.
const FINAL: [&str; 5] = ["cancel", "deliver", "return", "closed", "complete"];
const SUPPOSED: [&str; 9] = ["if", "when", "once", "until", "before", "after", "unless", "whether", "that"];
/// A longer subject is of more than the record.
const LONGEST_SUBJECT: usize = 4;

/// Returns whether a statement says that a record has so many of something as it never had: `The order had four items`.
pub(super) fn is_other_count(sentence: &str, evidence: &Evidence) -> bool {
    const HAS: [&str; 6] = ["has", "had", "contains", "contained", "lists", "listed"];
    const NUMBERS: [&str; 11] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"];
    let lower = sentence.to_lowercase();
    let told: Vec<(usize, &str)> = words(&lower).collect();
    told.windows(3).any(|window| {
        let [(at, verb), (_, number), (_, what)] = window else { return false };
        let number =
            NUMBERS.iter().position(|word| word == number).map(|nth| nth + 1).or(number.parse().ok());
        let (true, Some(number)) = (HAS.contains(verb), number) else { return false };
        let subject = lower[..*at].trim_end();
        let subject = subject.strip_suffix(" now").or(subject.strip_suffix(" still")).unwrap_or(subject);
        if words(subject).count() > LONGEST_SUBJECT {
            return false;
        }
        let meant = evidence.records.meant(subject, subject);
        !meant.is_empty()
            && meant
                .iter()
                .all(|record| record.counts.get(*what).is_some_and(|counts| !counts.contains(&number)))
    })
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::BytesPer4;
    use longhaul_transcript::{SessionId, Tokens};

    use super::super::judge::{Verdict, judge};
    use super::*;
    use crate::{SummaryRequest, notes::Section};

    const SAID: &str = r##"user: Please cancel order #W12. I no longer need the lamp and the chair.
assistant: I look. !get_order_details#c1 {"order_id":"#W12"}
tool#c1: {"order_id":"#W12","items":[{"name":"Desk Lamp","price":50.5},{"name":"Arm Chair","price":80.0}],"status":"pending","payment_history":[{"transaction_type":"payment","amount":130.5,"payment_method_id":"paypal_77"}]}
assistant: And the other. !get_order_details#c2 {"order_id":"#W13"}
tool#c2: {"order_id":"#W13","items":[{"name":"Wall Clock","price":20.25}],"status":"delivered","payment_history":[{"transaction_type":"payment","amount":20.25,"payment_method_id":"gift_card_88"}]}
user: Which gift cards do I have?
assistant: I look. !get_user_details#c4 {"user_id":"u1"}
tool#c4: {"payment_methods":{"gift_card_7188":{"id":"gift_card_7188","balance":5},"gift_card_7189":{"id":"gift_card_7189","balance":7}}}
assistant: You have two.
user: What is on them?
assistant: On one $5, on the other $7. When you confirm the cancellation, it will be confirmed.
user: Yes, I confirm it.
assistant: Now I cancel. !cancel_pending_order#c3 {"order_id":"#W12","reason":"no longer needed"}
tool#c3: {"order_id":"#W12","items":[{"name":"Desk Lamp","price":50.5},{"name":"Arm Chair","price":80.0}],"status":"cancelled","payment_history":[{"transaction_type":"payment","amount":130.5,"payment_method_id":"paypal_77"},{"transaction_type":"refund","amount":130.5,"payment_method_id":"paypal_77"}],"cancel_reason":"no longer needed"}
assistant: The order has been cancelled, and 130.50 goes back to PayPal.
"##;

    #[test]
    fn what_records_say_otherwise_is_told_from_what_they_say() {
        let said = longhaul_testkit::transcript(SAID);
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let entries = said.entries();
        let request = SummaryRequest::new(&session, entries, &index, &BytesPer4, Tokens(1_000));
        // A call that stays beside the summary counts as well.
        let (covered, kept) = entries.split_at(entries.len() - 3);
        let tailed = SummaryRequest::new(&session, covered, &index, &BytesPer4, Tokens(1_000));
        let tailed = SummaryRequest { kept, ..tailed };
        for evidence in [Evidence::new(&request), Evidence::new(&tailed)] {
            let judged = |section, text: &str| judge(text, Some(section), &evidence, &[]);
            for (section, truth) in [
                (Section::State, "$130.50 was refunded to PayPal."),
                (Section::State, "The order had two items."),
                (Section::State, "#W12 was pending before it was cancelled."),
                (Section::State, "The order is not pending any more."),
                (Section::State, "#W13 was delivered."),
                (Section::Findings, "The Desk Lamp cost $50.50 and the Arm Chair $80."),
                (Section::Findings, "#W12 was paid with paypal_77."),
                (Section::Findings, "gift_card_7188 has $5 left."),
                (Section::Findings, "$7 is left on gift_card_7189."),
                (Section::State, "The user confirmed the cancellation."),
                (Section::Findings, "Nothing was refunded to the gift card."),
            ] {
                assert_eq!(judged(section, truth), Verdict::Stays, "{truth}");
            }
            for (section, lie) in [
                (Section::State, "$80 was refunded."),
                (Section::State, "Nothing was refunded."),
                (Section::State, "No refund was issued."),
                (Section::State, "The order is still pending."),
                (Section::State, "The order was delivered."),
                (Section::State, "#W13 was returned."),
                (Section::State, "The order had three items."),
                (Section::Findings, "The Desk Lamp cost $80 and the Arm Chair $50.50."),
                (Section::Findings, "#W12 was paid with gift_card_88."),
                (Section::Findings, "gift_card_7188 has $7 left."),
                (Section::Next, "Refund $130.50 to PayPal."),
            ] {
                assert_ne!(judged(section, lie), Verdict::Stays, "{lie}");
            }
        }
    }
}
