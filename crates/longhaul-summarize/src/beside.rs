//! Facts by rule beside the words of a summarizer that is not of this crate: the mode `hybrid` for whoever brings their own.

use std::sync::Arc;

use longhaul_transcript::{
    Constraint, ContentHash, Entry, Message, MessageId, SummaryMode, Tokens, one_line,
};

use crate::{Draft, SummaryRequest, joined::join, notes::EXACTLY, rules, shortened};

/// The share of a summary's limit that a summarizer's words are asked to keep to in the mode `hybrid`: the facts get the
/// rest.
pub const WORDS_SHARE: f64 = 0.5;

/// Returns `draft` with facts by rule behind its words. They stand in a section of their own, so that the words can be told from
/// them later, and in the data. Words that leave too little room for the facts give way: whole statements, as [`shortened`] chooses.
/// What was left out is told at the end of [`Draft::repairs`].
pub fn with_facts(
    mut draft: Draft,
    request: &SummaryRequest<'_>,
    by_rule: impl Fn(&SummaryRequest<'_>) -> Draft,
) -> Draft {
    let (counter, limit) = (request.counter, request.limit);
    let said = draft.text.trim().to_owned();
    let words = giving_way(&said, request, &by_rule);
    let gave_way = (words != said).then(|| {
        let (left, all) = (counter.count_text(&words), counter.count_text(&said));
        format!("left out of the summarizer's words: all but {left} of {all} tokens, for the facts by rule")
    });
    let kept = with_said(request, &words);
    let mut room = limit - counter.count_text(&format!("{words}{}", heading()));
    for _ in 0..TRIES {
        if room < rules::LEAST_LIMIT {
            break;
        }
        let facts = by_rule(&SummaryRequest { kept: &kept, limit: room, ..*request });
        match facts.text.trim() {
            "" => return draft,
            rules::OMITTED => break,
            _ => {}
        }
        let text = format!("{words}{}", section(&facts)).trim_start().to_owned();
        let tokens = counter.count_text(&text);
        if tokens <= limit {
            draft.repairs.extend(gave_way);
            return Draft { text, tokens, ..with_facts_in_data(draft, facts) };
        }
        // Headings one level lower cost more than those they take the place of.
        room = room.min(facts.tokens) - (tokens - limit) - Tokens(1);
    }
    // Where there are no facts beside them, the words need not give way.
    if let Some(gave_way) = gave_way.filter(|_| counter.count_up_to(&said, limit).is_none()) {
        draft.repairs.push(gave_way);
        draft.tokens = counter.count_text(&words);
        draft.text = words;
    }
    draft.repairs.push("left out: the facts by rule, for which there is no room".to_owned());
    draft
}

/// Returns `draft`, in whose text a model's words stand, with facts by rule that it does not tell behind it, in a section of their own,
/// where it leaves most of the limit free: a model that says little is not to leave the rest of the work untold. Its data stay.
pub fn with_facts_in_free_room(
    draft: Draft,
    request: &SummaryRequest<'_>,
    by_rule: impl Fn(&SummaryRequest<'_>) -> Draft,
) -> Draft {
    let (counter, limit) = (request.counter, request.limit);
    let said = draft.text.trim();
    let spent = counter.count_text(said);
    if spent >= limit.scaled(WORDS_SHARE) || says_nothing(&draft) {
        return draft;
    }
    let kept = with_said(request, said);
    let mut room = limit - counter.count_text(&format!("{said}{}", heading()));
    for _ in 0..TRIES {
        if room < LEAST_FREE {
            break;
        }
        let facts = by_rule(&SummaryRequest { kept: &kept, limit: room, ..*request });
        if says_nothing(&facts) {
            break;
        }
        let facts = Draft { text: untold(&facts.text, said), ..facts };
        if says_nothing(&facts) {
            break;
        }
        let text = format!("{said}{}", section(&facts));
        let tokens = counter.count_text(&text);
        if tokens <= limit {
            return Draft { text, tokens, ..draft };
        }
        room = room.min(facts.tokens) - (tokens - limit) - Tokens(1);
    }
    draft
}

/// Returns `draft` with the user's `rules` behind its words, verbatim, as far as neither they nor what stays shows them: for the mode
/// `llm`, in which nothing else stands beside a summarizer's words. They may take all that the words leave of the limit, what is wanted
/// only at the moment no more than a share. Of more than that the newest are told. Words that leave them no room give way up to that
/// share, and that is told at the end of [`Draft::repairs`].
pub fn with_rules(draft: Draft, request: &SummaryRequest<'_>, rules: &[Constraint]) -> Draft {
    let mut draft = with_rules_in_data(draft, rules);
    let (counter, limit) = (request.counter, request.limit);
    let said = draft.text.trim().to_owned();
    let is_shown = |rule: &&Constraint| {
        let has = |text: &str| text.contains(rule.text.trim());
        has(&said) || request.kept.iter().any(|entry| entry.message.texts().any(has))
    };
    let holds = rules::standing(rules).into_iter().filter(|one| !is_shown(&one.said));
    let mut lines = Vec::new();
    let mut behind = String::new();
    for one in holds.rev() {
        lines.insert(0, format!("- m{}: {}", one.said.message, one_line(&one.told())));
        let longer = format!("{}#{}\n{}", heading(), rules::Heading::Rules.words(), lines.join("\n"));
        let fits_beside = || counter.count_up_to(&format!("{said}{longer}"), limit).is_some();
        let is_in_share = counter.count_up_to(&longer, limit.scaled(RULES_SHARE)).is_some();
        if is_in_share || one.lasts() && fits_beside() {
            behind = longer;
        } else {
            lines.remove(0);
        }
    }
    if behind.is_empty() {
        return draft;
    }
    let fits = |words: &str| counter.count_up_to(&format!("{words}{behind}"), limit).is_some();
    let words = match fits(&said) {
        true => said.clone(),
        false => shortened(&said, fits).unwrap_or_else(|| beginning(&said, fits)),
    };
    if words != said {
        let (left, all) = (counter.count_text(&words), counter.count_text(&said));
        draft.repairs.push(format!(
            "left out of the summarizer's words: all but {left} of {all} tokens, for the user's rules"
        ));
    }
    draft.text = format!("{words}{behind}").trim_start().to_owned();
    Draft { tokens: counter.count_text(&draft.text), ..draft }
}

/// Returns `draft` with the user's `rules` in its data alone: for a form that shows words, and the rules beside them.
pub fn with_rules_in_data(mut draft: Draft, rules: &[Constraint]) -> Draft {
    let data = &mut draft.summary;
    if data.narrative.trim().is_empty() {
        draft.text.trim().clone_into(&mut data.narrative);
    }
    data.constraints.retain(|own| rules.iter().all(|rule| rule.text != own.text));
    data.constraints.splice(0..0, rules.iter().cloned());
    draft
}

/// Returns as much of a summarizer's words as may stand beside the facts by rule: their share, and what the facts do not need.
fn giving_way(
    words: &str,
    request: &SummaryRequest<'_>,
    by_rule: impl Fn(&SummaryRequest<'_>) -> Draft,
) -> String {
    let (counter, limit) = (request.counter, request.limit);
    // The facts get at least what they need to say anything.
    let most = limit - counter.count_text(&heading()) - rules::LEAST_LIMIT;
    let share = limit.scaled(WORDS_SHARE).min(most);
    if counter.count_up_to(words, share).is_some() {
        return words.to_owned();
    }
    let facts = by_rule(&SummaryRequest { limit: limit - share, ..*request });
    if says_nothing(&facts) {
        return words.to_owned();
    }
    let room = (limit - counter.count_text(&section(&facts))).clamp(share, most);
    let fits = |text: &str| counter.count_up_to(text, room).is_some();
    shortened(words, fits).filter(|text| !text.trim().is_empty()).unwrap_or_else(|| beginning(words, fits))
}

/// Returns as many characters from the start as fit, with an ellipsis: of one long sentence, which has no statement to leave out.
fn beginning(words: &str, fits: impl Fn(&str) -> bool) -> String {
    let ends: Vec<usize> = words.char_indices().map(|(at, _)| at).collect();
    let cut = |count: usize| format!("{} …", words[..ends[count]].trim_end());
    // The cost grows with the number of characters, so the largest number that fits is found by halving.
    let (mut low, mut high) = (0, ends.len().saturating_sub(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&cut(middle)) { low = middle } else { high = middle - 1 }
    }
    if low == 0 { String::new() } else { cut(low) }
}

/// Returns the lines of `facts` that `said` does not tell, and no heading and no fence around none.
fn untold(facts: &str, said: &str) -> String {
    let said = one_line(said);
    let is_said = |line: &str| {
        let bare = one_line(line.trim().trim_start_matches("- "));
        let bare = match bare.split_once([' ', ':']) {
            Some((handle, rest)) if is_handle(handle) => rest.trim_start_matches([':', ' ']),
            _ => &bare,
        };
        // What became of it stands behind it.
        let bare =
            bare.strip_suffix(')').and_then(|bare| bare.rsplit_once(" (")).map_or(bare, |(bare, _)| bare);
        bare.split_whitespace().count() >= LEAST_TOLD && said.contains(bare)
    };
    rules::without_lines(facts, is_said)
}

/// Returns whether a word names a message: `m12`.
fn is_handle(word: &str) -> bool {
    word.strip_prefix('m')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A line of fewer words may stand elsewhere by chance.
const LEAST_TOLD: usize = 3;

/// Returns what stands between the words and the facts.
fn heading() -> String {
    format!("\n\n## {EXACTLY}\n")
}

/// Returns facts as they stand behind words.
fn section(facts: &Draft) -> String {
    format!("{}{}", heading(), below(facts.text.trim()))
}

fn says_nothing(facts: &Draft) -> bool {
    matches!(facts.text.trim(), "" | rules::OMITTED)
}

/// Returns `draft` with `facts` by rule in its data alone, where there are any: for a form that shows words, and of the data what it
/// has a place for.
pub fn with_facts_in_data(mut draft: Draft, facts: Draft) -> Draft {
    if says_nothing(&facts) {
        return draft;
    }
    if draft.summary.narrative.trim().is_empty() {
        draft.text.trim().clone_into(&mut draft.summary.narrative);
    }
    let summary = join(SummaryMode::Llm, draft.summary, facts.summary);
    Draft { summary, mode: SummaryMode::Hybrid, ..draft }
}

/// Returns what stays verbatim with `words` at its end: what they say need not be said again, and stands beside the facts
/// as the tail does.
pub(crate) fn with_said(request: &SummaryRequest<'_>, words: &str) -> Vec<Entry> {
    let mut kept = request.kept.to_vec();
    let message = Message::assistant(words);
    let last = kept.last().or(request.entries.last());
    let ordinal = last.map_or(0, |entry| entry.id.ordinal.saturating_add(1));
    let id = MessageId { ordinal, hash: message.content_hash() };
    kept.push(Entry { id, lineage: ContentHash([0; 32]), message: Arc::new(message) });
    kept
}

/// Returns a text with its headings one level lower.
fn below(text: &str) -> String {
    let lower = |line: &str| match line.starts_with("## ") {
        true => format!("#{line}"),
        false => line.to_owned(),
    };
    text.lines().map(lower).collect::<Vec<_>>().join("\n")
}

/// The user's rules get at most this share of the limit where the words leave less.
const RULES_SHARE: f64 = 0.35;

/// In less room than this, what is free stays so.
const LEAST_FREE: Tokens = Tokens(100);

/// How often the facts are asked for again in less room.
const TRIES: usize = 4;
