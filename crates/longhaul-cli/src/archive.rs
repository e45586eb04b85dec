//! Reading what was recorded.

mod asked;
mod named;
mod shown;
mod unrecorded;

use std::{
    cell::RefCell,
    collections::BTreeSet,
    env,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result, bail};
use longhaul::{
    redact::Redactor,
    redacted_messages,
    store::{History, Kin, MemoryStore, Original, SessionInfo, StoreError, locate},
    transcript::{SessionId, Span, SummaryId},
    wire::Document,
};
use tokio::runtime::Runtime;

#[cfg(feature = "mcp")]
pub(crate) use self::shown::why_gone;
pub(crate) use self::{
    named::{is_backwards, required_span, span, summary_id},
    shown::{but_deleted, full, in_force, json_line, line, line_within, utc, utc_in_a_name},
    unrecorded::Unrecorded,
};
use crate::{
    args::StoreArgs,
    exit::Impossible,
    found::{self, ByWords, Found, Reach},
    input,
    paint::{self, counted, plain},
    store::{self, Held, Left, Replaced, Store, Trace},
};

/// An open store, and what waits for its answers.
pub(crate) struct Archive {
    pub(crate) store: Store,
    runtime: Runtime,
    /// The sessions whose log was compared with what stands in the store.
    checked: RefCell<BTreeSet<SessionId>>,
}

impl Archive {
    /// Opens the store that the flags name, or the user's own; it is made where there is none.
    pub(crate) fn open(args: &StoreArgs) -> Result<Archive> {
        Archive::of(store::open(args)?)
    }

    /// Opens one that is gone with the process: to try what may fail.
    pub(crate) fn in_memory() -> Result<Archive> {
        Archive::of(Arc::new(MemoryStore::new()))
    }

    /// Returns whether the store that the flags name may be there.
    pub(crate) fn is_there(args: &StoreArgs) -> Result<bool> {
        Ok(store::place(args)?.may_exist())
    }

