//! Touches and edits, folded to what became of each file.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use longhaul_transcript::FileState;

use super::{
    Committed, FileEdit, FileHistory,
    names::{Names, clean},
    touch::Touch,
};

/// Returns what became of the files that were touched, by path, each with its edits.
///
/// With each edit stands how many touches came before it: in one message a file may be edited, put back and edited again.
pub(super) fn fold(touches: Vec<(u64, Touch)>, edits: Vec<(usize, String, FileEdit)>) -> Vec<FileHistory> {
    let names = Names::new(
        touches
            .iter()
            .flat_map(|(_, touch)| touch.paths())
            .chain(edits.iter().map(|(_, path, _)| path.as_str())),
    );
    let mut files: BTreeMap<String, FileHistory> = BTreeMap::new();
    // Most touches only read, and of those only the last before something else happens counts.
    let mut read: HashMap<&str, u64> = HashMap::new();
    let mut moved: Vec<Moved> = Vec::new();
    let mut commits: Vec<usize> = Vec::new();
    let mut stashed: Vec<Vec<(String, FileHistory)>> = Vec::new();
    for (nth, (message, touch)) in touches.iter().enumerate() {
        let message = *message;
        if let Touch::Read(path) = touch {
            let last = read.entry(names.of(path)).or_default();
            *last = message.max(*last);
            continue;
        }
        take_reads(&mut files, &mut read);
        match touch {
            Touch::RevertAll => {
                for file in files.values_mut() {
                    file.put_back(message, nth);
                }
                continue;
            }
            Touch::Commit => {
                commits.push(nth);
                for file in files.values_mut() {
                    let now = file.as_committed(nth);
                    if file.committed.last().is_none_or(|has| !has.is_of(file)) {
                        file.committed.push(now);
                    }
                }
                continue;
            }
            Touch::Uncommit { count, hard } => {
                let first = commits.len().saturating_sub(*count);
                if let Some(first) = commits.drain(first..).next() {
                    files.values_mut().for_each(|file| file.give_up(first, *hard, message));
                }
                continue;
            }
            Touch::Stash => {
                let mut aside = Vec::new();
                for (path, file) in &mut files {
                    let before = file.clone();
                    file.put_back(message, nth);
                    if file.gone.len() > before.gone.len() {
                        aside.push((path.clone(), before));
                    }
                }
                stashed.push(aside);
                continue;
            }
            Touch::Unstash => {
                for (path, before) in stashed.last().cloned().unwrap_or_default() {
                    if let Some(file) = files.get_mut(&path) {
                        file.take_back(before, message);
                    }
                }
                continue;
            }
            Touch::DropStash => {
                stashed.pop();
                continue;
            }
            _ => {}
        }
        let Some(path) = touch.paths().next().map(|path| names.of(path).to_owned()) else { continue };
        let known = files.contains_key(&path);
        if let Touch::Rename(from, to) = touch {
            let before = moved.len();
            moved.extend(rename_inside(
                &mut files,
                &path,
                &beside(&path, clean(from), names.of(to)),
                message,
            ));
            if moved.len() > before {
                continue;
            }
        }
        if let Touch::Revert(_) = touch {
            // A directory takes the files in it along.
            let inside = format!("{path}/");
            let of_path = |name: &str| name == path || name.starts_with(&inside);
            files.range_mut(path.clone()..).take_while(|(name, _)| name.starts_with(&path)).for_each(
                |(name, file)| {
                    if of_path(name) {
                        file.put_back(message, nth);
                    }
                },
            );
            continue;
        }
        let file = files.entry(path.clone()).or_insert_with(|| FileHistory::new(&path));
        file.last_message = message;
        match touch {
            Touch::Create(_) => file.write(FileState::Created),
            Touch::Touched(_) if known => {}
            Touch::Touched(_) => file.write(FileState::Created),
            Touch::Write(_) if !known || file.state == FileState::Deleted => file.write(FileState::Created),
            Touch::Write(_) | Touch::Edit(_) => file.write(FileState::Modified),
            Touch::Unseen(_) => file.has_unseen_edits = true,
            Touch::Delete(_) => {
                file.state = FileState::Deleted;
                if delete_inside(&mut files, &path, message)
                    && let Some(folder) = files.get_mut(&path)
                {
                    folder.was_made_here = true;
                }
            }
            Touch::Rename(from, to) => {
                let to = beside(&path, clean(from), names.of(to));
                let before = file.clone();
                (file.state, file.other_name) = (FileState::Renamed, Some(to.clone()));
                let target = files.entry(to.clone()).or_insert_with(|| FileHistory::new(&to));
                let made_here = before.state == FileState::Created;
                target.state = if made_here { FileState::Created } else { FileState::Modified };
                target.gone.extend(before.gone);
                target.has_unseen_edits |= before.has_unseen_edits;
                (target.edits, target.other_name, target.last_message) = (before.edits, Some(path), message);
            }
            // The others are not about one file.
            _ => {}
        }
    }
    take_reads(&mut files, &mut read);
    let renamed: Vec<String> = edits.iter().map(|(_, path, _)| names.of(path).to_owned()).collect();
    drop(read);
    drop(names);
    for (mut path, (nth, _, edit)) in renamed.into_iter().zip(edits) {
        // What was edited under its old name is told under the new one.
        for folder in &moved {
            if folder.from == path && edit.message <= folder.message {
                path.clone_from(&folder.to);
            }
        }
        for _ in 0..8 {
            match files.get(&path) {
                Some(FileHistory { state: FileState::Renamed, other_name: Some(now), .. }) => {
                    path.clone_from(now)
                }
                _ => break,
            }
        }
        if let Some(file) = files.get_mut(&path) {
            match file.is_put_back(nth) {
                true => file.undone.push(edit.message),
                false => file.trail.push(edit),
            }
        }
    }
    // What was made and thrown away again left nothing.
    files.retain(|_, file| file.state != FileState::Deleted || !file.was_made_here);
    files.into_values().collect()
}

