//! Agents that may be like another one. The rules: each statement reads a bounded number of rows of an index, however many agents there are
//! (and those of labelled addresses before them); what is labelled is nobody's candidate and nobody's client.

use super::labelled::unlabelled_agent;
use crate::model::{Candidate, Kind, Subject};
use plugin_api::{AgentId, HostError, Query, Sql, point::LabelledAddresses, sql};
use std::collections::BTreeMap;

const CAPABILITIES_MAX: usize = 20;
const AGENTS_OF_CAPABILITY: u32 = 100;
const CLIENTS_MAX: u32 = 50;
const AGENTS_OF_CLIENT: u32 = 50;
const PRICES_OF_SIDE: u32 = 50;

/// With what the indexes say of each. The subject is not among them.
pub async fn find(
    db: &impl Query,
    subject: &Subject,
    labelled: &[LabelledAddresses],
) -> Result<BTreeMap<AgentId, Candidate>, HostError> {
    let mut candidates: BTreeMap<AgentId, Candidate> = BTreeMap::new();
    for agent in by_capability(db, subject, labelled).await? {
        candidates.entry(agent).or_default().shared_capabilities += 1;
    }
    for agent in by_client(db, subject.agent_id, labelled).await? {
        candidates.entry(agent).or_default().clients_in_common += 1;
    }
    for agent in by_price(db, subject, labelled).await? {
        candidates.entry(agent).or_default();
    }
    candidates.remove(&subject.agent_id);
    Ok(candidates)
}

/// An agent as often as it declares one of the capabilities.
async fn by_capability(
    db: &impl Query,
    subject: &Subject,
    labelled: &[LabelledAddresses],
) -> Result<Vec<AgentId>, HostError> {
    let select = format!(
        "SELECT c.agent_id FROM network_capabilities c WHERE c.capability = $1 AND {} ORDER BY c.agent_id LIMIT $2",
        unlabelled_agent(labelled, "c.agent_id")
    );
    let capabilities = subject.capabilities.iter().take(CAPABILITIES_MAX);
    let each = capabilities.map(|capability| sql(select.clone()).bind((capability, AGENTS_OF_CAPABILITY)));
    all(db, each.collect()).await
}

/// An agent as often as one of the subject's clients hired it.
async fn by_client(
    db: &impl Query,
    subject: AgentId,
    labelled: &[LabelledAddresses],
) -> Result<Vec<AgentId>, HostError> {
    let select = format!(
        "SELECT e.client_owner FROM network_pairs e WHERE e.kind = $1 AND e.agent_id = $2 AND e.edge_jobs > 0 AND {} \
         ORDER BY e.edge_volume DESC, e.edge_jobs DESC, e.id LIMIT $3",
        LabelledAddresses::leave_out(labelled, "e.client_owner")
    );
    let clients: Vec<String> = db.rows(sql(select).bind((Kind::Hire.name(), subject, CLIENTS_MAX))).await?;
    let select = format!(
        "SELECT e.agent_id FROM network_pairs e WHERE e.kind = $1 AND e.client_owner = $2 AND e.edge_jobs > 0 AND {} \
         ORDER BY e.edge_volume DESC, e.edge_jobs DESC, e.id LIMIT $3",
        unlabelled_agent(labelled, "e.agent_id")
    );
    let each = clients.iter().map(|client| sql(select.clone()).bind((Kind::Hire.name(), client, AGENTS_OF_CLIENT)));
    all(db, each.collect()).await
}

/// Those whose prices are next to the subject's.
async fn by_price(
    db: &impl Query,
    subject: &Subject,
    labelled: &[LabelledAddresses],
) -> Result<Vec<AgentId>, HostError> {
    let price = subject.price.sort_key();
    let unlabelled = LabelledAddresses::leave_out(labelled, "a.owner");
    let select =
        |side: &str| format!("SELECT a.id FROM network_agents a WHERE a.price {side} $1 AND {unlabelled} ORDER BY");
    let above = sql(format!("{} a.price, a.id LIMIT $2", select(">=")));
    let below = sql(format!("{} a.price DESC, a.id DESC LIMIT $2", select("<")));
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
