//! Recorded conversations, which lie beside the repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Returns the files of a folder of `../shared/transcripts`, or of all of its folders for `""`, sorted.
///
/// There are none where the recordings are not there: a test that walks them has `recorded` in its name or its file's, tries
/// nothing then, and says so.
pub fn recorded(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = match folder {
        "" => entries(&root).map(|entry| entry.path()).collect(),
        folder => vec![root.join(folder)],
    };
    let mut files: Vec<PathBuf> =
        folders.iter().flat_map(|folder| entries(folder)).map(|entry| entry.path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    if files.is_empty() {
        eprintln!("nothing tried: there are no recordings in {}", root.join(folder).display());
    }
    files
}
