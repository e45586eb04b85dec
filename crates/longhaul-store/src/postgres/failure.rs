//! Why an attempt failed, and whether another may succeed.

use std::{error::Error as _, io};

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use crate::StoreError;

/// Why an attempt failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server, or the way to it.
    Server(tokio_postgres::Error),
    /// No connection could be had.
    Pool(PoolError),
    /// What was asked for cannot be; trying again would not help.
    Store(StoreError),
}

impl Failure {
    /// Returns whether the same may succeed in a while: the connection was lost, the server restarts, or another
    /// transaction stood in the way.
    pub(super) fn is_passing(&self) -> bool {
        let error = match self {
            Failure::Server(error) | Failure::Pool(PoolError::Backend(error)) => error,
            Failure::Pool(PoolError::Timeout(_)) => return true,
            Failure::Pool(_) | Failure::Store(_) => return false,
        };
        match error.code() {
            Some(code) => {
                let passing = [
                    &SqlState::ADMIN_SHUTDOWN,
                    &SqlState::CRASH_SHUTDOWN,
                    &SqlState::CANNOT_CONNECT_NOW,
                    &SqlState::TOO_MANY_CONNECTIONS,
                    &SqlState::T_R_SERIALIZATION_FAILURE,
                    &SqlState::T_R_DEADLOCK_DETECTED,
                ];
                // Class 08 is everything about connections.
                passing.contains(&code) || code.code().starts_with("08")
            }
            None => error.is_closed() || error.source().is_some_and(<dyn std::error::Error>::is::<io::Error>),
        }
    }

    /// Returns the error that a caller is told.
    pub(super) fn told(self, doing: &'static str) -> StoreError {
        match self {
            Failure::Store(error) => error,
            Failure::Pool(PoolError::Backend(error)) | Failure::Server(error) => {
                StoreError::backend(doing, error)
            }
            Failure::Pool(error) => StoreError::backend(doing, error),
        }
    }

    /// Returns the error that a caller is told where a commit was sent and its answer never came.
    pub(super) fn unanswered(self) -> StoreError {
        match self.told("writing") {
            StoreError::Backend { source, .. } => StoreError::Unanswered { source },
            error => error,
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        Failure::Server(error)
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Failure {
        Failure::Pool(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}
