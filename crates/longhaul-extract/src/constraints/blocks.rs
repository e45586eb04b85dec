//! The text that people type as blocks: paragraphs and list items, each whole, with what they stand under.

/// A paragraph or a list item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// Its words, on one line however they were wrapped.
    pub(crate) text: String,
    /// The line that leads to it: the item that it stands under, the last line before the list, or the heading.
    pub(crate) lead: String,
    /// Whether it is an item of a list.
    pub(crate) is_item: bool,
}

/// Returns the blocks of `text`, in order. Fenced code, markup, tables and quotations are left out.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Blocks::default();
    let mut fence = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            fence = !fence;
            reader.close();
        } else if fence || trimmed.is_empty() || trimmed.starts_with(['<', '>', '{', '|', '$']) {
            reader.close();
        } else {
            reader.line(line, trimmed);
        }
    }
    reader.close();
    reader.found
}

#[derive(Default)]
struct Blocks {
    found: Vec<Block>,
    open: Option<Block>,
    /// Whether the open block's last line was filled up, so that the next one goes on with it.
    is_wrapped: bool,
    heading: String,
    /// What leads to the list that is being read.
    lead: String,
    /// How far the open item is indented.
    indent: usize,
    /// The items that lead to others, outermost first, with how far each is indented.
    leading: Vec<(usize, String)>,
}

impl Blocks {
    fn line(&mut self, line: &str, trimmed: &str) {
        if let Some(heading) = heading(trimmed) {
            self.close();
            (self.heading, self.lead) = (heading.to_owned(), String::new());
            return;
        }
        if let Some(item) = item(trimmed) {
            self.close();
            self.indent = line.len() - line.trim_start().len();
            while self.leading.pop_if(|(indent, _)| *indent >= self.indent).is_some() {}
            let outer = if self.lead.is_empty() { &self.heading } else { &self.lead };
            let lead = self.leading.last().map_or(outer, |(_, item)| item);
            self.open = Some(Block { text: item.to_owned(), lead: lead.clone(), is_item: true });
        } else if let Some(open) = self.open.as_mut().filter(|open| {
            // Behind the end of a sentence a row of data begins, and no further sentence.
            let is_row = ends_sentence(&open.text) && trimmed.starts_with(|c: char| c.is_ascii_digit());
            self.is_wrapped && !is_row || open.is_item && line.starts_with("  ")
        }) {
            let joins = |c: Option<char>| c.is_some_and(is_wide);
            if !joins(open.text.chars().next_back()) || !joins(trimmed.chars().next()) {
                open.text.push(' ');
            }
            open.text.push_str(trimmed);
        } else {
            self.close();
            self.open = Some(Block { text: trimmed.to_owned(), lead: self.heading.clone(), is_item: false });
        }
        self.is_wrapped = width(trimmed) >= WRAPPED || self.is_wrapped && !ends_sentence(trimmed);
    }

    fn close(&mut self) {
        let Some(block) = self.open.take() else { return };
        let leads = block.text.ends_with([':', '：']);
        if !block.is_item {
            self.lead = if leads { block.text.clone() } else { String::new() };
            self.leading.clear();
        } else if leads {
            self.leading.push((self.indent, block.text.clone()));
        }
        self.is_wrapped = false;
        self.found.push(block);
    }
}

/// Returns the words of a heading: `## Rules`, or a line in bold.
fn heading(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix('#') {
        let rest = rest.trim_start_matches('#');
        return rest.starts_with(' ').then(|| rest.trim());
    }
    let bold = line.trim_end_matches(':').strip_prefix("**")?.strip_suffix("**")?;
    (!bold.contains("**")).then_some(bold)
}

/// Returns the words of a list item.
fn item(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(['-', '*', '•', '–', '+']);
    if rest.len() != line.len() && line.len() - rest.len() <= 3 && rest.starts_with(' ') {
        let rest = rest.trim_start();
        return Some(rest.strip_prefix("[ ] ").or_else(|| rest.strip_prefix("[x] ")).unwrap_or(rest));
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(['.', ')'])?;
    ((1..=3).contains(&digits) && rest.starts_with(' ')).then(|| rest.trim_start())
}

/// Columns that the line fills: wide characters take two.
fn width(line: &str) -> usize {
    line.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ffef}')
}

fn ends_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '：'])
}

/// Returns the sentences of one line of words, trimmed, in order.
pub(crate) fn sentences_of(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            let after = &rest[at + c.len_utf8()..];
            let wide = matches!(c, '。' | '！' | '？');
            let narrow = matches!(c, '.' | '!' | '?') && after.starts_with(char::is_whitespace);
            if wide || narrow && !goes_on(&rest[..at], c, after) {
                end = at + c.len_utf8();
                break;
            }
        }
        let (sentence, after) = rest.split_at(end);
        rest = after.trim_start();
        Some(sentence.trim())
    })
    .filter(|sentence| !sentence.is_empty())
}

