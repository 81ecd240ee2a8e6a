//! Reading an answer without ever holding more of it than was agreed.

use bytes::{Bytes, BytesMut};
use url::Url;

use super::{EgressError, FetchResponse, Overflow, request::Plan, target::host_of};

/// All names and values together; HTTP itself knows no limit.
const RESPONSE_HEADER_BYTES_MAX: u64 = 64 * 1024;

pub(super) async fn read(url: Url, answer: reqwest::Response, plan: &Plan) -> Result<FetchResponse, EgressError> {
    let status = answer.status().as_u16();
    // A switch of protocols was not asked for, and codes that mean nothing must not reach those who pass them on.
    if !(200..=599).contains(&status) {
        return Err(EgressError::BrokenAnswer { host: host_of(&url), source: None });
    }
    let headers = read_headers(&url, &answer)?;
    let (body, cut) = read_body(&url, answer, plan).await?;
    Ok(FetchResponse { status, headers, body, cut, url: url.into() })
}

fn read_headers(url: &Url, answer: &reqwest::Response) -> Result<Vec<(String, String)>, EgressError> {
    let bytes: usize = answer.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes as u64 > RESPONSE_HEADER_BYTES_MAX {
        return Err(EgressError::TooLarge {
            host: host_of(url),
            part: "headers",
            bytes_max: RESPONSE_HEADER_BYTES_MAX,
        });
    }
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    Ok(answer.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect())
}

async fn read_body(url: &Url, mut answer: reqwest::Response, plan: &Plan) -> Result<(Bytes, bool), EgressError> {
    let bytes_max = plan.response_bytes_max;
    let too_large = || EgressError::TooLarge { host: host_of(url), part: "a body", bytes_max };
    // An honest sender saves both sides the transfer; the count below does not rely on it.
    if plan.overflow == Overflow::Refuse && answer.content_length().is_some_and(|length| length > bytes_max) {
        return Err(too_large());
    }
    if plan.overflow == Overflow::Cut && bytes_max == 0 {
        return Ok((Bytes::new(), answer.content_length() != Some(0)));
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| broken(url, error))? {
        let room = usize::try_from(bytes_max).unwrap_or(usize::MAX).saturating_sub(body.len());
        if chunk.len() <= room {
            body.extend_from_slice(&chunk);
            continue;
        }
        match plan.overflow {
            Overflow::Refuse => return Err(too_large()),
            Overflow::Cut => {
                body.extend_from_slice(&chunk[..room]);
                return Ok((body.freeze(), true));
            }
        }
    }
    Ok((body.freeze(), false))
}

fn broken(url: &Url, error: reqwest::Error) -> EgressError {
    EgressError::BrokenAnswer { host: host_of(url), source: Some(error.without_url()) }
}
