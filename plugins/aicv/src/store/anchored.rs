//! Documents that owners anchored on the chain, derived from events of the identity registry, and which of them were looked for. The former
//! are never deleted.
//!
//! The rule: each is looked for once, so that whoever anchors hashes of nothing costs the gateway no more than he pays for.

use super::documents;
use crate::model::{Anchor, Document, MetadataSet};
use plugin_api::{AgentId, Hash256, HostError, Query, Sql, Tx, contracts::ChainEvent, sql};
use serde::Deserialize;

pub const TABLE: &str = "aicv_anchored";

/// The key under which the owner of an agent names the document that is current.
const KEY: &str = "cv";

/// `None` for another key, and for a value that names no hash. A hash that is anchored again has the limit that is named last.
pub fn insert(event: &ChainEvent<MetadataSet>) -> Option<Sql> {
    let MetadataSet { agent_id, metadata_key, metadata_value } = &event.args;
    let Anchor { document_hash, limit } = Anchor::parse(metadata_value).filter(|_| metadata_key == KEY)?;
    let insert = "INSERT INTO aicv_anchored (agent_id, document_hash, claim_limit, anchored_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (agent_id, document_hash) DO UPDATE SET \
         claim_limit = coalesce(excluded.claim_limit, aicv_anchored.claim_limit), anchored_at = excluded.anchored_at";
    Some(sql(insert).bind((*agent_id, document_hash, limit, event.time_s)))
}

/// An anchored document of another limit than the default one: nobody stored it when it was issued.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct LimitedAnchor {
    pub agent_id: AgentId,
    pub document_hash: Hash256,
    pub claim_limit: u32,
}

/// Those that were not looked for, the one that was anchored first first.
pub async fn not_looked_for(db: &impl Query, count_max: usize) -> Result<Vec<LimitedAnchor>, HostError> {
    let select = "SELECT a.agent_id, a.document_hash, a.claim_limit FROM aicv_anchored a WHERE a.claim_limit IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM aicv_anchor_lookups l WHERE l.agent_id = a.agent_id AND l.document_hash = a.document_hash \
         AND l.claim_limit = a.claim_limit) ORDER BY a.anchored_at, a.agent_id, a.document_hash LIMIT $1";
    db.rows(sql(select).bind(count_max)).await
}

/// Keeps the documents that were found, and notes what was looked for.
pub async fn note(tx: &Tx, looked_for: &[LimitedAnchor], found: &[Document]) -> Result<(), HostError> {
    let lookup = |anchor: &LimitedAnchor| {
        sql("INSERT INTO aicv_anchor_lookups (agent_id, document_hash, claim_limit) VALUES ($1, $2, $3) \
             ON CONFLICT (agent_id, document_hash, claim_limit) DO NOTHING")
        .bind((anchor.agent_id, anchor.document_hash, anchor.claim_limit))
    };
    let statements: Vec<Sql> = found.iter().map(documents::insert).chain(looked_for.iter().map(lookup)).collect();
    tx.batch(statements).await.map(drop)
}
