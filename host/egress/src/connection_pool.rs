//! The checked addresses of origins, and the idle connections to them. All plugins share these: what a connection carried before
//! has no influence on the next request.
//!
//! The rule that must not break: a request goes only to an address that the latest check of its origin's name has passed, and that
//! check is at most `resolve_interval_ms` old. Connections to other addresses are closed when a check drops these.

use super::{
    error::BoxError,
    pinned_client::{ClientSettings, PinnedClient},
    settings::EgressSettings,
};
use lru::LruCache;
use parking_lot::Mutex;
use std::{net::SocketAddr, num::NonZeroUsize, time::Duration};
use tokio::time::Instant;
use url::Origin;

pub(super) struct ConnectionPool {
    clients: ClientSettings,
    connect_timeout: Duration,
    resolve_interval: Duration,
    /// By their last use.
    origins: Mutex<LruCache<Origin, CheckedOrigin>>,
}

struct CheckedOrigin {
    checked_at: Instant,
    /// In the order in which they are tried.
    addresses: Vec<SocketAddr>,
    /// Each connects to one of the addresses and keeps its idle connections.
    clients: Vec<(SocketAddr, PinnedClient)>,
}

/// How many addresses of a name a request tries.
pub(super) const ADDRESSES_TRIED_MAX: usize = 3;
/// The connections of the origin that was used longest ago are closed when there are more.
const ORIGINS_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(127);

impl ConnectionPool {
    pub(crate) fn new(clients: ClientSettings, settings: &EgressSettings) -> Self {
        Self {
            clients,
            connect_timeout: Duration::from_millis(settings.connect_timeout_ms),
            resolve_interval: Duration::from_millis(settings.resolve_interval_ms),
            origins: Mutex::new(LruCache::new(ORIGINS_MAX)),
        }
    }

    /// The addresses of the latest check, unless its time is over.
    pub(crate) fn addresses(&self, origin: &Origin, now: Instant) -> Option<Vec<SocketAddr>> {
        let mut origins = self.origins.lock();
        let checked = origins.get(origin)?;
        let is_valid = now.saturating_duration_since(checked.checked_at) < self.resolve_interval;
        is_valid.then(|| checked.addresses.clone())
    }

    /// The outcome of a check that began at that time: no address when the name does not resolve, or to one that may not be called.
    pub(crate) fn store_addresses(&self, origin: &Origin, addresses: &[SocketAddr], checked_at: Instant) {
        let mut origins = self.origins.lock();
        if addresses.is_empty() {
            origins.pop(origin);
            return;
        }
        let mut clients = origins.pop(origin).map(|known| known.clients).unwrap_or_default();
        // A client closes its idle connections when it is dropped.
        clients.retain(|(address, _)| addresses.contains(address));
        let checked = CheckedOrigin { checked_at, addresses: addresses.to_vec(), clients };
        origins.put(origin.clone(), checked);
    }

    /// The client that connects to this address, one of [`Self::addresses`].
    pub(crate) fn client(&self, origin: &Origin, address: SocketAddr) -> Result<PinnedClient, BoxError> {
        let mut origins = self.origins.lock();
        let checked = origins.get_mut(origin).filter(|checked| checked.addresses.contains(&address));
        let Some(checked) = checked else {
            // Another check came in between: the address was valid when this request began, and nothing of it is kept.
            return self.new_client(origin, address, 1);
        };
        if let Some((_, client)) = checked.clients.iter().find(|(known, _)| *known == address) {
            return Ok(client.clone());
        }
        let client = self.new_client(origin, address, checked.addresses.len())?;
        checked.clients.push((address, client.clone()));
        Ok(client)
    }

    /// The address accepted no connection: until the next check the others are tried before it.
    pub(crate) fn move_to_last(&self, origin: &Origin, address: SocketAddr) {
        let mut origins = self.origins.lock();
        if let Some(checked) = origins.get_mut(origin)
            && let Some(at) = checked.addresses.iter().position(|known| *known == address)
        {
            checked.addresses[at..].rotate_left(1);
        }
    }

    /// The addresses that are tried share the time for a connection.
    fn new_client(&self, origin: &Origin, address: SocketAddr, addresses: usize) -> Result<PinnedClient, BoxError> {
        let tried = u32::try_from(addresses.clamp(1, ADDRESSES_TRIED_MAX)).unwrap_or(1);
        PinnedClient::new(origin, address, &self.clients, self.connect_timeout / tried)
    }
}
