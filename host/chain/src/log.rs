//! Events as a server tells them, and the questions for them.
//!
//! The rule: an answer is taken only from a server that has the blocks it is about. Servers that are behind answer such
//! questions with fewer events and no error.

use super::{
    Chain, ChainError, Header,
    error::RpcFailure,
    rpc::{Call, missing},
    source::{Source, block_by_hash, block_by_number, hex_number},
};
use alloy_primitives::{Address, B256, Bytes, U64};
use parking_lot::Mutex;
use serde::{
    Deserialize, Deserializer,
    de::{
        MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawLog {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
    pub block_number: U64,
    pub block_hash: B256,
    pub transaction_hash: B256,
    pub transaction_index: U64,
    pub log_index: U64,
    /// Only newer servers tell it.
    #[serde(default)]
    pub block_timestamp: Option<U64>,
    #[serde(default)]
    removed: bool,
}

impl RawLog {
    /// When its block was made, Unix seconds.
    pub fn time_s(&self) -> i64 {
        self.block_timestamp.map_or(0, |time| i64::try_from(time.to::<u64>()).unwrap_or(i64::MAX))
    }
}

/// Which events are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub addresses: Vec<Address>,
    /// Any of these as first topic.
    pub events: Vec<B256>,
}

impl Filter {
    fn question(&self, place: &Value) -> Call {
        let mut filter = json!({ "address": self.addresses, "topics": [self.events] });
        if let (Value::Object(filter), Value::Object(place)) = (&mut filter, place) {
            filter.extend(place.clone());
        }
        Call::new("eth_getLogs", json!([filter]))
    }

    fn check(&self, log: &RawLog) -> Result<(), RpcFailure> {
        let is_wanted = self.addresses.contains(&log.address)
            && log.topics.first().is_some_and(|topic| self.events.contains(topic));
        if is_wanted && !log.removed {
            return Ok(());
        }
        Err(RpcFailure::Lie("told of events that were not asked for".to_owned()))
    }
}

impl Chain {
    /// The headers of these blocks on the server's present branch, up to the first that it does not have.
    pub async fn headers(&self, numbers: &[u64]) -> Result<Vec<Header>, ChainError> {
        self.ask(|source| headers(source, numbers)).await
    }

    /// The newest of these blocks (newest first) that is part of the chain; nothing when none is, and every server says so.
    pub async fn common_block(&self, window: &[(u64, B256)]) -> Result<Option<(u64, B256)>, ChainError> {
        let numbers: Vec<u64> = window.iter().rev().map(|(number, _)| *number).collect();
        let mut strangers = Vec::new();
        for source in self.sources.iter().filter(|source| !source.is_aside()) {
            match headers(source, &numbers).await {
                Ok(found) => match common(window, &found) {
                    Some(block) => {
                        strangers.iter().for_each(|other: &&Source| other.failed(&stranger()));
                        return Ok(Some(block));
                    }
                    None => strangers.push(source),
                },
                Err(failure) => source.failed(&failure),
            }
        }
        if strangers.len() == self.sources.len() { Ok(None) } else { Err(self.unavailable()) }
    }

    /// The events of each of these blocks, by the block's name, so that no reorganisation mixes branches.
    pub async fn logs_of(&self, blocks: &[Header], filter: &Filter) -> Result<Vec<RawLog>, ChainError> {
        self.ask(|source| logs_of(source, blocks, filter)).await
    }

    /// The events of a range of blocks that are not taken back any more, and the last of these blocks.
    pub async fn logs_between(&self, from: u64, to: u64, filter: &Filter) -> Result<(Vec<RawLog>, Header), RangeError> {
        let too_much = Mutex::new(None);
        let answer = self
            .ask(|source| async {
                let answer = logs_between(source, from, to, filter).await;
                if let Some(failure) = answer.as_ref().err().filter(|failure| is_too_much(failure)) {
                    *too_much.lock() = Some(failure.clone());
                }
                answer
            })
            .await;
        match (answer, too_much.into_inner()) {
            (Ok(answer), _) => Ok(answer),
            (Err(_), Some(failure)) if from < to => Err(RangeError::TooMuch(failure)),
            (Err(error), _) => Err(RangeError::Chain(error)),
        }
    }
}

fn common(window: &[(u64, B256)], found: &[Header]) -> Option<(u64, B256)> {
    let is_there = |block: &&(u64, B256)| found.iter().any(|header| (header.number, header.hash) == **block);
    window.iter().find(is_there).copied()
}

fn stranger() -> RpcFailure {
    RpcFailure::Lie("has none of the blocks that the others have".to_owned())
}

/// Why the events of a range did not come.
pub enum RangeError {
    /// Fewer blocks may do.
    TooMuch(RpcFailure),
    Chain(ChainError),
}

/// Servers say in many ways that a question is too large.
fn is_too_much(failure: &RpcFailure) -> bool {
    matches!(
        failure,
        RpcFailure::Refused { .. } | RpcFailure::Timeout(_) | RpcFailure::TooLarge(_) | RpcFailure::Status(413)
    )
}

pub(super) async fn headers(source: &Source, numbers: &[u64]) -> Result<Vec<Header>, RpcFailure> {
    let calls = numbers.iter().map(|number| block_by_number(hex_number(*number))).collect();
    let mut found = Vec::with_capacity(numbers.len());
    for (number, answer) in numbers.iter().zip(source.batch::<Option<Header>>(calls).await?) {
        match answer? {
            Some(header) if header.number == *number => found.push(header),
            Some(header) => {
                let text = format!("was asked for block {number} and told of block {}", header.number);
                return Err(RpcFailure::Lie(text));
            }
            None => break,
        }
    }
    Ok(found)
}

async fn logs_of(source: &Source, blocks: &[Header], filter: &Filter) -> Result<Vec<RawLog>, RpcFailure> {
    let ask = |block: &Header| {
        let hash = block.hash.to_string();
        [filter.question(&json!({ "blockHash": hash })), block_by_hash(&hash)]
    };
    let mut answers = source.batch::<LogsOrBlock>(blocks.iter().flat_map(ask).collect()).await?.into_iter();
    let mut all = Vec::new();
    for block in blocks {
        let logs = answers.next().unwrap_or_else(missing);
        if answers.next().unwrap_or_else(missing)?.block()?.is_none() {
            return Err(RpcFailure::Behind(format!("does not have block {}", block.number)));
        }
        let mut logs = logs?.logs()?;
        logs.sort_by_key(|log| log.log_index);
        check_places(&logs)?;
        for log in &mut logs {
            filter.check(log)?;
            if log.block_hash != block.hash || log.block_number.to::<u64>() != block.number {
                return Err(RpcFailure::Lie(format!("told of events of other blocks than {}", block.number)));
            }
            log.block_timestamp = Some(U64::from(block.time_s));
        }
        all.append(&mut logs);
    }
    Ok(all)
}

async fn logs_between(
    source: &Source,
    from: u64,
    to: u64,
    filter: &Filter,
) -> Result<(Vec<RawLog>, Header), RpcFailure> {
    let place = json!({ "fromBlock": hex_number(from), "toBlock": hex_number(to) });
    // In one request, so that the same server answers both: who does not have the last block does not know its events.
    let calls = vec![filter.question(&place), block_by_number(hex_number(to))];
    let mut answers = source.batch::<LogsOrBlock>(calls).await?.into_iter();
    let logs = answers.next().unwrap_or_else(missing);
    let last = answers.next().unwrap_or_else(missing)?.block()?.filter(|last| last.number == to);
    let last = last.ok_or_else(|| RpcFailure::Behind(format!("does not have block {to}")))?;
    let mut logs = logs?.logs()?;
    logs.sort_by_key(|log| (log.block_number, log.log_index));
    check_places(&logs)?;
    for log in &logs {
        filter.check(log)?;
        let number = log.block_number.to::<u64>();
        if number < from || number > to || (number == to && log.block_hash != last.hash) {
            return Err(RpcFailure::Lie(format!("told of events outside of the blocks {from} to {to}")));
        }
    }
    fill_times(source, &mut logs).await?;
    Ok((logs, last))
}

/// One of two answers. They are told apart by their form, so that each is read at once.
enum LogsOrBlock {
    Logs(Vec<RawLog>),
    Block(Option<Header>),
}

impl LogsOrBlock {
    fn logs(self) -> Result<Vec<RawLog>, RpcFailure> {
        match self {
            Self::Logs(logs) => Ok(logs),
            Self::Block(_) => Err(RpcFailure::WrongType("a list of events is none".to_owned())),
        }
    }

    fn block(self) -> Result<Option<Header>, RpcFailure> {
        match self {
            Self::Block(block) => Ok(block),
            Self::Logs(_) => Err(RpcFailure::WrongType("a block is a list".to_owned())),
        }
    }
}

impl<'de> Deserialize<'de> for LogsOrBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LogsOrBlockVisitor)
    }
}

