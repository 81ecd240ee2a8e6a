//! The response type of an event. Rule: a list and the stream show the same event, so both make it with
//! [`ActivityEvent::new`]; in a list the gateway adds the names of authors, in the stream the topic does.

use plugin_api::{
    Address, Author, HostError, HostErrorCode, JsonSchema, format,
    stream::{EventRef, TopicRow},
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};
use std::fmt;

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

/// A member of an event's data.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Member {
    Account(Author),
    /// As the event's plugin wrote it.
    Other(Box<RawValue>),
}

impl Member {
    fn read<T: DeserializeOwned>(&self) -> Option<T> {
        match self {
            Self::Account(_) => None,
            Self::Other(value) => serde_json::from_str(value.get()).ok(),
        }
    }
}

/// The gateway's event that events of undone blocks are no longer true.
const RETRACTION_TYPE: &str = "chain.retracted";

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
    pub fn new(row: TopicRow) -> Result<Self, HostError> {
        let Members(data) = serde_json::from_str(row.data.get()).map_err(invalid)?;
        let actor = row.actor.as_ref().and_then(|actor| actor.parse::<Address>().ok()).map(Author::from);
        let about = row.subject.map(|EventRef { kind, id }| Reference { kind, id });
        Ok(Self { id: row.id, kind: row.kind, ts: row.ts, at: row.ts, actor, about, data })
    }

    /// Its accounts that have no name yet.
    pub fn addresses(&self) -> impl Iterator<Item = Address> {
        let members = self.data.iter().filter_map(|(_, member)| match member {
            Member::Account(author) => Some(author),
            Member::Other(_) => None,
        });
        self.actor.iter().chain(members).filter_map(|author| match author {
            Author::Address(address) => Some(*address),
            Author::Named(_) => None,
        })
    }

    /// The types of the events that this one retracts; `None` when it is no retraction.
    pub fn retracted_types(&self) -> Option<Vec<String>> {
        let types = self.data.iter().filter(|(name, _)| self.kind == RETRACTION_TYPE && name == "types");
        types.filter_map(|(_, member)| member.read()).next()
    }

    /// Gives its accounts their names.
    pub fn with_names(mut self, name: impl Fn(Address) -> Author) -> Self {
        let members = self.data.iter_mut().filter_map(|(_, member)| match member {
            Member::Account(author) => Some(author),
            Member::Other(_) => None,
        });
        for author in self.actor.iter_mut().chain(members) {
            if let Author::Address(address) = author {
                *author = name(*address);
            }
        }
        self
    }
}

/// The members of an object in their order.
struct Members(Vec<(String, Member)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = object.next_entry::<String, Box<RawValue>>()? {
                    let member = match account(&name, &value) {
                        Some(address) => Member::Account(address.into()),
                        None => Member::Other(value),
                    };
                    members.push((name, member));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

fn account(name: &str, value: &RawValue) -> Option<Address> {
    if ACCOUNTS.contains(&name) { serde_json::from_str(value.get()).ok() } else { None }
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Internal, format!("an event of the log is no object: {error}"))
}

fn as_object<S: Serializer>(members: &[(String, Member)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(members.iter().map(|(name, member)| (name, member)))
}

/// A type, or a prefix of types that ends in a dot, as a client sent it. `None` selects every type.
pub fn type_filter(text: &str) -> Option<String> {
    format::given(text).map(str::to_owned)
}
