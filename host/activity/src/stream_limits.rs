//! Limits on open streams.

use parking_lot::Mutex;
use plugin_api::host::client_network;
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// Counts the open streams of each route, in total and by client network.
#[derive(Clone, Debug)]
pub struct StreamLimits {
    /// By the route's operation.
    counts: Arc<Mutex<HashMap<String, Counts>>>,
    maxima: Arc<Maxima>,
}

/// They can change while streams are open.
#[derive(Debug)]
struct Maxima {
    total: AtomicUsize,
    per_ip: AtomicUsize,
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_ip: HashMap<IpAddr, usize>,
}

/// One open stream; dropping it frees the slot.
#[derive(Debug)]
pub struct StreamSlot {
    limits: StreamLimits,
    route: String,
    ip: IpAddr,
}

impl StreamLimits {
    pub fn new(total_max: usize, per_ip_max: usize) -> Self {
        let maxima = Maxima { total: total_max.into(), per_ip: per_ip_max.into() };
        Self { counts: Arc::default(), maxima: Arc::new(maxima) }
    }

    /// For streams that are opened from now on.
    pub fn set(&self, total_max: usize, per_ip_max: usize) {
        self.maxima.total.store(total_max, Relaxed);
        self.maxima.per_ip.store(per_ip_max, Relaxed);
    }

    /// The open streams of each route that has had one, by its operation.
    pub fn open(&self) -> Vec<(String, usize)> {
        let mut open: Vec<(String, usize)> =
            self.counts.lock().iter().map(|(route, counts)| (route.clone(), counts.total)).collect();
        open.sort();
        open
    }

    /// Returns None when a limit of that route is reached. Counts the client's network.
    pub fn acquire(&self, route: &str, ip: IpAddr) -> Option<StreamSlot> {
        let ip = client_network(ip);
        let mut routes = self.counts.lock();
        let counts = routes.entry(route.to_owned()).or_default();
        let of_ip = counts.by_ip.get(&ip).copied().unwrap_or_default();
        if counts.total >= self.maxima.total.load(Relaxed) || of_ip >= self.maxima.per_ip.load(Relaxed) {
            metrics::counter!("gateway_limits_refused_total", "limit" => "streams").increment(1);
            return None;
        }
        counts.total += 1;
        counts.by_ip.insert(ip, of_ip + 1);
        Some(StreamSlot { limits: self.clone(), route: route.to_owned(), ip })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut routes = self.limits.counts.lock();
        let Some(counts) = routes.get_mut(&self.route) else { return };
        counts.total -= 1;
        if let Some(of_ip) = counts.by_ip.get_mut(&self.ip) {
            *of_ip -= 1;
            if *of_ip == 0 {
                counts.by_ip.remove(&self.ip);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_route_has_its_own_slots() {
        let limits = StreamLimits::new(3, 2);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let first = limits.acquire("a", one);
        let _second = limits.acquire("a", one);
        assert!(first.is_some() && limits.acquire("a", one).is_none(), "two for an address");
        let _third = limits.acquire("a", other);
        assert!(limits.acquire("a", other).is_none(), "three in all");
        assert!(limits.acquire("b", one).is_some());
        drop(first);
        assert!(limits.acquire("a", other).is_some());
    }

    #[test]
    fn all_addresses_of_an_ipv6_network_are_one_client() {
        let limits = StreamLimits::new(10, 1);
        let acquire = |ip: &str| ip.parse().ok().and_then(|ip| limits.acquire("a", ip));
        let first = acquire("2001:db8::1");
        assert!(first.is_some() && acquire("2001:db8::2").is_none());
        assert!(acquire("2001:db8:0:1::1").is_some());
        drop(first);
        assert!(acquire("2001:db8::2").is_some(), "its slot is free again");
    }
}
