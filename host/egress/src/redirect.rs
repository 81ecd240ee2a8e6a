//! The next hop of a redirect. Like the first hop it is checked when its host is resolved, not here.

use http::{HeaderMap, Method, Response, StatusCode, header};
use url::Url;

use super::{error::EgressError, request::Hop, url_check::host_of};

/// `None` when the response is not a redirect, or has no `Location`.
pub(super) fn next_hop<B>(hop: &Hop, response: &Response<B>) -> Result<Option<Hop>, EgressError> {
    let keeps_method = match response.status() {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => false,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        _ => return Ok(None),
    };
    let Some(location) = response.headers().get(header::LOCATION) else {
        return Ok(None);
    };
    let url = location
        .to_str()
        .ok()
        .and_then(|location| hop.url.join(location).ok())
        .ok_or_else(|| EgressError::BadRedirect { host: host_of(&hop.url) })?;
    Ok(Some(redirected(hop, url, keeps_method)))
}

fn redirected(hop: &Hop, url: Url, keeps_method: bool) -> Hop {
    let mut next = Hop { url, ..hop.clone() };
    if !keeps_method {
        if next.method != Method::HEAD {
            next.method = Method::GET;
        }
        next.body.clear();
        for body_header in [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE] {
            next.headers.remove(body_header);
        }
    }
    // Tokens in the headers are meant for the first origin only, and a redirect back to it does not restore them.
    if next.url.origin() != hop.url.origin() {
        next.headers = HeaderMap::new();
    }
    next
}
