//! A request whose response has begun.

use super::{
    destinations::DestinationSlot,
    error::EgressError,
    pinned_client::PinnedBody,
    request::{BodyLimits, Overflow},
    url_check::host_of,
};
use http::Response;
use http_body::Body as _;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use url::Url;

/// For all names and values together; HTTP itself sets no limit.
const RESPONSE_HEADER_BYTES_MAX: u64 = 64 * 1024;

/// Its body is unread.
pub(super) struct SentRequest {
    pub url: Url,
    pub response: Response<PinnedBody>,
    pub limits: BodyLimits,
    pub slot: Arc<OwnedSemaphorePermit>,
    pub destination_slot: DestinationSlot,
}

impl SentRequest {
    /// As the head says it.
    pub(crate) fn content_length(&self) -> Option<u64> {
        self.response.body().size_hint().exact()
    }

    /// Status and headers, if they may reach a plugin.
    pub(crate) fn checked_head(&self) -> Result<(u16, Vec<(String, String)>), EgressError> {
        let (status, host) = (self.response.status().as_u16(), || host_of(&self.url));
        // No protocol switch was requested, and undefined codes must not reach plugins that pass them on.
        if !(200..=599).contains(&status) {
            return Err(EgressError::BrokenResponse { host: host(), source: None });
        }
        let headers = self.response.headers();
        let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if bytes as u64 > RESPONSE_HEADER_BYTES_MAX {
            let (part, bytes_max) = ("headers", RESPONSE_HEADER_BYTES_MAX);
            return Err(EgressError::TooLarge { host: host(), part, bytes_max });
        }
        // Saves the transfer when the server is honest; the count of the body does not rely on it.
        let BodyLimits { bytes_max, overflow, .. } = self.limits;
        if overflow == Overflow::Fail && self.content_length().is_some_and(|length| length > bytes_max) {
            return Err(EgressError::TooLarge { host: host(), part: "a body", bytes_max });
        }
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Ok((status, headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()))
    }
}
