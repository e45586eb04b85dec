//! How many false claims the checks find, and how many true ones they spare. See `tests/data/grounding/README.md`.

use std::{collections::BTreeMap, fs, path::Path};

use longhaul_extract::FactIndex;
use longhaul_tokens::BytesPer4;
use longhaul_transcript::{Constraint, FileNote, FileState, SessionId, Summary, Tokens};

use super::{Evidence, Ledger, ground};
use crate::{Answer, AnswerAction, AnswerCommand, AnswerError, AnswerFile, SummaryRequest};

#[derive(Clone, Copy, Debug, Default)]
struct Score {
    found: u32,
    missed: u32,
    spared: u32,
    harmed: u32,
}

impl Score {
    fn recall(self) -> f64 {
        f64::from(self.found) / f64::from((self.found + self.missed).max(1))
    }

    fn precision(self) -> f64 {
        f64::from(self.found) / f64::from((self.found + self.harmed).max(1))
    }
}

#[test]
fn figures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/grounding");
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for path in names.iter().filter(|path| path.extension().is_some_and(|extension| extension == "claims")) {
        let transcript =
            longhaul_testkit::transcript(&fs::read_to_string(path.with_extension("transcript")).unwrap());
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let evidence = Evidence::new(&SummaryRequest::new(
            &session,
            transcript.entries(),
            &index,
            &BytesPer4,
            Tokens(1_000),
        ));
        let claims = fs::read_to_string(path).unwrap();
        let (constraints, files) = ledger(&claims);
        let ledger = Ledger { constraints: &constraints, files: &files };
        for line in claims.lines().filter(|line| line.starts_with(['+', '-'])) {
            let (head, text) = line.split_once(": ").unwrap();
            let [sign, class, field] = head.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let (answer, whole) = answer(field, text);
            let (summary, _, _) = ground(answer, &evidence, &ledger);
            let stayed = said(&summary, field) == whole;
            let score = scores.entry(class.to_owned()).or_default();
            match (sign, stayed) {
                ("-", false) => score.found += 1,
                ("-", true) => score.missed += 1,
                (_, true) => score.spared += 1,
                (_, false) => score.harmed += 1,
            }
            if (sign == "+") != stayed {
                wrong.push(format!(
                    "{}: {line}\n    became {:?}",
                    path.file_stem().unwrap().display(),
                    said(&summary, field)
                ));
            }
        }
    }
    println!("{:<10} {:>5} {:>5} {:>9} {:>7}", "class", "false", "true", "precision", "recall");
    let mut all = Score::default();
    for (class, score) in &scores {
        print(class, *score);
        all.found += score.found;
        all.missed += score.missed;
        all.spared += score.spared;
        all.harmed += score.harmed;
    }
    print("all", all);
    wrong.iter().for_each(|line| println!("wrong: {line}"));
    assert!(all.found + all.missed + all.spared + all.harmed >= 100);
    for class in ["name", "number", "path", "rule"] {
        assert!(scores[class].recall() >= 0.95, "{class}: {:?}", scores[class]);
    }
    assert!(all.recall() >= 0.95 && all.precision() >= 0.95, "{all:?}");
}

fn print(class: &str, score: Score) {
    let (lies, truths) = (score.found + score.missed, score.spared + score.harmed);
    println!("{class:<10} {lies:>5} {truths:>5} {:>9.3} {:>7.3}", score.precision(), score.recall());
}

fn ledger(claims: &str) -> (Vec<Constraint>, Vec<FileNote>) {
    let rules = claims.lines().filter_map(|line| line.strip_prefix("rule m")?.split_once(": "));
    let rules = rules.map(|(message, text)| Constraint {
        text: text.to_owned(),
        message: message.parse().unwrap(),
        ..Constraint::default()
    });
    let files = claims.lines().filter_map(|line| line.strip_prefix("file ")?.split_once(' '));
    let files = files.map(|(path, state)| FileNote {
        path: path.to_owned(),
        state: serde_json::from_value(state.into()).unwrap_or(FileState::Read),
        note: String::new(),
    });
    (rules.collect(), files.collect())
}

/// Returns an answer that says `text` in one field, and the texts of that field. `||` stands between entries.
fn answer(field: &str, text: &str) -> (Answer, Vec<String>) {
    let entries: Vec<String> = text.split(" || ").map(str::to_owned).collect();
    let one = text.to_owned();
    let answer = match field {
        "narrative" => Answer { narrative: one, ..Answer::default() },
        "current_focus" => Answer { current_focus: one, ..Answer::default() },
        "key_points" => Answer { key_points: entries.clone(), ..Answer::default() },
        "participants" => Answer { participants: entries.clone(), ..Answer::default() },
        "decisions" => Answer { decisions: entries.clone(), ..Answer::default() },
        "unresolved" => Answer { unresolved: entries.clone(), ..Answer::default() },
        "domain_entities" => Answer { domain_entities: entries.clone(), ..Answer::default() },
        "constraints" => Answer { constraints: entries.clone(), ..Answer::default() },
        "action_items" => Answer {
            action_items: vec![AnswerAction { task: one, ..AnswerAction::default() }],
            ..Answer::default()
        },
        "files" => {
            Answer { files: vec![AnswerFile { path: one, ..AnswerFile::default() }], ..Answer::default() }
        }
        "commands" => Answer {
            commands: vec![AnswerCommand { command: one, ..AnswerCommand::default() }],
            ..Answer::default()
        },
        "errors" => {
            Answer { errors: vec![AnswerError { error: one, ..AnswerError::default() }], ..Answer::default() }
        }
        _ => panic!("no field {field}"),
    };
    (answer, entries)
}

/// Returns the texts of a field of a checked summary.
fn said(summary: &Summary, field: &str) -> Vec<String> {
    let value = serde_json::to_value(summary).unwrap();
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        object => {
            let key = ["task", "path", "command", "error", "text"]
                .into_iter()
                .find(|key| object.get(key).is_some());
            object[key.unwrap()].as_str().unwrap().to_owned()
        }
    };
    let texts: Vec<String> = match &value[field] {
        serde_json::Value::Array(items) => items.iter().map(text).collect(),
        one => vec![text(one)],
    };
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}
