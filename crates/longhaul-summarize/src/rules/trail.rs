//! The artifact trail: which files were changed, and what was done to each.

use longhaul_extract::{Statement, StatementKind, Statements};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{FileNote, FileState, Tokens};

use super::{
    heading::Heading,
    lines::{LEFT_OUT, fenced, parts_comment},
};

/// The files that were changed, with the directory they share.
#[derive(Debug)]
pub(crate) struct Trail<'a> {
    /// Those that have a line each, the one that was touched last at the end.
    files: Vec<&'a FileNote>,
    /// Those before them for whose lines there is no room.
    earlier: Vec<&'a FileNote>,
    /// How many of these are named, the newest.
    n_named: usize,
    /// Those that were made in passing, outside of what is worked on.
    scratch: Vec<&'a FileNote>,
    root: &'a str,
}

impl<'a> Trail<'a> {
    /// Returns the trail of the files in `files` that were changed, for about so much `room`: beyond it the newest have a line each, and
    /// those before them are named, as far as that goes.
    pub(crate) fn new(files: &'a [FileNote], room: Tokens, counter: &dyn TokenCounter) -> Trail<'a> {
        let changed = files.iter().filter(|file| file.state != FileState::Read);
        let (scratch, files): (Vec<_>, Vec<_>) = changed.partition(|file| is_scratch(&file.path));
        // Who works there has nothing else.
        let (scratch, files) = if files.is_empty() { (files, scratch) } else { (scratch, files) };
        let root = root(files.iter().map(|file| file.path.as_str()));
        let trail = Trail { files, scratch, root, earlier: Vec::new(), n_named: 0 };
        trail.within(room, counter)
    }

    fn within(mut self, room: Tokens, counter: &dyn TokenCounter) -> Trail<'a> {
        let fitting = |costs: &mut dyn Iterator<Item = Tokens>, room: Tokens| {
            let mut left = room;
            let fits = |cost: &Tokens| {
                let fits = *cost <= left;
                left -= *cost;
                fits
            };
            costs.take_while(fits).count()
        };
        let cost = |text: &str| counter.count_text(text) + LINE_END;
        let lines = fitting(&mut self.files.iter().rev().map(|file| cost(&self.head(file))), room);
        if lines == self.files.len() {
            return self;
        }
        let for_lines = room.scaled(SHARE_OF_LINES);
        let lines = fitting(&mut self.files.iter().rev().map(|file| cost(&self.head(file))), for_lines);
        let newest = self.files.split_off(self.files.len() - lines);
        self.earlier = std::mem::replace(&mut self.files, newest);
        let names = &mut self.earlier.iter().rev().map(|file| cost(&self.name(file)));
        self.n_named = fitting(names, room - for_lines);
        self
    }

    /// Returns the heading of the section; it names the directory that all changed files are in.
    pub(crate) fn heading(&self) -> String {
        match self.root {
            "" => Heading::Changed.words().into(),
            root => format!("{} (under {root})", Heading::Changed.words()),
        }
    }

    /// Returns `text` with the paths under the shared directory relative to it.
    pub(crate) fn below(&self, text: &str) -> String {
        match self.root {
            "" => text.to_string(),
            root => without_root(text, root),
        }
    }

    /// Returns one line for each file that was changed and, under it, the lines of `picks` that its edits change.
    pub(crate) fn text(&self, pool: &Statements, picks: &[usize]) -> String {
        let statements: Vec<(usize, &Statement)> = picks.iter().map(|at| (*at, &pool.all()[*at])).collect();
        let path_of =
            |statement: &Statement| pool.source(statement).and_then(|source| source.path.as_deref());
        let is_of = |statement: &Statement, file: &str| {
            path_of(statement).is_some_and(|path| same_file(&FileNote::spelled(path), file))
        };
        let mut blocks: Vec<String> = Vec::new();
        blocks.extend(self.earlier_line());
        for file in &self.files {
            let of_file = statements.iter().copied().filter(|(_, statement)| is_of(statement, &file.path));
            blocks.push(block(self.head(file), of_file, pool));
        }
        let is_known = |statement: &Statement| self.files.iter().any(|file| is_of(statement, &file.path));
        let rest = statements.iter().copied().filter(|(_, statement)| !is_known(statement));
        let mut by_path: Vec<(&str, Vec<(usize, &Statement)>)> = Vec::new();
        for one in rest {
            let path = path_of(one.1).unwrap_or("elsewhere");
            match by_path.iter_mut().find(|(known, _)| *known == path) {
                Some((_, statements)) => statements.push(one),
                None => by_path.push((path, vec![one])),
            }
        }
        blocks.extend(self.scratch_line());
        blocks.extend(by_path.into_iter().map(|(path, statements)| {
            block(self.below(&FileNote::spelled(path)), statements.into_iter(), pool)
        }));
        blocks.join("\n")
    }
}

