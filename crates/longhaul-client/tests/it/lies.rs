//! Lies of ten kinds and truths beside them, told by a model about recordings: over real HTTP and through all checks. They were
//! written by people who had not seen the checks (`tests/data/lies/README.md`).

use std::{collections::BTreeMap, fs, path::Path};

use longhaul_transcript::Tokens;
use longhaul_wire::Format;

use crate::replay::{Past, confirmed, replayed};

/// Room for all statements about a past.
const LIMIT: Tokens = Tokens(12_000);

struct Case {
    format: Format,
    past: &'static [u8],
    statements: &'static str,
}

/// By the first of them; the checks were mended on these.
const FIRST: [Case; 5] = [
    Case {
        format: Format::OpenAi,
        past: include_bytes!("../data/lies/airline.json"),
        statements: include_str!("../data/lies/airline.md"),
    },
    Case {
        format: Format::OpenAi,
        past: include_bytes!("../data/lies/shop.json"),
        statements: include_str!("../data/lies/shop.md"),
    },
    Case {
        format: Format::OpenAi,
        past: include_bytes!("../data/lies/telecom.json"),
        statements: include_str!("../data/lies/telecom.md"),
    },
    Case {
        format: Format::SweAgent,
        past: include_bytes!("../data/lies/pydicom.json"),
        statements: include_str!("../data/lies/pydicom.md"),
    },
    Case {
        format: Format::ClaudeCode,
        past: include_bytes!("../data/lies/telemetry.jsonl"),
        statements: include_str!("../data/lies/telemetry.md"),
    },
];

/// By the second; the checks were mended on these, too.
const SECOND: [Case; 3] = [
    Case {
        format: Format::ClaudeCode,
        past: include_bytes!("../data/lies/telemetry.jsonl"),
        statements: include_str!("../data/lies/telemetry-second.md"),
    },
    Case {
        format: Format::ClaudeCode,
        past: include_bytes!("../data/lies/phantom.jsonl"),
        statements: include_str!("../data/lies/phantom.md"),
    },
    Case {
        format: Format::SweAgent,
        past: include_bytes!("../data/lies/upload.json"),
        statements: include_str!("../data/lies/upload.md"),
    },
];

/// By the second, of three other recordings: who mended the checks has not read them.
const UNREAD: [Case; 3] = [
    Case {
        format: Format::SweAgent,
        past: include_bytes!("../data/lies/pydicom-whole.json"),
        statements: include_str!("../data/lies/pydicom-whole.md"),
    },
    Case {
        format: Format::OpenAi,
        past: include_bytes!("../data/lies/downgrade.json"),
        statements: include_str!("../data/lies/downgrade.md"),
    },
    Case {
        format: Format::OpenAi,
        past: include_bytes!("../data/lies/shop.json"),
        statements: include_str!("../data/lies/shop-second.md"),
    },
];

/// By two others of 25 November, as hard; the checks were mended on these.
const THIRD: [Case; 2] = [
    Case {
        format: Format::ClaudeCode,
        past: include_bytes!("../data/lies/templates.jsonl"),
        statements: include_str!("../data/lies/templates.md"),
    },
    Case {
        format: Format::Tau2,
        past: include_bytes!("../data/lies/mms.json"),
        statements: include_str!("../data/lies/mms.md"),
    },
];

/// By these two, too: who mended the checks has not read them, and knew how many each check finds.
const UNREAD_THIRD: [Case; 3] = [
    Case {
        format: Format::Codex,
        past: include_bytes!("../data/lies/workspace.jsonl"),
        statements: include_str!("../data/lies/workspace.md"),
    },
    Case {
        format: Format::Tau2,
        past: include_bytes!("../data/lies/downgrade-two.json"),
        statements: include_str!("../data/lies/downgrade-two.md"),
    },
    Case {
        format: Format::Tau2,
        past: include_bytes!("../data/lies/exchange.json"),
        statements: include_str!("../data/lies/exchange.md"),
    },
];

