//! Values that stand apart from what names them: in a list, in pairs of users and passwords, behind the columns of an `INSERT`,
//! under the `data` of a Kubernetes secret.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use crate::{
    generated,
    named::{LONGEST_VALUE, Named, is_label, is_word, quoted},
    objects,
    rules::Shape,
    tables,
};

/// Returns what `head` names, which an expression has found.
pub(crate) fn values(text: &[u8], head: Range<usize>, shape: Shape) -> Named {
    match shape {
        Shape::Table => tables::cells(text, head),
        Shape::Rows => tables::rows(text, head),
        Shape::Html => tables::html_cells(text, head),
        Shape::List => items(text, head),
        Shape::Pairs => passwords_of_pairs(text, head.end),
        Shape::Insert => inserted(text, head.end),
        Shape::Manifest => manifest(text, head),
        Shape::WebKey => members(text, head),
        Shape::Object => objects::values(text, head),
        Shape::Generated => generated::value(text, head),
    }
}

/// Returns the items of a list or of a map behind what opens it, or, behind a colon, of the lines that begin with a dash.
fn items(text: &[u8], head: Range<usize>) -> Named {
    let close = match text[head.end - 1] {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        _ => return dashed(text, head.end),
    };
    // In a program a word without quotes is a name.
    let takes_words = memchr(b':', &text[head.clone()]).is_some();
    let mut named = Named { values: Vec::new(), end: head.end };
    while let Some(byte) = text.get(named.end).filter(|_| named.end - head.end < LONGEST_LIST) {
        let at = named.end;
        named.end += 1;
        if *byte == close {
            break;
        }
        let item = match byte {
            b'"' | b'\'' | b'`' => quoted(text, at),
            _ if byte.is_ascii_whitespace() || b",:>=".contains(byte) => continue,
            _ => {
                let rest = &text[at..];
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == close || b",:".contains(byte);
                Some(
                    at..at
                        + rest
                            .iter()
                            .take(LONGEST_VALUE)
                            .position(is_end)
                            .unwrap_or(rest.len().min(LONGEST_VALUE)),
                )
            }
        };
        let Some(item) = item else { break };
        let is_quoted = item.start > at;
        named.end = item.end + usize::from(is_quoted);
        // The key of a pair.
        let behind = text[named.end..].trim_ascii_start();
        let is_key = behind.starts_with(b":") || behind.starts_with(b"=>");
        if !is_key && (is_quoted || takes_words && is_word(&text[item.clone()])) {
            named.values.push(item);
        }
    }
    named
}

/// Returns what stands behind the dashes of the lines from `at` on.
fn dashed(text: &[u8], at: usize) -> Named {
    let mut named = Named { values: Vec::new(), end: at };
    for line in lines(text, at) {
        // Behind the number of a line, or the mark of one that is added.
        let shown = &text[line.clone()];
        let number = tables::number(shown);
        let mark = number + usize::from(shown.get(number) == Some(&b'+'));
        let (line, shown) = (line.start + mark..line.end, &shown[mark..]);
        let indent = shown.len() - shown.trim_ascii_start().len();
        let Some(item) = shown.trim_ascii_start().strip_prefix(b"- ") else {
            match shown.trim_ascii().is_empty() {
                true => continue,
                false => break,
            }
        };
        named.end = line.end;
        let start = line.start + indent + 2 + (item.len() - item.trim_ascii_start().len());
        let item = start..start + item.trim_ascii().len();
        // A word alone is one of a sentence or of a list of rules.
        if text[item.clone()].iter().any(|byte| !byte.is_ascii_alphabetic()) {
            named.values.push(unquoted(text, item));
        }
    }
    named
}

