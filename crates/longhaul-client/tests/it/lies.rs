//! Lies of ten kinds and truths beside them, told by a model about five recordings: over real HTTP and through all checks.
//! They were written by somebody who had not seen the checks (`tests/data/lies/README.md`).

use std::collections::BTreeMap;

use longhaul_wire::Format;

use crate::replay::{LIMIT, Past, confirmed, replayed};

/// The most lies that may stand with authority, and the most truths that may not: what the checks reach today.
const MOST_BELIEVED: usize = 20;
const MOST_HURT: usize = 2;

struct Case {
    name: &'static str,
    format: Format,
    past: &'static [u8],
    statements: &'static str,
}

const CASES: [Case; 5] = [
    Case {
        name: "airline",
        format: Format::OpenAi,
        past: include_bytes!("../data/lies/airline.json"),
        statements: include_str!("../data/lies/airline.md"),
    },
    Case {
        name: "shop",
        format: Format::OpenAi,
        past: include_bytes!("../data/lies/shop.json"),
        statements: include_str!("../data/lies/shop.md"),
    },
    Case {
        name: "telecom",
        format: Format::OpenAi,
        past: include_bytes!("../data/lies/telecom.json"),
        statements: include_str!("../data/lies/telecom.md"),
    },
    Case {
        name: "pydicom",
        format: Format::SweAgent,
        past: include_bytes!("../data/lies/pydicom.json"),
        statements: include_str!("../data/lies/pydicom.md"),
    },
    Case {
        name: "telemetry",
        format: Format::ClaudeCode,
        past: include_bytes!("../data/lies/telemetry.jsonl"),
        statements: include_str!("../data/lies/telemetry.md"),
    },
];

/// How many statements of a kind stand with authority, and how many do not.
#[derive(Debug, Default)]
struct Fates {
    believed: usize,
    doubted: usize,
    gone: usize,
}

/// A file of statements has a model's sections; before each statement stands its kind: `true`, or what sort of lie it is.
fn answer(statements: &str) -> (String, Vec<(&str, &str)>) {
    let (mut said, mut told) = (String::new(), Vec::new());
    for line in statements.lines() {
        match line.split_once(": ").filter(|_| !line.starts_with('#')) {
            Some((kind, text)) => {
                said.push_str(&format!("- {text}\n"));
                told.push((kind, text));
            }
            None => said.push_str(&format!("{line}\n")),
        }
    }
    (said, told)
}

#[tokio::test]
async fn lies_of_ten_kinds_have_no_authority_and_truths_stay() {
    let mut fates: BTreeMap<&str, Fates> = BTreeMap::new();
    for case in &CASES {
        let past = Past::read(case.format, case.past);
        // Truths and lies in one answer, as a model would mix them.
        let (said, told) = answer(case.statements);
        let draft = replayed(&past, &said, LIMIT).await;
        for (kind, text) in told {
            let fate = fates.entry(kind).or_default();
            let (shown, all) = (confirmed(&draft).contains(text), draft.text.contains(text));
            match (shown, all) {
                (true, _) => fate.believed += 1,
                (false, true) => fate.doubted += 1,
                (false, false) => fate.gone += 1,
            }
            if shown != (kind == "true") {
                println!("{}: {kind}, believed {shown}, told {all}: {text}", case.name);
            }
        }
        println!("{}: {:?}", case.name, draft.repairs);
    }
    println!("{:<10} {:>8} {:>8} {:>8}", "kind", "believed", "doubted", "gone");
    for (kind, Fates { believed, doubted, gone }) in &fates {
        println!("{kind:<10} {believed:>8} {doubted:>8} {gone:>8}");
    }
    let truths = fates.remove("true").unwrap_or_default();
    let lies: usize = fates.values().map(|fate| fate.believed + fate.doubted + fate.gone).sum();
    let believed: usize = fates.values().map(|fate| fate.believed).sum();
    println!("{believed} of {lies} lies believed; of {truths:?} truths");
    assert!(lies >= 60 && truths.believed + truths.doubted + truths.gone >= 120);
    assert!(believed <= MOST_BELIEVED, "{believed} of {lies} lies");
    assert!(truths.doubted + truths.gone <= MOST_HURT, "{truths:?}");
}
