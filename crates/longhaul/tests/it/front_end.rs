//! A front end that hands over its whole history with each request, as clients of a gateway do: it grows, edits,
//! regenerates, goes back, compacts by itself, and talks in two places at once.
//!
//! 40 conversations by default; `LONGHAUL_FRONT_ENDS=1000` drives a thousand.

use std::sync::Arc;

use longhaul::{
    Decision, SessionState, Synced,
    policy::Action,
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, Role, SessionId, Tokens, Transcript},
    wire::{Document, Format, encode, read},
};

/// Draws numbers: a xorshift is enough, and gives the same conversations each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n.max(1)
    }
}

fn document(said: &[Message]) -> Document {
    let transcript: Transcript = said.iter().cloned().collect();
    let json = encode(&transcript, Format::OpenAi).unwrap().document.as_bytes().to_vec();
    read(Some(Format::OpenAi), &*json).unwrap()
}

fn settle(state: &mut SessionState) {
    for _ in 0..6 {
        let Decision::Act { action, reason } = state.decide(None) else { return };
        let is_done = match action {
            Action::SoftDigest | Action::SoftTrim => state.soften(action, reason, None).is_ok(),
            _ => {
                let finished = state.plan(action, reason, None, None).and_then(|job| job.finish_by_rule());
                finished.is_ok_and(|finished| state.apply(finished).is_ok())
            }
        };
        if !is_done {
            state.failed(reason, None);
        }
    }
}

fn words(message: &Message) -> String {
    message.texts().collect::<Vec<_>>().join("\n")
}

#[test]
fn whatever_a_front_end_does_the_session_is_where_it_is() {
    let asked = std::env::var("LONGHAUL_FRONT_ENDS").ok();
    let conversations: u64 = asked.and_then(|n| n.parse().ok()).unwrap_or(40);
    let mut draw = Draw(0x9E37_79B9_7F4A_7C15);
    for conversation in 0..conversations {
        let window = ContextWindow::new(Tokens(2_000 + 400 * draw.below(10)), Tokens(0));
        let session = SessionId::new(&format!("front-{conversation}")).unwrap();
        let mut state = SessionState::new(session, window, Arc::new(CharsPer4), Default::default());
        let mut said = vec![Message::system("You are careful.")];
        let mut nth = 0;
        let mut word = |kind: &str, draw: &mut Draw| {
            nth += 1;
            let padding = "and the queue drops the small blocks ".repeat(draw.below(12) as usize);
            format!("{kind} word_{conversation}_{nth} {padding}")
        };
        for _ in 0..30 {
            let n = said.len() as u64;
            let expected = match draw.below(12) {
                0 if n > 4 => {
                    let last = said.len() - 1;
                    let is_answer = said[last].role == Role::Assistant;
                    said[last] = Message::new(said[last].role, Message::user(word("anew", &mut draw)).parts);
                    if is_answer { "regenerated" } else { "edited" }
                }
                1 if n > 6 => {
                    said.truncate(2 + draw.below(n - 4) as usize);
                    "rewound"
                }
                2 if n > 6 => {
                    let at = 2 + draw.below(n - 4) as usize;
                    said.truncate(at);
                    said.push(Message::user(word("otherwise", &mut draw)));
                    "edited"
                }
                3 if n > 8 => {
                    let summary = "This session is being continued from a previous conversation that ran out of context.";
                    said.truncate(1);
                    said.push(Message::user(format!("{summary} {}", word("summary", &mut draw))));
                    "compacted"
                }
                _ => {
                    said.push(Message::user(word("question", &mut draw)));
                    said.push(Message::assistant(word("answer", &mut draw)));
                    "grew"
                }
            };
            let before = state.clone();
            let sync = state.sync(&document(&said)).unwrap();
            let is_expected = match (expected, sync.change) {
                ("grew", Synced::Grew { .. })
                | ("rewound", Synced::Rewound { .. } | Synced::Unchanged)
                | ("regenerated", Synced::Regenerated { .. })
                | ("compacted", Synced::CompactedByClient { .. }) => true,
                // What follows the same beginning may be an answer anew, or the same words by chance.
                ("edited", Synced::Edited { .. } | Synced::Regenerated { .. } | Synced::Grew { .. }) => true,
                _ => false,
            };
            assert!(is_expected, "{conversation}: {expected}, and it is {:?}", sync.change);
            assert_eq!(sync.ordinals.len(), said.len());
            let last = state.originals().last().unwrap();
            assert_eq!(words(&last.message), words(said.last().unwrap()));
            // Handed in again it is where it was.
            assert_eq!(state.clone().sync(&document(&said)).unwrap().change, Synced::Unchanged, "{expected}");
            // Nothing in the view was said elsewhere: on what the front end took back, or in another conversation.
            settle(&mut state);
            let here: String =
                state.originals().entries().iter().map(|entry| words(&entry.message)).collect();
            for message in state.view().messages() {
                for found in words(message).split_whitespace().filter(|found| found.starts_with("word_")) {
                    assert!(here.contains(found), "{found} was said elsewhere");
                }
            }
            assert!(state.tokens() <= state.budget());
            // The state before is untouched: another place may go on from it.
            assert!(before.originals().len() <= 200 && before.tokens() <= before.budget() + Tokens(2_000));
        }
    }
}
