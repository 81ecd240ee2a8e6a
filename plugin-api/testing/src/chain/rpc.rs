//! JSON-RPC methods of a scripted chain.

use super::{
    block::Block,
    blocks::Blocks,
    contracts::events_of,
    log::{ScriptedLog, value},
    mempool::{BASE_FEE_WEI, ScriptedTx, TIP_MIN_WEI},
};
use alloy::{
    dyn_abi::{DynSolValue, Specifier as _},
    json_abi::{Event, Function},
};
use alloy_primitives::{Address as AlloyAddress, B256, Selector, U256, hex};
use plugin_api::Address;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const GAS_LIMIT: u64 = 30_000_000;
/// Blocks of one `eth_feeHistory`.
const HISTORY_MAX: u64 = 1024;

/// The result of a method on a server that is `lag` blocks behind the chain.
pub fn call(blocks: &mut Blocks, lag: u64, method: &str, params: &Value) -> Result<Value, (i64, String)> {
    if method == "eth_sendRawTransaction" {
        return send(blocks, params[0].as_str().unwrap_or_default()).map_err(|message| (-32000, message));
    }
    let blocks = &*blocks;
    let known = usize::try_from(blocks.head().number.saturating_sub(lag)).unwrap_or(usize::MAX);
    let known = &blocks.all()[..=known];
    let head = &known[known.len() - 1];
    match method {
        "eth_chainId" => Ok(format!("{:#x}", blocks.chain_id).into()),
        "eth_blockNumber" => Ok(number(head.number)),
        "eth_getBlockByNumber" => {
            let found = by_number(known, &params[0]);
            let mut block = block(found);
            if let (Some(found), true) = (found, params[1] == true) {
                block["transactions"] = found.txs.iter().map(ScriptedTx::as_json).collect();
            }
            Ok(block)
        }
        "eth_gasPrice" => Ok(format!("{:#x}", BASE_FEE_WEI + TIP_MIN_WEI).into()),
        "eth_maxPriorityFeePerGas" => Ok(format!("{TIP_MIN_WEI:#x}").into()),
        "eth_getTransactionByHash" => Ok(transaction(known, &params[0])),
        "eth_getTransactionCount" => Ok(number(nonce(blocks, known, params))),
        "eth_getTransactionReceipt" => Ok(receipt(blocks, known, &params[0])),
        "eth_estimateGas" if let Some(error) = &blocks.mempool.estimate_error => Err((-32000, error.clone())),
        "eth_estimateGas" if !can_pay(blocks, &params[0]) => {
            Err((-32000, "insufficient funds for transfer".to_owned()))
        }
        "eth_estimateGas" => match address(&params[0]["to"]) {
            Some(to) if blocks.mempool.refusing.contains(&to) => Err((3, "execution reverted: not now".to_owned())),
            Some(to) if let Err(reason) = dry_run(blocks, known, to, &params[0]) => {
                Err((3, format!("execution reverted: {reason}")))
            }
            Some(to) if blocks.mempool.estimates.contains_key(&to) => Ok(number(blocks.mempool.estimates[&to])),
            _ => Ok(number(if params[0]["data"].as_str().is_none_or(|data| data == "0x") { 21_000 } else { 50_000 })),
        },
        "clique_status" if !blocks.clique_status.is_null() => Ok(blocks.clique_status.clone()),
        "eth_feeHistory" => fee_history(known, params),
        "eth_getBlockByHash" => {
            let removed = || by_hash(&blocks.removed, &params[0]).filter(|_| blocks.keeps_removed);
            Ok(block(by_hash(known, &params[0]).or_else(removed)))
        }
        "eth_getLogs" => Ok(logs(known, &params[0])),
        "eth_call" => match token_balance(blocks, known, params) {
            Some(balance) => Ok(format!("0x{balance:064x}").into()),
            None => has_state(blocks, known, &params[1]).and_then(|()| eth_call(blocks, known, params)),
        },
        "eth_getCode" => {
            let contracts = blocks.calls.keys().map(|(to, _)| to).chain(blocks.contracts.keys());
            let has_code = address(&params[0]).is_some_and(|address| contracts.into_iter().any(|to| *to == address));
            Ok(if has_code { "0x6001".into() } else { "0x".into() })
        }
        "eth_getBalance" => {
            let block = by_number(known, &params[1]).unwrap_or(head).number;
            let wei = address(&params[0]).map(|address| blocks.balance(address, block)).unwrap_or_default();
            Ok(format!("{wei:#x}").into())
        }
        other => Err((-32601, format!("the method {other} does not exist"))),
    }
}

