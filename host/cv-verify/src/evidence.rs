//! The log that a claim names: that it is there, of the pinned contract, and what it says.

use crate::{
    abi::{Datum, Event},
    document::Claim,
    expected::{Contracts, address},
    reader::{ReadError, Reader, Receipt},
    report::StepOutcome,
    rpc::Rpc,
    rules::{self, Rule, Subject, is_same, resolve, shown},
};
use alloy_primitives::{Address, B256, keccak256};
use serde_json::{Map, Value};

/// How bad it is, and why.
pub(crate) type Problem = (StepOutcome, String);

pub(crate) fn forged<T>(text: impl Into<String>) -> Result<T, Problem> {
    Err((StepOutcome::Forged, text.into()))
}

pub(crate) fn unknown(error: &ReadError) -> Problem {
    (StepOutcome::NotCheckable, error.to_string())
}

/// A log that is as the evidence says.
pub(crate) struct Found {
    pub rule: &'static Rule,
    pub arguments: Vec<(&'static str, Datum)>,
    pub receipt: Receipt,
    pub transaction: B256,
    pub index: u64,
    pub time_s: u64,
}

impl Found {
    pub(crate) fn argument(&self, name: &str) -> Option<&Datum> {
        self.arguments.iter().find(|(argument, _)| *argument == name).map(|(_, datum)| datum)
    }
}

fn text<'e>(evidence: &'e Map<String, Value>, name: &str) -> &'e str {
    evidence.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The log of an evidence, and that every stated member equals what it tells.
pub(crate) async fn find<R: Rpc>(
    reader: &mut Reader<'_, R>,
    contracts: &Contracts,
    subject: Subject,
    as_of_block: u64,
    claim: &Claim,
    evidence: &Map<String, Value>,
    is_secondary: bool,
) -> Result<Found, Problem> {
    let (rule, event) = event_of(claim, evidence, is_secondary)?;
    let pinned = pinned(contracts, rule, evidence)?;
    let Some(transaction) = text(evidence, "tx").parse::<B256>().ok() else {
        return Err((StepOutcome::NotCheckable, "its evidence names no transaction".to_owned()));
    };
    let Some(index) = evidence.get("blockLogIndex").and_then(Value::as_u64) else {
        return Err((StepOutcome::NotCheckable, "its evidence names no blockLogIndex".to_owned()));
    };
    let stated_block = evidence.get("block").and_then(Value::as_u64);
    let receipt = reader.receipt(transaction).await.map_err(|error| unknown(&error))?;
    let Some(receipt) = receipt else {
        return missing(reader, transaction, stated_block).await;
    };
    if !receipt.succeeded {
        return forged("its transaction failed");
    }
    if evidence.get("block").is_some_and(|block| !block.is_null()) && stated_block != Some(receipt.block) {
        return forged(format!("its log is in block {}", receipt.block));
    }
    if receipt.block > as_of_block {
        return forged(format!("its log is in block {}, after asOfBlock", receipt.block));
    }
    let time_s = time(reader, &receipt, evidence).await?;
    let Some(log) = receipt.logs.iter().find(|log| log.index == index) else {
        return forged(format!("its transaction has no log {index}"));
    };
    if log.address != pinned {
        return forged(format!("the log {index} is of {}", log.address));
    }
    let Some(arguments) = event.decode(&log.topics, &log.data) else {
        return forged(format!("the log {index} is no {}", event.text));
    };
    let found = Found { rule, arguments, transaction, index, time_s, receipt };
    compare(&found, subject, claim)?;
    Ok(found)
}

/// The rule of the event that the evidence names.
fn event_of(
    claim: &Claim,
    evidence: &Map<String, Value>,
    is_secondary: bool,
) -> Result<(&'static Rule, Event), Problem> {
    let named = text(evidence, "event");
    let candidates = rules::find(&claim.kind, named, is_secondary);
    let Some((rule, event)) = candidates else {
        return match claim.kind.as_str() {
            "Slash" => Err((StepOutcome::NotCheckable, "no rule says how a slash is proven".to_owned())),
            _ => forged(format!("the event {named:?} proves nothing of this kind")),
        };
    };
    if !rule.outcomes.is_empty() && !rule.outcomes.contains(&claim.outcome()) {
        return forged(format!("{named} does not prove the outcome {:?}", claim.outcome()));
    }
    if text(evidence, "topic0") != event.topic0.to_string() || keccak256(named) != event.topic0 {
        return forged(format!("topic0 is not the hash of {named}"));
    }
    Ok((rule, event))
}

/// The verifier's own address of the contract whose event it is.
fn pinned(contracts: &Contracts, rule: &Rule, evidence: &Map<String, Value>) -> Result<Address, Problem> {
    if text(evidence, "contract") != rule.contract {
        return forged(format!("the event is of the contract {}, not {:?}", rule.contract, text(evidence, "contract")));
    }
    if evidence.get("chainId").and_then(Value::as_u64) != Some(contracts.chain_id) {
        return forged(format!("its evidence is not of the chain {}", contracts.chain_id));
    }
    let Some(pinned) = contracts.find(rule.contract) else {
        return Err((StepOutcome::NotCheckable, format!("no contract {} is pinned", rule.contract)));
    };
    if address(text(evidence, "address")) != Some(pinned) {
        return forged(format!("the contract {} is {pinned}", rule.contract));
    }
    Ok(pinned)
}

/// Servers drop old receipts, but their blocks still name the transaction.
async fn missing<R: Rpc, T>(
    reader: &mut Reader<'_, R>,
    transaction: B256,
    stated_block: Option<u64>,
) -> Result<T, Problem> {
    let block = match stated_block {
        Some(number) => reader.block(number).await.map_err(|error| unknown(&error))?,
        None => return Err((StepOutcome::NotCheckable, "the server has no receipt of its transaction".to_owned())),
    };
    match block {
        Some(block) if !block.has(transaction) => forged("there is no such transaction in its block"),
        _ => Err((StepOutcome::NotCheckable, "the server has no receipt of its transaction any more".to_owned())),
    }
}

/// The time of the block, which the evidence states.
async fn time<R: Rpc>(
    reader: &mut Reader<'_, R>,
    receipt: &Receipt,
    evidence: &Map<String, Value>,
) -> Result<u64, Problem> {
    let block = reader.block(receipt.block).await.map_err(|error| unknown(&error))?;
    let Some(block) = block.filter(|block| block.hash == receipt.block_hash) else {
        return Err((StepOutcome::NotCheckable, format!("the server has another block {} now", receipt.block)));
    };
    match evidence.get("ts") {
        Some(ts) if !ts.is_null() && ts.as_u64() != Some(block.time_s) => {
            forged(format!("its block is of the time {}", block.time_s))
        }
        _ => Ok(block.time_s),
    }
}

fn compare(found: &Found, subject: Subject, claim: &Claim) -> Result<(), Problem> {
    for (argument, reference) in found.rule.facts {
        let Some((stated, null_is_zero)) = resolve(reference, subject, &claim.members) else {
            return forged(format!("{reference} is no member"));
        };
        let Some(datum) = found.argument(argument) else {
            return forged(format!("the event has no {argument}"));
        };
        if !is_same(datum, &stated, null_is_zero) {
            return forged(format!("{reference} is {stated}, and the log says {argument} = {}", shown(datum)));
        }
    }
    Ok(())
}
