//! Documents that owners anchored on the chain, derived from events of the identity registry. They are never deleted.

use crate::model::MetadataSet;
use plugin_api::{Hash256, Sql, contracts::ChainEvent, sql};

pub const TABLE: &str = "aicv_anchored";

/// The key under which the owner of an agent names the document that is current.
const KEY: &str = "cv";
/// `0x` and the digits of the hash, which `abi.encode(bytes32 documentHash, string uri)` begins with.
const HASH_CHARS: usize = 66;

/// `None` for another key, and for a value that names no hash.
pub fn insert(event: &ChainEvent<MetadataSet>) -> Option<Sql> {
    let MetadataSet { agent_id, metadata_key, metadata_value } = &event.args;
    let hash: Hash256 = metadata_value.get(..HASH_CHARS)?.parse().ok()?;
    let insert = "INSERT INTO aicv_anchored (agent_id, document_hash) VALUES ($1, $2) ON CONFLICT (agent_id, document_hash) DO NOTHING";
    (metadata_key == KEY).then(|| sql(insert).bind((*agent_id, hash)))
}
