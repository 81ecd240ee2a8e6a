//! Events for the activity log: typed ones, and a builder.

use super::{Address, Hash256, Tx};
use crate::{
    abi::{HostError, HostErrorCode, NewEvent},
    manifest::{ChainEvent, EventRef},
};
use abi_stable::std_types::{RCowStr, RNone, RSome, RString, Tuple2};
use serde::Serialize;
use std::fmt::{Display, Write as _};

/// A type of event in the activity log. The struct is the event's data: public parts only, because they cannot be retracted.
/// Derive it.
///
/// `#[event("thread.create", subject = "thread", id = thread_id)]` names the type (dotted, lower case), and the record that the
/// event is about by its kind and the field with its id. What else the derive reads:
///
/// - `actor = author`: the field with the account that acted, an [`Address`] or an `Option` of one. Where it is not part of
///   the data, [`Self::by`] names it.
/// - `unique_key(thread_id, author)`: the gateway drops a second event of the type with the same values.
///
/// An event becomes public when, and only when, its transaction commits.
///
/// ```
/// use plugin_api::{Address, Event, HostError, Tx};
/// use serde::Serialize;
///
/// /// Data of `thread.create`.
/// #[derive(Serialize, Event)]
/// #[serde(rename_all = "camelCase")]
/// #[event("thread.create", subject = "thread", id = thread_id)]
/// struct ThreadCreated<'a> {
///     thread_id: i64,
///     title: &'a str,
/// }
///
/// fn publish(tx: &Tx, author: Address) -> Result<(), HostError> {
///     ThreadCreated { thread_id: 7, title: "Rain" }.by(author).publish(tx)
/// }
///
/// assert_eq!(ThreadCreated::TYPE, "thread.create");
/// ```
///
/// ```compile_fail
/// # use plugin_api::Event;
/// #[derive(serde::Serialize, Event)]
/// #[event("thread.create", subject = "thread")] // a subject without `id`: write #[event("thread.create", …)]
/// struct ThreadCreated {
///     thread_id: i64,
/// }
/// ```
pub trait Event: Serialize {
    /// For example `thread.create`.
    const TYPE: &'static str;

    /// The record that the event is about.
    fn subject(&self) -> Option<EventRef> {
        None
    }

    /// The account that acted.
    fn actor(&self) -> Option<Address> {
        None
    }

    /// The gateway drops a second event with this key.
    fn unique_key(&self) -> Option<String> {
        None
    }

    /// The event as the act of that account.
    fn by(&self, actor: Address) -> EventBuilder {
        EventBuilder::of(self).actor(actor)
    }

    /// Adds the event to the transaction.
    fn publish(&self, tx: &Tx) -> Result<(), HostError> {
        EventBuilder::of(self).publish(tx)
    }
}

/// `thread.create:7:0x…`; for the derive.
pub fn unique_key(event_type: &str, parts: &[&dyn Display]) -> String {
    let mut key = event_type.to_owned();
    for part in parts {
        // Writing to a text cannot fail.
        let _ = write!(key, ":{part}");
    }
    key
}

/// An event that is being put together: a typed one with more than its type says, or one whose type is known only at run
/// time.
///
/// Data that cannot be serialised is an error of [`Self::publish`].
///
/// ```
/// use plugin_api::{Address, HostError, Tx, stream::EventBuilder};
///
/// fn publish(tx: &Tx, author: Address) -> Result<(), HostError> {
///     EventBuilder::new("note.create", &serde_json::json!({ "title": "Rain" })).actor(author).subject("note", 7).publish(tx)
/// }
/// ```
#[derive(Debug)]
#[must_use = "an event is written by `publish`"]
pub struct EventBuilder {
    event: NewEvent,
    error: Option<HostError>,
}

impl EventBuilder {
    /// The typed event with its subject, actor and unique key.
    pub fn of<E: Event + ?Sized>(event: &E) -> Self {
        Self::with_data(event, event)
    }

    fn with_data<E: Event + ?Sized>(event: &E, data: &(impl Serialize + ?Sized)) -> Self {
        let mut builder = Self::with_type(RCowStr::from(E::TYPE), data);
        builder.event.subject = event.subject().map(|EventRef { kind, id }| Tuple2(kind.into(), id.into())).into();
        builder.event.actor = event.actor().into();
        builder.event.unique_key = event.unique_key().map(RString::from).into();
        builder
    }

    /// `kind` is a dotted lower-case name, for example `thread.create`; `data` holds public parts only.
    pub fn new(kind: &str, data: &(impl Serialize + ?Sized)) -> Self {
        Self::with_type(RString::from(kind).into(), data)
    }

    /// Serialises the data: these bytes are stored, and sent to the readers of streams.
    fn with_type(kind: RCowStr<'static>, data: &(impl Serialize + ?Sized)) -> Self {
        let (data, error) = match serde_json::to_string(data) {
            Ok(data) => (data.into(), None),
            Err(error) => (RString::new(), Some(HostError::new(HostErrorCode::Invalid, error.to_string()))),
        };
        let (actor, subject, ts, unique_key) = (RNone, RNone, RNone, RNone);
        Self { event: NewEvent { kind, actor, subject, data, ts, unique_key }, error }
    }

    /// The account that acted.
    pub fn actor(mut self, actor: Address) -> Self {
        self.event.actor = RSome(actor);
        self
    }

    /// What the event is about, for example `("thread", 7)`.
    pub fn subject(mut self, kind: &str, id: impl ToString) -> Self {
        self.event.subject = RSome(Tuple2(kind.into(), id.to_string().into()));
        self
    }

