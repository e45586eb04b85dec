//! What is counted: real text that the machine has, and hostile text that is made up.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A text with the name it has in the tables.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// What it is.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Below this there is too little to measure.
const LEAST: usize = 100_000;

/// Returns the corpora that can be made here, each cut to `most` bytes, and for each other one why it cannot.
pub fn all(most: usize) -> (Vec<Corpus>, Vec<String>) {
    let sources = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))
        .unwrap_or_default()
        .join("registry/src");
    let transcripts = Path::new("../shared/transcripts");
    let docs = Path::new("/usr/share/doc");
    let wanted: [(&str, &Path, &[&str], &str); 13] = [
        ("crate READMEs, English", &sources, &["md"], ""),
        ("Rust", &sources, &["rs"], ""),
        ("TOML and JSON of crates", &sources, &["json", "toml"], ""),
        ("C", &sources, &["c", "h"], ""),
        ("HTML documentation", docs, &["html"], ""),
        ("Debian changelogs", docs, &["gz"], "changelog"),
        ("Claude Code sessions", &transcripts.join("claude_code"), &["jsonl"], ""),
        ("Codex sessions", &transcripts.join("codex"), &["jsonl"], ""),
        ("OpenAI chats", &transcripts.join("openai_chat"), &["json"], ""),
        ("tau2 chats", &transcripts.join("tau2"), &["json"], ""),
        ("SWE-agent runs", &transcripts.join("swe_agent"), &["traj"], ""),
        ("English meetings", &transcripts.join("meeting"), &["json"], ""),
        ("Chinese meetings", &transcripts.join("vcsum"), &["jsonl"], ""),
    ];
    let (mut corpora, mut skipped) = (Vec::new(), Vec::new());
    for (name, folder, kinds, within) in wanted {
        let text = gather(folder, kinds, within, most);
        match text.len() >= LEAST {
            true => corpora.push(Corpus { name: name.into(), text }),
            false => skipped.push(format!("SKIP {name}: {} bytes found, {LEAST} needed", text.len())),
        }
    }
    // Translations of one manual are the other scripts that Debian has, and the messages of its programs; the folders have the
    // names of the languages.
    let (manuals, messages) = (Path::new("/usr/share/man"), Path::new("/usr/share/locale"));
    for (name, folder) in [
        ("French manuals", manuals.join("fr")),
        ("German manuals", manuals.join("de")),
        ("Polish manuals", manuals.join("pl")),
        ("Japanese manuals", manuals.join("ja")),
        ("Korean manuals", manuals.join("ko")),
        ("Russian manuals", manuals.join("ru")),
        ("Chinese manuals", manuals.join("zh_CN")),
        ("Turkish messages", messages.join("tr")),
        ("Vietnamese messages", messages.join("vi")),
        ("Greek messages", messages.join("el")),
        ("Hebrew messages", messages.join("he")),
        ("Arabic messages", messages.join("ar")),
        ("Hindi messages", messages.join("hi")),
        ("Tamil messages", messages.join("ta")),
        ("Thai messages", messages.join("th")),
    ] {
        let text = gather(&folder, &["gz", "mo"], "", most);
        match text.len() >= LEAST {
            true => corpora.push(Corpus { name: name.into(), text }),
            false => skipped.push(format!("SKIP {name}: {} bytes in {}", text.len(), folder.display())),
        }
    }
    (corpora, skipped)
}

/// Returns the texts of the files under `folder` that end in one of `kinds`, in the order of their names. Of each folder
/// below, at most a fifth of a corpus is taken, so that no single project is all of it.
fn gather(folder: &Path, kinds: &[&str], within: &str, most: usize) -> String {
    let mut text = String::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        let before = text.len();
        for path in paths {
            if text.len() >= most {
                break;
            }
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_wanted =
                kinds.iter().any(|kind| name.ends_with(&format!(".{kind}"))) && name.contains(within);
            if is_wanted && text.len() - before < most / 5 {
                text.push_str(&read(&path));
            }
        }
    }
    let end = text.floor_char_boundary(most);
    text.truncate(end);
    text
}

