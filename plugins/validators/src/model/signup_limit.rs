//! Limit of new entries per client. It is kept in memory, because it needs no guarantee: a restart resets it, and the clients'
//! addresses are not stored.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

const WINDOW_S: i64 = 3600;
/// Maximum number of clients in memory; beyond it within an hour, clients count as new ones.
const CLIENTS_MAX: usize = 100_000;

#[derive(Debug)]
pub struct SignupLimit {
    per_hour: usize,
    seen: Mutex<HashMap<String, VecDeque<i64>>>,
}

impl SignupLimit {
    pub fn new(per_hour: u32) -> Self {
        Self { per_hour: usize::try_from(per_hour).unwrap_or(usize::MAX), seen: Mutex::default() }
    }

    /// Counts a new entry, or returns the seconds until the next one is allowed.
    pub fn acquire(&self, client: &str, now_s: i64) -> Result<(), i64> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= CLIENTS_MAX {
            seen.retain(|_, times| times.back().is_some_and(|last| *last > now_s - WINDOW_S));
        }
        let times = seen.entry(client.to_owned()).or_default();
        while times.front().is_some_and(|first| *first <= now_s - WINDOW_S) {
            times.pop_front();
        }
        match times.front() {
            Some(first) if times.len() >= self.per_hour => Err((first + WINDOW_S - now_s).max(1)),
            _ => {
                times.push_back(now_s);
                Ok(())
            }
        }
    }

    /// Uncounts an entry that was not stored.
    pub fn release(&self, client: &str) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(times) = seen.get_mut(client) {
            times.pop_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_a_limit_per_hour() {
        let limit = SignupLimit::new(2);
        assert_eq!((limit.acquire("a", 100), limit.acquire("a", 200)), (Ok(()), Ok(())));
        assert_eq!(limit.acquire("a", 300), Err(3400));
        assert_eq!(limit.acquire("b", 300), Ok(()));
        assert_eq!((limit.acquire("a", 3700), limit.acquire("a", 3701)), (Ok(()), Err(99)));
        limit.release("a");
        assert_eq!(limit.acquire("a", 3701), Ok(()));
    }
}
