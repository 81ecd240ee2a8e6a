//! Reads a response. The rule: never hold more of it in memory than its limits allow.

use bytes::{Bytes, BytesMut};
use url::Url;

use super::{
    error::EgressError,
    request::{FetchResponse, Overflow, ValidRequest},
    url_check::host_of,
};

/// For all names and values together; HTTP itself sets no limit.
const RESPONSE_HEADER_BYTES_MAX: u64 = 64 * 1024;

pub(super) async fn read(
    url: Url,
    response: reqwest::Response,
    request: &ValidRequest,
) -> Result<FetchResponse, EgressError> {
    let status = response.status().as_u16();
    // No protocol switch was requested, and undefined codes must not reach plugins that pass them on.
    if !(200..=599).contains(&status) {
        return Err(EgressError::BrokenResponse { host: host_of(&url), source: None });
    }
    let headers = read_headers(&url, &response)?;
    let (body, is_truncated) = read_body(&url, response, request).await?;
    Ok(FetchResponse { status, headers, body, is_truncated, url: url.into() })
}

fn read_headers(url: &Url, response: &reqwest::Response) -> Result<Vec<(String, String)>, EgressError> {
    let bytes: usize = response.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes as u64 > RESPONSE_HEADER_BYTES_MAX {
        return Err(EgressError::TooLarge {
            host: host_of(url),
            part: "headers",
            bytes_max: RESPONSE_HEADER_BYTES_MAX,
        });
    }
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    Ok(response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect())
}

async fn read_body(
    url: &Url,
    mut response: reqwest::Response,
    request: &ValidRequest,
) -> Result<(Bytes, bool), EgressError> {
    let bytes_max = request.response_bytes_max;
    let too_large = || EgressError::TooLarge { host: host_of(url), part: "a body", bytes_max };
    // Saves the transfer when the server is honest; the count below does not rely on it.
    if request.overflow == Overflow::Fail && response.content_length().is_some_and(|length| length > bytes_max) {
        return Err(too_large());
    }
    if request.overflow == Overflow::Truncate && bytes_max == 0 {
        return Ok((Bytes::new(), response.content_length() != Some(0)));
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken_response(url, error))? {
        let remaining = usize::try_from(bytes_max).unwrap_or(usize::MAX).saturating_sub(body.len());
        if chunk.len() <= remaining {
            body.extend_from_slice(&chunk);
            continue;
        }
        match request.overflow {
            Overflow::Fail => return Err(too_large()),
            Overflow::Truncate => {
                body.extend_from_slice(&chunk[..remaining]);
                return Ok((body.freeze(), true));
            }
        }
    }
    Ok((body.freeze(), false))
}

fn broken_response(url: &Url, error: reqwest::Error) -> EgressError {
    EgressError::BrokenResponse { host: host_of(url), source: Some(error.without_url()) }
}
