//! `cargo xtask tidy`: the crate map, the READMEs, and the invariants that a search can see.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::command::{packages, root};

/// Which of our crates each of our crates may depend on. Every arrow points down; there are no others.
/// `docs/ARCHITECTURE.md` explains the map.
const ARROWS: &[(&str, &[&str])] = &[
    ("longhaul-transcript", &[]),
    ("longhaul-wire", &["transcript"]),
    ("longhaul-redact", &["transcript"]),
    ("longhaul-tokens", &["transcript"]),
    ("longhaul-trim", &["transcript"]),
    ("longhaul-extract", &["transcript"]),
    ("longhaul-summarize", &["transcript", "tokens", "extract"]),
    ("longhaul-client", &["transcript", "wire", "summarize"]),
    ("longhaul-store", &["transcript"]),
    ("longhaul", &["transcript", "wire", "redact", "tokens", "trim", "extract", "summarize", "store"]),
    ("longhaul-cli", &["", "wire", "client", "redact"]),
    ("longhaul-python", &[""]),
    ("longhaul-testkit", &["transcript"]),
    ("longhaul-bench", &["", "client", "extract", "summarize", "testkit", "tokens", "transcript", "wire"]),
];

/// What the deterministic layers never do, each with the reason that the message gives.
const ABSENT: &[(&str, &str)] = &[
    ("SystemTime::now", "layers take a `Clock`"),
    ("Instant::now", "layers take a `Clock`"),
    ("std::env", "only the command line reads the environment"),
    ("env::", "only the command line reads the environment"),
    ("eprint", "only the command line prints"),
    ("thread_rng", "ids are derived, never drawn"),
    ("todo!(", "no stubs"),
    ("unimplemented!(", "no stubs"),
];

/// How the names of files end that are not held to [`ABSENT`]: tests, and the seams of a runtime behind their feature.
const FREE: &[&str] = &["tests.rs", "testing.rs", "interleavings.rs", "planted.rs", "runtime.rs"];

/// The crates whose `src` is held to [`ABSENT`]. `longhaul-client` is none: a `Retry-After` may be a date.
const LAYERS: &[&str] = &[
    "longhaul-transcript", "longhaul-wire", "longhaul-redact", "longhaul-tokens", "longhaul-trim",
    "longhaul-extract", "longhaul-summarize", "longhaul-store", "longhaul",
];

/// What only `say.rs` of the command line does: one place sees to it that no text of others steers a terminal.
const PRINTING: &[&str] =
    &["print!(", "println!(", "stdout().lock(", "stderr().lock(", "stdout().write", "stderr().write"];

/// What was taken from elsewhere, with the SHA-256 of what was taken: nobody edits it in place. Each folder's README names
/// the source and the version, and its licence lies beside it.
const VENDORED: &[(&str, &str)] = &[
    (
        "crates/longhaul-redact/rules/gitleaks.toml",
        "0ceeb4f9c567f9f80ee05e8e37eeba4646df809f69c736a64d5b8b1398eb3e4c",
    ),
    (
        "crates/longhaul-tokens/data/cl100k.merges",
        "5f44c2f0e4f7e129dd93ef88f1f677387895916e8f59869f708b876b550367e4",
    ),
    (
        "crates/longhaul-tokens/data/o200k.merges",
        "c95d31c9f8b03d2635205a586c18945f90ee9fee4cda355d74c273dca62752cc",
    ),
    (
        "crates/longhaul-tokens/data/p50k.merges",
        "a13ad14c99384d4907ea605bb1344654c08bbe481e3624236c9b21b750b8e12a",
    ),
    (
        "crates/longhaul-tokens/data/classes.bin",
        "d53b91367bdc776c5701f797367321d48dde5483b15608c2d8a204a30f12ce17",
    ),
];

/// Checks all of it and reports every finding at once.
pub(crate) fn run() -> Result<()> {
    let mut findings = Vec::new();
    arrows(&mut findings)?;
    folders(&mut findings)?;
    unused(&mut findings)?;
    layers(&mut findings)?;
    printing(&mut findings)?;
    vendored(&mut findings)?;
    named_tests(&mut findings)?;
    if !findings.is_empty() {
        bail!("the tree is not tidy:\n  {}", findings.join("\n  "));
    }
    eprintln!(
        "tidy: the crate map, the READMEs, the dependencies, the layers, the printing, what is vendored and named tests hold"
    );
    Ok(())
}

fn arrows(findings: &mut Vec<String>) -> Result<()> {
    for package in packages()? {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ARROWS.iter().find(|(crate_name, _)| *crate_name == name) else {
            if name.starts_with("longhaul") {
                findings.push(format!("{name} is not in the crate map (ARROWS, and docs/ARCHITECTURE.md)"));
            }
            continue;
        };
        let allowed: BTreeSet<String> = allowed.iter().map(|layer| full_name(layer)).collect();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let target = dependency["name"].as_str().unwrap_or_default();
            let is_dev = dependency["kind"].as_str() == Some("dev");
            if target.starts_with("longhaul") && !is_dev && !allowed.contains(target) {
                findings.push(format!("{name} depends on {target}: the crate map has no such arrow"));
            }
        }
    }
    Ok(())
}

