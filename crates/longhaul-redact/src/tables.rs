//! Tables with a column of secrets: CSV, Markdown, and what database clients print.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use crate::named::{Named, is_label};

/// Returns the cells of the columns that are called a secret, where the line that `head` stands in is the first of a table.
pub(crate) fn cells(text: &[u8], head: Range<usize>) -> Named {
    let line = line_around(text, head.start);
    let mut named = Named { values: Vec::new(), end: after(text, &line) };
    let Some(columns) = Columns::of(text, line) else { return named };
    let (mut is_ruled, mut blanks) = (columns.is_bare || columns.separator != b'|', 0);
    while named.end < text.len() {
        let row = line_around(text, named.end);
        if text[row.clone()].trim_ascii().is_empty() {
            // A line end in JSON is two, once it is no escape any more.
            blanks += 1;
        } else if is_rule(&text[row.clone()]) {
            is_ruled = true;
        } else {
            let cells = split(text, columns.unmarked(text, row.clone()), columns.separator);
            if !is_ruled || cells.len() != columns.n {
                break;
            }
            blanks = 0;
            named.values.extend(columns.secret.iter().map(|at| bare(text, cells[*at].clone())));
        }
        if blanks > 1 {
            break;
        }
        named.end = after(text, &row);
    }
    named
}

/// Returns the values of the rows below `head`, each a name and a value with blanks between them, whose name is a secret's.
pub(crate) fn rows(text: &[u8], head: Range<usize>) -> Named {
    let mut named = Named { values: Vec::new(), end: after(text, &line_around(text, head.end)) };
    while named.end < text.len() {
        let line = line_around(text, named.end);
        let row = line.start + number(&text[line.clone()])..line.end;
        let row = trimmed(text, row, |byte| byte.is_ascii_whitespace());
        let Some(gap) = memchr::memchr2(b' ', b'\t', &text[row.clone()]) else { break };
        let value = trimmed(text, row.start + gap..row.end, |byte| byte.is_ascii_whitespace());
        let name = &text[row.start..row.start + gap];
        if is_label(name) || NAMES_OF_ROWS.iter().any(|end| name.ends_with(end)) {
            named.values.push(value);
        }
        named.end = after(text, &line);
    }
    named
}

/// Returns the cells of a table of HTML below the one that `head` is.
pub(crate) fn html_cells(text: &[u8], head: Range<usize>) -> Named {
    let mut named = Named { values: Vec::new(), end: head.end };
    let before = &text[head.start.saturating_sub(LONGEST_HEAD)..head.start];
    let Some(row) = memmem::rfind(before, b"<tr") else { return named };
    let column =
        memmem::find_iter(&before[row..], b"<th").filter(|at| !before[row + at..].starts_with(b"<thead"));
    let column = column.count();
    let limit = (head.end + LONGEST_TABLE).min(text.len());
    let table = memmem::find(&text[head.end..limit], b"</table").map_or(limit, |length| head.end + length);
    let mut at = head.end;
    while let Some(found) = memmem::find(&text[at..table], b"<tr") {
        at += found + 3;
        let row = at..memmem::find(&text[at..table], b"<tr").map_or(table, |length| at + length);
        let mut cells = memmem::find_iter(&text[row.clone()], b"<td");
        let cell = cells.nth(column).and_then(|cell| {
            let start = row.start + cell + memchr(b'>', &text[row.start + cell..row.end])? + 1;
            // Inside of what emphasizes it.
            let is_tag = |rest: &[u8]| rest.first() == Some(&b'<') && rest.get(1) != Some(&b'/');
            let inside =
                if is_tag(&text[start..row.end]) { memchr(b'>', &text[start..row.end])? + 1 } else { 0 };
            let length = memchr(b'<', &text[start + inside..row.end])?;
            Some(bare(text, start + inside..start + inside + length))
        });
        named.values.extend(cell);
        named.end = row.end;
        at = row.end;
    }
    named
}

/// The columns of a table.
struct Columns {
    separator: u8,
    n: usize,
    /// Those that are called a secret.
    secret: Vec<usize>,
    /// A tool put numbers before the lines.
    is_numbered: bool,
    /// Names alone, with nothing but separators between them, as SQLite prints them.
    is_bare: bool,
}

