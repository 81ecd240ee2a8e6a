//! What the caller and the writer thread share about one transaction.

use crate::caching::revisions::OwnerRevision;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

pub(crate) struct TransactionHandle {
    /// Why the writer thread ended the transaction; later calls fail with it.
    pub end_reason: OnceLock<&'static str>,
    /// Of the plugin whose tables it may write.
    owner_revision: Option<OwnerRevision>,
    /// Of all owners together.
    everything: OwnerRevision,
    /// It writes tables of another owner, too.
    has_other_owners: AtomicBool,
    /// The caller has dropped the transaction: it must be rolled back.
    pub is_abandoned: AtomicBool,
    /// It may hold the write lock this many times as long as others.
    pub time_factor: u32,
}

impl TransactionHandle {
    pub(crate) fn new(owner_revision: Option<OwnerRevision>, everything: OwnerRevision, time_factor: u32) -> Arc<Self> {
        Arc::new(Self {
            end_reason: OnceLock::new(),
            owner_revision,
            everything,
            has_other_owners: AtomicBool::new(false),
            is_abandoned: AtomicBool::new(false),
            time_factor,
        })
    }

    pub(crate) fn add_other_owner(&self) {
        self.has_other_owners.store(true, Relaxed);
    }

    /// What its commit advances, if it wrote anything.
    pub(crate) fn written_revision(&self) -> Option<&OwnerRevision> {
        if self.has_other_owners.load(Relaxed) { Some(&self.everything) } else { self.owner_revision.as_ref() }
    }
}
