//! Decides whether a request may act at the operator's listener.
//!
//! The rule: with a token or an authority of operators, a request without either learns nothing but whether the gateway is live and ready; and
//! no web page can make a browser on
//! the operator's machine act here. A host name that is not allowed is refused, because DNS can point it to this address
//! (rebinding), and so is every other origin. A change needs a header that a page of another origin cannot send without a CORS
//! preflight, which is not granted.

use super::operator::Operator;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use gateway_config::AdminConfig;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header, request::Parts, uri::Authority};
use secrecy::{ExposeSecret as _, SecretString};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use subtle::ConstantTimeEq as _;

/// The header that programs send with a change; its value is `1`.
pub(crate) const CHANGE_HEADER: &str = "x-gateway-admin";

/// What probes of supervisors ask, which carry no token.
const PROBES: [&str; 3] = ["/live", "/ready", "/health"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the operator's listener answers to an IP address, localhost or a host of admin.allowed_hosts only")]
    Host,
    #[error("pages of other sites have no business here")]
    Origin,
    #[error("a change needs the header X-Gateway-Admin: 1")]
    Change,
    #[error("the operator's listener asks for its token")]
    Token,
    #[error("the operator's listener asks for a client certificate")]
    Certificate,
}

impl Refusal {
    pub(crate) const fn hint(self) -> &'static str {
        match self {
            Self::Host => {
                "call it by its address, as in http://127.0.0.1:8081, or list the name in admin.allowed_hosts"
            }
            Self::Origin => "use the operator's page itself, or gateway plugins enable, disable, resume and reindex",
            Self::Change => "send it, or use gateway plugins enable, disable, resume and reindex",
            Self::Certificate => "show one of the authority in admin.tls.client_ca",
            Self::Token => "send Authorization: Bearer TOKEN, or the token as the password of HTTP Basic",
        }
    }
}

/// Who may act at the listener.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    token: Option<SecretString>,
    allowed_hosts: Vec<String>,
    user_header: Option<HeaderName>,
    speaks_tls: bool,
    asks_for_certificate: bool,
}

impl Guard {
    pub(crate) fn new(config: &AdminConfig) -> Self {
        Self {
            token: config.token.clone(),
            allowed_hosts: config.allowed_hosts.clone(),
            // The configuration was checked.
            user_header: config.user_header.as_ref().and_then(|name| name.parse().ok()),
            speaks_tls: config.tls.files().is_some(),
            asks_for_certificate: config.tls.files().is_some() && config.tls.client_ca.is_some(),
        }
    }

    /// Who asks, if he may. `certificate`: who the certificate of the connection says that it is.
    pub(crate) fn admit(
        &self,
        request: &Parts,
        peer: SocketAddr,
        certificate: Option<&str>,
    ) -> Result<Operator, Refusal> {
        let host = host(&request.uri, &request.headers).filter(|host| self.knows(host.host())).ok_or(Refusal::Host)?;
        let is_own = self.is_own_origin(&request.headers, &host)?;
        let reads = matches!(request.method, Method::GET | Method::HEAD);
        let name = match (certificate, &self.token) {
            (Some(name), _) => Some(name.to_owned()),
            _ if reads && PROBES.contains(&request.uri.path()) => None,
            (None, Some(token)) => self.authenticate(token, &request.headers)?,
            (None, None) if self.asks_for_certificate => return Err(Refusal::Certificate),
            (None, None) => None,
        };
        let is_marked = request.headers.get(CHANGE_HEADER).is_some_and(|value| value == "1");
        if reads || is_own || is_marked { Ok(Operator::new(name, peer)) } else { Err(Refusal::Change) }
    }

    /// DNS cannot redirect an IP address or `localhost`.
    fn knows(&self, host: &str) -> bool {
        is_fixed(host) || self.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
    }

    /// Whether a browser says that the request comes from the page of this listener; an error for any other page. A proxy that
    /// calls it by an allowed name may have taken it over TLS.
    fn is_own_origin(&self, headers: &HeaderMap, host: &Authority) -> Result<bool, Refusal> {
        let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
        let has_origin = origins.peek().is_some();
        let schemes: &[&str] = match (self.speaks_tls, is_fixed(host.host())) {
            (true, _) => &["https"],
            (false, true) => &["http"],
            (false, false) => &["https", "http"],
        };
        let own: Vec<String> = schemes.iter().map(|scheme| format!("{scheme}://{host}")).collect();
        let is_own =
            |origin: &HeaderValue| own.iter().any(|own| origin.as_bytes().eq_ignore_ascii_case(own.as_bytes()));
        if origins.all(is_own) { Ok(has_origin) } else { Err(Refusal::Origin) }
    }

