//! Who does the work: the caller, where that takes no time, else a thread of the store's own.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{
    desk::{Desk, caught},
    patience::patiently,
    reply::{Answer, Reply, reply},
    settle,
};
use crate::StoreError;

/// Hands jobs to the thread.
#[derive(Clone, Debug)]
pub(super) struct Worker(Arc<Thread>);

/// The thread ends when the last handle is dropped, which waits until the connection is closed: a process that ends
/// then leaves one file, without a log beside it.
#[derive(Debug)]
struct Thread {
    jobs: Option<mpsc::Sender<Job>>,
    handle: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    desk: Mutex<Desk>,
    /// How many jobs wait or run. Who comes while there are some waits behind them.
    n_jobs: AtomicUsize,
    /// Whether the thread was asked to look after the tails and has not yet.
    is_called: AtomicBool,
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.jobs = None;
        // The last handle may be dropped by a job, on the thread itself.
        if let Some(handle) =
            self.handle.take().filter(|handle| handle.thread().id() != thread::current().id())
        {
            let _ = handle.join();
        }
    }
}

enum Job {
    Read(Box<dyn FnOnce(&mut Desk) + Send>),
    Write(Box<dyn Write>),
    /// Look after the tails.
    Tend,
}

/// A write in two parts, so that several can share one transaction: what it does, and the answer once that is durable.
trait Write: Send {
    /// Does the work inside a savepoint; returns whether it is to be kept.
    fn run(&mut self, desk: &mut Desk) -> bool;
    /// Answers. `failed` is `None` where the transaction is durable.
    fn answer(self: Box<Self>, failed: Option<&str>);
}

struct WriteJob<T, F> {
    work: F,
    result: Option<Result<T, StoreError>>,
    answer: Answer<Result<T, StoreError>>,
}

impl<T: Send, F: FnMut(&mut Desk) -> Result<T, StoreError> + Send> Write for WriteJob<T, F> {
    fn run(&mut self, desk: &mut Desk) -> bool {
        let result = caught(|| (self.work)(desk));
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn answer(self: Box<Self>, failed: Option<&str>) {
        let result = match (self.result, failed) {
            (Some(Err(error)), _) => Err(error),
            (_, Some(reason)) => Err(StoreError::backend("writing to the database", reason)),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(StoreError::Closed),
        };
        self.answer.send(result);
    }
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn start(desk: Desk) -> Result<Worker, StoreError> {
        let (jobs, waiting) = mpsc::channel();
        let is_called = AtomicBool::new(false);
        let shared = Arc::new(Shared { desk: Mutex::new(desk), n_jobs: AtomicUsize::new(0), is_called });
        let working = shared.clone();
        let run = move || work(&working, &waiting);
        let started = thread::Builder::new().name("longhaul-store".into()).spawn(run);
        let handle = started.map_err(|error| StoreError::backend("starting the store's thread", error))?;
        Ok(Worker(Arc::new(Thread { jobs: Some(jobs), handle: Some(handle), shared })))
    }

    /// Reads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.alone(move |desk| desk.read(work)).await
    }

    /// Reads something small: by the caller itself, where nobody else is at work.
    pub(super) async fn read_little<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let Some(mut desk) = self.0.shared.idle_desk() {
            return desk.read(work);
        }
        self.read(work).await
    }

    /// Does something outside of a transaction.
    pub(super) async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, waiting) = reply();
        let job = Job::Read(Box::new(move |desk| answer.send(caught(|| work(desk)))));
        self.wait(job, waiting).await
    }

    /// Writes something small by the caller itself, where nobody else is at work and no disk is waited for; `None` where
    /// somebody is, and where `work` says so.
    pub(super) fn write_little<T>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<Option<T>, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let Some(mut desk) = self.0.shared.idle_desk() else { return Ok(None) };
        let written = desk.write_at_once(work)?;
        let is_due = desk.is_due();
        drop(desk);
        if is_due && !self.0.shared.is_called.swap(true, Ordering::Relaxed) {
            self.send(Job::Tend)?;
        }
        Ok(written)
    }

    /// Writes. Returns when what was written is durable.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Desk) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, waiting) = reply();
        let job = Job::Write(Box::new(WriteJob { work, result: None, answer }));
        self.wait(job, waiting).await
    }

    async fn wait<T>(&self, job: Job, waiting: Reply<Result<T, StoreError>>) -> Result<T, StoreError> {
        self.send(job)?;
        waiting.await.unwrap_or(Err(StoreError::Closed))
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        self.0.shared.n_jobs.fetch_add(1, Ordering::Relaxed);
        let jobs = self.0.jobs.as_ref().ok_or(StoreError::Closed)?;
        jobs.send(job).map_err(|_| StoreError::Closed)
    }
}

