//! Random scripts for a real node: actions on agents and jobs, and reorganisations of their blocks.

use super::FMX;
use gateway_tests::devnet::Devnet;
use plugin_testing::{Value, json};
use proptest::prelude::*;

pub const REGISTER: &str =
    "register(string name, string endpoint, string metadataURI, uint256 pricePerJob) payable returns (uint256 id)";
const UPDATE: &str = "update(uint256 id, string endpoint, string metadataURI, uint256 pricePerJob)";
const SET_STATUS: &str = "setStatus(uint256 id, uint8 s)";
pub const REQUEST: &str =
    "requestJob(uint256 agentId, bytes32 inputHash, string inputURI) payable returns (uint256 jobId)";
pub const DELIVER: &str = "deliver(uint256 jobId, bytes32 outputHash, string outputURI)";
pub const RELEASE: &str = "release(uint256 jobId, uint8 rating)";
const REFUND: &str = "refund(uint256 jobId)";
const DISPUTE: &str = "dispute(uint256 jobId)";

/// Agents at the beginning, all of `user1`.
pub const AGENTS: u64 = 4;
/// Most jobs of a script have an id up to this.
const JOBS: u64 = 12;
/// Empty blocks at the beginning: no reorganisation is deeper than the script.
pub const GROUND: u64 = 70;

#[derive(Clone, Debug)]
pub enum ScriptStep {
    /// One block.
    Mine(Vec<ContractCall>),
    Empty(u64),
    Branch(Branch),
    Restart,
    Fault(Fault),
    /// Until everything is indexed, if the server lets it.
    Wait,
}

/// So many blocks are taken back; some of their transactions come again at another place, then new ones.
#[derive(Clone, Debug)]
pub struct Branch {
    how: How,
    depth: u64,
    again: u8,
    then: Vec<ContractCall>,
}

#[derive(Clone, Copy, Debug)]
enum How {
    /// Other blocks stand at the same heights at once.
    Reorganise,
    /// The chain is shorter for a moment.
    RollBack,
    /// As the step before, by a snapshot of the node.
    Revert,
}

#[derive(Clone, Debug)]
pub enum ContractCall {
    Register,
    Update(u64, u8),
    SetStatus(u64, u8),
    Request(u64, u8),
    Deliver(u64),
    Release(u64, u8),
    Refund(u64),
    Dispute(u64),
}

/// What the RPC server does wrong from now on.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    Fails(&'static str, u8),
    Lags(u8),
    Caps(&'static str),
    Repeats,
    ClosesWebSockets,
    None,
}

impl ScriptStep {
    pub fn reorganises_deeper_than(&self, blocks: u64) -> bool {
        matches!(self, Self::Branch(branch) if branch.depth > blocks)
    }
}

pub fn act() -> impl Strategy<Value = ContractCall> {
    let agent = || 1..=AGENTS;
    let job = || 1..=JOBS;
    prop_oneof![
        1 => Just(ContractCall::Register),
        2 => (agent(), any::<u8>()).prop_map(|(agent, price)| ContractCall::Update(agent, price)),
        1 => (agent(), 0..2u8).prop_map(|(agent, status)| ContractCall::SetStatus(agent, status)),
        6 => (agent(), any::<u8>()).prop_map(|(agent, more)| ContractCall::Request(agent, more)),
        4 => job().prop_map(ContractCall::Deliver),
        4 => (job(), 1..=5u8).prop_map(|(job, rating)| ContractCall::Release(job, rating)),
        1 => job().prop_map(ContractCall::Refund),
        1 => job().prop_map(ContractCall::Dispute),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let mode =
        prop_oneof![Just("status"), Just("garbage"), Just("truncated"), Just("reset"), Just("error"), Just("timeout")];
    let style =
        prop_oneof![Just("infura"), Just("alchemy"), Just("quicknode"), Just("ankr"), Just("bsc"), Just("geth")];
    prop_oneof![
        4 => (mode, 1..4u8).prop_map(|(mode, times)| Fault::Fails(mode, times)),
        2 => (1..10u8).prop_map(Fault::Lags),
        2 => style.prop_map(Fault::Caps),
        1 => Just(Fault::Repeats),
        1 => Just(Fault::ClosesWebSockets),
        2 => Just(Fault::None),
    ]
}

fn branch(depth_max: u64) -> impl Strategy<Value = Branch> {
    let how = prop_oneof![Just(How::Reorganise), Just(How::RollBack), Just(How::Revert)];
    let acts = prop::collection::vec(act(), 0..6);
    (how, 1..=depth_max, any::<u8>(), acts).prop_map(|(how, depth, again, then)| Branch { how, depth, again, then })
}

pub fn step(depth_max: u64) -> impl Strategy<Value = ScriptStep> {
    prop_oneof![
        8 => prop::collection::vec(act(), 1..8).prop_map(ScriptStep::Mine),
        2 => (1..20u64).prop_map(ScriptStep::Empty),
        4 => branch(depth_max).prop_map(ScriptStep::Branch),
        1 => Just(ScriptStep::Restart),
        2 => fault().prop_map(ScriptStep::Fault),
        4 => Just(ScriptStep::Wait),
    ]
}

/// The node that a script controls. It mines only on request.
pub struct ScriptedNode<'d> {
    devnet: &'d Devnet,
    /// Of the chain as the script found it.
    ground: Value,
    /// Snapshots of the present branch, by the number of their newest block.
    snapshots: Vec<(u64, Value)>,
    acts: u64,
}