fn read(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    let bytes = match path.extension().is_some_and(|kind| kind == "gz") {
        true => {
            let mut plain = Vec::new();
            let mut reader = flate2::read::GzDecoder::new(&bytes[..]);
            match std::io::Read::read_to_end(&mut reader, &mut plain) {
                Ok(_) => plain,
                Err(_) => Vec::new(),
            }
        }
        false if path.extension().is_some_and(|kind| kind == "mo") => {
            translations(&bytes).unwrap_or_default()
        }
        false => bytes,
    };
    let text = String::from_utf8_lossy(&bytes);
    // A line of a megabyte or a file of data is no example of its kind.
    text[..text.floor_char_boundary(400_000)].to_owned()
}

/// Returns the translations in a catalogue of messages, a line each. The format is that of GNU gettext's manual ("The Format
/// of GNU MO Files"), in the byte order of this machine.
fn translations(catalogue: &[u8]) -> Option<Vec<u8>> {
    let number = |at: usize| Some(u32::from_le_bytes(catalogue.get(at..at + 4)?.try_into().ok()?) as usize);
    let (count, table) = (number(8)?, number(16)?);
    let mut lines = Vec::new();
    // The first is the catalogue's own head.
    for entry in 1..count {
        let (length, start) = (number(table + entry * 8)?, number(table + entry * 8 + 4)?);
        lines.extend_from_slice(catalogue.get(start..start + length)?);
        lines.push(b'\n');
    }
    Some(lines)
}

/// Returns the hostile texts, of `bytes` bytes each: what makes counters slow, or overflow their stack.
pub fn hostile(bytes: usize) -> Vec<Corpus> {
    let mut state = 1u64;
    let mut draw = move |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    };
    let words = include_str!("../../../../docs/ARCHITECTURE.md").chars().filter(char::is_ascii_alphabetic);
    let words: String = words.map(|c| c.to_ascii_lowercase()).collect();
    let mut of = |alphabet: &str| -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..bytes).map(|_| letters[draw(letters.len())]).collect()
    };
    let base64 = of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    let (letters, digits) = (of("abcdefghijklmnopqrstuvwxyz"), of("0123456789"));
    let marks = of("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
    let noise: Vec<u8> = (0..bytes / 2).map(|_| draw(256) as u8).collect();
    let han = (0..bytes / 3).filter_map(|_| char::from_u32(0x4E00 + draw(0x51A5) as u32)).collect();
    let texts = [
        ("one letter", "a".repeat(bytes)),
        ("spaces", " ".repeat(bytes)),
        ("line breaks", "\n".repeat(bytes)),
        ("random letters", letters),
        ("English without blanks", words.repeat(bytes / words.len() + 1)),
        ("base64", base64),
        ("digits", digits),
        ("marks", marks),
        ("emoji", "😀🚀🦀💥".repeat(bytes / 16)),
        ("random Han characters", han),
        ("random bytes, read lossily", String::from_utf8_lossy(&noise).into_owned()),
    ];
    let cut = |text: String| text[..text.floor_char_boundary(bytes)].to_owned();
    texts.into_iter().map(|(name, text)| Corpus { name: name.into(), text: cut(text) }).collect()
}

/// Returns pieces of `text` of 20 to 400 bytes, as the messages of a chat are, at most `most` of them.
pub fn messages(text: &str, most: usize) -> Vec<&str> {
    let (mut messages, mut rest, mut nth) = (Vec::new(), text, 0usize);
    while messages.len() < most && rest.len() > 400 {
        let (message, after) = rest.split_at(rest.floor_char_boundary(20 + nth * 97 % 381).max(4));
        messages.push(message);
        rest = after;
        nth += 1;
    }
    messages
}
