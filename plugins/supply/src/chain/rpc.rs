//! The two methods that the gateway's own requests do not have: the history of fees, and headers with gas and base fee.

use super::unavailable;
use crate::model::{FeeHistory, Header};
use futures_util::future::join_all;
use plugin_api::{
    HostError, HostErrorCode, HostHandle,
    chain::{MAIN, RawAnswer, RawCall, RawCallError},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A block with as many transactions as fit has some 100 KiB of their hashes.
const BYTES_MAX: u64 = 1024 * 1024;
/// Headers that are asked for at the same time.
const AT_ONCE: usize = 8;

/// Why a server gives no fee history of a range.
pub enum HistoryError {
    /// It may give one of fewer blocks.
    Refused(String),
    Host(HostError),
}

/// For each block from `first` on whether it used gas: of at most `count` blocks, at least one.
pub async fn used_gas(host: &HostHandle, first: u64, count: u64) -> Result<Vec<bool>, HistoryError> {
    let newest = first + count - 1;
    let params = json!([hex(count), hex(newest), []]);
    match call::<FeeHistory>(host, "eth_feeHistory", &params).await.map_err(HistoryError::Host)? {
        Ok(Some(history)) => {
            let elsewhere = || HistoryError::Refused(format!("the history does not begin with block {first}"));
            history.used_gas(first, count).ok_or_else(elsewhere)
        }
        Ok(None) => Err(HistoryError::Refused("there is no history".to_owned())),
        Err(message) => Err(HistoryError::Refused(message)),
    }
}

/// Headers of blocks that must exist, in their order.
pub async fn headers(host: &HostHandle, blocks: &[u64]) -> Result<Vec<Header>, HostError> {
    let mut headers = Vec::with_capacity(blocks.len());
    for some in blocks.chunks(AT_ONCE) {
        for header in join_all(some.iter().map(|block| header(host, *block))).await {
            headers.push(header?);
        }
    }
    Ok(headers)
}

pub async fn header(host: &HostHandle, block: u64) -> Result<Header, HostError> {
    match call::<Header>(host, "eth_getBlockByNumber", &json!([hex(block), false])).await? {
        Ok(Some(header)) => Ok(header),
        Ok(None) => Err(unavailable(format!("the server does not have block {block}"))),
        Err(message) => Err(unavailable(message)),
    }
}

/// The result, none for null; the inner error is the server's text.
async fn call<T: DeserializeOwned>(
    host: &HostHandle,
    method: &str,
    params: &Value,
) -> Result<Result<Option<T>, String>, HostError> {
    let call = RawCall::new(method, params.to_string()).result_bytes_max(BYTES_MAX);
    let RawAnswer { result, .. } = host.chain(MAIN).raw_call(call).await?;
    match result {
        Ok(json) => serde_json::from_slice(&json).map(Ok).map_err(|error| unavailable(format!("{method}: {error}"))),
        Err(RawCallError::Response { message, .. }) => Ok(Err(format!("{method}: {message}"))),
        Err(RawCallError::Busy) => Err(HostError::new(HostErrorCode::Busy, format!("{method}: too many calls wait"))),
        Err(RawCallError::Timeout) => {
            Err(HostError::new(HostErrorCode::Timeout, format!("{method}: no answer in time")))
        }
        Err(error @ (RawCallError::TooLarge | RawCallError::Unavailable)) => {
            Err(unavailable(format!("{method}: {error:?}")))
        }
    }
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}
