//! How many new entries come from one client. A politeness, so it is kept in memory: a restart forgets it, and the addresses
//! of clients are stored nowhere.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

const WINDOW_S: i64 = 3600;
/// Clients that are remembered; more than that within an hour are not told apart from new ones.
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

    /// Takes a place for a new entry, or tells in how many seconds there is one.
    pub fn take(&self, client: &str, now_s: i64) -> Result<(), i64> {
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

    /// Gives back the place of an entry that did not come to be.
    pub fn give_back(&self, client: &str) {
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
    fn a_client_has_so_many_places_an_hour() {
        let limit = SignupLimit::new(2);
        assert_eq!((limit.take("a", 100), limit.take("a", 200)), (Ok(()), Ok(())));
        assert_eq!(limit.take("a", 300), Err(3400));
        assert_eq!(limit.take("b", 300), Ok(()));
        assert_eq!((limit.take("a", 3700), limit.take("a", 3701)), (Ok(()), Err(99)));
        limit.give_back("a");
        assert_eq!(limit.take("a", 3701), Ok(()));
    }
}
