//! Counts the calls of clients in a sliding window. Rule: of one client at most so many calls pass in any span of the window's
//! length, wherever it begins. (A bucket that refills lets twice as many through: a full bucket, and what refills meanwhile.)
//!
//! The time of each call is kept until it leaves the window, so the memory follows the number of calls in the last window.

use parking_lot::Mutex;
use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    net::IpAddr,
    time::{Duration, Instant},
};

/// Clients are spread over so many locks.
const SHARDS: usize = 16;

pub(crate) struct CallWindow {
    calls_max: usize,
    window: Duration,
    shards: [Mutex<HashMap<IpAddr, Calls>>; SHARDS],
    hasher: RandomState,
}

/// When the calls that passed came, the oldest first; no more than may pass in a window.
type Calls = VecDeque<Instant>;

impl CallWindow {
    pub(crate) fn new(calls_max: u32, window: Duration) -> Self {
        let calls_max = usize::try_from(calls_max).unwrap_or(usize::MAX);
        Self { calls_max, window, shards: Default::default(), hasher: RandomState::new() }
    }

    /// Counts a call and returns how many more may follow at once, or how long to wait for the next one.
    pub(crate) fn count(&self, client: IpAddr, now: Instant) -> Result<usize, Duration> {
        let mut clients = self.shard(client).lock();
        let calls = clients.entry(client).or_default();
        self.forget_old(calls, now);
        match calls.front() {
            Some(oldest) if calls.len() >= self.calls_max => {
                Err((*oldest + self.window).saturating_duration_since(now))
            }
            _ => {
                calls.push_back(now);
                Ok(self.calls_max - calls.len())
            }
        }
    }

    /// Drops the clients whose calls have all left the window.
    pub(crate) fn forget_idle(&self, now: Instant) {
        for shard in &self.shards {
            let mut clients = shard.lock();
            clients.retain(|_, calls| calls.back().is_some_and(|newest| !self.has_left(*newest, now)));
            clients.shrink_to_fit();
        }
    }

    fn forget_old(&self, calls: &mut Calls, now: Instant) {
        while calls.front().is_some_and(|oldest| self.has_left(*oldest, now)) {
            calls.pop_front();
        }
    }

    fn has_left(&self, call: Instant, now: Instant) -> bool {
        now.saturating_duration_since(call) >= self.window
    }

    fn shard(&self, client: IpAddr) -> &Mutex<HashMap<IpAddr, Calls>> {
        let hash = usize::try_from(self.hasher.hash_one(client) % SHARDS as u64).unwrap_or_default();
        &self.shards[hash]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    const WINDOW: Duration = Duration::from_secs(60);

    fn client(number: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, number))
    }

    #[test]
    fn a_full_window_waits_for_its_oldest_call() {
        let (limit, start) = (CallWindow::new(3, WINDOW), Instant::now());
        let at = |seconds: u64| limit.count(client(1), start + Duration::from_secs(seconds));
        assert_eq!([at(0), at(10), at(20)], [Ok(2), Ok(1), Ok(0)]);
        assert_eq!(at(20), Err(Duration::from_secs(40)));
        assert_eq!(at(59), Err(Duration::from_secs(1)));
        assert_eq!([at(60), at(60)], [Ok(0), Err(Duration::from_secs(10))]);
        assert_eq!(limit.count(client(2), start), Ok(2), "another client is not concerned");
    }

    #[test]
    fn idle_clients_are_forgotten() {
        let (limit, start) = (CallWindow::new(3, WINDOW), Instant::now());
        for (number, seconds) in [(1, 0), (2, 30)] {
            assert!(limit.count(client(number), start + Duration::from_secs(seconds)).is_ok());
        }
        limit.forget_idle(start + WINDOW);
        let kept: usize = limit.shards.iter().map(|shard| shard.lock().len()).sum();
        assert_eq!(kept, 1);
    }

    proptest! {
        /// Whenever calls come, no span of the window's length holds more than may pass, and a client that heeds the wait passes.
        #[test]
        fn never_more_than_so_many_in_any_window(gaps_ms in prop::collection::vec(0_u64..20_000, 1..200), calls_max in 1_u32..8) {
            let limit = CallWindow::new(calls_max, WINDOW);
            let (mut now, mut passed) = (Instant::now(), Vec::new());
            for gap_ms in gaps_ms {
                now += Duration::from_millis(gap_ms);
                match limit.count(client(1), now) {
                    Ok(_) => passed.push(now),
                    Err(wait) => {
                        prop_assert!(wait > Duration::ZERO && wait <= WINDOW);
                        now += wait;
                        prop_assert!(limit.count(client(1), now).is_ok());
                        passed.push(now);
                    }
                }
            }
            for first in &passed {
                let within = passed.iter().filter(|at| *at >= first && at.duration_since(*first) < WINDOW).count();
                prop_assert!(within <= calls_max as usize, "{within} calls in a window");
            }
        }
    }
}
