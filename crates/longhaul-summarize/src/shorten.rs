//! A model's words in less room than they take.

use crate::notes::sentences;

/// A run of lines under a heading or between blank lines, or the sentences of one such line.
#[derive(Clone, Debug)]
struct Block<'a> {
    pieces: Vec<&'a str>,
    between: &'static str,
}

/// Of a block that is too long, what stands before this share of it goes first: its beginning says what the work is about,
/// its end how things stand.
const LEAVES_AT: f64 = 0.3;

/// Returns as much of `text` as `fits` allows, by whole lines, or by sentences where a paragraph is one line: the longest
/// block loses first, so that no subject goes, and keeps its beginning and what is newest. `None` where not even a piece fits.
pub fn shortened(text: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let text = text.trim();
    if fits(text) {
        return Some(text.to_owned()).filter(|text| !text.is_empty());
    }
    let mut blocks = blocks(text);
    loop {
        let longest =
            (0..blocks.len()).filter(|at| blocks[*at].may_lose()).max_by_key(|at| blocks[*at].size());
        match longest {
            Some(at) => blocks[at].lose(),
            None if blocks.len() > 1 => _ = blocks.remove(0),
            None => return None,
        }
        let texts: Vec<String> = blocks.iter().map(|block| block.pieces.join(block.between)).collect();
        let text = texts.join("\n\n");
        if fits(&text) {
            return Some(text);
        }
    }
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim_end) {
        is_open &= !line.is_empty() && !line.starts_with('#');
        match blocks.last_mut().filter(|_| is_open) {
            Some(block) => block.pieces.push(line),
            None if line.is_empty() => {}
            None => blocks.push(Block { pieces: vec![line], between: "\n" }),
        }
        is_open = !line.is_empty();
    }
    for block in &mut blocks {
        if let [line] = block.pieces[..] {
            *block = Block { pieces: sentences(line).map(str::trim).collect(), between: " " };
        }
    }
    blocks
}

impl Block<'_> {
    fn head(&self) -> usize {
        usize::from(self.pieces.first().is_some_and(|first| first.starts_with('#')))
    }

    fn may_lose(&self) -> bool {
        self.pieces.len() > 1 + self.head()
    }

    fn size(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }

    fn lose(&mut self) {
        let head = self.head();
        let at = head + ((self.pieces.len() - head) as f64 * LEAVES_AT) as usize;
        self.pieces.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn the_longest_block_loses_and_keeps_its_beginning_and_its_end() {
        let at_most = |n: usize| move |text: &str| text.len() <= n;
        let text = "## Done\n- one\n- two\n- three\n- four\n\n## Open\n- five";
        assert_eq!(shortened(text, at_most(100)).as_deref(), Some(text));
        assert_eq!(
            shortened(text, at_most(45)).as_deref(),
            Some("## Done\n- one\n- three\n- four\n\n## Open\n- five")
        );
        assert_eq!(shortened(text, at_most(31)).as_deref(), Some("## Done\n- four\n\n## Open\n- five"));
        assert_eq!(shortened(text, at_most(16)).as_deref(), Some("## Open\n- five"));
        let prose = "The first part is done. The second is done. The third is done. The fourth part is next.";
        assert_eq!(
            shortened(prose, at_most(70)).as_deref(),
            Some("The first part is done. The third is done. The fourth part is next.")
        );
        assert_eq!(shortened("One sentence that is too long.", at_most(10)), None);
        assert_eq!(shortened(" ", at_most(10)), None);
    }
}
