//! A group of transactions that share one commit.

use super::transaction_call::CallResult;
use crate::{caching::revisions::OwnerRevision, error::StorageError};
use plugin_api::abi::StatementResult;
use std::time::Instant;
use tokio::sync::oneshot;

/// What the scheduler knows about the open group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenGroup {
    pub number: u64,
    pub opened_at: Instant,
    /// Transactions that have finished or were rolled back.
    pub transaction_count: usize,
}

/// A finished transaction that waits for the commit of its group.
pub(crate) struct GroupCommitRequest {
    pub reply: oneshot::Sender<CallResult>,
    pub outcomes: Vec<StatementResult>,
    /// The owner of the tables that the transaction wrote.
    pub written_owner: Option<OwnerRevision>,
}

impl GroupCommitRequest {
    pub(crate) fn acknowledge(self) {
        // If the caller no longer waits, the write stays, as with any commit whose answer is lost.
        let _ = self.reply.send(Ok(self.outcomes));
    }

    pub(crate) fn fail(self, error: StorageError) {
        let _ = self.reply.send(Err(error));
    }
}