    /// When it happened, if not now (unix seconds).
    pub fn at(mut self, ts: i64) -> Self {
        self.event.ts = RSome(ts);
        self
    }

    /// The gateway drops a second event with this key.
    pub fn unique_key(mut self, key: impl Into<String>) -> Self {
        self.event.unique_key = RSome(key.into().into());
        self
    }

    /// Adds the event to the transaction.
    pub fn publish(self, tx: &Tx) -> Result<(), HostError> {
        tx.publish(self.finish()?)
    }

    fn finish(self) -> Result<NewEvent, HostError> {
        self.error.map_or(Ok(self.event), Err)
    }
}

/// An event's data, and its place on the chain.
#[derive(Serialize)]
struct PlacedData<'a, E> {
    #[serde(flatten)]
    event_data: &'a E,
    tx: Hash256,
    block: u64,
    contract: &'a str,
    event: &'a str,
}

impl<Args> ChainEvent<Args> {
    /// Publishes what the contract's event means, at the time of its block. Behind the members of `event_data` come its place on the
    /// chain: `tx`, `block`, the `contract`'s key, and the name of the contract's `event`.
    ///
    /// ```
    /// use plugin_api::{Event, HostError, JobId, PluginContext, Tx, contracts::{ChainEvent, escrow::JobRequested}};
    ///
    /// #[derive(serde::Serialize, Event)]
    /// #[event("notes.job", subject = "job", id = job)]
    /// struct JobNoted {
    ///     job: JobId,
    /// }
    ///
    /// async fn requested<P>(_: PluginContext<P>, tx: Tx, event: ChainEvent<JobRequested>) -> Result<(), HostError> {
    ///     event.publish(&tx, &JobNoted { job: event.args.job_id })
    /// }
    /// ```
    pub fn publish(&self, tx: &Tx, event_data: &impl Event) -> Result<(), HostError> {
        self.placed(event_data).publish(tx)
    }

    fn placed(&self, event_data: &impl Event) -> EventBuilder {
        let Self { contract, event, log, .. } = self;
        let data = PlacedData { event_data, tx: log.tx, block: log.block, contract, event };
        EventBuilder::with_data(event_data, &data).at(log.time_s)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{Event, abi::LogMeta};

    const PAYER: Address = Address([7; 20]);

    #[derive(Serialize, Event)]
    #[serde(rename_all = "camelCase")]
    #[event("stream.opened", subject = "stream", id = stream_id, actor = payer, unique_key(stream_id, payer))]
    struct StreamOpened<'a> {
        stream_id: i64,
        payer: Address,
        note: &'a str,
    }

    #[derive(Serialize, Event)]
    #[event("network.paused", actor = operator)]
    struct NetworkPaused {
        #[serde(skip)]
        operator: Option<Address>,
    }

    #[test]
    fn the_attribute_gives_all_but_the_data() {
        let event = StreamOpened { stream_id: 3, payer: PAYER, note: "n" };
        let expected = NewEvent {
            kind: "stream.opened".into(),
            actor: RSome(PAYER),
            subject: RSome(Tuple2("stream".into(), "3".into())),
            data: format!(r#"{{"streamId":3,"payer":"{PAYER}","note":"n"}}"#).into(),
            ts: RNone,
            unique_key: RSome(format!("stream.opened:3:{PAYER}").into()),
        };
        assert_eq!(EventBuilder::of(&event).finish().unwrap(), expected);
    }

    #[test]
    fn the_builder_says_more() {
        let sent = |event: EventBuilder| event.finish().unwrap();
        let event = NetworkPaused { operator: None };
        assert_eq!(sent(EventBuilder::of(&event)).actor, RNone);
        assert_eq!(sent(EventBuilder::of(&NetworkPaused { operator: Some(PAYER) })).actor, RSome(PAYER));
        let expected = NewEvent {
            kind: "network.paused".into(),
            actor: RSome(PAYER),
            subject: RSome(Tuple2("chain".into(), "main".into())),
            data: "{}".into(),
            ts: RSome(9),
            unique_key: RSome("k".into()),
        };
        assert_eq!(sent(event.by(PAYER).at(9).subject("chain", "main").unique_key("k")), expected);
    }

    #[test]
    fn an_event_of_a_contract_is_published_with_its_place() {
        let (block_hash, tx) = (Hash256([1; 32]), Hash256([2; 32]));
        let log = LogMeta { block: 7, block_hash, time_s: 9, tx, tx_index: 0, log_index: 3 };
        let (chain, contract, event) = ("main".to_owned(), "streams".to_owned(), "Opened".to_owned());
        let on_chain = ChainEvent { chain, contract, address: PAYER, event, args: (), log };
        let placed = on_chain.placed(&StreamOpened { stream_id: 3, payer: PAYER, note: "n" }).finish().unwrap();
        let (place, key) = (
            format!(r#""tx":"{tx}","block":7,"contract":"streams","event":"Opened""#),
            format!("stream.opened:3:{PAYER}"),
        );
        let expected = NewEvent {
            kind: "stream.opened".into(),
            actor: RSome(PAYER),
            subject: RSome(Tuple2("stream".into(), "3".into())),
            data: format!(r#"{{"streamId":3,"payer":"{PAYER}","note":"n",{place}}}"#).into(),
            ts: RSome(9),
            unique_key: RSome(key.into()),
        };
        assert_eq!(placed, expected);
    }

    #[test]
    fn data_that_cannot_be_serialised_is_an_error() {
        let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
        let error = EventBuilder::new("a.b", &keys).finish().unwrap_err();
        assert!(error.is(HostErrorCode::Invalid), "{error:?}");
    }
}