    fn of(store: Store) -> Result<Archive> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().build().context("no runtime can be started")?;
        Ok(Archive { store, runtime, checked: RefCell::default() })
    }

    /// Returns the originals in `span`, and says which of them are not what was written.
    pub(crate) fn originals(&self, session: &SessionId, span: Span) -> Result<Vec<Original>> {
        let originals = self.wait(self.store.originals_in_line(session, span))?;
        match originals.iter().any(|original| original.is_changed) {
            true => tell_changed(session, &originals),
            false => self.warn_if_changed(session)?,
        }
        Ok(originals)
    }

    /// Says so, once, where a message of the session stands in the place of another: what is read is then not what was written.
    pub(crate) fn warn_if_changed(&self, session: &SessionId) -> Result<()> {
        if !self.checked.borrow_mut().insert(session.clone()) {
            return Ok(());
        }
        if let Some(problem) = self.wait(self.store.verify_log(session))?.problem {
            say!(
                "session {session} was changed in the store: {problem}; see longhaul audit --verify{}",
                store::flags()
            );
        }
        Ok(())
    }

    /// Opens the store for reading what is in it.
    ///
    /// # Errors
    /// Also where there is none yet: asking must not make one.
    pub(crate) fn existing(args: &StoreArgs) -> Result<Archive> {
        must_exist(args)?;
        Archive::of(store::open_to_read(args)?)
    }

    /// Opens the store for reading what is in it, where there is one.
    pub(crate) fn if_there(args: &StoreArgs) -> Result<Option<Archive>> {
        match Archive::is_there(args)? {
            true => Archive::existing(args).map(Some),
            false => Ok(None),
        }
    }

    /// Opens the store to change what is in it.
    ///
    /// # Errors
    /// Also where there is none yet, or nothing can be written there.
    pub(crate) fn to_change(args: &StoreArgs) -> Result<Archive> {
        must_exist(args)?;
        Archive::open(args)
    }

    /// Waits for what is made of the store's answers.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Waits for an answer of the store.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = Result<T, StoreError>>) -> Result<T> {
        Ok(self.runtime.block_on(future)?)
    }

    /// Returns what the compaction that made the record `id` did to a file.
    pub(crate) fn trace(&self, id: &SummaryId) -> Result<Option<Trace>> {
        self.runtime.block_on(Trace::of(&self.store, id))
    }

    /// Notes what stood where `file` is put back, which the compaction that made the record `id` replaced.
    pub(crate) fn note_left(&self, id: &SummaryId, file: &Replaced, left: &[Left]) -> Result<()> {
        match left.is_empty() {
            true => Ok(()),
            false => self.runtime.block_on(Trace::note_left(&self.store, id, file, left)),
        }
    }

    /// Lets go of the files that the compaction that made the record `id` replaced.
    pub(crate) fn forget_files(&self, id: &SummaryId, trace: Trace) -> Result<()> {
        self.runtime.block_on(trace.forget_files(&self.store, id))
    }

    /// Returns the session that `name` is the id or another name of, in full: for what cannot be taken back.
    pub(crate) fn named(&self, name: &str) -> Result<SessionId> {
        match self.runtime.block_on(self.store.resolve(name)) {
            Err(error @ StoreError::UnknownSession { .. }) => match &self.with_part(name)?[..] {
                [] => bail!("{error}; `longhaul sessions{}` lists what is recorded", store::flags()),
                meant => bail!("{error}; what cannot be taken back wants the whole name:\n{}", lines(meant)),
            },
            resolved => {
                let session = resolved?;
                if let Some(other) = self.also_means(name, &session)? {
                    bail!(
                        "{:?} is a name of {session}, and a part of the id {other}; what cannot be taken back wants an id",
                        plain(name)
                    );
                }
                Ok(session)
            }
        }
    }

    /// Returns another conversation whose id `name` is a part of, where it names `session` without being its id: an import brings names
    /// with it.
    fn also_means(&self, name: &str, session: &SessionId) -> Result<Option<SessionId>> {
        if session.as_str() == name {
            return Ok(None);
        }
        let relatives = self.relatives(session)?;
        let mut others = self.with_part(name)?.into_iter().map(|info| info.session);
        Ok(others.find(|other| {
            other != session && !relatives.contains(other) && found::is_part(name, other.as_str())
        }))
    }

    /// Returns the session that `name` is the id or another name of, or the beginning or the end of one: for what can be taken back.
    pub(crate) fn session(&self, name: &str) -> Result<SessionId> {
        let resolved = self.runtime.block_on(self.store.resolve(name));
        if resolved.is_err()
            && let Some(session) = self.of_file(Path::new(name))?
        {
            return Ok(session);
        }
        match resolved {
            Err(error @ StoreError::UnknownSession { .. }) => match &self.meant_by(name)?[..] {
                [one] => Ok(one.session.clone()),
                [] if found::has(name) => {
                    bail!(
                        "nothing of the session {:?} is recorded yet: `longhaul compact` does that",
                        plain(name)
                    )
                }
                [] => bail!("{error}; `longhaul sessions{}` lists what is recorded", store::flags()),
                many => bail!(
                    "{:?} may be any of {} recorded sessions:\n{}",
                    plain(name),
                    many.len(),
                    lines(many)
                ),
            },
            resolved => {
                let session = resolved?;
                if let Some(other) = self.also_means(name, &session)? {
                    say!("{:?} is a name of {session}; it is a part of the id {other}, too", plain(name));
                }
                Ok(session)
            }
        }
    }

    /// Returns the session that `name` names, be it by words of its first request, or the newest of this folder that is
    /// recorded, and says which where the name does not. For what only looks.
    pub(crate) fn session_or_newest(&self, name: Option<&str>) -> Result<SessionId> {
        match name {
            Some(name) => self.meant(name, ByWords::Taken),
            None => self.told_newest(Reach::Around),
        }
    }

    /// The same for what can be taken back: words of a request mean a session only where somebody says so on a terminal. Not
    /// for what cannot be taken back: that takes [`named`](Self::named).
    pub(crate) fn session_to_change(&self, name: Option<&str>) -> Result<SessionId> {
        match name {
            Some(name) => self.meant(name, ByWords::Asked),
            None => self.told_newest(Reach::Inside),
        }
    }

    fn meant(&self, name: &str, by_words: ByWords) -> Result<SessionId> {
        let is_known = self.wait(self.store.resolve(name)).is_ok();
        let error = match self.session(name) {
            Ok(session) => {
                if !is_known {
                    say!("session {session}");
                }
                return Ok(session);
            }
            Err(error) => error,
        };
        let by_part = self.meant_by(name)?;
        let is_about = by_part.is_empty();
        let meant = if is_about { self.about(name) } else { by_part.iter().map(session_of).collect() };
        let must_ask = is_about && by_words == ByWords::Asked;
        let names: Vec<String> = meant.iter().map(ToString::to_string).collect();
        let chosen = match names.len() {
            0 => return Err(error),
            1 if !must_ask => Some(0),
            _ => found::pick(&format!("{:?} may be any of these", plain(name)), &self.titled(&meant)),
        };
        match chosen {
            Some(at) => {
                say!("session {}", meant[at]);
                Ok(meant[at].clone())
            }
            None if must_ask => bail!(
                "{:?} is no session's id, and what changes something takes no words for one; they stand in\n  {}",
                plain(name),
                names.join("\n  ")
            ),
            None if is_about => {
                bail!(
                    "{:?} may be any of {} recorded sessions:\n  {}",
                    plain(name),
                    names.len(),
                    names.join("\n  ")
                )
            }
            None => Err(error),
        }
    }

    /// Returns the newest session of this folder that is recorded, and says which it is.
    fn told_newest(&self, reach: Reach) -> Result<SessionId> {
        let Some(session) = self.newest(reach)? else {
            bail!(Impossible(format!(
                "which session? none of this folder's is recorded; `longhaul sessions{}` lists what is",
                store::flags()
            )));
        };
        say!("session {session}");
        Ok(session)
    }

    /// Returns the newest session of this folder that is recorded; the only one that is, where there is but one that may be of this
    /// folder.
    fn newest(&self, reach: Reach) -> Result<Option<SessionId>> {
        let all = self.wait(self.store.sessions())?;
        // A session that was compacted a moment ago is newer than its file.
        let recorded = found::all_here(reach).filter_map(|found| {
            let info = family(&all, &found.id()).next()?;
            Some((found.changed.max(changed_at(info)), info))
        });
        let of_agent = recorded.max_by_key(|(changed, _)| *changed);
        let newest = self.newest_of_here(&all, of_agent.map(|(changed, _)| changed), reach)?;
        if let Some(newest) = newest.or(of_agent.map(|(_, info)| info)) {
            return Ok(Some(session_of(newest)));
        }
        let [only] = &*all else { return Ok(None) };
        let is_elsewhere = reach == Reach::Inside && self.has_a_folder(&all, only)?;
        Ok((!is_elsewhere).then(|| session_of(only)))
    }

    /// Returns whether a session that is not known to be of this folder is known to be of another: where it was held, or where the
    /// files lie that its last compaction replaced.
    fn has_a_folder(&self, all: &[SessionInfo], info: &SessionInfo) -> Result<bool> {
        let of_agent = |found: &Found| family(all, &found.id()).any(|one| one.session == info.session);
        if self.held(&info.session)?.is_some() || found::all().iter().any(of_agent) {
            return Ok(true);
        }
        let here = env::current_dir().unwrap_or_default();
        let records = self.wait(self.store.records(&info.session))?;
        let last = records.last().map(|record| self.trace(&record.id)).transpose()?.flatten();
        let files = last.map_or_else(Vec::new, |trace| trace.files);
        let is_near = |file: &Path| {
            let folder = file.parent().unwrap_or(file);
            folder.starts_with(&here) || here.starts_with(folder)
        };
        Ok(!files.is_empty() && !files.iter().any(|file| is_near(&file.path)))
    }

    /// Returns the newest conversation of `chat` that was held in this folder, where it was gone on with after `least`.
    pub(crate) fn newest_chat(&self, least: Option<SystemTime>) -> Result<Option<SessionId>> {
        let all = self.wait(self.store.sessions())?;
        let here = env::current_dir().unwrap_or_default();
        let held = |some: &[&SessionInfo]| self.are_held_in(some, &here, Reach::Around);
        Ok(newest_that(&all, least, held)?.map(session_of))
    }

    /// Returns the newest conversation of `chat` or plain transcript of this folder.
    fn newest_of_here<'a>(
        &self,
        all: &'a [SessionInfo],
        least: Option<SystemTime>,
        reach: Reach,
    ) -> Result<Option<&'a SessionInfo>> {
        let here = env::current_dir().unwrap_or_default();
        // As it is named in what is noted of files.
        let real = here.canonicalize().unwrap_or_else(|_| here.clone());
        newest_that(all, least, |some| {
            let held = self.are_held_in(some, &here, reach)?;
            let lie = self.lie_in(some, &real, reach)?;
            Ok(held.into_iter().zip(lie).map(|(is_held, lies)| is_held || lies).collect())
        })
    }

    /// Returns of each whether it is a conversation of `chat` that was held in the folder `here`.
    fn are_held_in(&self, some: &[&SessionInfo], here: &Path, reach: Reach) -> Result<Vec<bool>> {
        let held = self.block_on(Held::of_all(&self.store, some.iter().map(|info| &info.session)))?;
        Ok(held.iter().map(|held| held.as_ref().is_some_and(|held| held.is_of(here, reach))).collect())
    }

    /// Returns of each whether the transcript that was compacted last lay in the folder `here`.
    fn lie_in(&self, some: &[&SessionInfo], here: &Path, reach: Reach) -> Result<Vec<bool>> {
        let last = |info: &&SessionInfo| info.state.chain.last().or(info.state.undone.last()).cloned();
        let last: Vec<Option<SummaryId>> = some.iter().map(last).collect();
        let known: Vec<&SummaryId> = last.iter().flatten().collect();
        let mut traces = self.block_on(Trace::of_all(&self.store, &known))?.into_iter();
        let lies = |id: &Option<SummaryId>| {
            let trace = id.as_ref().and_then(|_| traces.next().flatten());
            trace.is_some_and(|trace| trace.is_of(here, reach))
        };
        Ok(last.iter().map(lies).collect())
    }

    /// Returns where a conversation of `chat` was held, and with whom.
    pub(crate) fn held(&self, session: &SessionId) -> Result<Option<Held>> {
        self.runtime.block_on(Held::of(&self.store, session))
    }

    /// Returns the session and the words of a query that may begin with a session: the newest where it does not, none where it
    /// is to be looked for in all.
    pub(crate) fn session_and_words(&self, query: &[String]) -> Result<(Option<SessionId>, String)> {
        let (first, rest) = query.split_first().context("there is nothing to look for")?;
        if !rest.is_empty() {
            if first == "all" {
                return Ok((None, rest.join(" ")));
            }
            if self.names_a_session(first)? {
                return Ok((Some(self.session(first)?), rest.join(" ")));
            }
            if let Some(session) = self.of_file(Path::new(first))? {
                return Ok((Some(session), rest.join(" ")));
            }
        }
        // Who names messages behind a word means a session by it.
        if let (false, true) = (rest.is_empty(), span(&rest.join(" ")).is_some()) {
            return Ok((Some(self.session(first)?), rest.join(" ")));
        }
        let words = query.join(" ");
        if rest.is_empty() && span(first).is_none() && self.is_session(first)? {
            let (first, flags) = (plain(first), store::flags());
            bail!(Impossible(format!(
                "{first} is a session: say what to look for in it, as in `longhaul recall {first} WORDS{flags}`; the word itself is \
                 looked for with `longhaul recall all {first}{flags}`"
            )));
        }
        // What is no session's is looked for: in the newest of this folder, or in all where there is none.
        let session = match self.only_with(&words)? {
            Some(session) => Some(session),
            None if span(&words).is_some() => return Ok((Some(self.told_newest(Reach::Around)?), words)),
            None => self.newest(Reach::Around)?,
        };
        match &session {
            Some(session) => say!("session {session}"),
            None => say!("no session of this folder is recorded: looked for in all"),
        }
        Ok((session, words))
    }

    /// Returns the session that is recorded of the file at `path`, where that is one.
    ///
    /// # Errors
    /// When it is a session of which nothing is recorded.
    fn of_file(&self, path: &Path) -> Result<Option<SessionId>> {
        if !path.is_file() {
            return Ok(None);
        }
        // A file that is no transcript is a word that somebody remembers.
        let Ok(document) = input::document(path, None) else { return Ok(None) };
        match self.recorded_of(path, &document)? {
            None => bail!("nothing of {} is recorded yet: `longhaul compact` does that", paint::path(path)),
            session => Ok(session),
        }
    }

    /// Returns the session that is recorded of `document`, which the file at `path` holds.
    fn recorded_of(&self, path: &Path, document: &Document) -> Result<Option<SessionId>> {
        let id = document.session_id().or_else(|| found::id_at(path));
        let said = redacted_messages(document, Some(&Redactor::builtin()));
        let history = History { id: id.as_ref(), named: None, said: &said };
        let place = self.wait(locate(&self.store, &history))?;
        Ok((place.kin != Kin::New).then(|| place.holder().clone()))
    }

    /// Returns the one session that has the summary that `words` name, where they name one.
    fn only_with(&self, words: &str) -> Result<Option<SessionId>> {
        let Some(id) = summary_id(words) else { return Ok(None) };
        let mut holders = self.wait(self.store.sessions_with(&id))?;
        Ok(holders.pop().filter(|_| holders.is_empty()))
    }

    /// Returns whether a session has this very name.
    fn is_session(&self, name: &str) -> Result<bool> {
        match self.runtime.block_on(self.store.resolve(name)) {
            Err(StoreError::UnknownSession { .. }) => Ok(false),
            resolved => resolved.map(|_| true).map_err(Into::into),
        }
    }

    /// Returns whether `name` can only mean a session, or several.
    fn names_a_session(&self, name: &str) -> Result<bool> {
        // The end of somebody's name for a session is a word like any other.
        let is_of_an_id = name.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        let begins = |info: &SessionInfo| {
            info.aliases.iter().chain([&info.session]).any(|known| known.as_str().starts_with(name))
        };
        Ok(self.is_session(name)? || self.with_part(name)?.iter().any(|info| is_of_an_id || begins(info)))
    }

    /// Returns the session `id` and its branches, the newest first: an agent that compacts goes on with other words under the
    /// same id.
    pub(crate) fn family(&self, id: &str) -> Result<Vec<SessionId>> {
        let all = self.wait(self.store.sessions())?;
        Ok(family(&all, id).map(session_of).collect())
    }

    /// Returns the other sessions of a conversation: those that `session` was begun with, and those that were begun with it or them.
    pub(crate) fn relatives(&self, session: &SessionId) -> Result<Vec<SessionId>> {
        self.wait(self.relatives_of(session))
    }

    /// The same, for who waits already.
    pub(crate) async fn relatives_of(&self, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let (mut next, mut seen) = (vec![session.clone()], BTreeSet::from([session.clone()]));
        let mut relatives = Vec::new();
        while let Some(relative) = next.pop() {
            let Some(state) = self.store.state(&relative).await? else { continue };
            let mut near = self.store.forks_of(&relative).await?;
            near.extend(state.forked_from.map(|from| from.session));
            next.extend(near.into_iter().filter(|near| seen.insert(near.clone())));
            relatives.extend((relative != *session).then_some(relative));
        }
        relatives.sort();
        Ok(relatives)
    }

    /// Returns those of [`with_part`](Self::with_part) that may be meant: of a session and its branches the one that changed last, for an
    /// agent that compacts goes on with other words under the same id.
    fn meant_by(&self, part: &str) -> Result<Vec<SessionInfo>> {
        let mut all = self.with_part(part)?;
        let ids: Vec<SessionId> = all.iter().map(session_of).collect();
        let is_fork = |info: &&SessionInfo| {
            info.state.forked_from.as_ref().is_some_and(|from| ids.contains(&from.session))
        };
        if all.iter().filter(is_fork).count() + 1 == all.len() {
            all.truncate(1);
        }
        Ok(all)
    }

    /// Returns the sessions whose id, or another name, begins or ends with `part`: four letters or more.
    fn with_part(&self, part: &str) -> Result<Vec<SessionInfo>> {
        if !found::may_name(part) {
            return Ok(Vec::new());
        }
        let mut all = self.wait(self.store.sessions())?;
        all.retain(|info| {
            info.aliases.iter().chain([&info.session]).any(|name| found::is_part(part, name.as_str()))
        });
        Ok(all)
    }
}

