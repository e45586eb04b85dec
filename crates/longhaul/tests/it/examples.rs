//! The programs in `examples/` run, and the README shows code that compiles.

use std::{env, error::Error, path::PathBuf, process::Command, sync::Arc};

use longhaul::transcript::Usage;

/// Returns the example that was built with these tests; `None` where nobody says that it was (`cargo xtask test` does, with nextest).
fn built(example: &str) -> Option<PathBuf> {
    env::var_os("LONGHAUL_EXAMPLES_BUILT")?;
    let tests = env::current_exe().ok()?;
    let program =
        tests.parent()?.parent()?.join("examples").join(example).with_extension(env::consts::EXE_EXTENSION);
    program.is_file().then_some(program)
}

fn run(example: &str) -> String {
    let mut program = match built(example) {
        Some(program) => Command::new(program),
        None => {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args([
                "run", "--quiet", "--locked", "--offline", "--package", "longhaul", "--features", "wire",
                "--example", example,
            ]);
            cargo
        }
    };
    let output = program.output().expect("it can be run");
    assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("an example prints text")
}

#[test]
fn every_example_runs_and_shows_what_it_is_about() {
    for (example, shows) in [
        ("agent_loop", "\"summary_count\": "),
        ("count", "tokens  to spend in the window of gpt-4o"),
        ("custom_extractor", "Failed: web-2"),
        ("custom_store", "the log is intact: true"),
        ("front_end", "editor-openai: Grew { n: 2 }"),
        ("gateway", "the-plan: Grew { n: 2 }; 4215 bytes came, 46 messages of 120 go out"),
        ("trim", "tokens are left"),
    ] {
        let printed = run(example);
        assert!(printed.contains(shows), "{example}: {printed}");
    }
}

/// What a provider answers.
struct Answer {
    message: Message,
    usage: Usage,
}

fn ask() -> Result<&'static str, Box<dyn Error>> {
    Err("nothing more to ask".into())
}

async fn call_your_model<'a>(
    _: impl Iterator<Item = &'a std::sync::Arc<Message>>,
) -> Result<Answer, Box<dyn Error>> {
    Ok(Answer { message: Message::assistant("It is fixed."), usage: Usage::default() })
}

// What stands between the two marks stands in the README, line by line.
// README
#[rustfmt::skip]
use longhaul::{store::SummaryStore, tokens::ContextWindow, transcript::{Message, Tokens}};

#[rustfmt::skip]
async fn readmes_loop(store: Arc<dyn SummaryStore>) -> Result<(), Box<dyn Error>> {
    let window = ContextWindow::new(Tokens(128_000), Tokens(16_000));
    let mut session = longhaul::open(store, "fix-the-build", window).await?;   // new, or as it was left
    loop {
        session.push(Message::user(ask()?));
        let view = session.prepare().await?;      // what to send; all that was said is in the store by now
        let answer = call_your_model(view.messages()).await?;
        session.report_usage(view.id(), &answer.usage);   // counts learn from what the provider billed
        session.push(answer.message);
        session.save().await?;                    // the next question may be long in coming
    }
}
// END

#[tokio::test]
async fn the_readmes_loop_compiles_and_runs() {
    assert_eq!(
        readmes_loop(Arc::new(longhaul::store::MemoryStore::default())).await.unwrap_err().to_string(),
        "nothing more to ask"
    );
    let here = include_str!("examples.rs");
    let (_, code) = here.split_once("// README\n").expect("the first mark");
    let (code, _) = code.split_once("// END\n").expect("the second mark");
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));
    let readme = readme.expect("the README is there");
    let is_frame = |line: &&str| {
        !line.is_empty() && !line.starts_with("#[") && !line.starts_with("async fn") && *line != "}"
    };
    for line in code.lines().filter(is_frame) {
        let line = line.strip_prefix("    ").unwrap_or(line);
        assert!(readme.lines().any(|shown| shown == line), "the README does not show: {line}");
    }
}
