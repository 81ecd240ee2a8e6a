//! An event for the activity log.

use super::{Address, Tx};
use crate::{
    abi::{HostError, HostErrorCode},
    manifest::{EventRef, NewEvent},
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// Builds an event whose type is known only at run time.
///
/// It is published inside a transaction and becomes public when, and only when, the transaction commits. Data that cannot be
/// serialised is an error of [`Self::publish`].
#[derive(Debug)]
#[must_use = "an event is written by `publish`"]
pub struct EventBuilder(NewEvent<Result<Box<RawValue>, HostError>>);

impl EventBuilder {
    /// `kind` is a dotted lower-case name, for example `thread.create`; `data` holds public parts only.
    pub fn new(kind: &str, data: &impl Serialize) -> Self {
        let data = to_raw_value(data).map_err(|error| HostError::new(HostErrorCode::Invalid, error.to_string()));
        Self(NewEvent { kind: kind.to_owned(), actor: None, subject: None, data, ts: None, unique_key: None })
    }

    /// The account that acted.
    pub fn actor(mut self, actor: Address) -> Self {
        self.0.actor = Some(actor.to_string());
        self
    }

    /// What the event is about, for example `("thread", 7)`.
    pub fn subject(mut self, kind: &str, id: impl ToString) -> Self {
        self.0.subject = Some(EventRef::new(kind, id));
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

    /// Adds the event to the transaction.
    pub fn publish(self, tx: &Tx) -> Result<(), HostError> {
        tx.publish(&self.finish()?)
    }

    fn finish(self) -> Result<NewEvent<Box<RawValue>>, HostError> {
        let NewEvent { kind, actor, subject, data, ts, unique_key } = self.0;
        Ok(NewEvent { kind, actor, subject, data: data?, ts, unique_key })
    }
}
