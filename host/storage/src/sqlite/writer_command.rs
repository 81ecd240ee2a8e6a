//! What the scheduler tells the writer thread to do.

use super::{
    transaction_call::{PendingReply, TransactionCall},
    transaction_handle::TransactionHandle,
    writer_connection::WriterConnection,
};
use std::{sync::Arc, time::Instant};
use tokio::sync::oneshot;

/// Work that needs the connection outside any transaction, for example migrations. It runs between groups.
pub(crate) type WriterTask = Box<dyn FnOnce(&mut WriterConnection) + Send>;

pub(crate) enum WriterCommand {
    /// Executes a call for the transaction that holds the write lock.
    Call {
        call: TransactionCall,
        pending: PendingReply,
        transaction: Arc<TransactionHandle>,
        deadline: Instant,
    },
    /// Rolls back the transaction that owned the write lock, then notifies the sender.
    RollBack(Option<oneshot::Sender<()>>),
    CommitGroup,
    RunTask(WriterTask),
    /// Looks for commits of other processes.
    CheckForeignCommits,
    Close,
}
