//! Reading, listing, searching and changing files.

use std::{
    borrow::Cow,
    fs,
    path::{Path, PathBuf},
};

use regex::RegexBuilder;

use super::{Said, place::Place, shown};
use crate::{
    output::{NewFile, Target},
    paint::counted,
};

/// The largest file that is read or searched.
const MAX_FILE_BYTES: u64 = 2 << 20;

/// The most files that are listed or searched.
const MAX_FILES: usize = 5_000;

/// The most lines that a search finds.
const MAX_FOUND: usize = 200;

/// The longest line that a search shows, in characters.
const MAX_LINE: usize = 300;

/// Directories that hold what tools make and not what people write.
const SKIPPED: [&str; 6] = [".git", "target", "node_modules", ".venv", "__pycache__", ".hg"];

/// Returns lines of a file with their numbers.
pub(super) fn read(path: &Path, from_line: usize, lines: usize) -> Said {
    let text = text_of(path)?;
    let first = from_line.max(1);
    let total = text.lines().count();
    let numbered = text.lines().enumerate().skip(first - 1).take(lines);
    let said: String = numbered.map(|(at, line)| format!("{:>6}  {line}\n", at + 1)).collect();
    if said.is_empty() && total > 0 {
        return Err(format!("the file has {}", counted(total as u64, "line")));
    }
    let last = (first - 1 + lines).min(total);
    let rest = if last < total { format!("[lines {first} to {last} of {total}]\n") } else { String::new() };
    Ok(said + &rest)
}

/// Returns the files below a directory, in order.
pub(super) fn list(place: &Place, folder: &Path) -> Said {
    let (files, is_cut) = walk(place, folder)?;
    let mut said: String = files.iter().map(|file| format!("{}\n", shown(place, file))).collect();
    if is_cut {
        said.push_str(&format!("[cut after {MAX_FILES} files]\n"));
    }
    Ok(said)
}

/// Returns the lines that `pattern` matches in the files below a directory, or in one file.
pub(super) fn search(place: &Place, path: &Path, pattern: &str) -> Said {
    // `regex` takes linear time whatever the pattern; its compiled size is bounded too.
    let pattern =
        RegexBuilder::new(pattern).size_limit(1 << 20).build().map_err(|error| error.to_string())?;
    let (files, _) = if path.is_file() { (vec![path.to_owned()], false) } else { walk(place, path)? };
    let mut said = String::new();
    let mut found = 0;
    for file in files {
        let Ok(text) = text_of(&file) else { continue };
        for (at, line) in text.lines().enumerate().filter(|(_, line)| pattern.is_match(line)) {
            found += 1;
            if found > MAX_FOUND {
                said.push_str(&format!("[cut after {MAX_FOUND} lines]\n"));
                return Ok(said);
            }
            let line: String = line.trim_end().chars().take(MAX_LINE).collect();
            said.push_str(&format!("{}:{}: {line}\n", shown(place, &file), at + 1));
        }
    }
    if said.is_empty() { Ok("nothing found\n".to_owned()) } else { Ok(said) }
}

/// Replaces `old`, which must stand in the file exactly once.
pub(super) fn edit(path: &Path, old: &str, new: &str) -> Said {
    let text = text_of(path)?;
    if old.is_empty() {
        return Err("the text to replace is empty".to_owned());
    }
    match text.matches(old).count() {
        1 => {}
        0 => return Err("the text to replace does not stand in the file".to_owned()),
        count => {
            return Err(format!(
                "the text to replace stands there {count} times; give more of what is around it"
            ));
        }
    }
    write(path, &text.replacen(old, new, 1))
}

/// Writes a file, whole or not at all.
pub(super) fn write(path: &Path, content: &str) -> Said {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    let target = Target::unlocked(path).made(NewFile::AsUsual);
    target.put(content.as_bytes()).map_err(|error| format!("{error:#}"))?;
    Ok(format!("written, {}\n", counted(content.lines().count() as u64, "line")))
}

fn text_of(path: &Path) -> Result<String, String> {
    let data = fs::metadata(path).map_err(|error| error.to_string())?;
    if !data.is_file() {
        return Err("this is no file".to_owned());
    }
    if data.len() > MAX_FILE_BYTES {
        return Err(format!("the file has {} bytes; at most {MAX_FILE_BYTES} are read", data.len()));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "the file is not text (UTF-8)".to_owned())
}

