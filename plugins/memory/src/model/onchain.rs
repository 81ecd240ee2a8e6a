//! The call that anchors a batch: calldata, and the document that the owner signs for a relayed one. The gateway sends neither.

use super::BatchView;
use alloy_primitives::{B256, U256, hex::encode_prefixed};
use alloy_sol_types::SolValue as _;
use plugin_api::{Address, JsonSchema, handles::Environment};
use serde::Serialize;
use serde_json::{Value, json};

/// Key of the contract in the gateway's configuration.
pub const CONTRACT: &str = "memoryAnchor";

#[cfg(test)]
const ANCHOR: &str = "anchor(uint256,bytes32,bytes32,uint32,string)";
const ANCHOR_SELECTOR: [u8; 4] = [0x81, 0xce, 0x7e, 0xe9];

/// Where the contract is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    pub chain_id: u64,
    /// Null while it is not deployed.
    pub contract: Option<Address>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

impl Deployment {
    pub fn of(environment: &Environment) -> Self {
        let contract = environment.contract(CONTRACT);
        let is_absent = contract.is_none();
        Self {
            chain_id: environment.chain_id,
            contract,
            disabled: is_absent.then_some(true),
            reason: is_absent.then_some("not deployed"),
        }
    }
}

/// What the owner of the agent does with a batch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Onchain {
    #[serde(flatten)]
    pub deployment: Deployment,
    pub method: &'static str,
    /// agentId, root, prevRoot, count, uri.
    pub args: Vec<Value>,
    /// Of `method`; null while the contract is not deployed.
    pub calldata: Option<String>,
    pub priority_fee_floor_wei: &'static str,
    pub priority_fee_note: &'static str,
    /// The same by anyone, with a signature of the owner.
    pub relayed: Value,
    pub submit: &'static str,
}

impl Onchain {
    pub fn new(deployment: Deployment, domain_name: &str, batch: &BatchView) -> Self {
        let BatchView { agent_id, root, prev_root, count, uri, .. } = batch;
        Self {
            calldata: deployment.contract.map(|_| calldata(batch)),
            relayed: relayed(&deployment, domain_name, batch),
            deployment,
            method: "anchor(uint256 agentId, bytes32 root, bytes32 prevRoot, uint32 count, string uri)",
            args: vec![json!(agent_id), json!(root), json!(prev_root), json!(count), json!(uri)],
            priority_fee_floor_wei: "1000000000",
            priority_fee_note: "the network's signers take transactions with a priority fee of at least 1 gwei",
            submit: "send the calldata to the contract with the agent's owner, an account of his or whom he let anchor, then \
                     POST /api/memory/anchor {agentId, root, txHash} signed as memory.anchor; the index finds the event in any case",
        }
    }
}

fn calldata(batch: &BatchView) -> String {
    let agent = U256::from(u64::try_from(batch.agent_id.0).unwrap_or_default());
    let count = u32::try_from(batch.count).unwrap_or(u32::MAX);
    let arguments = (agent, B256::new(batch.root.0), B256::new(batch.prev_root.0), count, batch.uri.clone());
    encode_prefixed([ANCHOR_SELECTOR.to_vec(), arguments.abi_encode_params()].concat())
}

fn relayed(deployment: &Deployment, domain_name: &str, batch: &BatchView) -> Value {
    let fields = [
        ("agentId", "uint256"),
        ("root", "bytes32"),
        ("prevRoot", "bytes32"),
        ("count", "uint32"),
        ("uri", "string"),
        ("nonce", "uint256"),
        ("deadline", "uint64"),
    ];
    let fields: Vec<Value> = fields.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect();
    json!({
        "method": "anchorFor(uint256 agentId, bytes32 root, bytes32 prevRoot, uint32 count, string uri, uint64 deadline, bytes sig)",
        "eip712": {
            "domain": {
                "name": domain_name,
                "version": "1",
                "chainId": deployment.chain_id,
                "verifyingContract": deployment.contract,
            },
            "primaryType": "Anchor",
            "types": { "Anchor": fields },
            "message": {
                "agentId": batch.agent_id,
                "root": batch.root,
                "prevRoot": batch.prev_root,
                "count": batch.count,
                "uri": batch.uri,
                "nonce": null,
                "deadline": null,
            },
            "messageNote": "set nonce to nonceOf(agentId) of the contract, and deadline to unix seconds of your choice",
        },
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::BatchStatus;
    use plugin_api::{AgentId, Hash256};

    #[test]
    fn the_selector_is_that_of_the_signature() {
        let hash = Hash256::keccak(ANCHOR.as_bytes());
        assert_eq!(hash.0[..4], ANCHOR_SELECTOR);
    }

    #[test]
    fn calldata_is_encoded_as_the_abi_says() {
        let batch = BatchView {
            batch_id: 1,
            agent_id: AgentId(7),
            address: None,
            root: Hash256([0xaa; 32]),
            prev_root: Hash256([0; 32]),
            uri: "ipfs://x".to_owned(),
            status: BatchStatus::Built,
            count: 3,
            from_seq: 1,
            to_seq: 3,
            onchain_seq: None,
            total_records: None,
            block: None,
            anchored_by: None,
            tx: None,
            created_at: 0,
            submitted_at: None,
            anchored_at: None,
        };
        let words = [
            format!("{:064x}", 7),
            "aa".repeat(32),
            "00".repeat(32),
            format!("{:064x}", 3),
            format!("{:064x}", 5 * 32),
            format!("{:064x}", 8),
            format!("{:0<64}", "697066733a2f2f78"),
        ];
        assert_eq!(calldata(&batch), format!("0x81ce7ee9{}", words.concat()));
    }
}