impl<'d> ScriptedNode<'d> {
    pub async fn open(devnet: &'d Devnet) -> Self {
        devnet.call("evm_setAutomine", json!([false])).await.unwrap();
        let ground = devnet.call("evm_snapshot", json!([])).await.unwrap();
        let mut node = Self { devnet, ground, snapshots: Vec::new(), acts: 0 };
        node.mine(&vec![ContractCall::Register; usize::try_from(AGENTS).unwrap()]).await;
        devnet.mine(GROUND).await.unwrap();
        node
    }

    /// Restores the chain for the next script.
    pub async fn close(self) {
        self.devnet.call("evm_revert", json!([self.ground])).await.unwrap();
    }

    pub async fn play(&mut self, step: &ScriptStep) {
        match step {
            ScriptStep::Mine(acts) => self.mine(acts).await,
            ScriptStep::Empty(blocks) => self.devnet.mine(*blocks).await.unwrap(),
            ScriptStep::Branch(branch) => self.branch(branch).await,
            ScriptStep::Fault(fault) => self.fault(*fault).await,
            ScriptStep::Restart | ScriptStep::Wait => {}
        }
    }

    async fn mine(&mut self, acts: &[ContractCall]) {
        for act in acts {
            self.send(act).await;
        }
        self.mine_sent().await;
        let snapshot = self.devnet.call("evm_snapshot", json!([])).await.unwrap();
        self.snapshots.push((self.devnet.head().await.unwrap(), snapshot));
    }

    /// Mines a block, and drops the transactions that could not be included.
    async fn mine_sent(&self) {
        self.devnet.call("evm_mine", json!([])).await.unwrap();
        self.devnet.call("anvil_dropAllTransactions", json!([])).await.unwrap();
    }

    async fn send(&mut self, act: &ContractCall) {
        self.acts += 1;
        let hash = format!("0x{:064x}", self.acts);
        let (who, contract, function, args, wei) = match act {
            ContractCall::Register => {
                let name = format!("agent {} ä😀'\"", self.acts);
                (
                    "user1",
                    "registry",
                    REGISTER,
                    vec![name, "https://a.example".into(), String::new(), "1".into()],
                    100 * FMX,
                )
            }
            ContractCall::Update(agent, price) => {
                let args =
                    vec![agent.to_string(), format!("https://{price}.example"), String::new(), price.to_string()];
                ("user1", "registry", UPDATE, args, 0)
            }
            ContractCall::SetStatus(agent, status) => {
                ("user1", "registry", SET_STATUS, vec![agent.to_string(), status.to_string()], 0)
            }
            ContractCall::Request(agent, more) => {
                let client = if more % 2 == 0 { "user2" } else { "user3" };
                (client, "escrow", REQUEST, vec![agent.to_string(), hash, String::new()], FMX + u128::from(*more))
            }
            ContractCall::Deliver(job) => ("user1", "escrow", DELIVER, vec![job.to_string(), hash, String::new()], 0),
            ContractCall::Release(job, rating) => {
                let client = if job % 2 == 0 { "user2" } else { "user3" };
                (client, "escrow", RELEASE, vec![job.to_string(), rating.to_string()], 0)
            }
            ContractCall::Refund(job) => ("user1", "escrow", REFUND, vec![job.to_string()], 0),
            ContractCall::Dispute(job) => ("user2", "escrow", DISPUTE, vec![job.to_string()], 0),
        };
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.devnet.send(who, contract, function, &args, wei).await.unwrap();
    }

