//! Protects the operator's listener, which has no login, from web pages.
//!
//! The rule: no web page can make a browser on the operator's machine act here. A host name is refused, because DNS can
//! point it to this address (rebinding), and so is every other origin. A change needs a header that a page of another
//! origin cannot send without a CORS preflight, which is not granted.

use http::{HeaderMap, Method, Uri, header, request::Parts, uri::Authority};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The header that programs send with a change; its value is `1`.
pub const CHANGE_HEADER: &str = "x-gateway-admin";

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the operator's listener answers to an IP address or localhost only")]
    Host,
    #[error("pages of other sites have no business here")]
    Origin,
    #[error("a change needs the header X-Gateway-Admin: 1")]
    Change,
}

impl Refusal {
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Host => "call it by its address, as in http://127.0.0.1:8081",
            Self::Origin => "use the operator's page itself, or gateway plugins enable, disable, resume and reindex",
            Self::Change => "send it, or use gateway plugins enable, disable, resume and reindex",
        }
    }
}

pub fn admit(request: &Parts) -> Result<(), Refusal> {
    let host = host(&request.uri, &request.headers).ok_or(Refusal::Host)?;
    let is_own = is_own_origin(&request.headers, &host)?;
    let reads = matches!(request.method, Method::GET | Method::HEAD);
    let is_marked = request.headers.get(CHANGE_HEADER).is_some_and(|value| value == "1");
    if reads || is_own || is_marked { Ok(()) } else { Err(Refusal::Change) }
}

/// The only host that the request names, if it is an IP address or `localhost`, which DNS cannot redirect.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut named = headers.get_all(header::HOST).iter();
    let header = named.next();
    if named.next().is_some() {
        return None;
    }
    let header: Option<Authority> = match header {
        Some(value) => Some(value.to_str().ok()?.parse().ok()?),
        None => None,
    };
    if let (Some(header), Some(target)) = (&header, uri.authority())
        && header != target
    {
        return None;
    }
    let host = header.or_else(|| uri.authority().cloned())?;
    (!host.as_str().contains('@') && is_fixed(host.host())).then_some(host)
}

fn is_fixed(host: &str) -> bool {
    let v6 = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok()
        || v6.is_some_and(|v6| v6.parse::<Ipv6Addr>().is_ok())
}

/// Whether a browser says that the request comes from the page of this listener; an error for any other page.
fn is_own_origin(headers: &HeaderMap, host: &Authority) -> Result<bool, Refusal> {
    let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
    let has_origin = origins.peek().is_some();
    let own = format!("http://{host}");
    if !origins.all(|origin| origin.as_bytes().eq_ignore_ascii_case(own.as_bytes())) {
        return Err(Refusal::Origin);
    }
    Ok(has_origin)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use http::Request;
    use rstest::rstest;

    fn admitted(method: &str, uri: &str, headers: &[(&str, &str)]) -> Result<(), Refusal> {
        let request = headers
            .iter()
            .fold(Request::builder().method(method).uri(uri), |request, (name, value)| request.header(*name, *value));
        admit(&request.body(()).unwrap().into_parts().0)
    }

    #[rstest]
    #[case("127.0.0.1:8081", Ok(()))]
    #[case("10.1.2.3", Ok(()))]
    #[case("[::1]:8081", Ok(()))]
    #[case("localhost:8081", Ok(()))]
    #[case("LocalHost", Ok(()))]
    #[case("evil.example", Err(Refusal::Host))]
    #[case("evil.example:8081", Err(Refusal::Host))]
    #[case("127.0.0.1.evil.example", Err(Refusal::Host))]
    #[case("localhost.evil.example", Err(Refusal::Host))]
    #[case("127.0.0.1@evil.example", Err(Refusal::Host))]
    #[case("evil.example@127.0.0.1", Err(Refusal::Host))]
    #[case("0x7f000001", Err(Refusal::Host))]
    #[case("", Err(Refusal::Host))]
    fn only_fixed_names_are_answered(#[case] host: &str, #[case] expected: Result<(), Refusal>) {
        assert_eq!(admitted("GET", "/plugins", &[("host", host)]), expected);
        assert_eq!(admitted("POST", "/plugins", &[("host", host), (CHANGE_HEADER, "1")]), expected);
    }

    #[test]
    fn two_hosts_or_none_are_refused() {
        assert_eq!(admitted("GET", "/", &[]), Err(Refusal::Host));
        assert_eq!(admitted("GET", "/", &[("host", "127.0.0.1"), ("host", "evil.example")]), Err(Refusal::Host));
        assert_eq!(admitted("GET", "http://evil.example/", &[("host", "127.0.0.1")]), Err(Refusal::Host));
        assert_eq!(admitted("GET", "http://127.0.0.1:8081/", &[]), Ok(()), "as in HTTP/2");
    }

    #[rstest]
    #[case("http://127.0.0.1:8081", Ok(()))]
    #[case("http://127.0.0.1:3000", Err(Refusal::Origin))]
    #[case("http://127.0.0.1", Err(Refusal::Origin))]
    #[case("https://127.0.0.1:8081", Err(Refusal::Origin))]
    #[case("http://localhost:8081", Err(Refusal::Origin))]
    #[case("https://evil.example", Err(Refusal::Origin))]
    #[case("null", Err(Refusal::Origin))]
    #[case("", Err(Refusal::Origin))]
    fn other_origins_are_refused_with_or_without_the_header(
        #[case] origin: &str,
        #[case] expected: Result<(), Refusal>,
    ) {
        let host = ("host", "127.0.0.1:8081");
        for method in ["GET", "POST", "PUT"] {
            assert_eq!(admitted(method, "/", &[host, ("origin", origin)]), expected);
            assert_eq!(admitted(method, "/", &[host, ("origin", origin), (CHANGE_HEADER, "1")]), expected);
        }
    }

    #[test]
    fn a_change_needs_the_header_or_the_own_origin() {
        let host = ("host", "127.0.0.1:8081");
        assert_eq!(admitted("GET", "/", &[host]), Ok(()));
        for method in ["POST", "PUT", "DELETE"] {
            assert_eq!(admitted(method, "/", &[host]), Err(Refusal::Change));
            assert_eq!(admitted(method, "/", &[host, (CHANGE_HEADER, "0")]), Err(Refusal::Change));
            assert_eq!(admitted(method, "/", &[host, (CHANGE_HEADER, "1")]), Ok(()));
        }
    }
}
