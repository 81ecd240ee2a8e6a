//! Reads of agents for routes: the registry's row with the card of its endpoint.

use crate::model::{AgentId, Card, RegistrationSubject};
use plugin_api::{HostError, Query, StatementResult, sql};

/// An agent with one more column.
pub struct AgentWithCard<'r, More> {
    /// The rendered JSON of its row and of its card.
    pub kept: [&'r str; 2],
    /// Whether the last probe of an active agent found its card.
    pub online: bool,
    pub more: More,
}

/// Decoded by position: looking up columns by name takes as long as all other work of a page.
pub type Columns<'r, More> = (&'r str, Option<&'r str>, bool, More);

/// The first columns of [`Columns`].
pub const COLUMNS: &str = "a.kept, c.kept, coalesce(c.online, 0) * a.active";

/// Joins a card only while the agent still has the endpoint that served it.
pub const TABLES: &str = "agents_agents a LEFT JOIN agents_cards c ON c.agent_id = a.id AND c.endpoint = a.endpoint";

impl<'r, More> From<Columns<'r, More>> for AgentWithCard<'r, More> {
    fn from((kept, card, online, more): Columns<'r, More>) -> Self {
        Self { kept: [kept, card.unwrap_or(Card::NO_CARD_JSON)], online, more }
    }
}

/// One agent, with its slug.
pub struct FoundAgent(StatementResult);

impl FoundAgent {
    /// The agent, and whether it has any validation request.
    pub fn row(&self) -> Result<Option<(AgentWithCard<'_, &str>, bool)>, HostError> {
        let row = self.0.first::<(&str, Option<&str>, bool, &str, bool)>()?;
        Ok(row
            .map(|(kept, card, online, slug, is_judged)| (AgentWithCard::from((kept, card, online, slug)), is_judged)))
    }
}

pub async fn find(db: &impl Query, id: AgentId) -> Result<FoundAgent, HostError> {
    let text = format!(
        "SELECT {COLUMNS}, a.slug, EXISTS (SELECT 1 FROM agents_validations v WHERE v.agent_id = a.id) \
         FROM {TABLES} WHERE a.id = $1"
    );
    Ok(FoundAgent(db.run(sql(text).bind(id)).await?))
}

/// The agent's data for its registration file.
pub async fn subject(db: &impl Query, id: AgentId) -> Result<Option<RegistrationSubject>, HostError> {
    let text = format!(
        "SELECT a.id, a.owner, a.name, a.endpoint, a.status, a.price_per_job, c.description, c.image, \
         coalesce(c.capabilities, '[]') AS capabilities, c.model, c.price_per_call FROM {TABLES} WHERE a.id = $1"
    );
    db.row(sql(text).bind(id)).await
}