/// Returns the second of each pair from `at` on: `bob:..., alice:...`, in one line or in a line each.
fn passwords_of_pairs(text: &[u8], at: usize) -> Named {
    let mut named = Named { values: Vec::new(), end: at };
    let count = |from: usize, most: usize, is_one: fn(&u8) -> bool| {
        text[from..].iter().take(most).take_while(|byte| is_one(byte)).count()
    };
    let is_blank = |byte: &u8| b" \t*`'\"".contains(byte);
    while named.end < at + LONGEST_LIST {
        let name =
            named.end + count(named.end, 8, |byte| byte.is_ascii_whitespace() || b",;-*`'\"".contains(byte));
        let length = count(name, 60, |byte| byte.is_ascii_alphanumeric() || b"_.@+-".contains(byte));
        let assigned = name + length + count(name + length, 4, is_blank);
        if length == 0 || text.get(assigned).is_none_or(|byte| !b":/=|".contains(byte)) {
            break;
        }
        let start = assigned + 1 + count(assigned + 1, 4, is_blank);
        let length =
            count(start, LONGEST_VALUE, |byte| byte.is_ascii_graphic() && !b",;\"'`\\<>|".contains(byte));
        if length == 0 {
            break;
        }
        named.values.push(start..start + length);
        named.end = start + length;
    }
    named
}

/// Returns what is inserted into columns that are called a secret. `at` is behind the bracket before their names.
fn inserted(text: &[u8], at: usize) -> Named {
    let nothing = |end| Named { values: Vec::new(), end };
    let Some(columns) = memchr(b')', &text[at..]).filter(|length| *length <= LONGEST_COLUMNS) else {
        return nothing(at);
    };
    let names = text[at..at + columns].split(|byte| *byte == b',');
    let secret: Vec<usize> =
        names.enumerate().filter(|(_, name)| is_label(name)).map(|(nth, _)| nth).collect();
    let behind = at + columns + 1;
    let blank = text[behind..].len() - text[behind..].trim_ascii_start().len();
    let is_values = text[behind + blank..].get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"values"));
    if secret.is_empty() || !is_values {
        return nothing(behind);
    }
    let mut named = nothing(behind + blank + 6);
    let (mut depth, mut column, mut is_taken) = (0usize, 0, false);
    while let Some(byte) = text.get(named.end) {
        let at = named.end;
        named.end += 1;
        match byte {
            b'(' => {
                depth += 1;
                if depth == 1 {
                    (column, is_taken) = (0, false);
                }
            }
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => (column, is_taken) = (column + 1, false),
            b'\'' | b'"' => {
                let Some(value) = quoted(text, at) else { break };
                named.end = value.end + 1;
                // The first of a call: `crypt('...', gen_salt('bf'))`.
                if depth > 0 && !is_taken && secret.contains(&column) {
                    named.values.push(value);
                    is_taken = true;
                }
            }
            b',' => {}
            _ if depth == 0 && !byte.is_ascii_whitespace() => break,
            _ => {}
        }
    }
    named
}

/// Returns the values under `data` and `stringData` in the document in which `head` says that it is a secret.
fn manifest(text: &[u8], head: Range<usize>) -> Named {
    let before = &text[head.start.saturating_sub(LONGEST_MANIFEST)..head.start];
    let start = head.start - before.len() + memmem::rfind(before, b"\n---").unwrap_or_default();
    let end = memmem::find(&text[head.end..], b"\n---").map_or(text.len(), |length| head.end + length);
    let mut named = Named { values: Vec::new(), end };
    for field in [&b"data"[..], b"stringData"] {
        let mut at = start;
        while let Some(found) = memmem::find(&text[at..end], field) {
            let name = at + found..at + found + field.len();
            at = name.end;
            let is_inside = name.start > start && text[name.start - 1].is_ascii_alphanumeric();
            let behind = &text[at..end];
            let quotes = behind.iter().take_while(|byte| b"\"'\\".contains(byte)).count();
            if is_inside || behind.get(quotes) != Some(&b':') {
                continue;
            }
            at += quotes + 1;
            let read = match text[at..end].trim_ascii_start().first() {
                Some(b'{') => pairs(text, at, end),
                _ => below(text, at, end),
            };
            at = read.end.max(at);
            named.values.extend(read.values);
        }
    }
    named.values.sort_unstable_by_key(|value| value.start);
    named
}