impl Trail<'_> {
    /// Returns the line of a file: what was done to it.
    fn head(&self, file: &FileNote) -> String {
        let note = if file.note.is_empty() { state(file) } else { &file.note };
        format!("{}: {note}", self.below(&file.path))
    }

    /// Returns the name of a file among others that were changed before.
    fn name(&self, file: &FileNote) -> String {
        let path = self.below(&file.path);
        if file.state == FileState::Modified { path } else { format!("{path} ({})", state(file)) }
    }

    /// Returns one line for the files that were changed before those with a line of their own.
    fn earlier_line(&self) -> Option<String> {
        let n_more = self.earlier.len() - self.n_named;
        let names: Vec<String> = self.earlier[n_more..].iter().map(|file| self.name(file)).collect();
        let more = match (n_more, names.is_empty()) {
            (0, _) => String::new(),
            (n_more, true) => format!("{n_more} more"),
            (n_more, false) => format!(" and {n_more} more"),
        };
        (!self.earlier.is_empty()).then(|| format!("… earlier: {}{more}", names.join(", ")))
    }

    /// Returns one line for all files that were made in passing and are still there.
    fn scratch_line(&self) -> Option<String> {
        let there = self.scratch.iter().filter(|file| file.state != FileState::Deleted);
        let paths: Vec<&str> = there.map(|file| &*file.path).collect();
        let named = paths.iter().take(MOST_SCRATCH).copied().collect::<Vec<_>>().join(", ");
        let more = paths.len().saturating_sub(MOST_SCRATCH);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!paths.is_empty()).then(|| format!("in temporary folders: {named}{more}"))
    }
}

/// Whether a file stands where files are made in passing.
pub(super) fn is_scratch(path: &str) -> bool {
    const PLACES: [&str; 5] =
        ["/tmp/", "/private/tmp/", "/var/tmp/", "/var/folders/", "/private/var/folders/"];
    PLACES.iter().any(|place| path.starts_with(place))
}

/// Of the room for the trail so much is for lines of files, where not all have one; the rest is for names of others.
const SHARE_OF_LINES: f64 = 0.6;

/// What the end of a line or a comma costs.
const LINE_END: Tokens = Tokens(1);

/// Files made in passing that are named.
const MOST_SCRATCH: usize = 3;

/// Returns a line that names a file, and what edits change in it between fences.
fn block<'s>(
    head: String,
    statements: impl Iterator<Item = (usize, &'s Statement)>,
    pool: &Statements,
) -> String {
    let mut lines = Vec::new();
    let mut message = None;
    let mut statements = statements.peekable();
    while let Some((at, statement)) = statements.next() {
        let mark = if statement.kind == StatementKind::Added { '+' } else { '-' };
        let handle = match message == Some(statement.message) {
            true => String::new(),
            false => format!("m{} ", statement.message),
        };
        message = Some(statement.message);
        lines.push(format!("{handle}{mark} {}", statement.text));
        if let Some((next, other)) = statements.peek()
            && (parts_comment(statement, other) || leaves_out(pool, at, *next))
        {
            lines.push(LEFT_OUT.to_owned());
        }
    }
    match lines.is_empty() {
        true => head,
        false => format!("{head}\n{}", fenced(lines.join("\n"))),
    }
}

/// Returns the word for what became of a file.
fn state(file: &FileNote) -> &'static str {
    match file.state {
        FileState::Modified => "edited",
        state => state.as_str(),
    }
}

/// Returns whether a line that stands between these two of one edit is not told: they would be taken for neighbours. What the edit took
/// away between two lines that it added stands between them no more.
fn leaves_out(pool: &Statements, one: usize, next: usize) -> bool {
    let all = pool.all();
    let (first, last) = (&all[one], &all[next]);
    let is_of_edit = |between: &Statement| {
        let of_call = pool.source(between).map(std::ptr::from_ref);
        [first, last].iter().any(|told| told.kind == between.kind)
            && of_call == pool.source(first).map(std::ptr::from_ref)
    };
    first.message == last.message && all[one + 1..next].iter().any(is_of_edit)
}

