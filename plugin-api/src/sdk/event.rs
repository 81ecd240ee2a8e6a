//! An event for the activity log.

use super::{Address, Tx};
use crate::{
    abi::{HostError, HostErrorCode},
    manifest::{EventRef, NewEvent},
};
use serde::Serialize;

/// A new event. It is published inside a transaction and becomes public when, and only when, the transaction commits.
#[derive(Clone, Debug)]
pub struct Event(NewEvent);

impl Event {
    /// `kind` is a dotted lower-case name, for example `thread.create`; `data` holds public parts only.
    pub fn new(kind: &str, data: &impl Serialize) -> Result<Self, HostError> {
        let data =
            serde_json::to_value(data).map_err(|error| HostError::new(HostErrorCode::Invalid, error.to_string()))?;
        Ok(Self(NewEvent { kind: kind.to_owned(), actor: None, about: None, data, ts: None, unique_key: None }))
    }

    pub fn actor(mut self, actor: Address) -> Self {
        self.0.actor = Some(actor.to_string());
        self
    }

    /// What the event is about, for example `("thread", 7)`.
    pub fn about(mut self, kind: &str, id: impl ToString) -> Self {
        self.0.about = Some(EventRef { kind: kind.to_owned(), id: id.to_string() });
        self
    }

    /// When it happened, if not now (unix seconds).
    pub fn at(mut self, ts: i64) -> Self {
        self.0.ts = Some(ts);
        self
    }

    /// The gateway drops a second event with this key.
    pub fn unique_key(mut self, key: impl Into<String>) -> Self {
        self.0.unique_key = Some(key.into());
        self
    }

    pub fn publish(self, tx: &Tx) -> Result<(), HostError> {
        tx.publish(&self.0)
    }
}
