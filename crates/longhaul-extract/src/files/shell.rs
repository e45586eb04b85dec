//! What a command line does to files, as far as it can be told without running it.

use super::Touch;

/// Returns what `script` does to files, in order. Relative paths are joined to `dir`, or to what a `cd` says.
pub(super) fn shell_touches(script: &str, dir: &str) -> Vec<Touch> {
    let mut touches = Vec::new();
    let mut dir = dir.to_string();
    for words in commands(script) {
        let mut at = |touch: fn(String) -> Touch, path: &str| {
            if is_path(path) {
                touches.push(touch(join(&dir, path)));
            }
        };
        let (plain, redirects) = split_redirects(&words);
        for (appends, target) in redirects {
            at(if appends { Touch::Edit } else { Touch::Write }, target);
        }
        let Some((name, rest)) = plain.split_first() else { continue };
        let operands: Vec<&str> = rest.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let has = |flag: &str| rest.contains(&flag);
        match (*name, operands.as_slice()) {
            ("cd", [to, ..]) => dir = join(&dir, to),
            ("rm" | "unlink", paths) => paths.iter().for_each(|path| at(Touch::Delete, path)),
            ("touch", paths) => paths.iter().for_each(|path| at(Touch::Write, path)),
            ("tee", paths) => {
                paths.iter().for_each(|path| at(if has("-a") { Touch::Edit } else { Touch::Write }, path))
            }
            ("cp", [_, .., to]) => at(Touch::Write, to),
            ("mv", [from, to]) | ("git", ["mv", from, to]) if is_path(from) && is_path(to) => {
                touches.push(Touch::Rename(join(&dir, from), join(&dir, &into_directory(from, to))));
            }
            ("sed", [_, paths @ ..]) if rest.iter().any(|word| word.starts_with("-i")) => {
                paths.iter().for_each(|path| at(Touch::Edit, path));
            }
            ("cat" | "head" | "tail" | "less" | "nl" | "bat", paths) => {
                let files = paths.iter().filter(|path| !path.bytes().all(|byte| byte.is_ascii_digit()));
                files.for_each(|path| at(Touch::Read, path));
            }
            ("sed", [_, paths @ ..]) if has("-n") => paths.iter().for_each(|path| at(Touch::Read, path)),
            ("git", ["rm", paths @ ..]) => paths.iter().for_each(|path| at(Touch::Delete, path)),
            ("git", ["restore", paths @ ..]) if !has("--staged") || has("--worktree") => {
                revert(paths, &mut touches, &dir);
            }
            ("git", ["checkout", paths @ ..]) if has("--") => {
                let after =
                    rest.iter().skip_while(|word| **word != "--").skip(1).copied().collect::<Vec<_>>();
                let _ = paths;
                revert(&after, &mut touches, &dir);
            }
            ("git", ["checkout", "."]) | ("git", ["reset", ..])
                if *name == "git" && (has("--hard") || has(".")) =>
            {
                touches.push(Touch::RevertAll);
            }
            ("git", ["checkout", paths @ ..]) => {
                // Without `--` a name may be a branch: only what looks like a file counts.
                let files: Vec<&str> = paths.iter().copied().filter(|path| looks_like_file(path)).collect();
                revert(&files, &mut touches, &dir);
            }
            _ => {}
        }
    }
    touches
}

fn revert(paths: &[&str], touches: &mut Vec<Touch>, dir: &str) {
    for path in paths {
        match *path {
            "." | ":/" => touches.push(Touch::RevertAll),
            path if is_path(path) => touches.push(Touch::Revert(join(dir, path))),
            _ => {}
        }
    }
}

/// `mv a/b.rs dir/` keeps the name.
fn into_directory(from: &str, to: &str) -> String {
    match (to.ends_with('/'), from.rsplit('/').next()) {
        (true, Some(base)) => format!("{to}{base}"),
        _ => to.to_string(),
    }
}

fn join(dir: &str, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.starts_with(['/', '~']) || dir.is_empty() || path.starts_with("..") {
        path.to_string()
    } else {
        format!("{}/{path}", dir.trim_end_matches('/'))
    }
}

/// Variables, globs and devices are no files that could be named.
fn is_path(word: &str) -> bool {
    let odd = word.contains(['$', '*', '?', '`', '(', '{', '=', '|', '&', '<', '>', '\n', '"']);
    !word.is_empty() && !odd && !word.starts_with("/dev/") && word.len() <= 250
}

fn looks_like_file(word: &str) -> bool {
    let last = word.rsplit('/').next().unwrap_or(word);
    last.rsplit_once('.').is_some_and(|(_, extension)| crate::is_known_extension(extension))
}