    /// The name by which the login proxy or the client calls the operator, once the token is the right one.
    fn authenticate(&self, token: &SecretString, headers: &HeaderMap) -> Result<Option<String>, Refusal> {
        let mut sent = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (sent.next(), sent.next()) else { return Err(Refusal::Token) };
        let (user, password) = credentials(value).ok_or(Refusal::Token)?;
        // Takes as long wherever the first difference is.
        if !bool::from(password.as_bytes().ct_eq(token.expose_secret().as_bytes())) {
            return Err(Refusal::Token);
        }
        let by_proxy = self.user_header.as_ref().and_then(|name| headers.get(name)?.to_str().ok()).map(str::to_owned);
        Ok(by_proxy.or(user))
    }
}

/// The user's name, if any, and the token of `Bearer TOKEN` or `Basic base64(NAME:TOKEN)`.
fn credentials(value: &HeaderValue) -> Option<(Option<String>, String)> {
    let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some((None, rest.to_owned()));
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(rest).ok()?).ok()?;
    let (user, password) = pair.split_once(':')?;
    Some((Some(user.to_owned()), password.to_owned()))
}

/// The only host that the request names.
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
    (!host.as_str().contains('@')).then_some(host)
}

fn is_fixed(host: &str) -> bool {
    let v6 = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok()
        || v6.is_some_and(|v6| v6.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use http::Request;
    use rstest::rstest;

    fn admitted(method: &str, uri: &str, headers: &[(&str, &str)]) -> Result<(), Refusal> {
        who(&Guard::default(), method, uri, headers).map(drop)
    }

    fn who(guard: &Guard, method: &str, uri: &str, headers: &[(&str, &str)]) -> Result<String, Refusal> {
        let request = headers
            .iter()
            .fold(Request::builder().method(method).uri(uri), |request, (name, value)| request.header(*name, *value));
        let peer = "127.0.0.1:5".parse().unwrap();
        guard.admit(&request.body(()).unwrap().into_parts().0, peer, None).map(|operator| operator.to_string())
    }

    const TOKEN: &str = "2f8d0c7a5e6b4d3f2f8d0c7a5e6b4d3f";

    fn guard(user_header: Option<&str>) -> Guard {
        Guard::new(&AdminConfig {
            token: Some(TOKEN.into()),
            allowed_hosts: vec!["ops.example.com".to_owned()],
            user_header: user_header.map(ToOwned::to_owned),
            ..AdminConfig::default()
        })
    }

    fn basic(user: &str, password: &str) -> String {
        format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
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

    #[test]
    fn with_a_token_only_probes_pass_without_it() {
        let (guard, host) = (guard(None), ("host", "127.0.0.1:8081"));
        let wrong = [
            "",
            "Bearer",
            "Bearer ",
            "Bearer 2f8d0c7a5e6b4d3f2f8d0c7a5e6b4d3e",
            "Bearer 2f8d0c7a5e6b4d3f2f8d0c7a5e6b4d3",
            "Bearer 2f8d0c7a5e6b4d3f2f8d0c7a5e6b4d3ff",
            "2f8d0c7a5e6b4d3f2f8d0c7a5e6b4d3f",
            "Digest 2f8d0c7a5e6b4d3f2f8d0c7a5e6b4d3f",
            "Basic 2f8d0c7a5e6b4d3f2f8d0c7a5e6b4d3f",
        ];
        for path in ["/", "/plugins", "/metrics", "/page.js", "/live/", "/unknown"] {
            assert_eq!(who(&guard, "GET", path, &[host]), Err(Refusal::Token), "{path}");
            for value in wrong {
                let sent = [host, ("authorization", value), (CHANGE_HEADER, "1")];
                assert_eq!(who(&guard, "GET", path, &sent), Err(Refusal::Token), "{path} {value}");
                assert_eq!(who(&guard, "POST", path, &sent), Err(Refusal::Token), "{path} {value}");
            }
        }
        for path in PROBES {
            assert_eq!(who(&guard, "GET", path, &[host]).unwrap(), "127.0.0.1:5", "{path}");
            assert_eq!(who(&guard, "POST", path, &[host, (CHANGE_HEADER, "1")]), Err(Refusal::Token), "{path}");
        }
        let bearer = format!("bearer {TOKEN}");
        assert_eq!(who(&guard, "GET", "/plugins", &[host, ("authorization", &bearer)]).unwrap(), "127.0.0.1:5");
        let twice = [host, ("authorization", bearer.as_str()), ("authorization", bearer.as_str())];
        assert_eq!(who(&guard, "GET", "/plugins", &twice), Err(Refusal::Token), "which of the two counts?");
        let wrong = basic("ann", "2f8d0c7a5e6b4d3f");
        assert_eq!(who(&guard, "GET", "/plugins", &[host, ("authorization", &wrong)]), Err(Refusal::Token));
    }

    fn with_certificate(guard: &Guard, certificate: Option<&str>, method: &str, path: &str) -> Result<String, Refusal> {
        let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:8081");
        let request = if method == "POST" { request.header(CHANGE_HEADER, "1") } else { request };
        let (parts, ()) = request.body(()).unwrap().into_parts();
        guard.admit(&parts, "127.0.0.1:5".parse().unwrap(), certificate).map(|operator| operator.to_string())
    }

    #[test]
    fn a_certificate_admits_and_names_its_operator() {
        let mut guards = [guard(None), guard(None)];
        guards.iter_mut().for_each(|guard| (guard.speaks_tls, guard.asks_for_certificate) = (true, true));
        let [with_token, mut without] = guards;
        without.token = None;
        for guard in [&with_token, &without] {
            let refusal = if guard.token.is_some() { Refusal::Token } else { Refusal::Certificate };
            for (method, path) in [("GET", "/"), ("GET", "/metrics"), ("POST", "/plugins/a/disable"), ("POST", "/live")]
            {
                assert_eq!(with_certificate(guard, Some("ann"), method, path).unwrap(), "ann (127.0.0.1:5)");
                assert_eq!(with_certificate(guard, None, method, path), Err(refusal), "{method} {path}");
            }
            assert_eq!(with_certificate(guard, None, "GET", "/ready").unwrap(), "127.0.0.1:5");
        }
        let bearer = format!("Bearer {TOKEN}");
        let sent = [("host", "127.0.0.1"), ("authorization", bearer.as_str())];
        assert_eq!(who(&with_token, "GET", "/", &sent).unwrap(), "127.0.0.1:5", "the token stands in for it");
    }

    #[test]
    fn over_tls_only_its_own_page_is_its_origin() {
        let guard = Guard { speaks_tls: true, ..Guard::default() };
        let host = ("host", "127.0.0.1:8081");
        assert!(who(&guard, "POST", "/", &[host, ("origin", "https://127.0.0.1:8081")]).is_ok());
        assert_eq!(who(&guard, "POST", "/", &[host, ("origin", "http://127.0.0.1:8081")]), Err(Refusal::Origin));
    }

    #[test]
    fn the_token_does_not_replace_the_header_of_a_change() {
        let bearer = format!("Bearer {TOKEN}");
        let sent = [("host", "127.0.0.1:8081"), ("authorization", bearer.as_str())];
        assert_eq!(who(&guard(None), "POST", "/plugins/a/enable", &sent), Err(Refusal::Change));
        let foreign = [sent[0], sent[1], (CHANGE_HEADER, "1"), ("origin", "https://evil.example")];
        assert_eq!(who(&guard(None), "POST", "/plugins/a/enable", &foreign), Err(Refusal::Origin));
    }

    #[test]
    fn who_acts_is_named_by_the_proxy_or_by_basic() {
        let (host, basic) = (("host", "ops.example.com"), basic("ann:x", TOKEN));
        let (bearer, named) = (format!("Bearer {TOKEN}"), ("x-forwarded-user", "bob@example.com"));
        let plain = guard(None);
        // A name ends at the first colon; the rest would be another password.
        assert_eq!(who(&plain, "GET", "/", &[host, ("authorization", &basic)]), Err(Refusal::Token));
        let basic = self::basic("ann", TOKEN);
        assert_eq!(who(&plain, "GET", "/", &[host, ("authorization", &basic)]).unwrap(), "ann (127.0.0.1:5)");
        assert_eq!(who(&plain, "GET", "/", &[host, ("authorization", &bearer), named]).unwrap(), "127.0.0.1:5");
        let proxied = guard(Some("X-Forwarded-User"));
        let by_proxy = who(&proxied, "GET", "/", &[host, ("authorization", &bearer), named]).unwrap();
        assert_eq!(by_proxy, "bob@example.com (127.0.0.1:5)");
        assert_eq!(who(&proxied, "GET", "/", &[host, named]), Err(Refusal::Token), "a name is no token");
    }

    #[rstest]
    #[case("ops.example.com", "https://ops.example.com", Ok(()))]
    #[case("OPS.example.com:8443", "https://ops.example.com:8443", Ok(()))]
    #[case("ops.example.com", "http://ops.example.com", Ok(()))]
    #[case("ops.example.com", "https://ops.example.com:8443", Err(Refusal::Origin))]
    #[case("ops.example.com", "https://evil.example", Err(Refusal::Origin))]
    #[case("127.0.0.1", "https://127.0.0.1", Err(Refusal::Origin))]
    #[case("evil.ops.example.com", "https://evil.ops.example.com", Err(Refusal::Host))]
    fn a_proxy_calls_it_by_an_allowed_name(
        #[case] host: &str,
        #[case] origin: &str,
        #[case] expected: Result<(), Refusal>,
    ) {
        let bearer = format!("Bearer {TOKEN}");
        let sent = [("host", host), ("origin", origin), ("authorization", bearer.as_str())];
        assert_eq!(who(&guard(None), "POST", "/plugins/a/enable", &sent).map(drop), expected);
    }
}
