//! Agents by id or slug: one row by an index, whichever of the two.

use crate::model::{CallableAgent, CardSubject};
use plugin_api::{HostError, Query, contracts::registry::AgentName};

/// A card is read only where it may hold a price that is no amount.
const CALLABLE: &str = "agent_id, owner, endpoint, price_per_call, \
     CASE WHEN price_per_call IS NULL AND card LIKE '%\"pricePerCall\"%' THEN card END AS unread_card";

const CARD: &str = "agent_id, owner, name, endpoint, price_per_job, card, description, coalesce(capabilities, '[]') AS \
     capabilities, image, price_per_call, online";

pub async fn find_callable(db: &impl Query, name: &AgentName) -> Result<Option<CallableAgent>, HostError> {
    db.row(name.select(CALLABLE)).await
}

pub async fn find_card(db: &impl Query, name: &AgentName) -> Result<Option<CardSubject>, HostError> {
    db.row(name.select(CARD)).await
}