/// Returns the crate's name for a layer's name; the facade's layer name is empty.
fn full_name(layer: &str) -> String {
    match layer {
        "" => "longhaul".into(),
        layer => format!("longhaul-{layer}"),
    }
}

fn folders(findings: &mut Vec<String>) -> Result<()> {
    for folder in fs::read_dir(root().join("crates"))? {
        let folder = folder?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !folder.join("README.md").is_file() {
            findings.push(format!("crates/{name} has no README.md"));
        }
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        if !manifest.contains(&format!("name = \"{name}\"")) {
            findings.push(format!("crates/{name}: folder and crate are not named alike"));
        }
    }
    let docs =
        ["README.md", "CHANGELOG.md", "docs/ARCHITECTURE.md", "docs/glossary.md", "docs/benchmarks.md"];
    findings
        .extend(docs.iter().filter(|doc| !root().join(doc).is_file()).map(|doc| format!("{doc} is missing")));
    Ok(())
}

/// Each dependency that the workspace names is some crate's.
fn unused(findings: &mut Vec<String>) -> Result<()> {
    let packages = packages()?;
    let used: BTreeSet<&str> = packages
        .iter()
        .flat_map(|package| package["dependencies"].as_array().into_iter().flatten())
        .filter_map(|dependency| dependency["name"].as_str())
        .collect();
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let named = manifest.split("[workspace.dependencies]").nth(1).unwrap_or_default();
    let named =
        named.lines().take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once(" = "));
    let unused = named.filter(|(name, _)| !used.contains(name));
    findings.extend(unused.map(|(name, _)| format!("Cargo.toml names {name}, which no crate depends on")));
    Ok(())
}

fn layers(findings: &mut Vec<String>) -> Result<()> {
    for layer in LAYERS {
        for file in rust_files(&root().join("crates").join(layer).join("src"))? {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if FREE.iter().any(|free| name.ends_with(free)) {
                continue;
            }
            let text = fs::read_to_string(&file)?;
            let code = text.split("\n#[cfg(test)]").next().unwrap_or_default();
            for (needle, why) in ABSENT {
                if let Some(line) = code.lines().position(|line| line.contains(needle) && !is_comment(line)) {
                    let place = file.strip_prefix(root()).unwrap_or(&file).display();
                    findings.push(format!("{place}:{}: `{needle}`: {why}", line + 1));
                }
            }
        }
    }
    Ok(())
}

fn printing(findings: &mut Vec<String>) -> Result<()> {
    for file in rust_files(&root().join("crates/longhaul-cli/src"))? {
        if file.file_name().is_some_and(|name| name == "say.rs") {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        for (line, code) in text.lines().enumerate().filter(|(_, code)| !is_comment(code)) {
            if let Some(needle) = PRINTING.iter().find(|needle| code.contains(*needle)) {
                let place = file.strip_prefix(root()).unwrap_or(&file).display();
                findings.push(format!("{place}:{}: `{needle}`: only say.rs prints", line + 1));
            }
        }
    }
    Ok(())
}

fn vendored(findings: &mut Vec<String>) -> Result<()> {
    for (path, expected) in VENDORED {
        let bytes = fs::read(root().join(path)).with_context(|| format!("{path} cannot be read"))?;
        if sha256(&bytes) != *expected {
            findings.push(format!("{path} is not what was vendored"));
        }
        let folder = root().join(path).parent().map(Path::to_path_buf).unwrap_or_default();
        let has_licence = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("LICENSE-"));
        if !has_licence {
            findings.push(format!("{path} has no licence beside it"));
        }
    }
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What `docs/security.md` promises it promises by the names of tests: each must be there.
fn named_tests(findings: &mut Vec<String>) -> Result<()> {
    let page = fs::read_to_string(root().join("docs/security.md"))?;
    let is_name = |text: &&str| {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        text.matches('_').count() >= 2 && text.bytes().all(is_letter)
    };
    let mut missing: BTreeSet<&str> = page.split('`').skip(1).step_by(2).filter(is_name).collect();
    for file in rust_files(&root().join("crates"))? {
        let text = fs::read_to_string(&file)?;
        missing.retain(|name| !text.contains(&format!("fn {name}(")));
    }
    findings.extend(
        missing.iter().map(|name| format!("docs/security.md names the test {name}, which is not there")),
    );
    Ok(())
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|ext| ext == "rs") => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_has_no_way_back_up() {
        let place = |name: &str| ARROWS.iter().position(|(crate_name, _)| *crate_name == name).unwrap();
        for (name, allowed) in ARROWS {
            for layer in *allowed {
                assert!(place(&full_name(layer)) < place(name), "{name} -> {layer}");
            }
        }
    }
}
