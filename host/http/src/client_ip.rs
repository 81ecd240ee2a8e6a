//! Who the client is behind the operator's own proxies. Rule: only what a trusted proxy wrote counts, that is the N
//! right-most addresses of `X-Forwarded-For`; everything left of them is whatever the client liked to send.

use super::peer::Peer;
use super::stage::Stage;
use crate::body::{Body, RequestBody};
use http::{HeaderMap, HeaderName, Request, Response};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Request extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientIp(pub IpAddr);

#[derive(Clone, Copy)]
pub struct ClientIps {
    pub trusted_proxy_hops: usize,
}

impl Stage for ClientIps {
    type Note = ();

    fn admit(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        let peer = request.extensions().get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip);
        let client = forwarded_client(request.headers(), self.trusted_proxy_hops).unwrap_or(peer);
        request.extensions_mut().insert(ClientIp(client));
        ControlFlow::Continue(())
    }

    fn finish(&self, (): (), _: &mut Response<Body>) {}
}

/// The N-th address from the right. A shorter list means that fewer proxies were passed than configured; its left-most
/// address was still written by one of them. Anything that is no address: none.
fn forwarded_client(headers: &HeaderMap, hops: usize) -> Option<IpAddr> {
    let lines = headers.get_all(X_FORWARDED_FOR).iter().rev();
    let entries = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    let entry = entries.take(hops).last()?;
    parse_address(std::str::from_utf8(entry).ok()?.trim())
}

/// An address, some proxies append the port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let bare = || text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let in_brackets = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok();
    bare().or_else(with_port).or_else(in_brackets).map(|ip| ip.to_canonical())
}