/// Whether two paths name one file: the same, or one ends in the other after a slash.
fn same_file(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(one, other) || ends(other, one)
}

/// Returns the deepest directory that all of `paths` are in, where that is two levels deep or more and saves something.
fn root<'p>(paths: impl Iterator<Item = &'p str> + Clone) -> &'p str {
    if paths.clone().count() < 2 {
        return "";
    }
    let common = paths.reduce(|one, other| {
        let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        &one[..one.floor_char_boundary(same)]
    });
    let common =
        common.and_then(|common| common.rfind('/').map(|slash| &common[..slash])).unwrap_or_default();
    if common.matches('/').count() >= 2 { common } else { "" }
}

/// Returns `text` without `root` where a path begins with it: in the middle of another one it is that one's.
fn without_root(text: &str, root: &str) -> String {
    let root = format!("{root}/");
    let is_of_a_path = |c: char| c.is_alphanumeric() || "/._-~".contains(c);
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(&root) {
        out.push_str(&rest[..at]);
        if out.ends_with(is_of_a_path) {
            out.push_str(&root);
        }
        rest = &rest[at + root.len()..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::{super::tests::Quarter, *};

    #[test]
    fn the_shared_directory_is_named_once() {
        let all = ["/w/app/src/a.rs", "/w/app/src/net/b.rs", "/w/app/srv/c.rs"];
        assert_eq!(root(all.into_iter()), "/w/app");
        assert_eq!(root(["a.rs", "b.rs"].into_iter()), "");
        assert_eq!(root(all[..1].iter().copied()), "");
    }

    #[test]
    fn what_was_made_in_passing_is_named_in_one_line() {
        let note =
            |path: &str| FileNote { path: path.into(), state: FileState::Created, ..FileNote::default() };
        let pool = Statements::new();
        let files = ["/tmp/a.py", "/tmp/b.py", "/w/app/src/a.rs", "/w/app/src/b.rs"].map(note);
        let new = |files| Trail::new(files, Tokens(1_000), &Quarter);
        let trail = new(&files);
        let told = "a.rs: created\nb.rs: created\nin temporary folders: /tmp/a.py, /tmp/b.py";
        assert_eq!(
            (trail.heading(), trail.text(&pool, &[])),
            ("## Changed files (under /w/app/src)".into(), told.into())
        );
        assert_eq!(new(&files[..2]).text(&pool, &[]), "/tmp/a.py: created\n/tmp/b.py: created");
    }

    #[test]
    fn of_more_files_than_there_is_room_for_the_newest_have_lines_and_others_names() {
        let note = |nth: usize| FileNote {
            path: format!("/w/app/src/part_{nth}.rs"),
            state: if nth == 3 { FileState::Created } else { FileState::Modified },
            note: "+1 -1 lines".into(),
        };
        let files: Vec<FileNote> = (0..12).map(note).collect();
        let text = |room| Trail::new(&files, Tokens(room), &Quarter).text(&Statements::new(), &[]);
        assert_eq!(text(1_000).lines().count(), 12);
        let told = text(60);
        let lines: Vec<&str> = told.lines().collect();
        assert!(lines[0].starts_with("… earlier: part_") && lines[0].ends_with(" more"), "{told}");
        assert!(lines[0].contains("part_3.rs (created)"), "{told}");
        assert_eq!(*lines.last().unwrap(), "part_11.rs: +1 -1 lines");
        assert!(lines.len() >= 3, "{told}");
        assert_eq!(text(0), "… earlier: 12 more");
    }

    #[test]
    fn files_are_the_same_by_their_last_parts() {
        assert!(same_file("/w/app/src/a.rs", "src/a.rs"));
        assert!(!same_file("/w/app/src/aa.rs", "a.rs"));
    }

    #[test]
    fn what_all_share_is_left_out_where_a_path_begins() {
        let text = "pytest /backup/usr/src/app/tests/a.py (/usr/src/app/b.py) \"/usr/src/app/c.py\" ./usr/src/app/d.py";
        assert_eq!(
            without_root(text, "/usr/src/app"),
            "pytest /backup/usr/src/app/tests/a.py (b.py) \"c.py\" ./usr/src/app/d.py"
        );
    }
}
