//! A transaction of the simulated server that is not over: what it has run.

use super::{
    functions::DrawnValues,
    store::Outcome,
    translate::{Effect, Translated},
};
use plugin_api::abi::Value;
use std::sync::Arc;
use tokio::time::Instant;

pub(super) type TransactionId = u64;
/// Numbers the opened databases, from 1.
pub(super) type ClientId = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsolationLevel {
    ReadCommitted,
    Serializable,
}

/// A statement of one call.
pub(super) struct Request {
    pub statement: Arc<Translated>,
    pub params: Arc<[Value]>,
}

/// A statement that has run, and what it found.
pub(super) struct Executed {
    pub request: Request,
    pub drawn: DrawnValues,
    pub outcome: Outcome,
}

pub(super) struct OpenTransaction {
    pub client: ClientId,
    pub isolation: IsolationLevel,
    pub log: Vec<Executed>,
    /// The version of the rows when its first statement ran.
    pub base: Option<u64>,
    pub waits_for: Option<TransactionId>,
    /// Its COMMIT is on its way; it runs nothing more.
    pub is_late: bool,
    pub begun_at: Instant,
    /// `None` while a call runs.
    pub idle_since: Option<Instant>,
}

impl OpenTransaction {
    pub(super) fn new(client: ClientId, isolation: IsolationLevel, now: Instant) -> Self {
        Self {
            client,
            isolation,
            log: Vec::new(),
            base: None,
            waits_for: None,
            is_late: false,
            begun_at: now,
            idle_since: None,
        }
    }

    /// What others may notice or be kept from.
    pub(super) fn effects(&self) -> impl Iterator<Item = &Executed> {
        self.log.iter().filter(|executed| executed.effect() != Effect::Read)
    }

    pub(super) fn is_serializable(&self) -> bool {
        self.isolation == IsolationLevel::Serializable
    }

    /// Whether it may still read the rows as of this version.
    pub(super) fn reads_version(&self, version: u64) -> bool {
        self.is_serializable() && !self.is_late && self.base == Some(version)
    }
}

impl Executed {
    pub(super) fn effect(&self) -> Effect {
        self.request.statement.effect
    }
}
