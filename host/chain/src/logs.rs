//! Requests for the logs of blocks.
//!
//! The rule: a response is accepted only from a server that has the blocks it is about. A server that is behind
//! responds with fewer logs and no error.

use super::{
    Chain, ChainError, Header,
    blocks::headers,
    error::RpcError,
    log_filter::{LogFilter, check_positions, position},
    logs_of_receipts::logs_of_receipts,
    raw_log::RawLog,
    rpc_client::missing_response,
    rpc_server::{RpcServer, block_by_hash, block_by_number, hex_number},
};
use alloy_primitives::{B256, U64};
use parking_lot::Mutex;
use serde::{
    Deserialize, Deserializer,
    de::{
        MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use serde_json::json;
use std::{collections::BTreeMap, fmt};

impl Chain {
    /// The logs of each of these blocks. They are requested by block hash, so that a reorganisation mixes no branches.
    /// A log that fits several filters is there once.
    pub async fn logs_of_blocks(&self, blocks: &[Header], filters: &[LogFilter]) -> Result<Vec<RawLog>, ChainError> {
        let too_large = Mutex::new(None);
        let response = self
            .with_failover(|server| async { noting_size(logs_of_blocks(server, blocks, filters).await, &too_large) })
            .await;
        if response.is_ok() || too_large.into_inner().is_none() {
            return response;
        }
        let mut all = Vec::new();
        for block in blocks {
            let request = block_by_hash(&block.hash.to_string());
            let of_block = |server| logs_of_receipts(server, request.clone(), filters);
            all.extend(self.with_failover(of_block).await?.0);
        }
        Ok(all)
    }

    /// The logs of a range of blocks that no reorganisation undoes, and the last of these blocks. A log that fits several
    /// filters is there once.
    pub async fn logs_in_range(
        &self,
        from: u64,
        to: u64,
        filters: &[LogFilter],
    ) -> Result<(Vec<RawLog>, Header), RangeError> {
        let too_large = Mutex::new(None);
        let response = self
            .with_failover(|server| async { noting_size(logs_in_range(server, from, to, filters).await, &too_large) })
            .await;
        match (response, too_large.into_inner()) {
            (Ok(response), _) => Ok(response),
            (Err(_), Some(error)) if from < to => Err(RangeError::TooLarge(error)),
            (Err(_), Some(_)) => {
                let request = block_by_number(hex_number(to));
                let response = self.with_failover(|server| logs_of_receipts(server, request.clone(), filters)).await;
                response.map_err(RangeError::Chain)
            }
            (Err(error), None) => Err(RangeError::Chain(error)),
        }
    }
}

/// Keeps an error after which fewer blocks, or other requests, may succeed.
fn noting_size<T>(response: Result<T, RpcError>, too_large: &Mutex<Option<RpcError>>) -> Result<T, RpcError> {
    if let Some(error) = response.as_ref().err().filter(|error| may_be_too_large(error)) {
        *too_large.lock() = Some(error.clone());
    }
    response
}

/// Why the logs of a range could not be fetched.
pub enum RangeError {
    /// A request for fewer blocks may succeed.
    TooLarge(RpcError),
    Chain(ChainError),
}

/// Servers report in many ways that a request is too large.
fn may_be_too_large(error: &RpcError) -> bool {
    matches!(
        error,
        RpcError::ErrorResponse { .. } | RpcError::Timeout(_) | RpcError::TooLarge(_) | RpcError::Status(413)
    )
}

async fn logs_of_blocks(server: &RpcServer, blocks: &[Header], filters: &[LogFilter]) -> Result<Vec<RawLog>, RpcError> {
    let requests = |block: &Header| {
        let hash = block.hash.to_string();
        let of_block = json!({ "blockHash": hash });
        let logs = filters.iter().map(move |filter| filter.request(&of_block));
        logs.chain([block_by_hash(&hash)])
    };
    let requests = blocks.iter().flat_map(requests).collect();
    let mut responses = server.batch::<LogsOrHeader>(requests).await?.into_iter();
    let mut all = Vec::new();
    for block in blocks {
        let logs = logs_by_filter(filters, &mut responses);
        if responses.next().unwrap_or_else(missing_response)?.header()?.is_none() {
            return Err(RpcError::OutOfSync(format!("does not have block {}", block.number)));
        }
        let mut logs = merged(filters, logs)?;
        for log in &mut logs {
            if log.block_hash != block.hash || log.block_number.to::<u64>() != block.number {
                return Err(RpcError::Inconsistent(format!("told of events of other blocks than {}", block.number)));
            }
            log.block_timestamp = Some(U64::from(block.time_s));
        }
        all.append(&mut logs);
    }
    Ok(all)
}

async fn logs_in_range(
    server: &RpcServer,
    from: u64,
    to: u64,
    filters: &[LogFilter],
) -> Result<(Vec<RawLog>, Header), RpcError> {
    let range = json!({ "fromBlock": hex_number(from), "toBlock": hex_number(to) });
    // One batch, so that the same server responds to all: a server that lacks the last block lacks its logs.
    let logs = filters.iter().map(|filter| filter.request(&range));
    let requests = logs.chain([block_by_number(hex_number(to))]).collect();
    let mut responses = server.batch::<LogsOrHeader>(requests).await?.into_iter();
    let logs = logs_by_filter(filters, &mut responses);
    let last = responses.next().unwrap_or_else(missing_response)?.header()?.filter(|last| last.number == to);
    let last = last.ok_or_else(|| RpcError::OutOfSync(format!("does not have block {to}")))?;
    let mut logs = merged(filters, logs)?;
    for log in &logs {
        let number = log.block_number.to::<u64>();
        if number < from || number > to || (number == to && log.block_hash != last.hash) {
            return Err(RpcError::Inconsistent(format!("told of events outside of the blocks {from} to {to}")));
        }
    }
    fill_timestamps(server, &mut logs).await?;
    Ok((logs, last))
}

type LogsResponse = Result<LogsOrHeader, RpcError>;

fn logs_by_filter(filters: &[LogFilter], responses: &mut impl Iterator<Item = LogsResponse>) -> Vec<LogsResponse> {
    filters.iter().map(|_| responses.next().unwrap_or_else(missing_response)).collect()
}

/// The logs of all filters in the order of the chain.
fn merged(filters: &[LogFilter], responses: Vec<LogsResponse>) -> Result<Vec<RawLog>, RpcError> {
    let mut merged = Vec::new();
    for (filter, response) in filters.iter().zip(responses) {
        let mut logs = response?.logs()?;
        logs.sort_by_key(position);
        check_positions(&logs)?;
        logs.iter().try_for_each(|log| filter.check(log))?;
        merged.append(&mut logs);
    }
    if filters.len() > 1 {
        merged.sort_by_key(position);
        merged.dedup();
        check_positions(&merged)?;
    }
    Ok(merged)
}

/// A result of `eth_getLogs` or of `eth_getBlock…`. The JSON type tells which, so that neither is buffered before it is
/// parsed.
enum LogsOrHeader {
    Logs(Vec<RawLog>),
    Header(Option<Header>),
}

impl LogsOrHeader {
    fn logs(self) -> Result<Vec<RawLog>, RpcError> {
        match self {
            Self::Logs(logs) => Ok(logs),
            Self::Header(_) => Err(RpcError::WrongType("a list of events is none".to_owned())),
        }
    }

    fn header(self) -> Result<Option<Header>, RpcError> {
        match self {
            Self::Header(header) => Ok(header),
            Self::Logs(_) => Err(RpcError::WrongType("a block is a list".to_owned())),
        }
    }
}

impl<'de> Deserialize<'de> for LogsOrHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LogsOrHeaderVisitor)
    }
}

