//! What is said in a long conversation: made up, different each time, and the same in each run.

/// Makes texts of about a given size.
#[derive(Debug)]
pub(super) struct Script {
    state: u64,
    tokens: u64,
}

const WORDS: [&str; 32] = [
    "request", "parser", "the", "header", "of", "index", "writes", "each", "block", "to", "disk", "before",
    "queue", "reads", "it", "again", "timeout", "after", "shard", "merges", "small", "files", "and",
    "checks", "their", "sums", "worker", "drops", "lock", "while", "cache", "fills",
];

impl Script {
    /// Returns a script whose turns cost about `tokens`.
    pub(super) fn new(tokens: u64) -> Script {
        Script { state: 0x9E37_79B9_7F4A_7C15, tokens }
    }

    /// Returns the user's words.
    pub(super) fn question(&mut self, turn: u64) -> String {
        let words = self.words(self.tokens / 5);
        format!("Step {turn}: in src/part_{}.rs, {words}?", turn % 997)
    }

    /// Returns the model's words.
    pub(super) fn answer(&mut self, nth: u64) -> String {
        let words = self.words(self.tokens * 2 / 5);
        format!("Checked run {nth}: {words}. Ticket OPS-{} holds the figures.", self.next() % 90_000)
    }

    /// Returns what a tool printed.
    pub(super) fn output(&mut self, turn: u64) -> String {
        let mut text = format!("$ make check TURN={turn}\n");
        while (text.len() as u64) < self.tokens * 4 {
            let (words, ms) = (self.words(9), self.next() % 1000);
            text.push_str(&format!(
                "test part_{ms}::{} ... ok ({words}, {ms} ms)\n",
                WORDS[(ms % 32) as usize]
            ));
        }
        text
    }

    /// Returns whether the model calls a tool in its `nth` answer: in every third.
    pub(super) fn calls_tool(nth: u64) -> bool {
        nth % 3 == 1
    }

    fn words(&mut self, count: u64) -> String {
        let words: Vec<&str> = (0..count.max(3)).map(|_| WORDS[(self.next() % 32) as usize]).collect();
        words.join(" ")
    }

    /// Marsaglia's xorshift: the same numbers in each run.
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state >> 8
    }
}
