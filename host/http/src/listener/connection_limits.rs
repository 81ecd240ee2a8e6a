//! How many connections may be open, in total and from one client network. Rule: a permit is returned when its
//! connection is gone, however it ended.

use parking_lot::Mutex;
use plugin_api::host::client_network;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitReached {
    Total,
    Address,
}

#[derive(Debug)]
pub(crate) struct ConnectionLimits {
    total_max: usize,
    per_ip_max: usize,
    counts: Mutex<ConnectionCounts>,
}

#[derive(Debug, Default)]
struct ConnectionCounts {
    total: usize,
    per_network: HashMap<IpAddr, usize>,
}

impl ConnectionLimits {
    pub(crate) fn new(total_max: usize, per_ip_max: usize) -> Arc<Self> {
        Arc::new(Self { total_max, per_ip_max, counts: Mutex::default() })
    }

    pub(crate) fn try_acquire(self: &Arc<Self>, ip: IpAddr) -> Result<ConnectionPermit, LimitReached> {
        let network = client_network(ip);
        let mut counts = self.counts.lock();
        if counts.total >= self.total_max {
            metrics::counter!("gateway_limits_refused_total", "limit" => "connections").increment(1);
            return Err(LimitReached::Total);
        }
        let count = counts.per_network.entry(network).or_default();
        if *count >= self.per_ip_max {
            metrics::counter!("gateway_limits_refused_total", "limit" => "connections_per_ip").increment(1);
            return Err(LimitReached::Address);
        }
        *count += 1;
        counts.total += 1;
        Ok(ConnectionPermit { limits: Arc::clone(self), network })
    }
}

#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    limits: Arc<ConnectionLimits>,
    network: IpAddr,
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut counts = self.limits.counts.lock();
        counts.total -= 1;
        if let Some(count) = counts.per_network.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                counts.per_network.remove(&self.network);
            }
        }
    }
}