/// Selector and encoded output of a function with these results.
pub fn encode_call(function: &str, results: &[Value]) -> (Selector, Vec<u8>) {
    let function = Function::parse(function).unwrap_or_else(|error| panic!("{function}: {error}"));
    assert_eq!(function.outputs.len(), results.len(), "results of {}", function.name);
    let outputs = function.outputs.iter().zip(results).map(|(output, result)| {
        let kind = output.resolve().unwrap_or_else(|error| panic!("{}: {error}", function.name));
        value(&kind, result)
    });
    (function.selector(), DynSolValue::Tuple(outputs.collect()).abi_encode_params())
}

fn eth_call(blocks: &Blocks, known: &[Block], params: &Value) -> Result<Value, (i64, String)> {
    let request = &params[0];
    let data = request["data"].as_str().or(request["input"].as_str()).unwrap_or_default();
    let data = hex::decode(data).unwrap_or_default();
    let contract = address(&request["to"]).and_then(|to| Some((to, blocks.contracts.get(&to)?)));
    if let Some((to, contract)) = contract {
        let newest = by_number(known, &params[1]).or_else(|| by_hash(known, &params[1]["blockHash"]));
        let count = newest.map_or(known.len(), |block| usize::try_from(block.number).unwrap_or(usize::MAX) + 1);
        let earlier: Vec<&ScriptedLog> = events_of(to, &known[..count.min(known.len())], &[]).collect();
        let output = contract.call(&earlier, &data).ok_or_else(|| (3, "execution reverted".to_owned()))?;
        return Ok(hex::encode_prefixed(output).into());
    }
    let output = address(&request["to"])
        .zip(data.first_chunk::<4>())
        .and_then(|(to, selector)| blocks.calls.get(&(to, Selector::from(*selector))));
    match output {
        Some(output) => Ok(hex::encode_prefixed(output).into()),
        None if blocks.calls.keys().any(|(to, _)| Some(*to) == address(&request["to"])) => {
            Err((3, "execution reverted".to_owned()))
        }
        None => Ok("0x".into()),
    }
}

/// EIP-1898: a hash names a block of the chain.
fn has_state(blocks: &Blocks, known: &[Block], block: &Value) -> Result<(), (i64, String)> {
    let Some(hash) = block.get("blockHash") else { return Ok(()) };
    let error = match (by_hash(known, hash), by_hash(&blocks.removed, hash)) {
        (Some(_), _) => return Ok(()),
        (None, Some(_)) if block["requireCanonical"] != true => return Ok(()),
        (None, Some(_)) => "hash is not currently canonical",
        (None, None) => "header for hash not found",
    };
    Err((-32000, error.to_owned()))
}

/// What a transaction to a contract with code would do on top of these blocks.
fn dry_run(blocks: &Blocks, known: &[Block], to: Address, request: &Value) -> Result<(), String> {
    let (Some(contract), Some(head)) = (blocks.contracts.get(&to), known.last()) else { return Ok(()) };
    let data = request["data"].as_str().or(request["input"].as_str()).unwrap_or_default();
    let data = hex::decode(data).unwrap_or_default();
    let from = address(&request["from"]).unwrap_or(Address::ZERO);
    let tx = ScriptedTx { to, data, ..ScriptedTx::foreign(from, 0) };
    let earlier: Vec<&ScriptedLog> = events_of(to, known, &[]).collect();
    contract.execute(&earlier, &tx, head.time_s).map(drop)
}

/// Whether the sender has what the transaction moves, where balances follow from transactions.
fn can_pay(blocks: &Blocks, transaction: &Value) -> bool {
    let value = transaction["value"].as_str().and_then(|value| value.parse::<U256>().ok()).unwrap_or_default();
    let from = address(&transaction["from"]).unwrap_or(Address::ZERO);
    !blocks.has_accounts || value.is_zero() || blocks.balance(from, blocks.head().number) >= value
}

