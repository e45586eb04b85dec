//! Reading JSON that may be cut off, as a flat list of leaves.
//!
//! Tool results and call arguments are often JSON that a harness has truncated, and sometimes JSON made to hurt: deep
//! nesting, one line of 100 MB. So nothing here recurses, nothing is built as a tree, and a text that ends in the
//! middle still gives all it said until there.

use std::borrow::Cow;

use longhaul_transcript::unescaped;

/// A JSON text as its scalars in source order, with the containers they stand in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Json<'a> {
    /// Objects and arrays in the order they open; the root is the first.
    pub(crate) containers: Vec<Container<'a>>,
    /// The scalars in source order.
    pub(crate) leaves: Vec<Leaf<'a>>,
    /// Whether the text ended inside a value.
    pub(crate) cut: bool,
    /// Bytes after the first value that are not white space.
    pub(crate) rest: usize,
}

/// An object or an array.
#[derive(Clone, Debug)]
pub(crate) struct Container<'a> {
    /// The container around this one; the root is its own parent.
    pub(crate) parent: usize,
    /// The key or index under which it stands in its parent.
    pub(crate) key: Key<'a>,
    /// Whether it is an array.
    pub(crate) is_array: bool,
    /// Number of entries seen.
    pub(crate) len: usize,
    /// Number of containers around it.
    pub(crate) depth: usize,
}

/// A scalar with the place it stands at.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<'a> {
    pub(crate) container: usize,
    pub(crate) key: Key<'a>,
    pub(crate) value: Scalar<'a>,
}

/// Where something stands in its container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    Name(Cow<'a, str>),
    Index(usize),
}

/// A scalar value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scalar<'a> {
    /// A string, unescaped.
    Text(Cow<'a, str>),
    /// A number, `true`, `false` or `null`, as spelled.
    Literal(&'a str),
}

/// Containers deeper than this are walked over but not recorded, so that paths stay short.
const MAX_DEPTH: usize = 48;

/// Values and containers beyond this many are not read: a text of `[],[],…` would take twenty times its size in memory.
const MAX_ENTRIES: usize = 400_000;

impl<'a> Json<'a> {
    /// Reads the JSON value at the start of `text`, or `None` where that is not an object or an array, or is not JSON.
    /// A value that is cut off at the end of the text is read as far as it goes.
    pub(crate) fn read(text: &'a str) -> Option<Json<'a>> {
        let start = text.len() - text.trim_start().len();
        if !matches!(text.as_bytes().get(start)?, b'{' | b'[') {
            return None;
        }
        let mut scan = Scan { text, at: start, json: Json::default() };
        scan.run()?;
        let mut json = scan.json;
        json.rest = text[scan.at..].trim().len();
        Some(json)
    }

    /// Returns the path of a container; empty for the root.
    pub(crate) fn container_path(&self, container: usize) -> String {
        let mut chain = Vec::new();
        let mut at = container;
        while at != 0 {
            chain.push(at);
            at = self.containers[at].parent;
        }
        let mut path = String::new();
        for &link in chain.iter().rev() {
            push_key(&mut path, &self.containers[link].key);
        }
        path
    }

    /// Returns the nearest name at or above a leaf, the key itself or that of the array it stands in; empty where there is
    /// none.
    pub(crate) fn name<'s>(&'s self, leaf: &'s Leaf<'a>) -> &'s str {
        self.key(leaf).map_or("", |name| name)
    }

    /// Returns the same, `None` where there is none.
    pub(crate) fn key<'s>(&'s self, leaf: &'s Leaf<'a>) -> Option<&'s Cow<'a, str>> {
        let mut key = &leaf.key;
        let mut at = leaf.container;
        loop {
            match key {
                Key::Name(name) => return Some(name),
                Key::Index(_) if at == 0 => return None,
                Key::Index(_) => {
                    key = &self.containers[at].key;
                    at = self.containers[at].parent;
                }
            }
        }
    }

    /// Returns whether any key on the way to the leaf satisfies `test`.
    pub(crate) fn any_key(&self, leaf: &Leaf<'_>, test: impl Fn(&str) -> bool) -> bool {
        let matches = |key: &Key<'_>| matches!(key, Key::Name(name) if test(name));
        let mut at = leaf.container;
        if matches(&leaf.key) {
            return true;
        }
        while at != 0 {
            if matches(&self.containers[at].key) {
                return true;
            }
            at = self.containers[at].parent;
        }
        false
    }
}

impl<'a> Scalar<'a> {
    /// Returns the same as [`as_str`](Self::as_str), to keep.
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            Scalar::Text(text) => text,
            Scalar::Literal(literal) => Cow::Borrowed(literal),
        }
    }

    /// Returns the text of a string, or the spelling of anything else.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Scalar::Text(text) => text,
            Scalar::Literal(literal) => literal,
        }
    }
}

fn push_key(path: &mut String, key: &Key<'_>) {
    match key {
        Key::Name(name) => {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
        }
        Key::Index(index) => {
            path.push('[');
            path.push_str(&index.to_string());
            path.push(']');
        }
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    json: Json<'a>,
}

/// One open container of the walk: its record, or none where it lies too deep, and what is needed to name its entries.
struct Open<'a> {
    record: Option<usize>,
    is_array: bool,
    next_index: usize,
    key: Option<Cow<'a, str>>,
}

