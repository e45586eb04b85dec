//! A model's words in less room than they take.

use std::collections::BinaryHeap;

use crate::{
    notes::{Section, split_lead},
    sentences::sentences,
};

/// A run of lines under a heading or between blank lines.
#[derive(Debug)]
struct Block {
    pieces: Vec<Piece>,
    between: &'static str,
}

/// A heading, a statement with the lines that go on with it, or a sentence.
#[derive(Debug)]
struct Piece {
    text: String,
    /// At which step it leaves; the last of all never do.
    leaves: Option<usize>,
}

/// Of a block that is too long, what stands before this share of it goes first: its beginning says what the work is about,
/// its end how things stand.
const LEAVES_AT: f64 = 0.3;

/// Returns as much of `text` as `fits` allows, by whole statements, or by sentences where a paragraph is one line: the longest
/// block loses first, so that no subject goes, and keeps its beginning and what is newest; what was asked for and the rules go
/// last of all. `None` where not even a piece fits.
pub fn shortened(text: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let text = text.trim();
    if fits(text) {
        return Some(text.to_owned()).filter(|text| !text.is_empty());
    }
    let mut blocks = blocks(text);
    // What goes next does not depend on how much room there is, so how much must go is found by halving.
    let (mut low, mut high) = (1, order(&mut blocks));
    if !fits(&left(&blocks, high)) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        match fits(&left(&blocks, middle)) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(left(&blocks, high))
}

/// Returns what is left after so many steps.
fn left(blocks: &[Block], steps: usize) -> String {
    let stays = |piece: &&Piece| piece.leaves.is_none_or(|leaves| leaves >= steps);
    let block = |block: &Block| {
        let texts: Vec<&str> = block.pieces.iter().filter(stays).map(|piece| &*piece.text).collect();
        texts.join(block.between)
    };
    let texts: Vec<String> = blocks.iter().map(block).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

/// Writes down in which order the pieces leave. Returns in how many steps.
fn order(blocks: &mut [Block]) -> usize {
    let mut here: Vec<Vec<usize>> = blocks.iter().map(|block| (0..block.pieces.len()).collect()).collect();
    let mut longest: BinaryHeap<(usize, usize)> =
        blocks.iter().enumerate().map(|(at, block)| (block.size(), at)).collect();
    let mut step = 0;
    while let Some((size, at)) = longest.pop() {
        let (block, here) = (&mut blocks[at], &mut here[at]);
        let head = block.head();
        if here.len() <= 1 + head {
            continue;
        }
        let gone = here.remove(head + ((here.len() - head) as f64 * LEAVES_AT) as usize);
        block.pieces[gone].leaves = Some(step);
        longest.push((size - block.pieces[gone].text.len(), at));
        step += 1;
    }
    let mut whole: Vec<usize> = (0..blocks.len()).collect();
    while whole.len() > 1 {
        let at = whole.iter().position(|at| !blocks[*at].is_needed_most()).unwrap_or(0);
        let block = &mut blocks[whole.remove(at)];
        block.pieces.iter_mut().for_each(|piece| piece.leaves = piece.leaves.or(Some(step)));
        step += 1;
    }
    step
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut is_open, mut in_code) = (false, false);
    for line in text.lines().map(str::trim_end) {
        let is_fence = line.trim_start().starts_with("```");
        let is_code = in_code || is_fence;
        in_code = in_code != is_fence;
        is_open &= is_code || !line.is_empty() && !is_heading(line);
        let piece = || Piece { text: line.to_owned(), leaves: None };
        match blocks.last_mut().filter(|_| is_open) {
            Some(block) => match block.pieces.last_mut().filter(|last| goes_on(&last.text, line, is_code)) {
                Some(last) => last.text.extend(["\n", line]),
                None => block.pieces.push(piece()),
            },
            None if line.is_empty() => {}
            None => blocks.push(Block { pieces: vec![piece()], between: "\n" }),
        }
        is_open = is_code || !line.is_empty();
    }
    for block in &mut blocks {
        if let [Piece { text, .. }] = &block.pieces[..]
            && !text.contains('\n')
            && split_lead(text).0.trim().is_empty()
        {
            let piece = |text: &str| Piece { text: text.trim().to_owned(), leaves: None };
            *block = Block { pieces: sentences(text).map(piece).collect(), between: " " };
        }
    }
    blocks
}

