//! Events of the contracts, for scripted blocks.

use crate::address;
use plugin_testing::{ScriptedLog, Value, json};

fn stream_pay(event: &str, arguments: &[Value]) -> ScriptedLog {
    ScriptedLog::new("streamPay", event, arguments)
}

/// A stream of `rate` per second from 0xa to 0xb that begins with the chain and ends after `seconds`.
pub fn opened(id: u64, rate: &str, deposit: &str, seconds: u64) -> ScriptedLog {
    let start = u64::try_from(crate::time_of(0)).unwrap();
    opened_until(id, rate, deposit, start + seconds)
}

pub fn opened_until(id: u64, rate: &str, deposit: &str, stop: u64) -> ScriptedLog {
    let start = crate::time_of(0);
    stream_pay(
        "StreamOpened(uint256 indexed id, address indexed payer, address indexed payee, uint256 ratePerSec, uint256 deposit, uint64 start, uint64 stop)",
        &[json!(id), json!(address(10)), json!(address(11)), json!(rate), json!(deposit), json!(start), json!(stop)],
    )
}

pub fn topped_up(id: u64, amount: &str, deposit: &str, seconds: u64) -> ScriptedLog {
    let stop = u64::try_from(crate::time_of(0)).unwrap() + seconds;
    stream_pay(
        "StreamToppedUp(uint256 indexed id, uint256 amount, uint256 deposit, uint64 stop)",
        &[json!(id), json!(amount), json!(deposit), json!(stop)],
    )
}

pub fn claimed(id: u64, net: &str, fee: &str) -> ScriptedLog {
    stream_pay(
        "StreamClaimed(uint256 indexed id, uint256 payeeAmount, uint256 fee)",
        &[json!(id), json!(net), json!(fee)],
    )
}

pub fn cancelled(id: u64, by: u64, net: &str, fee: &str, refund: &str) -> ScriptedLog {
    stream_pay(
        "StreamCancelled(uint256 indexed id, address indexed by, uint256 payeeAmount, uint256 fee, uint256 refund)",
        &[json!(id), json!(address(by)), json!(net), json!(fee), json!(refund)],
    )
}

pub fn plan(id: u64, payee: u64, price: &str, period: u64) -> ScriptedLog {
    stream_pay(
        "PlanCreated(uint256 indexed planId, address indexed payee, uint256 pricePerPeriod, uint64 period, string metadataURI)",
        &[json!(id), json!(address(payee)), json!(price), json!(period), json!(format!("fmx://plan/{id} ä😀'\""))],
    )
}

pub fn plan_active(id: u64, active: bool) -> ScriptedLog {
    stream_pay("PlanActiveSet(uint256 indexed planId, bool active)", &[json!(id), json!(active)])
}

pub fn subscribed(id: u64, plan: u64, payer: u64, paid_through: u64) -> ScriptedLog {
    stream_pay(
        "Subscribed(uint256 indexed subId, uint256 indexed planId, address indexed payer, uint32 periods, uint64 paidThrough)",
        &[json!(id), json!(plan), json!(address(payer)), json!(3), json!(paid_through)],
    )
}

pub fn renewed(id: u64, paid_through: u64) -> ScriptedLog {
    stream_pay(
        "SubRenewed(uint256 indexed subId, uint32 periods, uint64 paidThrough)",
        &[json!(id), json!(1), json!(paid_through)],
    )
}

pub fn sub_cancelled(id: u64) -> ScriptedLog {
    stream_pay("SubCancelled(uint256 indexed subId, uint256 refund)", &[json!(id), json!("5")])
}

fn pool(event: &str, arguments: &[Value]) -> ScriptedLog {
    ScriptedLog::new("arbiterPool", event, arguments)
}

pub fn case_opened(id: u64, job: u64, opener: u64) -> ScriptedLog {
    pool(
        "CaseOpened(uint256 indexed caseId, uint256 indexed jobId, address indexed opener, string evidenceURI)",
        &[json!(id), json!(job), json!(address(opener)), json!(format!("fmx://case/{id} \u{0} ä😀'\""))],
    )
}

pub fn evidence(case: u64, by: u64, uri: &str) -> ScriptedLog {
    pool(
        "EvidenceSubmitted(uint256 indexed caseId, address indexed by, string uri)",
        &[json!(case), json!(address(by)), json!(uri)],
    )
}

pub fn voted(case: u64, arbiter: u64) -> ScriptedLog {
    pool(
        "Voted(uint256 indexed caseId, address indexed arbiter, uint16 clientBps)",
        &[json!(case), json!(address(arbiter)), json!(9000)],
    )
}

pub fn case_closed(id: u64, job: u64, client_bps: u64) -> ScriptedLog {
    pool(
        "CaseClosed(uint256 indexed caseId, uint256 indexed jobId, uint16 clientBps)",
        &[json!(id), json!(job), json!(client_bps)],
    )
}

fn tokens(event: &str, arguments: &[Value]) -> ScriptedLog {
    ScriptedLog::new("tokenFactory", event, arguments)
}

pub fn launched(agent: u64, token: u64, symbol: &str) -> ScriptedLog {
    tokens(
        "Launched(uint256 indexed agentId, address indexed token, string symbol)",
        &[json!(agent), json!(address(token)), json!(symbol)],
    )
}

/// In this event the fee comes before the amount.
pub fn bought(token: u64, fmx_in: &str) -> ScriptedLog {
    tokens(
        "Bought(address indexed token, address indexed buyer, uint256 fmxIn, uint256 fee, uint256 amountOut)",
        &[json!(address(token)), json!(address(99)), json!(fmx_in), json!("1"), json!("2")],
    )
}

pub fn sold(token: u64, fmx_out: &str) -> ScriptedLog {
    tokens(
        "Sold(address indexed token, address indexed seller, uint256 amountIn, uint256 fmxOut)",
        &[json!(address(token)), json!(address(99)), json!("3"), json!(fmx_out)],
    )
}

pub fn distributed(token: u64, amount: &str) -> ScriptedLog {
    tokens(
        "Distributed(address indexed token, address indexed from, uint256 amount)",
        &[json!(address(token)), json!(address(99)), json!(amount)],
    )
}

pub fn account(owner: u64, account: u64) -> ScriptedLog {
    ScriptedLog::new(
        "accountFactory",
        "AccountCreated(address indexed owner, address indexed account)",
        &[json!(address(owner)), json!(address(account))],
    )
}

pub fn agent(id: u64, owner: u64, name: &str) -> ScriptedLog {
    ScriptedLog::new(
        "registry",
        "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)",
        &[json!(id), json!(address(owner)), json!(name), json!(""), json!(""), json!("1"), json!("0")],
    )
}

pub fn agent_sold(id: u64, from: u64, to: u64) -> ScriptedLog {
    ScriptedLog::new(
        "registry",
        "OwnershipTransferred(uint256 indexed id, address indexed from, address indexed to)",
        &[json!(id), json!(address(from)), json!(address(to))],
    )
}

pub fn job(id: u64, agent: u64, client: u64) -> ScriptedLog {
    let hash = format!("0x{}", "ab".repeat(32));
    ScriptedLog::new(
        "escrow",
        "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, bytes32 inputHash, string inputURI)",
        &[json!(id), json!(agent), json!(address(client)), json!("1"), json!(hash), json!("")],
    )
}
