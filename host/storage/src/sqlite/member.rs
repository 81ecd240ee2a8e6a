//! What one transaction asks of the connection, and how it is answered.

use super::watch::Cancelled;
use crate::check::Admitted;
use crate::{StorageError, Version};
use plugin_api::abi::Outcome;
use tokio::sync::oneshot;

pub type Answer = Result<Vec<Outcome>, StorageError>;

/// A caller's way back from the writer thread.
pub struct Ask {
    pub reply: oneshot::Sender<Answer>,
    pub cancelled: Cancelled,
}

pub enum Message {
    Run(Vec<Admitted>),
    /// The last statements, each with whether it must give a row.
    Commit(Vec<(Admitted, bool)>),
}

/// A transaction whose work waits for the group's commit.
pub struct Done {
    pub reply: oneshot::Sender<Answer>,
    pub outcomes: Vec<Outcome>,
    /// Of the plugin whose tables it wrote.
    pub changed: Option<Version>,
}

impl Done {
    pub fn acknowledge(self) {
        // A caller that left does not hear it; the work stays, as with any commit whose answer gets lost.
        let _ = self.reply.send(Ok(self.outcomes));
    }

    pub fn fail(self, error: StorageError) {
        let _ = self.reply.send(Err(error));
    }
}

/// For transactions whose finished work went down with the group.
pub fn lost() -> StorageError {
    StorageError::Unavailable("the commit failed and nothing was written".into())
}