/// The result of `balanceOf` of a token that follows its events.
fn token_balance(blocks: &Blocks, known: &[Block], params: &Value) -> Option<U256> {
    let token = address(&params[0]["to"])?;
    let fee = blocks.tokens.get(&token)?;
    let data = params[0]["data"].as_str().or(params[0]["input"].as_str())?;
    let data = hex::decode(data).ok()?;
    let (selector, argument) = data.split_first_chunk::<4>()?;
    let owner = B256::try_from(argument).ok()?;
    if *selector != Function::parse("balanceOf(address)").ok()?.selector() {
        return None;
    }
    let last = by_number(known, &params[1])?.number;
    let transfer = Event::parse("Transfer(address indexed from, address indexed to, uint256 value)").ok()?.selector();
    let logs = known.iter().filter(|block| block.number <= last).flat_map(|block| &block.logs);
    let moves = logs.filter(|log| log.address == token && log.topics.len() == 3 && log.topics[0] == transfer);
    Some(moves.fold(U256::ZERO, |balance, log| {
        let value = U256::from_be_slice(&log.data);
        let balance = if log.topics[2] == owner { balance + value - fee } else { balance };
        if log.topics[1] == owner { balance.saturating_sub(value) } else { balance }
    }))
}

fn send(blocks: &mut Blocks, raw: &str) -> Result<Value, String> {
    let tx = ScriptedTx::parse(raw, blocks.chain_id)?;
    let (hash, next) = (B256::from(tx.hash), Blocks::nonce(blocks.all(), tx.from));
    blocks.mempool.submit(tx, next)?;
    Ok(json!(hash))
}

fn nonce(blocks: &Blocks, known: &[Block], params: &Value) -> u64 {
    let Some(from) = address(&params[0]) else { return 0 };
    let next = Blocks::nonce(known, from);
    if params[1] == "pending" { blocks.mempool.next_nonce(from, next) } else { next }
}

fn transaction(known: &[Block], hash: &Value) -> Value {
    let hash: Option<B256> = hash.as_str().and_then(|hash| hash.parse().ok());
    let is_it = |tx: &&ScriptedTx| Some(B256::from(tx.hash)) == hash;
    let found = known.iter().find_map(|block| Some((block, block.txs.iter().find(is_it)?)));
    found.map_or(Value::Null, |(block, tx)| {
        let mut json = tx.as_json();
        json["blockNumber"] = number(block.number);
        json["blockHash"] = json!(block.hash);
        json
    })
}

/// Of a transaction in a block, or of one that is known by its events alone.
fn receipt(blocks: &Blocks, known: &[Block], hash: &Value) -> Value {
    let hash: Option<B256> = hash.as_str().and_then(|hash| hash.parse().ok());
    let Some(hash) = hash.filter(|_| !blocks.mempool.are_receipts_hidden) else { return Value::Null };
    let has = |block: &&Block| {
        block.txs.iter().any(|tx| B256::from(tx.hash) == hash) || block.logs.iter().any(|log| log.tx == hash)
    };
    let Some(block) = known.iter().find(has) else { return Value::Null };
    let logs = block.logs.iter().enumerate().filter(|(_, log)| log.tx == hash);
    let tx = block.txs.iter().find(|tx| B256::from(tx.hash) == hash);
    let (from, to, tip) = tx.map_or((Address::ZERO, None, 0), |tx| (tx.from, Some(tx.to), tx.tip));
    let is_reverted = block.reverted.contains(&hash.0) || to.is_some_and(|to| blocks.mempool.failing.contains(&to));
    let status = u64::from(!is_reverted);
    json!({
        "transactionHash": hash, "blockHash": block.hash, "blockNumber": number(block.number),
        "status": number(status), "gasUsed": number(21_000), "from": from, "to": to,
        "effectiveGasPrice": format!("{:#x}", BASE_FEE_WEI + tip),
        "logs": logs.map(|(place, log)| entry(block, place, log)).collect::<Vec<_>>(),
    })
}

/// As geth does: it gives the newest blocks of a range that is too long, and none of one that ends above its newest block.
fn fee_history(known: &[Block], params: &Value) -> Result<Value, (i64, String)> {
    let Some(newest) = by_number(known, &params[1]) else {
        return Err((-32000, format!("request beyond head block: head {}", known.len() - 1)));
    };
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let count = params[0].as_str().and_then(hex).unwrap_or_default().min(HISTORY_MAX).min(newest.number + 1);
    let oldest = newest.number + 1 - count;
    let some =
        &known[usize::try_from(oldest).unwrap_or(usize::MAX)..=usize::try_from(newest.number).unwrap_or(usize::MAX)];
    let fees = some.iter().map(|block| format!("{:#x}", block.base_fee_wei)).chain(["0x7".to_owned()]);
    Ok(json!({
        "oldestBlock": number(oldest),
        "gasUsedRatio": some.iter().map(|block| block.gas_used as f64 / GAS_LIMIT as f64).collect::<Vec<_>>(),
        "baseFeePerGas": fees.collect::<Vec<_>>(),
    }))
}