/// A word with where it was quoted, so that `'>'` is no redirect.
#[derive(Debug)]
struct Word<'s> {
    text: &'s str,
    quoted: bool,
}

fn split_redirects<'s>(words: &[Word<'s>]) -> (Vec<&'s str>, Vec<(bool, &'s str)>) {
    let (mut plain, mut redirects) = (Vec::new(), Vec::new());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let mark = word.text.trim_start_matches(['1', '&']);
        if word.quoted || !mark.starts_with('>') {
            match word.text {
                // What follows is read, or ends a here-document.
                text if !word.quoted
                    && text.trim_start_matches(['<', '-']).is_empty()
                    && text.starts_with('<') =>
                {
                    words.next();
                }
                text if !word.quoted && (text.starts_with("2>") || text.starts_with('<')) => {}
                text => plain.push(text),
            }
            continue;
        }
        let target = mark.trim_start_matches('>');
        let appends = mark.starts_with(">>");
        if target.is_empty() {
            redirects.extend(words.next().map(|next| (appends, next.text)));
        } else if !target.starts_with('&') {
            redirects.push((appends, target));
        }
    }
    (plain, redirects)
}

/// The simple commands of a script, as words. The bodies of here-documents are left out.
fn commands(script: &str) -> Vec<Vec<Word<'_>>> {
    let mut commands = vec![Vec::new()];
    let mut heredoc: Option<String> = None;
    for line in script.split('\n').take(MOST_LINES) {
        if let Some(end) = &heredoc {
            if line.trim() == end {
                heredoc = None;
            }
            continue;
        }
        heredoc = heredoc_end(line);
        split_line(line, &mut commands);
        commands.push(Vec::new());
    }
    commands.retain(|words| !words.is_empty());
    commands
}

fn heredoc_end(line: &str) -> Option<String> {
    let (_, after) = line.split_once("<<")?;
    let word = after.trim_start_matches(['-', ' ']).trim_start_matches(['\'', '"']);
    let end: String = word.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!end.is_empty()).then_some(end)
}

fn split_line<'s>(line: &'s str, commands: &mut Vec<Vec<Word<'s>>>) {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b' ' | b'\t' => at += 1,
            b';' | b'|' | b'(' | b')' => {
                commands.push(Vec::new());
                at += 1;
            }
            b'&' if bytes.get(at + 1) != Some(&b'>') => {
                commands.push(Vec::new());
                at += 1;
            }
            b'#' => return,
            quote @ (b'\'' | b'"') => {
                let end = line[at + 1..].find(quote as char).map_or(line.len(), |length| at + 1 + length);
                push(commands, &line[at + 1..end], true);
                at = (end + 1).min(bytes.len());
            }
            _ => {
                let stop = |byte: u8| matches!(byte, b' ' | b'\t' | b';' | b'|' | b'(' | b')' | b'\'' | b'"');
                let mut end = at;
                while end < bytes.len() && !stop(bytes[end]) {
                    // `2>&1` and `&>` are one word; any other `&` ends one.
                    let joins = end > at && bytes[end - 1] == b'>' || bytes.get(end + 1) == Some(&b'>');
                    if bytes[end] == b'&' && !joins {
                        break;
                    }
                    end += 1;
                }
                push(commands, &line[at..end], false);
                at = end.max(at + 1);
            }
        }
    }
}

fn push<'s>(commands: &mut [Vec<Word<'s>>], text: &'s str, quoted: bool) {
    if let Some(words) = commands.last_mut() {
        words.push(Word { text, quoted });
    }
}

/// Lines of a script beyond which nothing is read.
const MOST_LINES: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_touch_what_they_name() {
        let touches = |script| format!("{:?}", shell_touches(script, ""));
        assert_eq!(
            touches("rm -rf build/x.o 'a b.txt' $TMP/*"),
            r#"[Delete("build/x.o"), Delete("a b.txt")]"#
        );
        assert_eq!(
            touches("cd /w && cat a.rs | head -5 > b.txt 2>&1"),
            r#"[Read("/w/a.rs"), Write("/w/b.txt")]"#
        );
        assert_eq!(
            touches("mv a.rs src/; sed -i 's/x/y/' c.rs"),
            r#"[Rename("a.rs", "src/a.rs"), Edit("c.rs")]"#
        );
        assert_eq!(
            touches("git restore a.rs; git checkout main; git checkout HEAD -- b.rs"),
            r#"[Revert("a.rs"), Revert("b.rs")]"#
        );
        assert_eq!(touches("git reset --hard HEAD~1"), "[RevertAll]");
        assert_eq!(
            touches("cat > f.py <<'EOF'\nrm other.py\nEOF\necho '> x.txt' >> log.txt"),
            r#"[Write("f.py"), Edit("log.txt")]"#
        );
    }
}