impl Columns {
    /// Returns the columns that a line names; `None` where it says something else. It may be the first of a string of JSON.
    fn of(text: &[u8], mut line: Range<usize>) -> Option<Columns> {
        let shown = text.get(line.clone()).filter(|shown| shown.len() <= LONGEST_HEAD)?;
        if let Some(key) = memmem::rfind(shown, b"\":") {
            let behind = shown[key + 2..].trim_ascii_start();
            line.start = line.end - behind.strip_prefix(b"\"").unwrap_or(behind).len();
            let next = memmem::rfind(&text[line.clone()], b"\",\"").map_or(0, |at| at + 3);
            line.start += next;
        }
        // It may be the name in an object as well.
        line.start += memmem::rfind(&text[line.clone()], b"{\"").map_or(0, |at| at + 2);
        let number = number(&text[line.clone()]);
        line.start += number;
        // What a program says before it; a sentence has blanks behind its commas.
        let shown = &text[line.clone()];
        if let Some(said) = memmem::rfind(shown, b": ")
            && shown[said + 2..].windows(2).all(|pair| pair != b", ")
        {
            line.start += said + 2;
        }
        let shown = &text[line.clone()];
        let separator = *b"|\t;,".iter().find(|separator| shown.contains(separator))?;
        let cells = split(text, line, separator);
        let names = || cells.iter().map(|cell| &text[bare(text, cell.clone())]);
        let is_head = cells.len() > 1 && names().all(|name| is_name(name, separator));
        let secret: Vec<usize> =
            names().enumerate().filter(|(_, name)| is_label(name)).map(|(at, _)| at).collect();
        // What stands alone beside a separator or two is a choice.
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.|\r".contains(byte);
        let is_bare = separator == b'|' && cells.len() > 2 && shown.iter().all(is_word);
        let columns = Columns { separator, n: cells.len(), secret, is_numbered: number > 0, is_bare };
        (is_head && !columns.secret.is_empty()).then_some(columns)
    }

    /// Returns a row without the number before it.
    fn unmarked(&self, text: &[u8], row: Range<usize>) -> Range<usize> {
        let length = if self.is_numbered { number(&text[row.clone()]) } else { 0 };
        row.start + length..row.end
    }
}