fn by_number<'b>(known: &'b [Block], number: &Value) -> Option<&'b Block> {
    match number.as_str()? {
        "latest" => known.last(),
        text => known.get(usize::from_str_radix(text.strip_prefix("0x")?, 16).ok()?),
    }
}

fn by_hash<'b>(known: &'b [Block], hash: &Value) -> Option<&'b Block> {
    let hash: B256 = hash.as_str()?.parse().ok()?;
    known.iter().find(|block| block.hash == hash)
}

/// Like real servers: a range ends at the newest block, and an unknown block hash has no events.
fn logs(known: &[Block], filter: &Value) -> Value {
    let wanted: Vec<&Block> = match filter.get("blockHash") {
        Some(hash) => by_hash(known, hash).into_iter().collect(),
        None => {
            let bound = |key: &str| by_number(known, &filter[key]).map(|block| block.number);
            let from = bound("fromBlock").unwrap_or(u64::MAX);
            let to = bound("toBlock").unwrap_or(u64::MAX);
            known.iter().filter(|block| (from..=to).contains(&block.number)).collect()
        }
    };
    let found = wanted.into_iter().flat_map(|block| {
        let fits = |(_, log): &(usize, &ScriptedLog)| fits(filter, log);
        block.logs.iter().enumerate().filter(fits).map(move |(place, log)| entry(block, place, log))
    });
    found.collect::<Vec<_>>().into()
}

fn fits(filter: &Value, log: &ScriptedLog) -> bool {
    let listed = |list: &Value, text: String| {
        list.as_array().is_none_or(|list| {
            list.iter().any(|item| item.as_str().is_some_and(|item| item.eq_ignore_ascii_case(&text)))
        })
    };
    listed(&filter["address"], log.address.to_string())
        && log.topics.first().is_some_and(|topic| listed(&filter["topics"][0], topic.to_string()))
        && (1..4).all(|place| match log.topics.get(place) {
            Some(topic) => listed(&filter["topics"][place], topic.to_string()),
            None => filter["topics"][place].is_null(),
        })
}

fn entry(block: &Block, place: usize, log: &ScriptedLog) -> Value {
    json!({
        "address": AlloyAddress::from(log.address.0), "topics": log.topics, "data": hex::encode_prefixed(&log.data),
        "blockNumber": number(block.number), "blockHash": block.hash, "transactionHash": log.tx,
        "transactionIndex": number(place as u64), "logIndex": number(place as u64), "removed": false,
    })
}

fn block(block: Option<&Block>) -> Value {
    block.map_or(Value::Null, |block| {
        let sent = block.txs.iter().map(|tx| B256::from(tx.hash)).chain(block.logs.iter().map(|log| log.tx));
        let transactions: BTreeSet<B256> = sent.collect();
        json!({
            "number": number(block.number), "hash": block.hash, "parentHash": block.parent,
            "timestamp": number(block.time_s), "gasLimit": number(GAS_LIMIT), "gasUsed": number(block.gas_used),
            "baseFeePerGas": format!("{:#x}", block.base_fee_wei), "transactions": transactions,
        })
    })
}

fn number(number: u64) -> Value {
    format!("{number:#x}").into()
}

pub fn address(text: &Value) -> Option<Address> {
    text.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::log::address_of;

    #[test]
    fn a_lagging_server_returns_fewer_events_without_an_error() {
        let mut blocks = Blocks::new(1);
        blocks.mine(vec![ScriptedLog::new("a", "Said(string text)", &["hello".into()])]);
        let all = json!([{ "fromBlock": "0x0", "toBlock": "latest", "address": [address_of("a").to_string()] }]);
        let mut count =
            |lag| call(&mut blocks, lag, "eth_getLogs", &all).map(|logs| logs.as_array().map_or(0, Vec::len));
        assert_eq!((count(0), count(1)), (Ok(1), Ok(0)));
    }
}