/// Returns the newest of `all` that changed after `least` and is told to be meant: of so many at once is asked. The store gives the
/// newest first, and most often it is among them.
fn newest_that<'a>(
    all: &'a [SessionInfo],
    least: Option<SystemTime>,
    are: impl Fn(&[&'a SessionInfo]) -> Result<Vec<bool>>,
) -> Result<Option<&'a SessionInfo>> {
    const AT_ONCE: usize = 500;
    let newer: Vec<&SessionInfo> =
        all.iter().take_while(|info| least.is_none_or(|least| changed_at(info) > least)).collect();
    for some in newer.chunks(AT_ONCE) {
        if let Some(at) = are(some)?.iter().position(|is| *is) {
            return Ok(Some(some[at]));
        }
    }
    Ok(None)
}

fn must_exist(args: &StoreArgs) -> Result<()> {
    match Archive::is_there(args)? {
        true => Ok(()),
        false => bail!("nothing is recorded yet: there is no store at {}", store::place(args)?),
    }
}

/// Returns when something of a stored session last changed.
fn changed_at(info: &SessionInfo) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(info.state.changed_at_ms).unwrap_or_default())
}

/// Returns a line for each of the newest of these, to choose from by hand: ids in full, so that they can be copied.
fn lines(sessions: &[SessionInfo]) -> String {
    const SHOWN: usize = 5;
    let line = |info: &SessionInfo| format!("  {}  {}", info.session, utc(info.state.changed_at_ms));
    let mut lines: Vec<String> = sessions.iter().take(SHOWN).map(line).collect();
    if sessions.len() > SHOWN {
        lines.push(format!("  … and {}", counted((sessions.len() - SHOWN) as u64, "other")));
    }
    lines.join("\n")
}

