//! Agents that may be like another one. The rule: each statement reads a bounded number of rows of an index, however many agents there are.

use crate::model::{Candidate, Kind, Subject};
use plugin_api::{AgentId, HostError, Query, Sql, sql};
use std::collections::BTreeMap;

const CAPABILITIES_MAX: usize = 20;
const AGENTS_OF_CAPABILITY: u32 = 100;
const CLIENTS_MAX: u32 = 50;
const AGENTS_OF_CLIENT: u32 = 50;
const PRICES_OF_SIDE: u32 = 50;

/// With what the indexes say of each. The subject is not among them.
pub async fn find(db: &impl Query, subject: &Subject) -> Result<BTreeMap<AgentId, Candidate>, HostError> {
    let mut candidates: BTreeMap<AgentId, Candidate> = BTreeMap::new();
    for agent in by_capability(db, subject).await? {
        candidates.entry(agent).or_default().shared_capabilities += 1;
    }
    for agent in by_client(db, subject.agent_id).await? {
        candidates.entry(agent).or_default().clients_in_common += 1;
    }
    for agent in by_price(db, subject).await? {
        candidates.entry(agent).or_default();
    }
    candidates.remove(&subject.agent_id);
    Ok(candidates)
}

/// An agent as often as it declares one of the capabilities.
async fn by_capability(db: &impl Query, subject: &Subject) -> Result<Vec<AgentId>, HostError> {
    let each = subject.capabilities.iter().take(CAPABILITIES_MAX).map(|capability| {
        let select = "SELECT agent_id FROM network_capabilities WHERE capability = $1 ORDER BY agent_id LIMIT $2";
        sql(select).bind((capability, AGENTS_OF_CAPABILITY))
    });
    all(db, each.collect()).await
}

/// An agent as often as one of the subject's clients hired it.
async fn by_client(db: &impl Query, subject: AgentId) -> Result<Vec<AgentId>, HostError> {
    let select = "SELECT client_owner FROM network_pairs WHERE kind = $1 AND agent_id = $2 AND edge_jobs > 0 \
         ORDER BY edge_volume DESC, edge_jobs DESC, id LIMIT $3";
    let clients: Vec<String> = db.rows(sql(select).bind((Kind::Hire.name(), subject, CLIENTS_MAX))).await?;
    let each = clients.iter().map(|client| {
        let select = "SELECT agent_id FROM network_pairs WHERE kind = $1 AND client_owner = $2 AND edge_jobs > 0 \
             ORDER BY edge_volume DESC, edge_jobs DESC, id LIMIT $3";
        sql(select).bind((Kind::Hire.name(), client, AGENTS_OF_CLIENT))
    });
    all(db, each.collect()).await
}

/// Those whose prices are next to the subject's.
async fn by_price(db: &impl Query, subject: &Subject) -> Result<Vec<AgentId>, HostError> {
    let price = subject.price.sort_key();
    let above = sql("SELECT id FROM network_agents WHERE price >= $1 ORDER BY price, id LIMIT $2");
    let below = sql("SELECT id FROM network_agents WHERE price < $1 ORDER BY price DESC, id DESC LIMIT $2");
    all(db, vec![above.bind((&price, PRICES_OF_SIDE + 1)), below.bind((&price, PRICES_OF_SIDE))]).await
}

/// The rows of several statements, in one call of the database.
async fn all(db: &impl Query, statements: Vec<Sql>) -> Result<Vec<AgentId>, HostError> {
    let mut statements = statements.into_iter().enumerate();
    let Some((_, first)) = statements.next() else { return Ok(Vec::new()) };
    let part = |number: usize, statement: Sql| sql("").push_sql(statement).push(&format!(") AS part{number}"));
    let begin = sql("SELECT * FROM (").push_sql(part(0, first));
    let union = statements.fold(begin, |union, (number, statement)| {
        union.push(" UNION ALL SELECT * FROM (").push_sql(part(number, statement))
    });
    db.rows(union).await
}