/// Returns the private members of the JSON web key in which `head` says of which kind it is (RFC 7518, section 6).
fn members(text: &[u8], head: Range<usize>) -> Named {
    let nothing = Named { values: Vec::new(), end: head.end };
    let before = &text[head.start.saturating_sub(LONGEST_LIST)..head.start];
    let Some(open) = memchr::memrchr2(b'{', b'}', before).filter(|at| before[*at] == b'{') else {
        return nothing;
    };
    let mut named = Named { end: head.start - before.len() + open + 1, ..nothing };
    let mut name: Option<Range<usize>> = None;
    while let Some(byte) = text.get(named.end).filter(|byte| !b"{}".contains(byte)) {
        named.end += 1;
        match byte {
            b'"' | b'\'' => {
                let Some(string) = quoted(text, named.end - 1) else { break };
                named.end = string.end + 1;
                match name.take() {
                    Some(name) if PRIVATE_MEMBERS.contains(&&text[name.clone()]) => named.values.push(string),
                    Some(_) => {}
                    None => name = Some(string),
                }
            }
            b',' | b'[' => name = None,
            _ => {}
        }
    }
    named.end = named.end.max(head.end);
    named
}

/// Returns the strings behind colons in the brackets that open behind `at`, up to others inside of them.
fn pairs(text: &[u8], at: usize, end: usize) -> Named {
    let mut named =
        Named { values: Vec::new(), end: memchr(b'{', &text[at..end]).map_or(end, |open| at + open + 1) };
    let mut is_value = false;
    while let Some(byte) = text[..end].get(named.end).filter(|byte| !b"{}".contains(byte)) {
        named.end += 1;
        match byte {
            b':' => is_value = true,
            b'"' => {
                let Some(string) = quoted(&text[..end], named.end - 1) else { break };
                named.end = string.end + 1;
                if std::mem::take(&mut is_value) {
                    named.values.push(string);
                }
            }
            _ => {}
        }
    }
    named
}

/// Returns what stands behind the keys in lines that are further in than the one that `at` is in, and in those below a `|`.
fn below(text: &[u8], at: usize, end: usize) -> Named {
    // Behind the number of a line as well.
    let is_mark = |byte: &&u8| b" \t+>|".contains(*byte) || byte.is_ascii_digit();
    let column = |line: &Range<usize>| text[line.clone()].iter().take_while(is_mark).count();
    let line_start = memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    let outer = column(&(line_start..at));
    let mut named = Named { values: Vec::new(), end: at };
    // The column of the key whose text stands in the lines below it, and whether the first of them was there.
    let mut block: Option<(usize, bool)> = None;
    for line in lines(&text[..end], memchr(b'\n', &text[at..end]).map_or(end, |length| at + length + 1)) {
        let (inner, shown) = (column(&line), text[line.clone()].trim_ascii_end());
        if shown.len() <= inner {
            continue;
        }
        if inner <= outer {
            break;
        }
        named.end = line.end;
        let value = line.start + inner..line.start + shown.len();
        match (&mut block, named.values.last_mut()) {
            (Some((key, true)), Some(last)) if inner > *key => {
                last.end = value.end;
                continue;
            }
            (Some((key, is_begun)), _) if inner > *key => {
                *is_begun = true;
                named.values.push(value);
                continue;
            }
            _ => block = None,
        }
        let Some(colon) = memchr(b':', &text[value.clone()]) else { continue };
        let colon = value.start + colon + 1;
        let blanks = text[colon..value.end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match text[colon + blanks..value.end].first() {
            Some(b'|' | b'>') => block = Some((inner, false)),
            Some(_) if blanks > 0 => named.values.push(unquoted(text, colon + blanks..value.end)),
            _ => {}
        }
    }
    named
}

fn unquoted(text: &[u8], span: Range<usize>) -> Range<usize> {
    match &text[span.clone()] {
        [open @ (b'"' | b'\''), .., close] if open == close => span.start + 1..span.end - 1,
        _ => span,
    }
}

/// Returns the lines from `at` on, without their ends.
fn lines(text: &[u8], mut at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    // What is left of a line is none.
    if at > 0 && text.get(at - 1) != Some(&b'\n') {
        at = memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length + 1);
    }
    std::iter::from_fn(move || {
        let start = at;
        let end = memchr(b'\n', text.get(start..)?).map_or(text.len(), |length| start + length);
        at = end + 1;
        (start < text.len()).then_some(start..end)
    })
}

