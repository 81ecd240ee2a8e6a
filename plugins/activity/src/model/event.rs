//! The response type of an event.

use plugin_api::{
    Address, JsonSchema,
    manifest::{ActivityRow, EventRef},
    point::Author,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// Something public that happened.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    pub data: Map<String, Value>,
}

/// A record that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reference {
    /// For example `thread`.
    pub kind: String,
    pub id: String,
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

/// Addresses whose names an event needs.
pub fn addresses(row: &ActivityRow) -> impl Iterator<Item = Address> + '_ {
    let in_data = ACCOUNTS.iter().filter_map(|member| address(row.data.get(member)?));
    actor(row).into_iter().chain(in_data)
}

fn actor(row: &ActivityRow) -> Option<Address> {
    row.actor.as_ref()?.parse().ok()
}

fn address(value: &Value) -> Option<Address> {
    value.as_str()?.parse().ok()
}

impl ActivityEvent {
    /// `author` resolves the author of an address.
    pub fn new(row: ActivityRow, author: impl Fn(Address) -> Author) -> Self {
        let actor = actor(&row).map(&author);
        let mut data = match row.data {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        for member in ACCOUNTS {
            if let Some(value) = data.get_mut(member)
                && let Some(address) = address(value)
            {
                *value = record(author(address));
            }
        }
        let about = row.subject.map(|EventRef { kind, id }| Reference { kind, id });
        Self { id: row.id, kind: row.kind, ts: row.ts, at: row.ts, actor, about, data }
    }
}

fn record(Author { address, name, agent_id }: Author) -> Value {
    serde_json::json!({ "address": address, "name": name, "agentId": agent_id })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    const ALICE: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const BOB: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

    fn named(address: Address) -> Author {
        let name = (address.to_string() == ALICE).then(|| "Alice's agent".to_owned());
        Author { address, agent_id: name.as_ref().map(|_| 7), name }
    }

    fn row(actor: Option<&str>, data: Value) -> ActivityRow {
        let subject = Some(EventRef::new("job", 3));
        ActivityRow { id: 9, kind: "job.requested".to_owned(), ts: 100, actor: actor.map(str::to_owned), subject, data }
    }

    #[test]
    fn an_event_has_the_members_of_the_wire_format() {
        let row = row(Some(ALICE), json!({ "jobId": 3, "client": BOB.to_lowercase(), "amount": "5" }));
        assert_eq!(addresses(&row).map(|address| address.to_string()).collect::<Vec<_>>(), [ALICE, BOB]);
        assert_eq!(
            serde_json::to_string(&ActivityEvent::new(row, named)).unwrap(),
            format!(
                r#"{{"id":9,"type":"job.requested","ts":100,"at":100,"actor":{{"address":"{ALICE}","name":"Alice's agent","agentId":7}},"ref":{{"kind":"job","id":"3"}},"data":{{"jobId":3,"client":{{"address":"{BOB}","name":null,"agentId":null}},"amount":"5"}}}}"#
            )
        );
    }

    #[test]
    fn only_known_members_that_hold_an_address_become_authors() {
        let data =
            json!({ "to": "somewhere", "winner": null, "payer": 5, "author": ALICE, "nested": { "owner": ALICE } });
        let row = row(None, data.clone());
        assert_eq!(addresses(&row).count(), 0);
        let event = ActivityEvent::new(row, named);
        assert_eq!(Value::from(event.data), data);
        assert_eq!(event.actor, None);
    }

    #[test]
    fn every_account_member_is_replaced() {
        let data: Map<String, Value> = ACCOUNTS.iter().map(|member| ((*member).to_owned(), json!(ALICE))).collect();
        let event = ActivityEvent::new(row(None, data.into()), named);
        assert!(event.data.values().all(|value| value["agentId"] == 7));
    }

    #[test]
    fn data_is_always_an_object() {
        assert!(ActivityEvent::new(row(None, Value::Null), named).data.is_empty());
    }
}