struct LogsOrHeaderVisitor;

impl<'de> Visitor<'de> for LogsOrHeaderVisitor {
    type Value = LogsOrHeader;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a list of events, a block or null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, logs: A) -> Result<LogsOrHeader, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(logs)).map(LogsOrHeader::Logs)
    }

    fn visit_map<A: MapAccess<'de>>(self, header: A) -> Result<LogsOrHeader, A::Error> {
        let header = Deserialize::deserialize(MapAccessDeserializer::new(header));
        header.map(|header| LogsOrHeader::Header(Some(header)))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<LogsOrHeader, E> {
        Ok(LogsOrHeader::Header(None))
    }
}

/// Requests the headers of blocks whose logs have no timestamp.
async fn fill_timestamps(server: &RpcServer, logs: &mut [RawLog]) -> Result<(), RpcError> {
    let mut times: BTreeMap<u64, (B256, Option<U64>)> = BTreeMap::new();
    for log in logs.iter().filter(|log| log.block_timestamp.is_none()) {
        times.insert(log.block_number.to(), (log.block_hash, None));
    }
    let numbers: Vec<u64> = times.keys().copied().collect();
    if numbers.is_empty() {
        return Ok(());
    }
    for header in headers(server, &numbers).await? {
        match times.get_mut(&header.number) {
            Some((hash, time)) if *hash == header.hash => *time = Some(U64::from(header.time_s)),
            _ => return Err(RpcError::Inconsistent(format!("has two blocks {}", header.number))),
        }
    }
    for log in logs.iter_mut().filter(|log| log.block_timestamp.is_none()) {
        log.block_timestamp = times.get(&log.block_number.to()).and_then(|(_, time)| *time);
        if log.block_timestamp.is_none() {
            return Err(RpcError::OutOfSync(format!("does not have block {}", log.block_number)));
        }
    }
    Ok(())
}
