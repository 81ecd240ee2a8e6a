//! Batches: records that are anchored together.

use plugin_api::{Address, AgentId, Hash256, JsonSchema, handles::Bind};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum BatchStatus {
    /// Its root is in no transaction that the gateway knows.
    Built,
    /// Its owner named a transaction.
    Submitted,
    /// The contract has its root.
    Anchored,
}

/// A batch. Also its row in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchView {
    pub batch_id: i64,
    pub agent_id: AgentId,
    /// Whose records they are; null for a root that was not built here.
    pub address: Option<Address>,
    pub root: Hash256,
    /// Root of the anchor before; zero for the first.
    pub prev_root: Hash256,
    pub uri: String,
    pub status: BatchStatus,
    pub count: i64,
    /// 0, as `toSeq`, for a root that was not built here.
    pub from_seq: i64,
    pub to_seq: i64,
    /// Number of the anchor among those of the agent.
    pub onchain_seq: Option<i64>,
    /// Records that the agent anchored up to here.
    pub total_records: Option<i64>,
    pub block: Option<i64>,
    /// Who sent the transaction.
    pub anchored_by: Option<Address>,
    pub tx: Option<Hash256>,
    /// Unix seconds, as all times here.
    pub created_at: i64,
    pub submitted_at: Option<i64>,
    pub anchored_at: Option<i64>,
}

impl BatchView {
    pub fn is_anchored(&self) -> bool {
        self.status == BatchStatus::Anchored
    }

    pub fn leaf_count(&self) -> usize {
        usize::try_from(self.count).unwrap_or_default()
    }

    /// The place of a record's leaf.
    pub fn index_of(&self, seq: i64) -> Option<usize> {
        usize::try_from(seq - self.from_seq).ok().filter(|_| seq <= self.to_seq)
    }
}

/// How a proof is verified.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct VerifyTexts {
    pub leaf: &'static str,
    pub node: &'static str,
    pub odd: &'static str,
    pub count: &'static str,
    pub contract: &'static str,
}

impl VerifyTexts {
    pub const ALL: Self = Self {
        leaf: "keccak256(0x00 ++ recordHash), recordHash = keccak256(recordBytes)",
        node: "keccak256(0x01 ++ left ++ right)",
        odd: "the last node of an odd level is paired with itself and adds no element to the proof",
        count: "the number of leaves is needed; elements that are left over make the proof false",
        contract: "MemoryAnchor.verify(root, recordBytes, proof, index, count) returns true",
    };
}
