//! What a command line does to files, as far as it can be told without running it.

use super::touch::Touch;
use crate::script::simples;

/// Returns what `script` does to files, in order. Relative paths are joined to `dir`, or to what a `cd` says.
pub(super) fn shell_touches(script: &str, dir: &str) -> Vec<Touch> {
    let mut touches = Vec::new();
    let mut dir = dir.to_string();
    for simple in simples(script) {
        let mut at = |touch: fn(String) -> Touch, path: &str| {
            if is_path(path) {
                touches.push(touch(join(&dir, path)));
            }
        };
        let (plain, redirects) = simple.split();
        let plain: Vec<&str> = plain.into_iter().map(|word| &*word.text).collect();
        for (appends, target) in redirects {
            at(if appends { Touch::Edit } else { Touch::Write }, target);
        }
        let Some((name, rest)) = plain.split_first() else { continue };
        let operands = operands(name, rest);
        let has = |flag: &str| rest.contains(&flag);
        match (*name, operands.as_slice()) {
            ("cd", [to, ..]) => dir = join(&dir, to),
            ("rm" | "unlink", paths) => paths.iter().for_each(|path| at(Touch::Delete, path)),
            ("touch", paths) => paths.iter().for_each(|path| at(Touch::Touched, path)),
            ("tee", paths) => {
                paths.iter().for_each(|path| at(if has("-a") { Touch::Edit } else { Touch::Write }, path))
            }
            ("cp", [_, .., to]) => at(Touch::Write, to),
            ("mv", [from, to]) | ("git", ["mv", from, to]) if is_path(from) && is_path(to) => {
                touches.push(Touch::Rename(join(&dir, from), join(&dir, &into_directory(from, to))));
            }
            ("sed" | "perl", [_, paths @ ..]) if rest.iter().any(|word| edits_in_place(word)) => {
                paths.iter().for_each(|path| at(Touch::Edit, path));
            }
            ("git", ["commit", ..]) if !has("--dry-run") => touches.push(Touch::Commit),
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
                if *name == "git" && (has("--hard") || has(".") && !has("reset")) =>
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

/// The words that are no options. Of `sed -i ''` and `sed -e SCRIPT` the script stands first.
fn operands<'w>(name: &str, rest: &[&'w str]) -> Vec<&'w str> {
    let mut found: Vec<&str> = Vec::new();
    let mut words = rest.iter().copied();
    let mut has_script = false;
    while let Some(word) = words.next() {
        if matches!(name, "sed" | "perl")
            && matches!(word, "-e" | "--expression" | "-pe" | "-i.bak" | "-pi" | "-pie")
            && word.ends_with('e')
        {
            if let (Some(script), false) = (words.next(), has_script) {
                found.insert(0, script);
                has_script = true;
            }
        } else if !word.starts_with('-') && !word.is_empty() {
            found.push(word);
        }
    }
    found
}

fn edits_in_place(word: &str) -> bool {
    word.starts_with("-i") || word == "--in-place" || word.starts_with("-pi")
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

pub(super) fn join(dir: &str, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.starts_with(['/', '~']) || dir.is_empty() || path.starts_with("..") {
        path.to_string()
    } else {
        format!("{}/{path}", dir.trim_end_matches('/'))
    }
}

/// Variables, globs and devices are no files that could be named.
pub(super) fn is_path(word: &str) -> bool {
    let odd = word.contains(['$', '*', '?', '`', '(', '{', '=', '|', '&', '<', '>', '\n', '"']);
    !word.is_empty() && !odd && !word.starts_with("/dev/") && word.len() <= 250
}

fn looks_like_file(word: &str) -> bool {
    let last = word.rsplit('/').next().unwrap_or(word);
    last.rsplit_once('.').is_some_and(|(_, extension)| crate::is_known_extension(extension))
}

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
