//! The activity log: events that plugins publish, and the frames of streams that show them.

use crate::values::Address;
use abi_stable::{
    StableAbi,
    std_types::{RCowStr, ROption, RString, RVec, Tuple2},
};

/// A new event for the activity log. The gateway checks it once, stores `data` as it is, and gives the same bytes to topics.
#[repr(C)]
#[derive(StableAbi, Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// Dotted lower-case name, for example `thread.create`.
    pub kind: RCowStr<'static>,
    /// None when no single account acted.
    pub actor: ROption<Address>,
    /// What the event is about: a kind of record, for example `thread`, and its id.
    pub subject: ROption<Tuple2<RString, RString>>,
    /// A JSON object; public parts only.
    pub data: RString,
    /// Unix seconds of the event; the gateway's clock when absent.
    pub ts: ROption<i64>,
    /// The gateway drops a second event with this key; for events that could be published twice.
    pub unique_key: ROption<RString>,
}

/// A server-sent event of a topic: rendered once, sent to every subscriber.
#[repr(C)]
#[derive(StableAbi, Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Id of the activity row.
    pub id: i64,
    /// Unix seconds of the event, for replay by time.
    pub ts: i64,
    /// Name of the server-sent event.
    pub event: RString,
    /// One line of JSON.
    pub data: RString,
    /// By name; subscriptions test them.
    pub labels: RVec<Tuple2<RString, RString>>,
}
