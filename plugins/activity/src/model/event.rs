//! The response type of an event. Rule: a list and the stream show the same event, so both make it with
//! [`ActivityEvent::new`]; in a list the gateway adds the names of authors, in the stream the topic does.

use plugin_api::{
    Address, Author, JsonSchema,
    manifest::{ActivityRow, EventRef},
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Something public that happened.
#[derive(Serialize, JsonSchema)]
pub struct ActivityEvent {
    /// Increasing; later events have larger ids.
    pub id: i64,
    /// For example `thread.create`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Unix seconds.
    pub ts: i64,
    /// The same as `ts`.
    pub at: i64,
    pub actor: Option<Author>,
    /// What the event is about.
    #[serde(rename = "ref")]
    pub about: Option<Reference>,
    /// The members depend on the type. Those that name an account hold an Author.
    #[serde(serialize_with = "as_object")]
    #[schemars(with = "Map<String, Value>")]
    pub data: Vec<(String, Member)>,
}

/// A record that an event is about.
#[derive(Serialize, JsonSchema)]
pub struct Reference {
    /// For example `thread`.
    pub kind: String,
    pub id: String,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum Member {
    Account(Author),
    Other(Value),
}

/// Members of `data` that responses show as authors when they hold an address.
const ACCOUNTS: [&str; 13] = [
    "to",
    "owner",
    "client",
    "poster",
    "creator",
    "submitter",
    "claimer",
    "winner",
    "voter",
    "payer",
    "payee",
    "opener",
    "validator",
];

impl ActivityEvent {
    pub fn new(row: ActivityRow, author: impl Fn(Address) -> Author) -> Self {
        let actor = actor(&row).map(&author);
        let about = row.subject.map(|EventRef { kind, id }| Reference { kind, id });
        let members = match row.data {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        let member = |(name, value): (String, Value)| match account(&name, &value) {
            Some(address) => (name, Member::Account(author(address))),
            None => (name, Member::Other(value)),
        };
        let data = members.into_iter().map(member).collect();
        Self { id: row.id, kind: row.kind, ts: row.ts, at: row.ts, actor, about, data }
    }
}

/// Addresses whose names an event needs.
pub fn addresses(row: &ActivityRow) -> impl Iterator<Item = Address> {
    let members = row.data.as_object().into_iter().flatten();
    actor(row).into_iter().chain(members.filter_map(|(name, value)| account(name, value)))
}

fn actor(row: &ActivityRow) -> Option<Address> {
    row.actor.as_ref()?.parse().ok()
}

fn account(name: &str, value: &Value) -> Option<Address> {
    value.as_str().filter(|_| ACCOUNTS.contains(&name))?.parse().ok()
}

fn as_object<S: Serializer>(members: &[(String, Member)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(members.iter().map(|(name, member)| (name, member)))
}

/// A type, or a prefix of types that ends in a dot, as a client sent it. `None` selects every type.
pub fn type_filter(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|kind| !kind.is_empty())
}