/// Returns the files below `folder` in order, and whether there are more. Links are not followed. Hidden names are passed
/// over unless `folder` has one, which is asked for each time: what was agreed to for good must not show what is behind them.
fn walk(place: &Place, folder: &Path) -> Result<(Vec<PathBuf>, bool), String> {
    let shows_hidden = place.is_hidden(folder);
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let mut entries: Vec<_> = fs::read_dir(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?
            .filter_map(|entry| Some((entry.as_ref().ok()?.path(), entry.ok()?.file_type().ok()?)))
            .collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        let mut inner = Vec::new();
        for (path, kind) in entries {
            let name = entry_name(&path);
            let is_skipped = SKIPPED.contains(&&*name) || !shows_hidden && name.starts_with('.');
            if is_skipped {
                continue;
            }
            if kind.is_dir() {
                inner.push(path);
            } else if kind.is_file() {
                if files.len() == MAX_FILES {
                    return Ok((files, true));
                }
                files.push(path);
            }
        }
        pending.extend(inner.into_iter().rev());
    }
    Ok((files, false))
}

fn entry_name(path: &Path) -> Cow<'_, str> {
    path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Place) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("src")).unwrap();
        fs::create_dir_all(folder.path().join("target")).unwrap();
        fs::write(folder.path().join("src/a.rs"), "fn one() {}\nfn two() {}\nfn two_more() {}\n").unwrap();
        fs::write(folder.path().join("target/b.rs"), "fn two() {}\n").unwrap();
        fs::write(folder.path().join("c.bin"), [0xff, 0xfe]).unwrap();
        let place = Place::new(folder.path()).unwrap();
        (folder, place)
    }

    #[test]
    fn files_are_read_listed_and_searched() {
        let (_folder, place) = folder();
        let at = |path: &str| place.existing(path).unwrap();
        assert_eq!(read(&at("src/a.rs"), 2, 1).unwrap(), "     2  fn two() {}\n[lines 2 to 2 of 3]\n");
        assert_eq!(read(&at("src/a.rs"), 9, 1).unwrap_err(), "the file has 3 lines");
        assert!(read(&at("c.bin"), 1, 1).unwrap_err().contains("UTF-8"));
        assert_eq!(list(&place, place.root()).unwrap(), "c.bin\nsrc/a.rs\n");
        assert_eq!(search(&place, place.root(), r"two\(").unwrap(), "src/a.rs:2: fn two() {}\n");
        assert_eq!(search(&place, place.root(), "none").unwrap(), "nothing found\n");
        assert!(search(&place, place.root(), "(").is_err());
    }

    /// Whoever agreed to all searches has not agreed to be shown what is hidden.
    #[test]
    fn what_is_hidden_is_found_only_where_it_is_named() {
        let (folder, place) = folder();
        fs::create_dir_all(folder.path().join(".aws/deep")).unwrap();
        fs::write(folder.path().join(".env"), "S=1\n").unwrap();
        fs::write(folder.path().join(".aws/deep/credentials"), "S=2\n").unwrap();
        fs::write(folder.path().join("src/.secrets"), "S=3\n").unwrap();
        assert_eq!(search(&place, place.root(), "S=").unwrap(), "nothing found\n");
        assert_eq!(list(&place, place.root()).unwrap(), "c.bin\nsrc/a.rs\n");
        let at = |path: &str| place.existing(path).unwrap();
        assert_eq!(search(&place, &at(".env"), "S=").unwrap(), ".env:1: S=1\n");
        assert_eq!(search(&place, &at(".aws"), "S=").unwrap(), ".aws/deep/credentials:1: S=2\n");
        assert_eq!(list(&place, &at(".aws/deep")).unwrap(), ".aws/deep/credentials\n");
    }

    #[test]
    fn an_edit_must_know_its_place() {
        let (_folder, place) = folder();
        let path = place.existing("src/a.rs").unwrap();
        assert!(edit(&path, "fn two", "fn 2").unwrap_err().contains("2 times"));
        assert!(edit(&path, "fn three", "").unwrap_err().contains("does not stand"));
        edit(&path, "fn one", "fn first").unwrap();
        assert!(fs::read_to_string(&path).unwrap().starts_with("fn first() {}\nfn two"));
        write(&place.new_or_existing("new/deep/d.txt").unwrap(), "hi\n").unwrap();
        assert_eq!(read(&place.existing("new/deep/d.txt").unwrap(), 0, 9).unwrap(), "     1  hi\n");
    }
}