struct LogsOrBlockVisitor;

impl<'de> Visitor<'de> for LogsOrBlockVisitor {
    type Value = LogsOrBlock;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a list of events, a block or null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, events: A) -> Result<LogsOrBlock, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(events)).map(LogsOrBlock::Logs)
    }

    fn visit_map<A: MapAccess<'de>>(self, block: A) -> Result<LogsOrBlock, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(block)).map(|block| LogsOrBlock::Block(Some(block)))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<LogsOrBlock, E> {
        Ok(LogsOrBlock::Block(None))
    }
}

/// In a block, every event has a place of its own.
fn check_places(sorted: &[RawLog]) -> Result<(), RpcFailure> {
    let place = |log: &RawLog| (log.block_number, log.log_index);
    match sorted.array_windows().find(|[one, next]| place(one) == place(next)) {
        None => Ok(()),
        Some([one, _]) => {
            Err(RpcFailure::Lie(format!("told of two events at one place in block {}", one.block_number)))
        }
    }
}

/// Asks for the times of blocks whose events came without.
async fn fill_times(source: &Source, logs: &mut [RawLog]) -> Result<(), RpcFailure> {
    let mut times: BTreeMap<u64, (B256, Option<U64>)> = BTreeMap::new();
    for log in logs.iter().filter(|log| log.block_timestamp.is_none()) {
        times.insert(log.block_number.to(), (log.block_hash, None));
    }
    let numbers: Vec<u64> = times.keys().copied().collect();
    if numbers.is_empty() {
        return Ok(());
    }
    for header in headers(source, &numbers).await? {
        match times.get_mut(&header.number) {
            Some((hash, time)) if *hash == header.hash => *time = Some(U64::from(header.time_s)),
            _ => return Err(RpcFailure::Lie(format!("has two blocks {}", header.number))),
        }
    }
    for log in logs.iter_mut().filter(|log| log.block_timestamp.is_none()) {
        log.block_timestamp = times.get(&log.block_number.to()).and_then(|(_, time)| *time);
        if log.block_timestamp.is_none() {
            return Err(RpcFailure::Behind(format!("does not have block {}", log.block_number)));
        }
    }
    Ok(())
}