/// Returns the session `id` and its branches among `all`, in their order: the store gives the newest first.
fn family<'a>(all: &'a [SessionInfo], id: &str) -> impl Iterator<Item = &'a SessionInfo> {
    let branch = format!("{id}-");
    let id = id.to_owned();
    all.iter().filter(move |info| {
        let session = info.session.as_str();
        session == id || session.starts_with(&branch)
    })
}

fn session_of(info: &SessionInfo) -> SessionId {
    info.session.clone()
}

/// Says which of these are not what was written.
pub(crate) fn tell_changed<'a>(session: &SessionId, originals: impl IntoIterator<Item = &'a Original>) {
    let changed = originals.into_iter().filter(|original| original.is_changed);
    let changed: Vec<String> = changed.map(|original| format!("m{}", original.ordinal)).collect();
    let flags = store::flags();
    match &changed[..] {
        [] => {}
        [one] => say!(
            "session {session} was changed in the store: {one} is not what was written and is not shown; see longhaul audit --verify{flags}"
        ),
        many => say!(
            "session {session} was changed in the store: {} are not what was written and are not shown; see longhaul audit --verify{flags}",
            many.join(", ")
        ),
    }
}

/// Returns how many of the session's messages were deleted: their words cannot be found.
pub(crate) async fn deleted(store: &Store, session: &SessionId) -> Result<u64, StoreError> {
    let state = store.state(session).await?;
    Ok(state.map_or(0, |state| state.forgotten.iter().map(Span::len).sum()))
}
