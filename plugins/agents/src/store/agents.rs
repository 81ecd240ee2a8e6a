//! Agents as routes read them: the registry's row with the card of its endpoint.

use crate::model::{AgentId, Declared, Subject};
use plugin_api::{HostError, HostErrorCode, Outcome, Query, sql};
use serde_json::value::RawValue;

/// An agent of an answer, with one more column.
pub struct Shown<'r, More> {
    /// The JSON that its row keeps.
    pub kept: &'r str,
    pub declared: Declared<'r>,
    pub more: More,
}

/// Read by position: looking up the names of a page's columns takes as long as all the rest.
pub type Columns<'r, More> =
    (&'r str, Option<&'r str>, &'r str, Option<&'r str>, Option<&'r str>, Option<&'r str>, bool, Option<i64>, More);

/// The first of these [`Columns`].
pub const COLUMNS: &str = "a.kept, c.description, coalesce(c.capabilities, '[]'), c.model, c.price_per_call, c.card, \
     coalesce(c.online, 0) * a.active, c.last_seen_ms";

/// A card belongs to the endpoint that gave it.
pub const TABLES: &str = "agents_agents a LEFT JOIN agents_cards c ON c.agent_id = a.id AND c.endpoint = a.endpoint";

impl<'r, More> Shown<'r, More> {
    pub fn read(columns: Columns<'r, More>) -> Result<Self, HostError> {
        let (kept, description, capabilities, model, price_per_call, card, online, last_seen, more) = columns;
        let broken = || HostError::new(HostErrorCode::Internal, "the capabilities of a card are no JSON");
        let declared = Declared {
            description,
            capabilities: verbatim(capabilities).ok_or_else(broken)?,
            model,
            price_per_call,
            card: card.and_then(verbatim),
            online,
            last_seen,
        };
        Ok(Self { kept, declared, more })
    }
}

/// Stored JSON on its way out, byte for byte.
fn verbatim(text: &str) -> Option<&RawValue> {
    serde_json::from_str(text).ok()
}

/// One agent, with its slug.
pub struct FoundAgent(Outcome);

impl FoundAgent {
    pub fn row(&self) -> Result<Option<Shown<'_, &str>>, HostError> {
        self.0.first()?.map(Shown::read).transpose()
    }
}

pub async fn find(db: &impl Query, id: AgentId) -> Result<FoundAgent, HostError> {
    let text = format!("SELECT {COLUMNS}, a.slug FROM {TABLES} WHERE a.id = $1");
    Ok(FoundAgent(db.run(sql(text).bind(id)).await?))
}

/// What the registration file tells of an agent.
pub async fn subject(db: &impl Query, id: AgentId) -> Result<Option<Subject>, HostError> {
    let text = format!(
        "SELECT a.id, a.owner, a.name, a.endpoint, a.status, a.price_per_job, c.description, c.image, \
         coalesce(c.capabilities, '[]') AS capabilities, c.model, c.price_per_call FROM {TABLES} WHERE a.id = $1"
    );
    db.row(sql(text).bind(id)).await
}
