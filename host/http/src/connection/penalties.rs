//! The pause for clients that break the rules of HTTP/2. There is no request whose response could wait, so the next
//! connections of HTTP/2 from that client network wait.
//!
//! The rules: people share addresses (an office, a carrier's NAT), so some breaches a minute are free, and connections of
//! HTTP/1 never wait. Behind a proxy of the operator every client has the proxy's address, so nobody waits. An old breach is
//! forgotten, so the list stays as short as the recent offenders.

use super::framing::starts_http2_preface;
use parking_lot::Mutex;
use plugin_api::host::client_network;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout};

/// Breaches within [`WINDOW`] that have no consequence.
const FREE_BREACHES: usize = 10;
const WINDOW: Duration = Duration::from_secs(60);
/// Above this many networks, old entries are removed.
const PRUNE_ABOVE: usize = 256;
/// So many bytes tell HTTP/2's connection preface from every request of HTTP/1.
const PREFACE_BYTES: usize = 3;

/// The networks that broke the rules lately.
#[derive(Debug)]
pub(crate) struct Penalties {
    is_enabled: bool,
    offenders: Mutex<HashMap<IpAddr, Offender>>,
}

#[derive(Debug)]
struct Offender {
    /// The latest breaches, the oldest first; no more than count.
    breaches: VecDeque<Instant>,
    wait_until: Instant,
}

impl Penalties {
    pub(crate) fn new(trusted_proxy_hops: usize) -> Self {
        Self { is_enabled: trusted_proxy_hops == 0, offenders: Mutex::default() }
    }

    /// Counts a breach. One above the free ones lets the network's next connections wait for `pause`.
    pub(crate) fn add(&self, ip: IpAddr, pause: Duration) {
        if self.is_enabled {
            self.add_at(ip, pause, Instant::now());
        }
    }

    fn add_at(&self, ip: IpAddr, pause: Duration, now: Instant) {
        let is_recent = |at: &Instant| now.duration_since(*at) < WINDOW;
        let mut offenders = self.offenders.lock();
        if offenders.len() > PRUNE_ABOVE {
            offenders.retain(|_, offender| offender.breaches.back().is_some_and(is_recent));
        }
        let new = || Offender { breaches: VecDeque::new(), wait_until: now };
        let offender = offenders.entry(client_network(ip)).or_insert_with(new);
        offender.breaches.push_back(now);
        while offender.breaches.len() > FREE_BREACHES + 1 || !offender.breaches.front().is_none_or(is_recent) {
            offender.breaches.pop_front();
        }
        if offender.breaches.len() > FREE_BREACHES {
            offender.wait_until = now + pause;
        }
    }

    fn wait_until(&self, ip: IpAddr) -> Option<Instant> {
        self.offenders.lock().get(&client_network(ip)).map(|offender| offender.wait_until)
    }

    /// Waits out the penalty of the connection's network; the connection is known to be one of HTTP/2.
    pub(crate) async fn wait_as_http2(&self, ip: IpAddr) {
        if let Some(until) = self.wait_until(ip) {
            sleep_until(until).await;
        }
    }

    /// Waits out the penalty of the connection's network when the connection begins as HTTP/2 does.
    pub(crate) async fn wait(&self, ip: IpAddr, stream: &TcpStream, head_timeout: Duration) {
        let Some(until) = self.wait_until(ip).filter(|until| *until > Instant::now()) else { return };
        if timeout(head_timeout, begins_http2(stream)).await.unwrap_or(false) {
            sleep_until(until).await;
        }
    }
}

/// Looks at the first bytes without taking them.
async fn begins_http2(stream: &TcpStream) -> bool {
    let mut first = [0; PREFACE_BYTES];
    match stream.peek(&mut first).await {
        Ok(0) | Err(_) => false,
        Ok(length) => starts_http2_preface(&first[..length]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const IP: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const PAUSE: Duration = Duration::from_secs(1);

    /// Breaches one after the other; whether the last one has a penalty.
    fn waits_after(gaps: impl IntoIterator<Item = Duration>) -> bool {
        let (penalties, mut now) = (Penalties::new(0), Instant::now());
        for gap in gaps {
            now += gap;
            penalties.add_at(IP, PAUSE, now);
        }
        penalties.wait_until(IP) == Some(now + PAUSE)
    }

    #[test]
    fn some_breaches_a_minute_are_free() {
        assert!(!waits_after([Duration::ZERO; FREE_BREACHES]));
        assert!(waits_after([Duration::ZERO; FREE_BREACHES + 1]));
        assert!(!waits_after([Duration::from_secs(6); FREE_BREACHES * 5]), "ten a minute, for five minutes");
        assert!(waits_after([Duration::from_secs(5); FREE_BREACHES + 1]));
    }

    #[test]
    fn another_network_is_not_concerned() {
        let (penalties, now) = (Penalties::new(0), Instant::now());
        (0..=FREE_BREACHES).for_each(|_| penalties.add_at(IP, PAUSE, now));
        assert_eq!(penalties.wait_until(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2))), None);
    }

    #[test]
    fn addresses_of_an_ipv6_network_are_one_offender() {
        let (penalties, now) = (Penalties::new(0), Instant::now());
        let ip = |network: u16, host: u16| IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, host]);
        (0..).take(FREE_BREACHES + 1).for_each(|host| penalties.add_at(ip(1, host), PAUSE, now));
        assert_eq!(penalties.wait_until(ip(1, 0xffff)), Some(now + PAUSE));
        assert_eq!(penalties.wait_until(ip(2, 1)), None);
    }

    #[test]
    fn behind_a_proxy_nobody_is_an_offender() {
        let penalties = Penalties::new(1);
        (0..=FREE_BREACHES).for_each(|_| penalties.add(IP, PAUSE));
        assert_eq!(penalties.wait_until(IP), None);
    }

    #[test]
    fn the_list_keeps_recent_offenders_only() {
        let (penalties, now) = (Penalties::new(0), Instant::now());
        let ip = |number: usize| IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(number).unwrap_or_default()));
        (0..=PRUNE_ABOVE).for_each(|number| penalties.add_at(ip(number), PAUSE, now));
        penalties.add_at(ip(PRUNE_ABOVE + 1), PAUSE, now + WINDOW);
        assert_eq!(penalties.offenders.lock().len(), 1);
    }
}
