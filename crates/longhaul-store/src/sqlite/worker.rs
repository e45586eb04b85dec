//! The thread that owns the connection, and what it does with jobs that wait together.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
};

use rusqlite::Connection;

use super::reply::{Answer, Reply, reply};
use crate::StoreError;

/// Hands jobs to the thread.
#[derive(Clone, Debug)]
pub(crate) struct Worker(Arc<Thread>);

/// The thread ends when the last handle is dropped, which waits until the connection is closed: a process that ends
/// then leaves one file, without a log beside it.
#[derive(Debug)]
struct Thread {
    jobs: Option<mpsc::Sender<Job>>,
    handle: Option<JoinHandle<()>>,
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
    Read(Box<dyn FnOnce(&Connection) + Send>),
    Write(Box<dyn Write>),
}

/// A write in two parts, so that several can share one transaction: what it does, and the answer once that is durable.
trait Write: Send {
    /// Does the work inside a savepoint; returns whether it is to be kept.
    fn run(&mut self, connection: &Connection) -> bool;
    /// Answers. `committed` is `None` where the transaction is durable.
    fn answer(self: Box<Self>, failed: Option<&str>);
}

struct WriteJob<T, F> {
    work: F,
    result: Option<Result<T, StoreError>>,
    answer: Answer<Result<T, StoreError>>,
}

impl<T: Send, F: FnMut(&Connection) -> Result<T, StoreError> + Send> Write for WriteJob<T, F> {
    fn run(&mut self, connection: &Connection) -> bool {
        // A panic in a caller's decision must not take the store down with it.
        let result =
            catch_unwind(AssertUnwindSafe(|| (self.work)(connection))).unwrap_or(Err(StoreError::Closed));
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
    /// Starts the thread on `connection`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start(connection: Connection) -> Result<Worker, StoreError> {
        let (jobs, waiting) = mpsc::channel();
        let run = move || work(connection, &waiting);
        let started = thread::Builder::new().name("longhaul-store".into()).spawn(run);
        let handle = started.map_err(|error| StoreError::backend("starting the store's thread", error))?;
        Ok(Worker(Arc::new(Thread { jobs: Some(jobs), handle: Some(handle) })))
    }

    /// Reads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, waiting) = reply();
        let job = Job::Read(Box::new(move |connection| answer.send(work(connection))));
        self.wait(job, waiting).await
    }

    /// Writes. Returns when what was written is durable.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, waiting) = reply();
        let job = Job::Write(Box::new(WriteJob { work, result: None, answer }));
        self.wait(job, waiting).await
    }

    async fn wait<T>(&self, job: Job, waiting: Reply<Result<T, StoreError>>) -> Result<T, StoreError> {
        let jobs = self.0.jobs.as_ref().ok_or(StoreError::Closed)?;
        jobs.send(job).map_err(|_| StoreError::Closed)?;
        waiting.await.unwrap_or(Err(StoreError::Closed))
    }
}

fn work(connection: Connection, waiting: &mpsc::Receiver<Job>) {
    let mut next = None;
    while let Some(job) = next.take().or_else(|| waiting.recv().ok()) {
        match job {
            Job::Read(job) => {
                // Reads answer by themselves; one that panics drops its answer, and the caller is told.
                let _ = catch_unwind(AssertUnwindSafe(|| job(&connection)));
            }
            Job::Write(first) => {
                // What waits together is written together: one sync to disk for all, which is what a write costs.
                let mut together = vec![first];
                while together.len() < TOGETHER {
                    match waiting.try_recv() {
                        Ok(Job::Write(job)) => together.push(job),
                        Ok(read) => {
                            next = Some(read);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                let failed = commit(&connection, &mut together).err().map(|error| error.to_string());
                together.into_iter().for_each(|job| job.answer(failed.as_deref()));
            }
        }
    }
}

fn commit(connection: &Connection, jobs: &mut [Box<dyn Write>]) -> rusqlite::Result<()> {
    patiently(|| connection.execute_batch("BEGIN IMMEDIATE"))?;
    let done = run_all(connection, jobs).and_then(|()| match connection.is_autocommit() {
        // There was one job, and it is not to be kept.
        true => Ok(()),
        false => patiently(|| connection.execute_batch("COMMIT")),
    });
    if done.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    done
}

fn run_all(connection: &Connection, jobs: &mut [Box<dyn Write>]) -> rusqlite::Result<()> {
    // One alone needs no savepoint: it is the transaction.
    if let [job] = jobs {
        let is_over = job.run(connection) || connection.is_autocommit();
        return if is_over { Ok(()) } else { connection.execute_batch("ROLLBACK") };
    }
    for job in jobs {
        connection.execute_batch("SAVEPOINT job")?;
        match job.run(connection) {
            true => connection.execute_batch("RELEASE job")?,
            // An error such as a full disk may have ended the transaction already.
            false if connection.is_autocommit() => return Err(rusqlite::Error::InvalidQuery),
            false => connection.execute_batch("ROLLBACK TO job; RELEASE job")?,
        }
    }
    Ok(())
}

/// Tries again while another process holds the lock; SQLite's own timeout waits in between. A user must not be told
/// that a database is locked because eight processes write to it.
pub(crate) fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let mut left = PATIENCE;
    loop {
        match attempt() {
            Err(error) if left > 0 && is_busy(&error) => left -= 1,
            other => return other,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// How many writes share one transaction at most.
const TOGETHER: usize = 64;

/// How often a locked database is tried again; each try waits for [`BUSY_TIMEOUT_MS`](super::BUSY_TIMEOUT_MS).
const PATIENCE: u32 = 24;
