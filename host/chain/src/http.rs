//! The HTTP side of a server: one request, bounded in bytes. The rule: an answer is read up to a limit and errors hold no
//! address.

use super::{error::RpcFailure, rpc::one_line};
use alloy::rpc::json_rpc::{RequestPacket, ResponsePacket};
use serde::de::{DeserializeOwned, IgnoredAny};
use url::Url;

/// 100,000 events are about 83 MB; the gateway asks for fewer at a time.
const ANSWER_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Room for an answer by its own word; more is made when it comes.
const ROOM_BYTES_MAX: usize = 16 * 1024 * 1024;

pub struct BoundedHttp {
    pub client: reqwest::Client,
    pub url: Url,
}

impl BoundedHttp {
    /// Reads results as `T`.
    pub async fn exchange<T: DeserializeOwned>(&self, packet: &RequestPacket) -> Result<ResponsePacket<T>, RpcFailure> {
        let request = self.client.post(self.url.clone()).json(packet);
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let length = response.content_length().and_then(|length| usize::try_from(length).ok());
        let mut body = Vec::with_capacity(length.unwrap_or_default().min(ROOM_BYTES_MAX));
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(RpcFailure::TooLarge(ANSWER_BYTES_MAX));
            }
            body.extend_from_slice(&chunk);
        }
        match read_json(&body) {
            // Some servers send JSON-RPC errors with a status of their own.
            Ok(answer) => Ok(answer),
            Err(_) if !status.is_success() => Err(RpcFailure::Status(status.as_u16())),
            Err(error) if is_json_rpc(&body) => Err(RpcFailure::WrongType(one_line(&error.to_string()))),
            Err(error) => Err(RpcFailure::Garbage(one_line(&error.to_string()))),
        }
    }
}

/// Whatever the results are.
fn is_json_rpc(body: &[u8]) -> bool {
    read_json::<ResponsePacket<IgnoredAny>>(body).is_ok()
}

/// Looks once whether all of it is text: otherwise each of its many strings is looked at.
fn read_json<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<T> {
    simdutf8::basic::from_utf8(body).map_or_else(|_| serde_json::from_slice(body), serde_json::from_str)
}

/// The whole chain of causes, without the address.
fn unreachable(error: reqwest::Error) -> RpcFailure {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    RpcFailure::Unreachable(one_line(&text))
}
