//! From a name to addresses that were all checked.
//!
//! The rule that must not break: one look-up per hop, and if any of its answers is special, none is used. Choosing
//! the good ones would let an attacker probe which of our own addresses answer.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use futures_util::future::BoxFuture;
use tokio::sync::OwnedSemaphorePermit;
use url::{Host, Url};

use super::{
    AllowList, EgressError,
    target::{check_address, check_target, host_of, port_of},
};

/// Where addresses come from. Tests put their own in place of the system's.
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of `name`, unchecked. An error or no address at all means that it does not resolve.
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver: hosts file, search domains and all.
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|socket| socket.ip()).collect())
        })
    }
}

/// Where this hop may connect. Never empty; every address is public or was opened by the operator.
pub(super) async fn checked_addresses(
    url: &Url,
    allow: &AllowList,
    resolver: &Arc<dyn Resolver>,
    slot: &Arc<OwnedSemaphorePermit>,
) -> Result<Vec<SocketAddr>, EgressError> {
    check_target(url, allow)?;
    let port = port_of(url);
    let name = match url.host() {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(address)) => return Ok(vec![(address, port).into()]),
        Some(Host::Ipv6(address)) => return Ok(vec![(address, port).into()]),
        None => {
            return Err(EgressError::UnresolvableUrl { host: String::new() });
        }
    };
    let opened = allow.permits_name(&name, port);
    let addresses = look_up(name, resolver, slot).await;
    if addresses.is_empty() {
        return Err(EgressError::UnresolvableUrl { host: host_of(url) });
    }
    for address in &addresses {
        if !opened {
            check_address(url, *address, allow)?;
        }
    }
    Ok(addresses.into_iter().map(|address| (address, port).into()).collect())
}

/// The system's look-up cannot be cancelled: it occupies a thread until it returns. So it holds the caller's slot
/// until then, even after the deadline; else slow names could take up every thread.
async fn look_up(name: String, resolver: &Arc<dyn Resolver>, slot: &Arc<OwnedSemaphorePermit>) -> Vec<IpAddr> {
    let lookup = resolver.resolve(name);
    let slot = Arc::clone(slot);
    let running = tokio::spawn(async move {
        let found = lookup.await;
        drop(slot);
        found
    });
    match running.await {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(error)) => {
            tracing::debug!(%error, "look-up failed");
            Vec::new()
        }
        Err(error) => {
            tracing::error!(%error, "look-up task failed");
            Vec::new()
        }
    }
}
