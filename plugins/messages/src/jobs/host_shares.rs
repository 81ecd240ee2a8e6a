//! Each host's share of the requests that run at the same time, so that slow agents of one party hold up nobody else's messages.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Requests to one host at a time.
pub const REQUESTS_PER_HOST: u32 = 2;

#[derive(Clone, Default)]
pub struct HostShares(Arc<Mutex<HashMap<String, u32>>>);

/// One request to a host; dropping it frees the place.
pub struct HostShare {
    shares: HostShares,
    host: String,
}

impl HostShares {
    /// `None` when the host has its share of requests.
    pub fn acquire(&self, host: &str) -> Option<HostShare> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = running.entry(host.to_owned()).or_default();
        if *count >= REQUESTS_PER_HOST {
            return None;
        }
        *count += 1;
        Some(HostShare { shares: self.clone(), host: host.to_owned() })
    }

    /// Hosts that have their share.
    pub fn busy(&self) -> Vec<String> {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().filter(|(_, count)| **count >= REQUESTS_PER_HOST).map(|(host, _)| host.clone()).collect()
    }
}

impl Drop for HostShare {
    fn drop(&mut self) {
        let mut running = self.shares.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.host) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.host);
            }
        }
    }
}
