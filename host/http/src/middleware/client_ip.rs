//! The client's address behind the operator's own proxies. Rule: only addresses that a trusted proxy wrote count, that
//! is the N right-most ones of `X-Forwarded-For`; a client can send any others to their left.

use super::middleware_layer::Middleware;
use crate::body::{Body, RequestBody};
use crate::connection::ConnectionInfo;
use http::{HeaderMap, HeaderName, Request, Response};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whether this process has said that it believes no proxy.
static HAS_WARNED: AtomicBool = AtomicBool::new(false);

/// Request extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientIp(pub IpAddr);

#[derive(Clone, Copy)]
pub(crate) struct SetClientIp {
    pub trusted_proxy_hops: usize,
}

impl Middleware for SetClientIp {
    type State = ();

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        let info = request.extensions().get::<ConnectionInfo>();
        let peer = info.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.peer_ip);
        if self.trusted_proxy_hops == 0 && request.headers().contains_key(X_FORWARDED_FOR) {
            warn_once(peer);
        }
        let client = forwarded_client(request.headers(), self.trusted_proxy_hops).unwrap_or(peer);
        request.extensions_mut().insert(ClientIp(client));
        ControlFlow::Continue(())
    }

    fn on_response(&self, (): (), _: &mut Response<Body>) {}
}

/// Behind a proxy that is not trusted all clients share one address, and its limits. Once per start: anyone can send the header.
fn warn_once(peer: IpAddr) {
    if !HAS_WARNED.swap(true, Relaxed) {
        tracing::warn!(
            %peer,
            "X-Forwarded-For arrives and is ignored, because http.trusted_proxy_hops is 0: all clients behind a proxy count as one \
             address. If the peer is a proxy of yours, set http.trusted_proxy_hops to the number of proxies in a row (1 behind one)"
        );
    }
}

/// The N-th address from the right. A shorter list means that the request passed fewer proxies than configured; one of
/// them still wrote its left-most address. Returns None if that entry is not an address.
fn forwarded_client(headers: &HeaderMap, hops: usize) -> Option<IpAddr> {
    let lines = headers.get_all(X_FORWARDED_FOR).iter().rev();
    let entries = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    let entry = entries.take(hops).last()?;
    parse_address(std::str::from_utf8(entry).ok()?.trim())
}

/// Some proxies append the port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let bare = || text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let in_brackets = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok();
    bare().or_else(with_port).or_else(in_brackets).map(|ip| ip.to_canonical())
}