/// What a JSON web key keeps for its owner.
const PRIVATE_MEMBERS: [&[u8]; 7] = [b"d", b"k", b"p", b"q", b"dp", b"dq", b"qi"];

/// The most of a list that is read, in bytes.
const LONGEST_LIST: usize = 64 << 10;

/// The names of the columns of an `INSERT` take no more, in bytes.
const LONGEST_COLUMNS: usize = 4 << 10;

/// How far before the kind of a manifest its document is looked for, in bytes.
const LONGEST_MANIFEST: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(text: &'a str, head: &str, shape: Shape) -> Vec<&'a str> {
        let start = text.find(head).expect(text);
        let named = values(text.as_bytes(), start..start + head.len(), shape);
        named.values.into_iter().map(|value| &text[value]).collect()
    }

    #[test]
    fn items_of_lists_are_found() {
        for (text, head, expected) in [
            ("passwords: [one, 'two', \"three\"] x", "passwords: [", vec!["one", "two", "three"]),
            ("passwords = [one, 'two', f('x')]", "passwords = [", vec!["two"]),
            ("passwords = {'me': 'one', 'you': 'two'}", "passwords = {", vec!["one", "two"]),
            ("passwords:\n  - one1\n  - 'two2'\nx: y", "passwords:", vec!["one1", "two2"]),
            ("passwords:\n- must be long enough to\nx", "passwords:", vec!["must be long enough to"]),
            ("passwords: [", "passwords: [", vec![]),
        ] {
            assert_eq!(found(text, head, Shape::List), expected, "{text}");
        }
    }

    #[test]
    fn what_is_inserted_is_found_under_its_column() {
        let insert = |rest: &str| format!("INSERT INTO u {rest}");
        for (rest, expected) in [
            ("(id, password) VALUES (1, 'one'), (2, 'two');\nSELECT 'x'", vec!["one", "two"]),
            ("(`password`, x)\nvalues (crypt('one', gen_salt('bf')), 'a(b')", vec!["one"]),
            ("(id, name) VALUES (1, 'one')", vec![]),
            ("(name, password) VALUES ('it''s, me', 'two')", vec!["two"]),
            ("(password) SELECT 'x'", vec![]),
            ("(password) VALUES (?)", vec![]),
        ] {
            assert_eq!(found(&insert(rest), "INSERT INTO u (", Shape::Insert), expected, "{rest}");
        }
    }

    #[test]
    fn the_data_of_a_secret_is_found_on_either_side_of_its_kind() {
        for (text, expected) in [
            (
                "kind: Secret\nmetadata:\n  name: x\ndata:\n  a: b25l\n  b: \"dHdv\"\ntype: Opaque\n",
                vec!["b25l", "dHdv"],
            ),
            ("data:\n  a: b25l\nkind: Secret\nmetadata:\n  name: x\n", vec!["b25l"]),
            (
                "kind: Secret\nstringData:\n  f: |\n    one\n    two\n  g: three\n",
                vec!["one\n    two", "three"],
            ),
            (
                "kind: ConfigMap\ndata:\n  a: x\n---\nkind: Secret\ndata:\n  a: b25l\n---\ndata:\n  a: y\n",
                vec!["b25l"],
            ),
            ("{\"data\":{\"a\":\"b25l\"},\"kind\": Secret}", vec!["b25l"]),
            ("  1\tkind: Secret\n  2\tdata:\n  3\t  a: b25l\n", vec!["b25l"]),
        ] {
            let head = if text.starts_with('{') { "\"kind\": Secret" } else { "kind: Secret" };
            assert_eq!(found(text, head, Shape::Manifest), expected, "{text}");
        }
    }
}
