//! Touches and edits, folded to what became of each file.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use longhaul_transcript::FileState;

use super::{
    Committed, Failed, FileEdit, FileHistory,
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
                for file in files.values_mut() {
                    file.committed = Some(file.as_committed(nth));
                }
                continue;
            }
            _ => {}
        }
        let Some(path) = touch.paths().next().map(|path| names.of(path).to_owned()) else { continue };
        if let Touch::Failed(_, why) = touch {
            if let Some(file) = files.get_mut(&path) {
                file.fail(message, why);
            }
            continue;
        }
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
        let file = files.entry(path.clone()).or_insert_with(|| FileHistory::new(&path));
        match touch {
            Touch::Revert(_) => {
                file.put_back(message, nth);
                continue;
            }
            _ => file.last_message = message,
        }
        match touch {
            Touch::Read(_) | Touch::RevertAll | Touch::Commit | Touch::Revert(_) | Touch::Failed(..) => {}
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

impl FileHistory {
    fn new(path: &str) -> FileHistory {
        FileHistory {
            path: path.into(),
            state: FileState::Read,
            edits: 0,
            other_name: None,
            last_message: 0,
            trail: Vec::new(),
            committed: None,
            was_made_here: false,
            has_unseen_edits: false,
            failures: Vec::new(),
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

    /// Takes in that it was to be changed, and was not.
    fn fail(&mut self, message: u64, why: &str) {
        match self.failures.last_mut().filter(|last| last.edits == self.edits) {
            Some(last) => {
                (last.times, last.message) = (last.times + 1, message);
                last.why.clear();
                last.why.push_str(why);
            }
            None => self.failures.push(Failed { edits: self.edits, times: 1, message, why: why.into() }),
        }
    }

    /// Returns the file as the commit that is touch `nth` has it.
    fn as_committed(&self, nth: usize) -> Committed {
        Committed { state: self.state, edits: self.edits, has_unseen_edits: self.has_unseen_edits, nth }
    }

    /// Puts the file back to what version control has of it, which is touch `nth`.
    fn put_back(&mut self, message: u64, nth: usize) {
        let (state, edits) = match (self.committed, self.state) {
            (Some(has), now) if (has.state, has.edits) == (now, self.edits) => return,
            // Version control has it as it was changed here.
            (Some(has), _) => (has.state, has.edits),
            // What version control does not know stays.
            (None, FileState::Modified | FileState::Deleted) if !self.was_made_here => {
                (FileState::Reverted, 0)
            }
            _ => return,
        };
        (self.state, self.edits, self.last_message) = (state, edits, message);
        self.gone.push((self.committed.map(|has| has.nth), nth));
        self.has_unseen_edits = self.committed.is_some_and(|has| has.has_unseen_edits);
    }

    /// Returns whether the edit that came behind `nth` touches was put back.
    fn is_put_back(&self, nth: usize) -> bool {
        let is_between =
            |(commit, back): &(Option<usize>, usize)| nth < *back && commit.is_none_or(|commit| commit < nth);
        self.gone.iter().any(is_between)
    }
}
