//! Resolves a name to addresses, all of which were checked.
//!
//! The rule that must not break: what is connected to is what was checked, with no second look-up in between, and if any address
//! is special, none is used. Choosing the public ones would let an attacker probe which internal addresses accept connections.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use futures_util::future::BoxFuture;
use tokio::sync::OwnedSemaphorePermit;
use url::{Host, Url};

use super::{
    allow_list::AllowList,
    error::EgressError,
    url_check::{check_address, host_of, port_of},
};

/// The source of addresses. Tests replace the system's with their own.
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of `name`, unchecked. An error or an empty list means that it does not resolve.
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver, with its hosts file and search domains.
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name, 0)).await?;
            Ok(addresses.map(|socket| socket.ip()).collect())
        })
    }
}

/// The addresses that requests to this origin may connect to: never empty, and each is public or allowed by the operator.
pub(super) async fn checked_addresses(
    url: &Url,
    allow: &AllowList,
    resolver: &Arc<dyn Resolver>,
    slot: &Arc<OwnedSemaphorePermit>,
) -> Result<Vec<SocketAddr>, EgressError> {
    let port = port_of(url);
    let name = match url.host() {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(address)) => return Ok(vec![(address, port).into()]),
        Some(Host::Ipv6(address)) => return Ok(vec![(address, port).into()]),
        None => {
            return Err(EgressError::UnresolvableUrl { host: String::new() });
        }
    };
    let is_name_allowed = allow.permits_name(&name, port);
    let addresses = resolve_name(name, resolver, slot).await;
    if addresses.is_empty() {
        return Err(EgressError::UnresolvableUrl { host: host_of(url) });
    }
    for address in &addresses {
        if !is_name_allowed {
            check_address(url, *address, allow)?;
        }
    }
    Ok(addresses.into_iter().map(|address| (address, port).into()).collect())
}

/// The system's resolver cannot be cancelled: it occupies a thread until it returns. So it holds the caller's slot
/// until then, even after the deadline; otherwise slow names could occupy every thread.
async fn resolve_name(name: String, resolver: &Arc<dyn Resolver>, slot: &Arc<OwnedSemaphorePermit>) -> Vec<IpAddr> {
    let resolving = resolver.resolve(name);
    let slot = Arc::clone(slot);
    let task = tokio::spawn(async move {
        let addresses = resolving.await;
        drop(slot);
        addresses
    });
    match task.await {
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