impl<'a> Scan<'a> {
    /// Walks one value. `None` where the text is not JSON; a text that merely ends too early is fine.
    fn run(&mut self) -> Option<()> {
        let mut stack: Vec<Open<'a>> = Vec::with_capacity(4);
        loop {
            self.space();
            if self.json.containers.len() + self.json.leaves.len() > MAX_ENTRIES {
                self.json.cut = true;
                self.at = self.text.len();
                return Some(());
            }
            let Some(&byte) = self.text.as_bytes().get(self.at) else {
                self.json.cut = true;
                return Some(());
            };
            let in_object = stack.last().is_some_and(|open| !open.is_array);
            match byte {
                b'}' | b']' => {
                    let open = stack.pop()?;
                    if open.is_array != (byte == b']') {
                        return None;
                    }
                    self.at += 1;
                    if stack.is_empty() {
                        return Some(());
                    }
                }
                b',' => self.at += 1,
                b'"' if in_object && stack.last().is_some_and(|open| open.key.is_none()) => {
                    let Some(key) = self.string() else {
                        self.json.cut = true;
                        return Some(());
                    };
                    self.space();
                    match self.text.as_bytes().get(self.at) {
                        Some(b':') => self.at += 1,
                        Some(_) => return None,
                        None => {
                            self.json.cut = true;
                            return Some(());
                        }
                    }
                    stack.last_mut()?.key = Some(key);
                }
                _ if in_object && stack.last().is_some_and(|open| open.key.is_none()) => return None,
                b'{' | b'[' => {
                    let (place, key) = self.enter(&mut stack);
                    let depth = stack.len();
                    let record = (depth < MAX_DEPTH).then(|| {
                        self.json.containers.push(Container {
                            parent: place.unwrap_or(0),
                            key,
                            is_array: byte == b'[',
                            len: 0,
                            depth,
                        });
                        self.json.containers.len() - 1
                    });
                    stack.push(Open { record, is_array: byte == b'[', next_index: 0, key: None });
                    self.at += 1;
                }
                b'"' => {
                    let start = self.at;
                    let value = match self.string() {
                        Some(text) => text,
                        None => {
                            // The text ends inside this string: what there is of it is still worth having.
                            self.json.cut = true;
                            self.at = self.text.len();
                            unescaped(&self.text[start + 1..])
                        }
                    };
                    let cut = self.json.cut;
                    self.leaf(&mut stack, Scalar::Text(value))?;
                    if cut {
                        return Some(());
                    }
                }
                _ => {
                    let literal = self.literal()?;
                    self.leaf(&mut stack, Scalar::Literal(literal))?;
                }
            }
        }
    }

    fn space(&mut self) {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Reads a string at the current quote; `None` where it does not end.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut at = start;
        loop {
            at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
            if bytes[at] == b'"' {
                self.at = at + 1;
                return Some(unescaped(&self.text[start..at]));
            }
            at += 2;
        }
    }

    fn literal(&mut self) -> Option<&'a str> {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let literal = &rest[..end];
        let known = matches!(literal, "true" | "false" | "null" | "NaN" | "Infinity" | "-Infinity");
        let number = literal.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            && literal.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'));
        let cut = end == rest.len() && !literal.is_empty();
        (known || number || cut).then(|| {
            self.at += end;
            literal
        })
    }

    fn leaf(&mut self, stack: &mut [Open<'a>], value: Scalar<'a>) -> Option<()> {
        let (place, key) = self.enter(stack);
        stack.last()?;
        if let Some(container) = place {
            self.json.leaves.push(Leaf { container, key, value });
        }
        Some(())
    }

    /// Counts an entry of the innermost container and returns where it stands.
    fn enter(&mut self, stack: &mut [Open<'a>]) -> (Option<usize>, Key<'a>) {
        let Some(open) = stack.last_mut() else { return (None, Key::Index(0)) };
        let key = match open.key.take() {
            Some(name) => Key::Name(name),
            None => Key::Index(open.next_index),
        };
        open.next_index += 1;
        if let Some(record) = open.record {
            self.json.containers[record].len += 1;
        }
        (open.record, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(text: &str) -> Vec<String> {
        let json = Json::read(text).expect("is JSON");
        let path = |leaf: &Leaf<'_>| {
            let mut path = json.container_path(leaf.container);
            push_key(&mut path, &leaf.key);
            path
        };
        json.leaves.iter().map(|leaf| format!("{}={}", path(leaf), leaf.value.as_str())).collect()
    }

    #[test]
    fn leaves_come_with_their_paths() {
        assert_eq!(
            flat(r#" {"a": 1, "b": [true, {"c": "x\n\u00e9\ud83d\ude00"}], "d": {}} "#),
            ["a=1", "b[0]=true", "b[1].c=x\né😀"]
        );
    }

    #[test]
    fn a_text_cut_anywhere_gives_what_it_said_so_far() {
        let whole = r#"{"id": "w1", "items": [{"price": 12.5, "name": "caf\u00e9"}, null]}"#;
        for end in 1..whole.len() {
            let json = Json::read(&whole[..end]).expect("a prefix is still read");
            assert!(json.cut, "{}", &whole[..end]);
            assert!(json.leaves.len() <= 4);
        }
        assert!(!Json::read(whole).expect("is JSON").cut);
    }

    #[test]
    fn prose_in_brackets_is_not_json() {
        for text in ["[INFO] started", "{braces} in prose", "plain", "", "{1: 2}", "[1}"] {
            assert!(Json::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_depth_bomb_is_walked_without_recursion() {
        let bomb = "[".repeat(1_000_000);
        let json = Json::read(&bomb).expect("is the start of JSON");
        assert!(json.cut && json.containers.len() <= MAX_DEPTH);
    }
}