/// Takes in that files were read, each last in that message.
fn take_reads(files: &mut BTreeMap<String, FileHistory>, read: &mut HashMap<&str, u64>) {
    let as_read = |path: &str, message| FileHistory { last_message: message, ..FileHistory::new(path) };
    if files.is_empty() {
        // In order, so that the tree is built of them and not searched for each.
        let mut read: Vec<(&str, u64)> = read.drain().collect();
        read.sort_unstable();
        *files = read.into_iter().map(|(path, message)| (path.to_owned(), as_read(path, message))).collect();
        return;
    }
    for (path, message) in read.drain() {
        match files.get_mut(path) {
            Some(file) => file.last_message = message,
            None => drop(files.insert(path.to_owned(), as_read(path, message))),
        }
    }
}

/// Where `to` is relative to what `from` is relative to, and that is known by its whole path, so is `to`.
fn beside(whole: &str, from: &str, to: &str) -> String {
    match whole.strip_suffix(from).filter(|base| base.ends_with('/')) {
        Some(base) if !to.starts_with(['/', '~', '.']) => format!("{base}{to}"),
        _ => to.to_owned(),
    }
}

/// A directory that goes takes the files in it along. Returns whether there were some and all were made here.
fn delete_inside(files: &mut BTreeMap<String, FileHistory>, folder: &str, message: u64) -> bool {
    let inside = format!("{folder}/");
    let after = files.range_mut(inside.clone()..).take_while(|(path, _)| path.starts_with(&inside));
    let (mut known, mut made_here) = (0, 0);
    for (_, file) in after.filter(|(_, file)| file.state != FileState::Renamed) {
        (file.state, file.last_message) = (FileState::Deleted, message);
        known += 1;
        made_here += usize::from(file.was_made_here);
    }
    known > 0 && known == made_here
}

/// A file that went along with its directory.
struct Moved {
    from: String,
    to: String,
    message: u64,
}