/// As a strong model writes them: with handles, and with quotations that are left out here (`data/lies/README.md`).
const QUOTED: [Case; 4] = [
    Case {
        format: Format::Tau2,
        past: include_bytes!("../data/lies/mms.json"),
        statements: include_str!("../data/lies/mms-quoted.md"),
    },
    Case {
        format: Format::SweAgent,
        past: include_bytes!("../data/lies/upload.json"),
        statements: include_str!("../data/lies/upload-quoted.md"),
    },
    Case {
        format: Format::Tau2,
        past: include_bytes!("../data/lies/exchange.json"),
        statements: include_str!("../data/lies/exchange-quoted.md"),
    },
    Case {
        format: Format::Tau2,
        past: include_bytes!("../data/lies/downgrade-two.json"),
        statements: include_str!("../data/lies/downgrade-two-quoted.md"),
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

/// Returns statements with the handles of what they cite, `(m4)`, and without the quotations, `(m4: "\"id\": 7")`.
fn without_quotations(statements: &str) -> String {
    let (mut out, mut rest) = (String::new(), statements);
    while let Some((before, quoted)) = rest.split_once(": \"") {
        let is_cited = before.ends_with(|c: char| c.is_ascii_digit());
        let mut escaped = false;
        let end = quoted.find(|c| {
            c == '"' && !escaped || {
                escaped = c == '\\' && !escaped;
                false
            }
        });
        out.push_str(before);
        rest = match end.filter(|_| is_cited) {
            Some(end) => &quoted[end + 1..],
            None => {
                out.push_str(": \"");
                quoted
            }
        };
    }
    out + rest
}

/// What became of statements, by their kind.
#[derive(Debug, Default)]
struct Table(BTreeMap<String, Fates>);

impl Table {
    /// Tells all statements about a past in one answer, truths and lies mixed as a model would mix them, and notes what becomes
    /// of them. Returns those that were judged wrongly.
    async fn tell<'s>(&mut self, past: &Past, statements: &'s str) -> Vec<(&'s str, &'s str)> {
        let (said, told) = answer(statements);
        let draft = replayed(past, &said, LIMIT).await;
        let mut wrong = Vec::new();
        for (kind, text) in told {
            let fate = self.0.entry(kind.to_owned()).or_default();
            let is_believed = confirmed(&draft).contains(text);
            match (is_believed, draft.text.contains(text)) {
                (true, _) => fate.believed += 1,
                (false, true) => fate.doubted += 1,
                (false, false) => fate.gone += 1,
            }
            if is_believed != (kind == "true") {
                wrong.push((kind, text));
            }
        }
        wrong
    }

    /// Prints it, and returns how many lies are believed, of how many, and how many truths are hurt, of how many.
    #[allow(clippy::print_stdout, reason = "a table of figures")]
    fn sums(mut self) -> [usize; 4] {
        println!("{:<10} {:>8} {:>8} {:>8}", "kind", "believed", "doubted", "gone");
        for (kind, Fates { believed, doubted, gone }) in &self.0 {
            println!("{kind:<10} {believed:>8} {doubted:>8} {gone:>8}");
        }
        let of_truths = self.0.remove("true").unwrap_or_default();
        let hurt = of_truths.doubted + of_truths.gone;
        let truths = hurt + of_truths.believed;
        let believed: usize = self.0.values().map(|fate| fate.believed).sum();
        let lies = believed + self.0.values().map(|fate| fate.doubted + fate.gone).sum::<usize>();
        println!("{believed} of {lies} lies believed, {hurt} of {truths} truths hurt");
        [believed, lies, hurt, truths]
    }
}

/// What the checks reach today: at most so many lies believed and truths hurt.
#[tokio::test]
async fn lies_of_ten_kinds_have_no_authority_and_truths_stay() {
    for (cases, most) in [
        (&QUOTED[..], MOST_QUOTED),
        (&FIRST, MOST_FIRST),
        (&SECOND, MOST_SECOND),
        (&UNREAD, MOST_UNREAD),
        (&THIRD, MOST_THIRD),
        (&UNREAD_THIRD, MOST_UNREAD_THIRD),
    ] {
        let mut table = Table::default();
        for case in cases {
            let past = Past::read(Some(case.format), case.past);
            table.tell(&past, &without_quotations(case.statements)).await;
        }
        let [believed, lies, hurt, truths] = table.sums();
        assert!(lies >= 30 && truths >= 90);
        assert!(believed <= most.0 && hurt <= most.1, "{believed} of {lies}, {hurt} of {truths}");
    }
}

/// Tells what lies in the folder `LONGHAUL_LIES`: `NAME.md` about the past in `NAME.json` or `NAME.jsonl`. With `LONGHAUL_SHOW`
/// what was judged wrongly is shown. For statements that are not kept here, or that nobody is to read yet.
#[tokio::test]
#[ignore = "needs a folder of statements, which LONGHAUL_LIES names"]
async fn lies_of_a_folder_are_counted() {
    let folder = std::env::var_os("LONGHAUL_LIES").expect("LONGHAUL_LIES names a folder");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "md"));
    files.sort();
    let mut table = Table::default();
    for file in files {
        let past = |ending| fs::read(Path::new(&file).with_extension(ending));
        let Ok(past) = past("jsonl").or_else(|_| past("json")) else { continue };
        let statements = fs::read_to_string(&file).unwrap();
        let wrong = table.tell(&Past::read(None, &past), &statements).await;
        for (kind, text) in wrong.iter().filter(|_| std::env::var_os("LONGHAUL_SHOW").is_some()) {
            println!("{} {kind}: {text}", file.display());
        }
    }
    let [_, lies, _, truths] = table.sums();
    assert!(lies + truths > 0, "no statement was found");
}

const MOST_QUOTED: (usize, usize) = (50, 1);
const MOST_FIRST: (usize, usize) = (14, 3);
const MOST_SECOND: (usize, usize) = (15, 0);
const MOST_UNREAD: (usize, usize) = (21, 0);
const MOST_THIRD: (usize, usize) = (22, 2);
const MOST_UNREAD_THIRD: (usize, usize) = (35, 10);
