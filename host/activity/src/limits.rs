//! Limits on open streams.

use parking_lot::Mutex;
use std::{collections::HashMap, net::IpAddr, sync::Arc};

/// Counts the open streams, in total and by client address.
#[derive(Clone, Debug)]
pub struct StreamLimits {
    counts: Arc<Mutex<Counts>>,
    total_max: usize,
    per_ip_max: usize,
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
    ip: IpAddr,
}

impl StreamLimits {
    pub fn new(total_max: usize, per_ip_max: usize) -> Self {
        Self { counts: Arc::default(), total_max, per_ip_max }
    }

    /// Returns None when a limit is reached.
    pub fn acquire(&self, ip: IpAddr) -> Option<StreamSlot> {
        let mut counts = self.counts.lock();
        let of_ip = counts.by_ip.get(&ip).copied().unwrap_or_default();
        if counts.total >= self.total_max || of_ip >= self.per_ip_max {
            return None;
        }
        counts.total += 1;
        counts.by_ip.insert(ip, of_ip + 1);
        Some(StreamSlot { limits: self.clone(), ip })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut counts = self.limits.counts.lock();
        counts.total -= 1;
        if let Some(of_ip) = counts.by_ip.get_mut(&self.ip) {
            *of_ip -= 1;
            if *of_ip == 0 {
                counts.by_ip.remove(&self.ip);
            }
        }
    }
}