/// A directory that is renamed takes the files in it along. Returns those that are known.
fn rename_inside(
    files: &mut BTreeMap<String, FileHistory>,
    from: &str,
    to: &str,
    message: u64,
) -> Vec<Moved> {
    let inside = format!("{from}/");
    let known: Vec<String> = files
        .range(inside.clone()..)
        .take_while(|(path, _)| path.starts_with(&inside))
        .map(|(path, _)| path.clone())
        .collect();
    let mut moved = Vec::new();
    for path in known {
        let mut now = format!("{to}/{}", &path[inside.len()..]);
        let Some(mut file) = files.remove(&path) else { continue };
        if !matches!(file.state, FileState::Deleted | FileState::Renamed) {
            if file.state == FileState::Read {
                file.state = FileState::Modified;
            }
            (file.other_name, file.last_message) = (Some(path.clone()), message);
            file.path.clone_from(&now);
            files.insert(now.clone(), file);
        } else if let (FileState::Renamed, Some(name)) = (file.state, file.other_name) {
            // What was edited under a name that was given up before goes where that name went.
            now = name.strip_prefix(&inside).map(|rest| format!("{to}/{rest}")).unwrap_or(name);
        }
        moved.push(Moved { from: path, to: now, message });
    }
    moved
}

impl Committed {
    /// Returns whether the file is as version control has it.
    fn is_of(&self, file: &FileHistory) -> bool {
        (self.state, self.edits) == (file.state, file.edits)
    }
}

impl FileHistory {
    fn new(path: &str) -> FileHistory {
        FileHistory {
            path: path.into(),
            state: FileState::Read,
            edits: 0,
            other_name: None,
            last_message: 0,
            trail: Vec::new(),
            committed: Vec::new(),
            was_made_here: false,
            has_unseen_edits: false,
            gone: Vec::new(),
            undone: Vec::new(),
        }
    }

    fn write(&mut self, state: FileState) {
        self.edits += 1;
        // What was made here stays "created", however often it is edited afterwards.
        if self.state != FileState::Created {
            self.state = state;
        }
        self.was_made_here |= self.state == FileState::Created;
    }

    /// Returns the file as the commit that is touch `nth` has it.
    fn as_committed(&self, nth: usize) -> Committed {
        Committed { state: self.state, edits: self.edits, has_unseen_edits: self.has_unseen_edits, nth }
    }

    /// Puts the file back to what version control has of it, which is touch `nth`.
    fn put_back(&mut self, message: u64, nth: usize) {
        let committed = self.committed.last().copied();
        let (state, edits) = match (committed, self.state) {
            (Some(has), _) if has.is_of(self) => return,
            // Version control has it as it was changed here.
            (Some(has), _) => (has.state, has.edits),
            // What version control does not know stays.
            (None, FileState::Modified | FileState::Deleted) if !self.was_made_here => {
                (FileState::Reverted, 0)
            }
            _ => return,
        };
        (self.state, self.edits, self.last_message) = (state, edits, message);
        self.gone.push((committed.map(|has| has.nth), nth));
        self.has_unseen_edits = committed.is_some_and(|has| has.has_unseen_edits);
    }

    /// Takes in that the commits from touch `first` on are none any more.
    fn give_up(&mut self, first: usize, hard: bool, message: u64) {
        let was_known = !self.committed.is_empty();
        self.committed.retain(|has| has.nth < first);
        if hard && was_known && self.committed.is_empty() && self.was_made_here {
            (self.state, self.last_message) = (FileState::Deleted, message);
        }
    }

    /// Takes back what was laid aside of the file, as it was `before`.
    fn take_back(&mut self, before: FileHistory, message: u64) {
        let laid_aside = before.gone.len();
        if self.gone.len() > laid_aside {
            self.gone.remove(laid_aside);
        }
        if matches!(self.state, FileState::Reverted | FileState::Read) || self.edits < before.edits {
            (self.state, self.edits) = (before.state, before.edits.max(self.edits));
        }
        self.has_unseen_edits |= before.has_unseen_edits;
        self.last_message = message;
    }

    /// Returns whether the edit that came behind `nth` touches was put back.
    fn is_put_back(&self, nth: usize) -> bool {
        let is_between =
            |(commit, back): &(Option<usize>, usize)| nth < *back && commit.is_none_or(|commit| commit < nth);
        self.gone.iter().any(is_between)
    }
}