/// Whether the sentence goes on after this mark: an abbreviation, a number of a list, dots before a small letter.
fn goes_on(before: &str, mark: char, after: &str) -> bool {
    if mark != '.' {
        return false;
    }
    let short = [
        "e.g", "i.e", "etc", "z.B", "p.ex", "vs", "cf", "z. B", "bzw", "ca", "approx", "incl", "resp", "No",
        "Nr", "Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Hr", "Fr", "Sr", "Sra",
    ];
    let word = before.rsplit([' ', '(']).next().unwrap_or_default();
    let follows = after.trim_start();
    // The initial of a name ("M. Keller"), which no plan B and no first word of a sentence is.
    let named = before.trim_end_matches(word).trim_end().rsplit(' ').next().unwrap_or_default();
    let is_initial = word.len() == 1
        && word.bytes().all(|byte| byte.is_ascii_uppercase() && byte != b'I')
        && follows.starts_with(char::is_uppercase)
        && !LETTERED.contains(&&*named.to_lowercase());
    short.iter().any(|short| word == *short || before.ends_with(&format!(" {short}")))
        || is_initial
        || follows.starts_with('»')
        || word.len() <= 2
            && !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_digit())
            && before.len() <= 3
        || before.ends_with("..") && follows.starts_with(char::is_lowercase)
}

/// What is told from its like by a letter.
const LETTERED: [&str; 14] = [
    "plan", "option", "region", "step", "class", "type", "grade", "part", "section", "phase", "team", "item",
    "variant", "case",
];

/// Columns from which on a line counts as filled up, so that the next one goes on with it.
const WRAPPED: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        blocks(text).into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn wrapped_lines_are_one_sentence() {
        let text = "- Call the model only when a trigger fires, see the table above; never by\n  default and never for a routine judgment call.\n- Next.";
        assert_eq!(
            texts(text),
            [
                "Call the model only when a trigger fires, see the table above; never by default and never for a routine judgment call.",
                "Next."
            ]
        );
        let wide = "无论什么情况都不要直接推送到主分支，所有的改动必须先经过代码评审并且通过全部测试之后才能合并到主分支里面去，\n这一条没有例外。";
        assert_eq!(texts(wide).len(), 1);
    }

    #[test]
    fn lines_of_their_own_stay_apart() {
        assert_eq!(texts("fix the color\nnever use tabs"), ["fix the color", "never use tabs"]);
        let rule = "Rule: never write to the table ledger_audit while the relay runs.";
        assert_eq!(texts(&format!("{rule}\n0,relay-0,eu-west\n1,relay-1,eu-west"))[0], rule);
    }

    #[test]
    fn an_item_knows_what_it_stands_under() {
        let all = blocks("## Style\n\nDo not touch:\n- a.rs\n- b.rs\n\nDone.\n\n- x");
        let leads: Vec<(&str, &str)> = all.iter().map(|block| (&*block.lead, &*block.text)).collect();
        assert_eq!(
            leads,
            [
                ("Style", "Do not touch:"),
                ("Do not touch:", "a.rs"),
                ("Do not touch:", "b.rs"),
                ("Style", "Done."),
                ("Style", "x")
            ]
        );
        let nested = "- if a second session starts, we have two paths:\n  1. the files match: we go on\n  2. they do not:\n     - we start anew\n- then we stop";
        let leads: Vec<String> = blocks(nested).into_iter().map(|block| block.lead).collect();
        let outer = "if a second session starts, we have two paths:";
        assert_eq!(leads, ["", outer, outer, "they do not:", ""]);
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        let all: Vec<_> = sentences_of(
            "Use src/a.rs, e.g. line 2. Then stop! Never push; ask first. 只用标准库。不要联网。",
        )
        .collect();
        assert_eq!(
            all,
            [
                "Use src/a.rs, e.g. line 2.",
                "Then stop!",
                "Never push; ask first.",
                "只用标准库。",
                "不要联网。"
            ]
        );
        let names = "Rien pour M. Keller. Mr. Bell waits; use plan B. Then stop.";
        let all: Vec<_> = sentences_of(names).collect();
        assert_eq!(all, ["Rien pour M. Keller.", "Mr. Bell waits; use plan B.", "Then stop."]);
        let quoted: Vec<_> = sentences_of("Il a écrit : « Jamais. » J'ai ri.").collect();
        assert_eq!(quoted, ["Il a écrit : « Jamais. » J'ai ri."]);
    }
}
