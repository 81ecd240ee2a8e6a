//! What the caller and the writer thread share about one transaction.

use crate::revisions::OwnerRevision;
use std::sync::{Arc, OnceLock, atomic::AtomicBool};

pub struct TransactionHandle {
    /// Why the writer thread ended the transaction; later calls fail with it.
    pub end_reason: OnceLock<&'static str>,
    /// Of the plugin whose tables it may write.
    pub owner_revision: Option<OwnerRevision>,
    /// The caller has dropped the transaction: it must be rolled back.
    pub is_abandoned: AtomicBool,
}

impl TransactionHandle {
    pub fn new(owner_revision: Option<OwnerRevision>) -> Arc<Self> {
        Arc::new(Self { end_reason: OnceLock::new(), owner_revision, is_abandoned: AtomicBool::new(false) })
    }
}