/// Returns whether a line names what stands under it: `## Open`, or `Open:` as the form with fields writes it.
fn is_heading(line: &str) -> bool {
    const LONGEST_LABEL: usize = 24;
    let is_label = line.len() <= LONGEST_LABEL && line.ends_with(':') && line.starts_with(char::is_uppercase);
    line.starts_with('#') || is_label
}

/// Returns whether a line goes on with the statement before it: code, an item's line without a mark, a sentence's middle.
fn goes_on(before: &str, line: &str, is_code: bool) -> bool {
    let (lead, said) = split_lead(line);
    let is_item = !split_lead(before).0.trim().is_empty();
    let is_marked = !lead.trim().is_empty();
    let is_middle = said.starts_with(char::is_lowercase) && !before.ends_with(['.', ':', ';', '!', '?']);
    !is_heading(before) && (is_code || !is_marked && (is_item && !lead.is_empty() || is_middle))
}

impl Block {
    fn head(&self) -> usize {
        usize::from(self.pieces.first().is_some_and(|first| is_heading(&first.text)))
    }

    fn size(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text.len()).sum()
    }

    /// Whether it says what was asked for, or what the user demands.
    fn is_needed_most(&self) -> bool {
        let heading = self.pieces.first().and_then(|first| first.text.strip_prefix('#'));
        let section = heading.and_then(Section::of);
        matches!(section, Some(Section::Request | Section::Rules))
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

    #[test]
    fn a_statement_leaves_whole_and_what_was_asked_for_last() {
        let at_most = |n: usize| move |text: &str| text.len() <= n;
        let text = "## Request\n- Mend it.\n\n## Findings\n- one\n- `export` reads blocks,\n  except under `--strict`,\n  where it reads by line.\n- Run it:\n```\n# all\n\ncargo test\n```\n- last";
        for limit in 0..text.len() {
            let Some(short) = shortened(text, at_most(limit)) else { continue };
            assert!(short.len() <= limit && short.contains("Mend it."), "{short}");
            assert_eq!(short.contains("reads blocks"), short.contains("where it reads by line."), "{short}");
            assert_eq!(short.contains("except"), short.contains("reads blocks"), "{short}");
            assert_eq!(short.matches("```").count(), 2 * short.matches("Run it:").count(), "{short}");
            assert_eq!(short.contains("# all"), short.contains("cargo test"), "{short}");
        }
        assert_eq!(shortened(text, at_most(21)).as_deref(), Some("## Request\n- Mend it."));
        let wrapped = "The lease lasts for forty seconds\nunless the relay is down. It is\nlogged.\nThe end.";
        assert!(shortened(wrapped, at_most(40)).is_none_or(|short| !short.contains("lasts")), "cut in two");
        let item = "- One item. Of two sentences.";
        assert_eq!(shortened(item, at_most(20)), None);
    }

    #[test]
    fn no_statement_moves_under_the_heading_before() {
        let text =
            "It is half done.\nDecisions:\n- keep the lease\nOpen:\n- two fail\n- three fail\n- four fail";
        for limit in 0..text.len() {
            let Some(short) = shortened(text, |text| text.len() <= limit) else { continue };
            assert_eq!(short.contains("fail"), short.contains("Open:"), "{limit}: {short}");
            assert_eq!(short.contains("keep"), short.contains("Decisions:"), "{limit}: {short}");
        }
    }

    #[test]
    fn a_long_text_is_counted_a_few_times() {
        let text: String = (0..3_000).map(|nth| format!("- Statement {nth} of many.\n")).collect();
        let counted = std::cell::Cell::new(0);
        let fits = |text: &str| {
            counted.set(counted.get() + 1);
            text.len() <= 30_000
        };
        let short = shortened(&text, fits).unwrap();
        assert!(short.len() > 29_900 && counted.get() < 20, "{} after {}", short.len(), counted.get());
    }
}
