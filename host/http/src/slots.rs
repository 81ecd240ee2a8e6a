//! How many connections may be open, in total and from one address. Rule: a slot comes back when its connection is gone, on
//! whatever way it went.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    Total,
    Address,
}

#[derive(Debug)]
pub struct Slots {
    total_max: usize,
    per_ip_max: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    per_ip: HashMap<IpAddr, usize>,
}

impl Slots {
    pub fn new(total_max: usize, per_ip_max: usize) -> Arc<Self> {
        Arc::new(Self { total_max, per_ip_max, open: Mutex::default() })
    }

    pub fn take(self: &Arc<Self>, ip: IpAddr) -> Result<Slot, Full> {
        let owner = owner(ip);
        let mut open = self.open.lock();
        if open.total >= self.total_max {
            return Err(Full::Total);
        }
        let of_owner = open.per_ip.entry(owner).or_default();
        if *of_owner >= self.per_ip_max {
            return Err(Full::Address);
        }
        *of_owner += 1;
        open.total += 1;
        Ok(Slot { slots: Arc::clone(self), owner })
    }
}

/// One host owns a whole IPv6 /64, and an IPv4 address however it is written.
pub fn owner(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX))),
        ip @ IpAddr::V4(_) => ip,
    }
}

#[derive(Debug)]
pub struct Slot {
    slots: Arc<Slots>,
    owner: IpAddr,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.slots.open.lock();
        open.total -= 1;
        if let Some(of_owner) = open.per_ip.get_mut(&self.owner) {
            *of_owner -= 1;
            if *of_owner == 0 {
                open.per_ip.remove(&self.owner);
            }
        }
    }
}
