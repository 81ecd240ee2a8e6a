//! What agents declare, by capability: an index for the filter and for agents that are alike.

use plugin_api::{AgentId, HostError, Query, Sql, Tx, json_text, sql};
use serde::Deserialize;
use std::collections::BTreeSet;

/// A longer one is not indexed: an index of PostgreSQL has no room for it.
const CHARS_MAX: usize = 200;

/// What an agent declares now and what the index has, where these differ.
pub struct Change {
    agent: AgentId,
    gone: BTreeSet<String>,
    new: BTreeSet<String>,
}

/// A part of all agents, in the order of their ids.
pub struct Part {
    pub changes: Vec<Change>,
    /// The last id; `None` where no agent follows.
    pub last: Option<AgentId>,
}

#[derive(Deserialize)]
struct DeclaredCapabilities {
    agent_id: AgentId,
    #[serde(deserialize_with = "json_text")]
    capabilities: Vec<String>,
}

/// Compares up to `limit` agents behind this one, and those that are gone.
pub async fn compare(db: &impl Query, after: AgentId, limit: u32) -> Result<Part, HostError> {
    let select = sql("SELECT agent_id, coalesce(capabilities, '[]') AS capabilities FROM agents_v1 \
         WHERE agent_id > $1 ORDER BY agent_id LIMIT $2");
    let declared: Vec<DeclaredCapabilities> = db.rows(select.bind((after, limit))).await?;
    let last = declared.last().map(|agent| agent.agent_id).filter(|_| declared.len() >= limit as usize);
    let select = sql("SELECT agent_id, capability FROM network_capabilities WHERE agent_id > $1 AND agent_id <= $2");
    let indexed: Vec<(AgentId, String)> = db.rows(select.bind((after, last.unwrap_or(AgentId(i64::MAX))))).await?;
    let mut changes: std::collections::BTreeMap<AgentId, (BTreeSet<String>, BTreeSet<String>)> = Default::default();
    for (agent, capability) in indexed {
        changes.entry(agent).or_default().0.insert(capability);
    }
    for DeclaredCapabilities { agent_id, capabilities } in declared {
        changes.entry(agent_id).or_default().1 = capabilities.iter().filter_map(|text| indexable(text)).collect();
    }
    let change = |(agent, (old, now)): (AgentId, (BTreeSet<String>, BTreeSet<String>))| {
        let gone: BTreeSet<String> = old.difference(&now).cloned().collect();
        let new: BTreeSet<String> = now.difference(&old).cloned().collect();
        (!gone.is_empty() || !new.is_empty()).then_some(Change { agent, gone, new })
    };
    Ok(Part { changes: changes.into_iter().filter_map(change).collect(), last })
}

fn indexable(capability: &str) -> Option<String> {
    let lower = capability.trim().to_lowercase();
    (!lower.is_empty() && lower.chars().count() <= CHARS_MAX).then_some(lower)
}

pub fn store(tx: &Tx, changes: &[Change]) -> Result<(), HostError> {
    for Change { agent, gone, new } in changes {
        for capability in gone {
            let delete = sql("DELETE FROM network_capabilities WHERE capability = $1 AND agent_id = $2");
            tx.defer(delete.bind((capability.as_str(), *agent)))?;
        }
        let rows = new.iter().map(|capability| (capability.as_str(), *agent));
        if let Some(insert) = Sql::insert_rows("network_capabilities", "capability, agent_id", rows) {
            tx.defer(insert.push(" ON CONFLICT (capability, agent_id) DO NOTHING"))?;
        }
    }
    Ok(())
}
