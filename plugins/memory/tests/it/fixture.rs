//! Agents and anchors on a scripted chain, and records that are computed here once more.

use super::{builders, put};
use plugin_api::Hash256;
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, TestResponse, Value, Wallet, json};

pub const CONTRACTS: [&str; 2] = ["registry", "memoryAnchor"];

/// A gateway with its own chain, on which wallet 1 owns the agents 1 and 2, and wallet 2 the agent 3.
pub struct Site {
    pub gateway: TestGateway,
    pub chain: ScriptedChain,
}

pub async fn sites() -> Vec<Site> {
    sites_with(&CONTRACTS).await
}

pub async fn sites_with(contracts: &[&str]) -> Vec<Site> {
    let mut sites = Vec::new();
    for builder in builders().await {
        let chain = ScriptedChain::start().await;
        chain.mine(vec![agent(1, &owner()), agent(2, &owner()), agent(3, &other())]);
        let gateway = builder.chain(&chain, contracts).start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain });
    }
    sites
}

pub fn owner() -> Wallet {
    Wallet::new(1)
}

pub fn other() -> Wallet {
    Wallet::new(2)
}

pub fn agent(id: u64, owner: &Wallet) -> ScriptedLog {
    ScriptedLog::new(
        "registry",
        "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)",
        &[
            json!(id),
            json!(owner.address()),
            json!(format!("agent {id}")),
            json!(""),
            json!(""),
            json!("1"),
            json!("0"),
        ],
    )
}

pub fn transferred(id: u64, from: &Wallet, to: &Wallet) -> ScriptedLog {
    ScriptedLog::new(
        "registry",
        "OwnershipTransferred(uint256 indexed id, address indexed from, address indexed to)",
        &[json!(id), json!(from.address()), json!(to.address())],
    )
}

/// The event of a root that is the agent's `seq`th.
pub fn anchored(agent: u64, seq: u64, root: &Value, prev_root: &Value, count: u64) -> ScriptedLog {
    ScriptedLog::new(
        "memoryAnchor",
        "MemoryAnchored(uint256 indexed agentId, uint64 indexed seq, bytes32 indexed root, bytes32 prevRoot, uint32 count, uint64 totalRecords, address anchoredBy, string uri)",
        &[
            json!(agent),
            json!(seq),
            root.clone(),
            prev_root.clone(),
            json!(count),
            json!(count * seq),
            json!(owner().address()),
            json!("ipfs://x"),
        ],
    )
}

impl Site {
    /// Mines the events, so deep that they are public.
    pub async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.chain.mine_empty(3);
        self.gateway.indexed(&self.chain).await;
    }

    pub async fn anchor(&self, wallet: &Wallet, payload: Value) -> TestResponse {
        // Two equal requests in one second have one signature.
        self.gateway.clock().advance(std::time::Duration::from_secs(1)).await;
        self.gateway.post_signed("/api/memory/anchor", wallet, "memory.anchor", payload).await
    }

    /// Writes records `r1`, `r2`, … of a wallet.
    pub async fn write(&self, wallet: &Wallet, count: usize) {
        for number in 1..=count {
            let response = put(&self.gateway, wallet, &format!("r{number}"), json!(number)).await;
            assert!(response.is_success(), "{}", response.text());
        }
    }

    pub async fn close(self) {
        super::finish(self.gateway).await;
    }
}

pub fn keccak(bytes: &[u8]) -> String {
    Hash256::keccak(bytes).to_string()
}

/// The header's canonical JSON, from what the answer of a write says.
pub fn header(address: &str, op: &str, size: usize, record: &Value) -> String {
    json!({
        "addr": address, "chainId": 3961, "keyCommit": record["keyCommit"], "op": op, "prev": record["prev"],
        "seq": record["seq"], "size": size, "ts": record["ts"], "v": 1, "valueHash": record["valueHash"],
    })
    .to_string()
}

/// That a record is what was written, computed here.
pub fn assert_record(address: &str, op: &str, key: &str, text: &str, record: &Value) {
    let is_put = op == "put";
    let value_hash = if is_put { keccak(text.as_bytes()) } else { super::ZERO.to_owned() };
    assert_eq!(record["valueHash"], value_hash);
    let nonce = record["keyNonce"].as_str().unwrap();
    assert!(nonce.len() == 34 && nonce.starts_with("0x") && nonce.to_lowercase() == nonce, "{nonce}");
    let commit = keccak(json!({ "key": key, "nonce": nonce }).to_string().as_bytes());
    assert_eq!(record["keyCommit"], commit);
    let size = if is_put { text.len() } else { 0 };
    assert_eq!(record["recordHash"], keccak(header(address, op, size, record).as_bytes()));
}

fn hash_of(text: &Value) -> [u8; 32] {
    text.as_str().unwrap().parse::<Hash256>().unwrap().0
}

fn node(left: [u8; 32], right: [u8; 32]) -> [u8; 32] {
    Hash256::keccak(&[&[1], &left[..], &right[..]].concat()).0
}

/// As the contract's `verify`, written down once more.
pub fn verifies(root: &Value, record: &[u8], proof: &[Value], index: usize, count: usize) -> bool {
    let mut at = Hash256::keccak(&[&[0], &Hash256::keccak(record).0[..]].concat()).0;
    let (mut index, mut size, mut used) = (index, count, 0);
    while size > 1 {
        if index == size - 1 && index % 2 == 0 {
            at = node(at, at);
        } else {
            let Some(sibling) = proof.get(used) else { return false };
            at = if index % 2 == 0 { node(at, hash_of(sibling)) } else { node(hash_of(sibling), at) };
            used += 1;
        }
        (index, size) = (index / 2, size.div_ceil(2));
    }
    used == proof.len() && at == hash_of(root)
}