    async fn branch(&mut self, branch: &Branch) {
        let before = self.devnet.head().await.unwrap();
        let snapshot = self.snapshots.iter().position(|(number, _)| before.saturating_sub(*number) <= branch.depth);
        let (depth, how) = match (branch.how, snapshot) {
            (How::Revert, Some(place)) if self.snapshots[place].0 < before => {
                (before - self.snapshots[place].0, How::Revert)
            }
            (How::Revert, _) => (branch.depth, How::RollBack),
            (how, _) => (branch.depth, how),
        };
        let again = chosen(self.transactions(before - depth + 1, before).await, branch.again);
        match how {
            How::Reorganise => {
                let place = |(place, request)| json!([request, place as u64 * 7 % depth]);
                let pairs: Vec<Value> = again.into_iter().enumerate().map(place).collect();
                // A transaction that is impossible at its new position is left out.
                if self.devnet.call("anvil_reorg", json!([depth, pairs])).await.is_err() {
                    self.devnet.call("anvil_reorg", json!([depth, []])).await.unwrap();
                }
            }
            How::RollBack => {
                self.devnet.call("anvil_rollback", json!([depth])).await.unwrap();
                self.again(again).await;
            }
            How::Revert => {
                let (_, snapshot) = self.snapshots[snapshot.unwrap_or_default()].clone();
                self.devnet.call("evm_revert", json!([snapshot])).await.unwrap();
                self.again(again).await;
            }
        }
        // Snapshots that were used, or are of a removed branch, are gone.
        self.snapshots.retain(|(number, _)| *number < before - depth);
        self.mine(&branch.then).await;
        let head = self.devnet.head().await.unwrap();
        if head <= before {
            self.devnet.mine(before + 1 - head).await.unwrap();
        }
    }

    async fn again(&self, requests: Vec<Value>) {
        for request in requests {
            let _ = self.devnet.call("eth_sendTransaction", json!([request])).await;
        }
        self.mine_sent().await;
    }

    /// The transactions of these blocks, to be sent again with the same hash.
    async fn transactions(&self, from: u64, to: u64) -> Vec<Value> {
        let mut requests = Vec::new();
        for number in from..=to {
            let params = json!([format!("{number:#x}"), true]);
            let block = self.devnet.call("eth_getBlockByNumber", params).await.unwrap();
            for sent in block["transactions"].as_array().into_iter().flatten() {
                requests.push(json!({
                    "from": sent["from"], "to": sent["to"], "data": sent["input"], "value": sent["value"],
                    "gas": sent["gas"], "gasPrice": sent["gasPrice"], "nonce": sent["nonce"],
                }));
            }
        }
        requests
    }

    async fn fault(&self, fault: Fault) {
        self.devnet.honest().await.unwrap();
        let rules = match fault {
            Fault::Fails(mode, times) => json!({ "failures": [{ "mode": mode, "times": times }] }),
            Fault::Lags(blocks) => json!({ "lagBlocks": blocks }),
            Fault::Caps(style) => json!({ "logsRangeMax": 9, "logsResultsMax": 3, "logsErrorStyle": style }),
            Fault::Repeats => json!({ "lieLogs": "repeat" }),
            Fault::ClosesWebSockets => json!({ "webSocket": "refuse" }),
            Fault::None => return,
        };
        self.devnet.control(rules).await.unwrap();
    }
}

/// Some of them in another order.
fn chosen(mut requests: Vec<Value>, again: u8) -> Vec<Value> {
    let turned = usize::from(again) % requests.len().max(1);
    requests.rotate_left(turned);
    let is_chosen = |(place, _): &(usize, Value)| (again >> (place % 8)) & 1 == 1;
    requests.into_iter().enumerate().filter(is_chosen).map(|(_, request)| request).collect()
}
