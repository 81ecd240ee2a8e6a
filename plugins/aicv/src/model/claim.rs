//! Claims as they stand in a credential.

use super::{tree, vocabulary::Kind};
use plugin_api::{Address, AgentId, Hash256, HostError, point::CvClaim};
use serde_json::{Map, Value, json};

/// Of the members of a claim, with notes.
const BYTES_MAX: usize = CvClaim::BYTES_MAX + 1024;

/// A claim that was checked, with its evidence, but without leaf.
#[derive(Clone, Debug)]
pub struct CheckedClaim {
    pub kind: &'static Kind,
    pub id: String,
    pub stated_at: Option<i64>,
    pub fields: Map<String, Value>,
    pub evidence: Map<String, Value>,
    pub also_evidence: Vec<Value>,
    /// Of the deciding event.
    pub block: Option<i64>,
    /// All logs that prove it, by transaction and index: none of them proves another claim of the kind.
    pub logs: Vec<(Hash256, i64)>,
}

impl CheckedClaim {
    /// Whether its members, with those that logs fill in, leave room for the others of a record.
    pub fn is_within_bounds(&self) -> bool {
        serde_json::to_vec(&self.fields).is_ok_and(|bytes| bytes.len() <= BYTES_MAX)
    }

    pub fn trust(&self) -> &str {
        self.evidence.get("trust").and_then(Value::as_str).unwrap_or_default()
    }

    /// The place in the record: by block, those without one last.
    pub fn order(&self) -> (bool, i64, bool, i64, &str) {
        let (block, stated_at) = (self.block.unwrap_or_default(), self.stated_at.unwrap_or_default());
        (self.block.is_none(), block, self.stated_at.is_none(), stated_at, &self.id)
    }

    /// With its leaf, which is the hash of all other members.
    pub fn into_json(self) -> Result<Value, HostError> {
        let proven = self.trust() == "chain";
        let mut claim = Map::new();
        claim.insert("id".to_owned(), self.id.into());
        claim.insert("type".to_owned(), self.kind.name.into());
        claim.insert("statedAt".to_owned(), json!(self.stated_at));
        claim.extend(self.fields);
        claim.insert("evidence".to_owned(), Value::Object(self.evidence));
        if !self.also_evidence.is_empty() {
            claim.insert("alsoEvidence".to_owned(), Value::Array(self.also_evidence));
        }
        claim.insert("proven".to_owned(), proven.into());
        let leaf = tree::hash(&claim)?;
        claim.insert("leaf".to_owned(), json!(leaf));
        Ok(Value::Object(claim))
    }
}

/// `fmx:<agentId>:<rest>`.
pub fn claim_id(agent: AgentId, rest: &str) -> String {
    format!("fmx:{agent}:{rest}")
}

/// A claim that no event proves.
pub fn asserted(
    kind: &'static Kind,
    id: String,
    stated_at: Option<i64>,
    fields: Map<String, Value>,
    source: Option<String>,
    note: Option<String>,
) -> Option<CheckedClaim> {
    let (trust, provenance) = kind.asserted?;
    let mut evidence = Map::new();
    evidence.insert("trust".to_owned(), trust.into());
    evidence.insert("provenance".to_owned(), provenance.into());
    evidence.insert("proven".to_owned(), false.into());
    evidence.insert("method".to_owned(), "GET".into());
    evidence.extend(source.map(|source| ("source".to_owned(), source.into())));
    evidence.extend(note.map(|note| ("note".to_owned(), note.into())));
    let (also_evidence, logs) = (Vec::new(), Vec::new());
    Some(CheckedClaim { kind, id, stated_at, fields, evidence, also_evidence, block: None, logs })
}

/// The evidence of the agent's state: a call that anyone repeats.
pub fn state_evidence(agent: AgentId, registry: Address, chain_id: u64) -> Map<String, Value> {
    let bind = |field: &str, reference: &str| {
        let call = json!({
            "address": registry, "fn": "getAgent(uint256)", "args": ["subject.agentId"], "field": field,
        });
        json!({ "call": call, "equals": reference })
    };
    let binds = [
        bind("owner", "claim.owner"),
        bind("endpoint", "claim.endpoint"),
        bind("metadataURI", "claim.metadataURI"),
        bind("pricePerJob", "claim.pricePerJobWei"),
        bind("bond", "claim.bondWei"),
        bind("status", "claim.status"),
    ];
    plugin_api::point::members([
        ("trust", "chain".into()),
        ("provenance", "chain".into()),
        ("proven", true.into()),
        ("chainId", chain_id.into()),
        ("address", json!(registry)),
        ("contract", "registry".into()),
        ("method", "eth_call".into()),
        ("call", format!("getAgent({agent})").into()),
        ("bind", json!(binds)),
    ])
}