/// Returns how long the number is that a tool puts before a line, with what is around it.
pub(crate) fn number(line: &[u8]) -> usize {
    let blanks = line.len() - line.trim_ascii_start().len();
    let digits = line[blanks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &line[blanks + digits..] {
        [b'\t' | b':', ..] if digits > 0 => blanks + digits + 1,
        rest if digits > 0 && rest.starts_with("→".as_bytes()) => blanks + digits + "→".len(),
        _ => 0,
    }
}

/// Returns whether `name` may be that of a column, and not a part of a sentence or of a program.
fn is_name(name: &[u8], separator: u8) -> bool {
    let mut words = name.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let is_program = words.clone().next().is_none_or(|first| PROGRAM_WORDS.contains(&first));
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b" _.-#/()".contains(byte) || !byte.is_ascii();
    let most = if separator == b'|' { 4 } else { 2 };
    name.len() <= LONGEST_NAME && name.iter().all(is_sign) && !is_program && words.nth(most).is_none()
}

/// Returns whether a line is the rule below a head or at the end of a table.
fn is_rule(line: &[u8]) -> bool {
    line.iter().filter(|byte| **byte == b'-').count() >= 3
        && line.iter().all(|byte| b"-+|:= \t\r>".contains(byte))
}

/// Returns the cells of a line. A separator between quotes is none, and those around a row separate nothing.
fn split(text: &[u8], line: Range<usize>, separator: u8) -> Vec<Range<usize>> {
    let is_blank = |byte: u8| byte.is_ascii_whitespace() && (byte != b'\t' || separator != b'\t');
    let mut line = trimmed(text, line, is_blank);
    if separator == b'|' {
        // A mark of a difference or of a quotation may stand before it.
        let is_mark =
            |first: &usize| text[line.start..][..*first].iter().all(|byte| b"+-<>! ".contains(byte));
        if let Some(first) =
            memchr(separator, &text[line.clone()]).filter(|first| *first <= 2 && is_mark(first))
        {
            line.start += first + 1;
        }
        line.end -= usize::from(line.end > line.start && text[line.end - 1] == separator);
    }
    let (mut cells, mut start, mut is_quoted) = (Vec::new(), line.start, false);
    for at in line.clone() {
        match text[at] {
            b'"' if separator != b'|' => is_quoted = !is_quoted,
            byte if byte == separator && !is_quoted => {
                cells.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(start..line.end);
    cells
}

/// Returns what stands in a cell, without what marks it: quotes, and stars on both sides. The last one may be the end of a string of JSON.
fn bare(text: &[u8], cell: Range<usize>) -> Range<usize> {
    let is_mark = |byte: u8| byte.is_ascii_whitespace() || b"\"'`".contains(&byte);
    let mut cell = trimmed(text, cell, is_mark);
    while let [b'*', .., b'*'] = &text[cell.clone()] {
        cell = trimmed(text, cell.start + 1..cell.end - 1, is_mark);
    }
    let length = memchr(b'"', &text[cell.clone()]).unwrap_or(cell.len());
    cell.start..cell.start + length
}

fn trimmed(text: &[u8], span: Range<usize>, is_blank: impl Fn(u8) -> bool) -> Range<usize> {
    let shown = &text[span.clone()];
    let head = shown.iter().take_while(|byte| is_blank(**byte)).count();
    let tail = shown[head..].iter().rev().take_while(|byte| is_blank(**byte)).count();
    span.start + head..span.end - tail
}

/// Returns the line in which `at` stands, without its end.
fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    start..memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end)
}

fn after(text: &[u8], line: &Range<usize>) -> usize {
    (line.end + 1).min(text.len())
}

/// A longer line names no columns, in bytes.
const LONGEST_HEAD: usize = 2_048;

/// How far behind the head of a table of HTML its rows are looked for, in bytes.
const LONGEST_TABLE: usize = 64 << 10;

/// How the names of secrets end in rows of names and values, beside those of columns.
const NAMES_OF_ROWS: [&[u8]; 4] = [b"token", b"secret", b"_key", b"passphrase"];

/// A longer cell is no name, in bytes.
const LONGEST_NAME: usize = 40;

/// With these a line of a program begins.
const PROGRAM_WORDS: &[&[u8]] = &[
    b"import", b"from", b"return", b"let", b"const", b"var", b"use", b"select", b"SELECT", b"del", b"global",
    b"yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let head = text.to_lowercase().find("pass").expect(text);
        cells(text.as_bytes(), head..head + 4).values.into_iter().map(|cell| &text[cell]).collect()
    }

    #[test]
    fn the_cells_below_a_label_are_found() {
        for (text, expected) in [
            ("user,password\nme,one\nyou,two\n\nthat was it", vec!["one", "two"]),
            ("\"user\";\"Pass Word\";\"mail\"\n\"a;b\";\"one\";x\n", vec!["one"]),
            ("user\tpasswd\r\nme\tone\r\n", vec!["one"]),
            ("     1\tuser,password\n     2\tme,one\n", vec!["one"]),
            ("     1\tpassword,user\n     2\tone,me\n", vec!["one"]),
            ("| User | **Password** |\n|---|:--|\n| me | `one` |\n| you | two |\n\nend", vec!["one", "two"]),
            ("Error: user,password\nme,one\n", vec!["one"]),
            ("user,password\nme,Maple31*\nyou,**two**\n", vec!["Maple31*", "two"]),
            ("{\"user,password\nme,one\":\"x\"}", vec!["one"]),
            ("{\"a\":\"b\",\"user,password\nme,one\":\"x\"}", vec!["one"]),
            (" user | password \n------+----------\n me   | one\n(1 row)", vec!["one"]),
            (" id | name | password \n----+------+----------\n  1 | bob  | one\n(1 row)", vec!["one"]),
            ("+----+------+\n| id | pwd  |\n+----+------+\n| 1  | one  |\n+----+------+\n", vec!["one"]),
        ] {
            let text = text.replace("pwd ", "pass").replace("pass ", "password ");
            assert_eq!(found(&text.replace("Pass Word", "Password")), expected, "{text}");
        }
    }

    #[test]
    fn sentences_and_programs_are_no_tables() {
        for text in [
            "Please enter your user name, password\nand, then\n",
            "def login(user, password):\n    call(one, two):\n",
            "    user,\n    password,\n    mail,\n",
            "import user, password\nfrom x, y\n",
            "Required: user, password\nfrom x, y\n",
            "const { user, password } = body;\nfoo, bar",
            "a | grep password | b\nc | d | e\n",
            "password\none\n",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
