//! The next hop of a redirect. Like the first one it is checked where it is resolved, not here.

use http::{HeaderMap, Method, StatusCode, header};
use url::Url;

use super::{EgressError, request::Hop, target::host_of};

/// `None` when the answer is not a redirect or says not where to.
pub(super) fn next_hop(hop: &Hop, answer: &reqwest::Response) -> Result<Option<Hop>, EgressError> {
    let keeps_method = match answer.status() {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => false,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        _ => return Ok(None),
    };
    let Some(location) = answer.headers().get(header::LOCATION) else {
        return Ok(None);
    };
    let url = location
        .to_str()
        .ok()
        .and_then(|location| hop.url.join(location).ok())
        .ok_or_else(|| EgressError::BadRedirect { host: host_of(&hop.url) })?;
    Ok(Some(step(hop, url, keeps_method)))
}

fn step(hop: &Hop, url: Url, keeps_method: bool) -> Hop {
    let mut next = Hop { url, ..hop.clone() };
    if !keeps_method {
        if next.method != Method::HEAD {
            next.method = Method::GET;
        }
        next.body.clear();
        for described_the_body in [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE] {
            next.headers.remove(described_the_body);
        }
    }
    // Tokens in the headers were meant for the first origin. They do not come back with a redirect back to it.
    if next.url.origin() != hop.url.origin() {
        next.headers = HeaderMap::new();
    }
    next
}
