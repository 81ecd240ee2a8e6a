//! Reads of agents for routes: the registry's row with the card of its endpoint.
//!
//! Without a search a page walks the index of its order and the total is a stored count. A search (`q`) finds names and
//! endpoints by their index: its cost grows with what it finds.

use crate::model::{AgentStatus, RegistrationSubject, Sort};
use plugin_api::{AgentId, HostError, List, Query, Search, SearchIndex, Wei, sql};
use serde::Deserialize;

const COLUMNS: &str = "a.kept, c.kept AS card, coalesce(c.online, 0) * a.active AS online";

/// Joins a card only while the agent still has the endpoint that served it.
const CARD: &str = "LEFT JOIN agents_cards c ON c.agent_id = a.id AND c.endpoint = a.endpoint";

const SEARCHED: SearchIndex = SearchIndex::new("agents_agents", &["name", "endpoint"]);

const AGENTS: List = List::new("agents_agents a", COLUMNS).join(CARD);

/// An agent of a page: the columns of the list, in their order.
#[derive(Deserialize)]
pub struct AgentRow<'r> {
    /// The rendered JSON of its row.
    pub kept: &'r str,
    /// The rendered JSON of its card.
    #[serde(borrow)]
    pub card: Option<&'r str>,
    /// Whether the last probe of an active agent found its card.
    pub online: bool,
}

/// Agents with this status that contain the searched text in name or endpoint.
pub fn agents(sort: Sort, status: Option<AgentStatus>, search: Option<Search>) -> List {
    let count = match (&search, status) {
        (Some(_), _) => None,
        (None, None) => Some(sql("SELECT cast(sum(agents) AS BIGINT) FROM agents_counts")),
        (None, Some(status)) => Some(sql("SELECT agents FROM agents_counts WHERE status = $1").bind(status)),
    };
    let agents = AGENTS.order_by(sort.order_by()).filter("a.status = {}", status);
    agents.search(search, "a.id", &SEARCHED).stored_total(count)
}

#[derive(Deserialize)]
pub struct AgentDetailRow {
    pub kept: String,
    pub card: Option<String>,
    pub online: bool,
    pub slug: String,
    /// Whether it has any validation request.
    pub is_judged: bool,
}

pub async fn find(db: &impl Query, id: AgentId) -> Result<Option<AgentDetailRow>, HostError> {
    let text = format!(
        "SELECT {COLUMNS}, a.slug, EXISTS (SELECT 1 FROM agents_validations v WHERE v.agent_id = a.id) AS is_judged \
         FROM agents_agents a {CARD} WHERE a.id = $1"
    );
    db.row(sql(text).bind(id)).await
}

/// The agent's data for its registration file.
pub async fn subject(db: &impl Query, id: AgentId) -> Result<Option<RegistrationSubject>, HostError> {
    let text = format!(
        "SELECT a.id, a.owner, a.name, a.endpoint, a.status, a.price_per_job, c.description, c.image, \
         coalesce(c.capabilities, '[]') AS capabilities, c.model, c.price_per_call \
         FROM agents_agents a {CARD} WHERE a.id = $1"
    );
    db.row(sql(text).bind(id)).await
}

/// Number of all agents, and of active ones.
pub async fn count(db: &impl Query) -> Result<(i64, i64), HostError> {
    let counts: Vec<(AgentStatus, i64)> = db.rows(sql("SELECT status, agents FROM agents_counts")).await?;
    let active = counts.iter().find(|(status, _)| *status == AgentStatus::Active).map_or(0, |(_, agents)| *agents);
    Ok((counts.iter().map(|(_, agents)| agents).sum(), active))
}

/// An entry of the list of top agents.
#[derive(Deserialize)]
pub struct TopAgent {
    pub id: AgentId,
    pub name: String,
    pub endpoint: String,
    pub price_per_job: Wei,
    pub jobs_completed: u32,
    pub rating_count: u32,
    pub rating_sum: u32,
    pub online: bool,
}

const TOP_AGENTS: List = List::new(
    "agents_agents a",
    "a.id, a.name, a.endpoint, a.price_per_job, a.jobs_completed, a.rating_count, a.rating_sum, \
     coalesce(c.online, 0) AS online",
)
.join(CARD)
.order_by("a.paid_jobs DESC, a.rating_rank DESC, a.payers DESC, a.id");

/// The first ten active agents by paid jobs, then by average rating, then by paying clients.
pub async fn top(db: &impl Query) -> Result<Vec<TopAgent>, HostError> {
    TOP_AGENTS.filter_if(true, "a.active = 1").first(10).rows(db).await
}