impl Shared {
    /// Returns the desk where nobody is at it or waits for it.
    fn idle_desk(&self) -> Option<MutexGuard<'_, Desk>> {
        if self.n_jobs.load(Ordering::Relaxed) > 0 { None } else { self.desk.try_lock().ok() }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn done(&self, n_jobs: usize) {
        self.n_jobs.fetch_sub(n_jobs, Ordering::Relaxed);
    }
}

fn work(shared: &Shared, waiting: &mpsc::Receiver<Job>) {
    // What was committed when the tails were last looked at, as long as there may be something to settle.
    let (mut seen, mut next) = (None, None);
    loop {
        let job = match (next.take(), seen) {
            (Some(job), _) => job,
            (None, None) => match waiting.recv() {
                Ok(job) => job,
                Err(_) => break,
            },
            (None, Some(commits)) => match waiting.recv_timeout(QUIET) {
                Ok(job) => job,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    seen = settle_when_quiet(shared, waiting, commits, &mut next);
                    continue;
                }
            },
        };
        match job {
            Job::Read(job) => {
                job(&mut shared.desk());
                shared.done(1);
            }
            Job::Write(first) => {
                // What waits together is written together: one sync to disk for all, which is what a write costs.
                let mut together = vec![first];
                while next.is_none() && together.len() < TOGETHER {
                    match waiting.try_recv() {
                        Ok(Job::Write(job)) => together.push(job),
                        Ok(other) => next = Some(other),
                        Err(_) => break,
                    }
                }
                let n_jobs = together.len();
                let mut desk = shared.desk();
                let failed = commit(&mut desk, &mut together).err().map(|error| error.to_string());
                together.into_iter().for_each(|job| job.answer(failed.as_deref()));
                if desk.is_due() {
                    desk.tend();
                    seen = Some(desk.commits());
                }
                drop(desk);
                shared.done(n_jobs);
            }
            Job::Tend => {
                shared.is_called.store(false, Ordering::Relaxed);
                let mut desk = shared.desk();
                desk.tend();
                seen = Some(desk.commits());
                drop(desk);
                shared.done(1);
            }
        }
    }
    let mut desk = shared.desk();
    while desk.write(settle::one_ready).unwrap_or(false) {}
}

/// Settles what is ready until somebody comes, where nobody has written since `commits`. Returns what was committed where
/// there may be more to settle later.
fn settle_when_quiet(
    shared: &Shared,
    waiting: &mpsc::Receiver<Job>,
    commits: u64,
    next: &mut Option<Job>,
) -> Option<u64> {
    let now = shared.desk().commits();
    if now != commits {
        return Some(now);
    }
    while next.is_none() {
        if !shared.desk().write(settle::one_ready).unwrap_or(false) {
            return None;
        }
        *next = waiting.try_recv().ok();
    }
    Some(shared.desk().commits())
}

fn commit(desk: &mut Desk, jobs: &mut [Box<dyn Write>]) -> rusqlite::Result<()> {
    patiently(|| desk.run("BEGIN IMMEDIATE"))?;
    let done = run_all(desk, jobs).and_then(|is_to_be_kept| match is_to_be_kept {
        true => desk.commit(),
        false => desk.roll_back(),
    });
    if done.is_err() {
        desk.roll_back()?;
    }
    done
}

/// Returns whether there is something to commit.
fn run_all(desk: &mut Desk, jobs: &mut [Box<dyn Write>]) -> rusqlite::Result<bool> {
    // One alone needs no savepoint: it is the transaction.
    if let [job] = jobs {
        return Ok(job.run(desk));
    }
    for job in jobs {
        desk.run("SAVEPOINT job")?;
        if job.run(desk) {
            desk.run("RELEASE job")?;
            continue;
        }
        desk.forget();
        // An error such as a full disk may have ended the transaction already.
        if desk.connection.is_autocommit() {
            return Err(rusqlite::Error::InvalidQuery);
        }
        desk.run("ROLLBACK TO job")?;
        desk.run("RELEASE job")?;
    }
    Ok(true)
}

/// How many writes share one transaction at most.
const TOGETHER: usize = 64;

/// How long nobody must have written before tails are settled, so that those who write do not wait for it.
const QUIET: Duration = Duration::from_millis(100);
