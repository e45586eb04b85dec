//! Where each summary covers a range of its own: what no view shows lies in one of them.

use std::sync::Arc;

use longhaul::{
    Config, Preset, Session, Shown,
    config::Chaining,
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, Outcome, Part, Role, SessionId, SummaryMode, Tokens, ToolCall, ToolResult},
};

/// Draws numbers: a xorshift is enough, and gives the same conversations each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn words(&mut self, n: u64) -> String {
        const WORDS: [&str; 8] =
            ["parser", "ledger", "src/main.rs", "fails", "42", "retry", "cache", "token"];
        (0..n).map(|_| WORDS[self.below(8) as usize]).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the messages behind the instructions that neither stand in the view nor in what one of its summaries covers. What was done
/// for a request that stays is told with it, and read again once that goes.
fn in_neither(session: &Session) -> Vec<u64> {
    let view = session.state().view();
    let shown: Vec<Option<u64>> = view
        .shown()
        .map(|shown| match shown {
            Shown::Message { id, .. } => Some(id.ordinal),
            _ => None,
        })
        .collect();
    let behind = shown.iter().rposition(Option::is_none).map_or(0, |last| last + 1);
    let end = shown[behind..].iter().copied().flatten().next().unwrap_or(u64::MAX);
    let is_covered =
        |at: u64| view.summaries().any(|record| (record.covers.start..record.covers.end).contains(&at));
    let all = 1..(session.state().originals().len() as u64).min(end);
    all.filter(|at| !shown.contains(&Some(*at)) && !is_covered(*at)).collect()
}

#[tokio::test]
async fn what_no_view_shows_lies_in_the_range_of_a_summary() {
    for (chaining, seed) in [Chaining::Append, Chaining::Running].into_iter().zip([82, 83]) {
        let config = Config { chaining, ..Config::default() };
        let mut session = Session::builder(
            SessionId::new("ranges").unwrap(),
            ContextWindow::new(Tokens(5_000), Tokens(500)),
        )
        .config(config)
        .counter(Arc::new(CharsPer4))
        .build()
        .unwrap();
        let mut draw = Draw(0x9E37_79B9_7F4A_7C15 + seed);
        session.push(Message::system("Be careful."));
        let mut n_summaries = 0;
        for step in 0..120 {
            if step % 5 == 0 {
                let n = 5 + draw.below(60);
                session.push(Message::user(format!("turn {step}: {}", draw.words(n))));
            }
            session.prepare().await.unwrap();
            assert_eq!(in_neither(&session), [0; 0], "{chaining:?}, step {step}");
            n_summaries = n_summaries.max(session.state().view().summaries().count());
            let n_calls = if step % 5 == 4 { 0 } else { 1 + draw.below(3) };
            let n = 3 + draw.below(80);
            let mut parts = vec![Part::Text(format!("step {step}: {}", draw.words(n)))];
            let ids: Vec<String> = (0..n_calls).map(|nth| format!("call_{step}_{nth}")).collect();
            parts.extend(ids.iter().map(|id| Part::ToolCall(ToolCall::function(&**id, "read_file", "{}"))));
            session.push(Message::new(Role::Assistant, parts));
            for id in ids {
                let n = [20, 60, 200, 900, 1_400][draw.below(5) as usize];
                let text = format!("of {id} {}", draw.words(n));
                let result = ToolResult::text(id, text, Outcome::Succeeded);
                session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
            }
        }
        assert!(n_summaries > 0 && session.state().originals().len() > 250);
    }
}

// asserts 002-19
/// Beside other summaries each tells of its own range first, and nothing that one of them tells already.
#[tokio::test]
async fn summaries_beside_one_another_tell_of_their_own_ranges() {
    const PARTS: [&str; 6] = ["ledger", "parser", "cache", "router", "archive", "scheduler"];
    let config = Config { mode: SummaryMode::Rules, ..Preset::Session.config() };
    let window = ContextWindow::new(Tokens(40_000), Tokens(2_000));
    let mut session = Session::builder(SessionId::new("own").unwrap(), window)
        .config(config)
        .counter(Arc::new(CharsPer4))
        .build()
        .unwrap();
    let mut draw = Draw(0x51_7C_C1_B7);
    for nth in 0..160_u64 {
        // Little is said of the later parts, and much read: their summaries have room for what was found before.
        let (part, port, is_telling) = (PARTS[nth as usize / 27], 4_000 + nth, nth < 27 || nth % 9 == 0);
        session.push(Message::user("Go on."));
        let call = ToolCall::function(format!("c{nth}"), "read_file", format!("{{\"path\":\"{nth}.txt\"}}"));
        session.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
        let result = ToolResult::text(
            format!("c{nth}"),
            draw.words(if nth < 27 { 9 } else { 150 }),
            Outcome::Succeeded,
        );
        session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        session.push(Message::assistant(match is_telling {
            true => format!(
                "I found that the {part} fails at step {nth} because port {port} is taken by {}.",
                draw.words(4)
            ),
            false => "That is read.".to_owned(),
        }));
        session.prepare().await.unwrap();
    }
    let view = session.state().view();
    let records: Vec<_> = view.summaries().collect();
    assert!(records.len() > 2, "{}", records.len());
    let mut told = Vec::new();
    for record in &records {
        let lines = record.text.lines().filter(|line| line.contains(" fails at step "));
        let steps: Vec<u64> = lines
            .map(|line| line.split("step ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap())
            .collect();
        let of_others = steps.iter().filter(|step| !record.covers.contains(4 * **step + 3)).count();
        assert!(
            !steps.is_empty() && of_others == 0,
            "{of_others} of {} in {}\n{}",
            steps.len(),
            record.covers,
            record.text
        );
        told.extend(steps);
    }
    let n_told = told.len();
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), n_told, "nothing is told twice");
}
