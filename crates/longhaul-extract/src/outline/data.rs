//! Outlines of data and prose: keys, sections, headings.

use super::{Language, Outline};
use crate::json::Json;

/// Lists the keys of the root, and those one level below it where there are few.
pub(crate) fn json(view: &[(u64, &str)], outline: &mut Outline) {
    // Keys are found by their place in the text, line by line, once the text is known to be JSON of two levels.
    let text: String = view.iter().flat_map(|(_, line)| [*line, "\n"]).collect();
    if Json::read(&text).is_none() {
        return;
    }
    let mut depth = 0usize;
    let mut in_string = false;
    let mut parent = String::new();
    for &(number, line) in view {
        let key = key_at_start(line).filter(|_| !in_string);
        match (depth, key) {
            (1, Some(key)) => {
                outline.define(number, line.trim_end_matches(','), key, false);
                key.clone_into(&mut parent);
            }
            (2, Some(key)) => {
                outline.define(number, line.trim_end_matches(','), &format!("{parent}.{key}"), false);
            }
            _ => {}
        }
        let mut escaped = false;
        for byte in line.bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

fn key_at_start(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('"')?;
    let (key, after) = rest.split_once('"')?;
    after.trim_start().starts_with(':').then_some(key)
}

/// Lists Markdown headings, TOML tables and YAML keys of the first two levels.
pub(crate) fn sections(view: &[(u64, &str)], outline: &mut Outline) {
    let mut fence: Option<&str> = None;
    for &(number, line) in view {
        let body = line.trim();
        match outline.language {
            Language::Markdown => {
                let mark = ["```", "~~~"].into_iter().find(|mark| body.starts_with(mark));
                match (fence, mark) {
                    (None, Some(mark)) => fence = Some(mark),
                    (Some(open), Some(mark)) if open == mark => fence = None,
                    (None, None) if line.starts_with('#') => {
                        let title = line.trim_start_matches('#');
                        if title.starts_with(' ') && line.len() - title.len() <= 6 {
                            outline.define(number, line, title.trim(), false);
                        }
                    }
                    _ => {}
                }
            }
            Language::Toml => match body.strip_prefix('[') {
                Some(table) if !line.starts_with(' ') => {
                    let name = table.trim_start_matches('[').split(']').next().unwrap_or_default();
                    outline.define(number, line, name.trim(), false);
                }
                _ => {
                    let key = line.split_once('=').map(|(key, _)| key.trim_end());
                    let plain =
                        |key: &&str| key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.\"".contains(&b));
                    if let Some(key) = key.filter(plain) {
                        outline.define(number, line, key, false);
                    }
                }
            },
            _ => {
                let indent = line.len() - line.trim_start().len();
                let key = body.split_once(':').map(|(key, _)| key);
                let plain =
                    |key: &&str| !key.is_empty() && !key.starts_with(['#', '-', '"']) && !key.contains(' ');
                if let (0..=2, Some(key)) = (indent, key.filter(plain)) {
                    outline.define(number, line, key, false);
                }
            }
        }
    }
}
