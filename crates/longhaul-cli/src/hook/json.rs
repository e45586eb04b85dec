//! Changing a JSON text where it stands: what is put in or taken out, and not a byte besides. Numbers keep their spelling, keys
//! that stand twice stay, and so do line ends and indentation.

use std::ops::Range;

use serde_json::Value;

/// A value, and where it stands in its text.
#[derive(Debug)]
pub(super) struct Node {
    at: Range<usize>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Object(Vec<Member>),
    List(Vec<Node>),
    Other,
}

#[derive(Debug)]
struct Member {
    name: String,
    /// Where its name begins.
    start: usize,
    value: Node,
}

impl Node {
    /// Returns where everything stands in `text`; `None` where it is no JSON.
    pub(super) fn of(text: &str) -> Option<Node> {
        // It goes no deeper than it is safe to follow.
        serde_json::from_str::<Value>(text).ok()?;
        Scanner { text: text.as_bytes(), at: 0 }.value()
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.kind, Kind::List(_))
    }

    /// Returns how many elements a list has; 0 for what is no list.
    pub(super) fn len(&self) -> usize {
        if let Kind::List(list) = &self.kind { list.len() } else { 0 }
    }

    /// Returns the place and the value of each member of this name, in the order in which they stand. The last one counts.
    pub(super) fn members(&self, name: &str) -> impl DoubleEndedIterator<Item = (usize, &Node)> {
        let members: &[Member] = if let Kind::Object(members) = &self.kind { members } else { &[] };
        members.iter().enumerate().filter(move |(_, m)| m.name == name).map(|(at, m)| (at, &m.value))
    }

    /// Returns the elements of a list; none where this is no list.
    pub(super) fn elements(&self) -> impl Iterator<Item = &Node> {
        let list: &[Node] = if let Kind::List(list) = &self.kind { list } else { &[] };
        list.iter()
    }

    /// Returns what the value says.
    pub(super) fn value(&self, text: &str) -> Value {
        serde_json::from_str(&text[self.at.clone()]).unwrap_or_default()
    }

    /// Returns where the value at `path` stands: at each step the how manyth member or element it is.
    fn at(&self, path: &[usize]) -> Option<&Node> {
        let Some((first, rest)) = path.split_first() else { return Some(self) };
        match &self.kind {
            Kind::Object(members) => members.get(*first)?.value.at(rest),
            Kind::List(list) => list.get(*first)?.at(rest),
            Kind::Other => None,
        }
    }

    /// Returns where each member or element stands, names included.
    fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(|m| m.start..m.value.at.end).collect(),
            Kind::List(list) => list.iter().map(|node| node.at.clone()).collect(),
            Kind::Other => Vec::new(),
        }
    }

    /// Returns `text` with another member, of this `name`, or another element at the end of this object or list. It stands as its
    /// neighbours do.
    pub(super) fn with(&self, text: &str, name: Option<&str>, value: &Value) -> String {
        let close = self.at.end - 1;
        let inner = &text[self.at.start + 1..close];
        let put = |at: usize, new: &str| format!("{}{new}{}", &text[..at], &text[at..]);
        match self.parts().last() {
            Some(last) => {
                let before = text[..last.start].trim_end();
                let gap = &text[before.len()..last.start];
                put(last.end, &format!(",{gap}{}", spelled(name, value, text, gap)))
            }
            None if inner.is_empty() && self.at.start == text.len() - text.trim_start().len() => {
                let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
                let gap = format!("{end}{INDENT}");
                put(close, &format!("{gap}{}{end}", spelled(name, value, text, &gap)))
            }
            None => put(close, &format!("{}{WAS_EMPTY}", spelled(name, value, text, ""))),
        }
    }
}

/// Returns `text` without what stands at `path`, and without what was made to hold it; `None` where nothing stands there.
pub(super) fn without(text: &str, path: &[usize]) -> Option<String> {
    let (last, above) = path.split_last()?;
    let root = Node::of(text)?;
    let holder = root.at(above)?;
    let parts = holder.parts();
    let part = parts.get(*last)?;
    let cut = |from: usize, to: usize| format!("{}{}", &text[..from], &text[to..]);
    if let Some(next) = parts.get(last + 1) {
        return Some(cut(part.start, next.start));
    }
    if let Some(previous) = last.checked_sub(1).and_then(|previous| parts.get(previous)) {
        return Some(cut(previous.end, part.end));
    }
    let close = holder.at.end - 1;
    if &text[part.end..close] == WAS_EMPTY {
        return Some(cut(part.start, close));
    }
    let emptied = cut(holder.at.start + 1, close);
    match above.is_empty() {
        true => Some(emptied),
        false => without(&emptied, above),
    }
}

/// How far things are set in where nothing else in the text is.
const INDENT: &str = "  ";

/// What follows the first thing in an object or a list that stood empty, so that it stands empty again without that thing: one that
/// was made goes.
const WAS_EMPTY: &str = " ";

/// Returns a member or an element as it is spelled behind `gap`: over several lines where that begins one.
fn spelled(name: Option<&str>, value: &Value, text: &str, gap: &str) -> String {
    let line = gap.rfind('\n').map(|at| &gap[at + 1..]);
    let name = |space: &str| name.map(|name| format!("{}:{space}", Value::from(name))).unwrap_or_default();
    let Some(margin) = line else { return format!("{}{value}", name("")) };
    let end = if gap.contains("\r\n") { "\r\n" } else { "\n" };
    let pretty = format!("{value:#}");
    let lines = pretty.lines().map(|line| {
        let words = line.trim_start();
        format!("{}{words}", indent(text).repeat((line.len() - words.len()) / 2))
    });
    format!("{}{}", name(" "), lines.collect::<Vec<_>>().join(&format!("{end}{margin}")))
}

/// Returns how far the first thing in the text is set in.
fn indent(text: &str) -> &str {
    let inner = text.trim_start().strip_prefix('{').unwrap_or_default();
    let gap = &inner[..inner.len() - inner.trim_start().len()];
    match gap.rfind('\n').map(|at| &gap[at + 1..]) {
        Some(indent) if !indent.is_empty() => indent,
        _ => INDENT,
    }
}

/// Goes through a text that is known to be JSON.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self) -> Option<Node> {
        let first = self.next()?;
        let start = self.at;
        let kind = match first {
            b'{' => {
                let mut members = Vec::new();
                self.at += 1;
                while self.next()? != b'}' {
                    let start = self.at;
                    self.string();
                    let name = serde_json::from_slice(&self.text[start..self.at]).ok()?;
                    self.next()?;
                    self.at += 1;
                    members.push(Member { name, start, value: self.value()? });
                    self.comma();
                }
                self.at += 1;
                Kind::Object(members)
            }
            b'[' => {
                let mut list = Vec::new();
                self.at += 1;
                while self.next()? != b']' {
                    list.push(self.value()?);
                    self.comma();
                }
                self.at += 1;
                Kind::List(list)
            }
            b'"' => {
                self.string();
                Kind::Other
            }
            _ => {
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                let rest = &self.text[start..];
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                Kind::Other
            }
        };
        Some(Node { at: start..self.at, kind })
    }

    /// Goes to the next byte that is no blank, and returns it.
    fn next(&mut self) -> Option<u8> {
        while self.text.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn comma(&mut self) {
        if self.next() == Some(b',') {
            self.at += 1;
        }
    }

    /// Goes behind the string that begins here.
    fn string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at).filter(|byte| **byte != b'"') {
            self.at += if *byte == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
    }
}
