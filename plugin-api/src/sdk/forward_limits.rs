//! How many forwarded calls wait for answers at the same time.

use super::ForwardError;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Limits of the calls that wait for answers: of all, and of those to one provider, so that a slow one costs others nothing. Kept in
/// the plugin's memory, so each gateway counts its own.
///
/// ```
/// use plugin_api::response::{ForwardError, ForwardLimits};
///
/// let limits = ForwardLimits::new(64, 1);
/// let call = limits.begin(7)?;
/// assert!(matches!(limits.begin(7), Err(ForwardError::Busy { .. })));
/// assert_eq!(limits.check(8), Ok(()));
/// drop(call);
/// assert_eq!((limits.check(7), limits.count()), (Ok(()), 0));
/// # Ok::<(), ForwardError>(())
/// ```
#[derive(Debug)]
pub struct ForwardLimits {
    all_max: usize,
    per_provider_max: usize,
    /// Providers with a call, by id.
    calls: Arc<Mutex<HashMap<i64, usize>>>,
}

/// A call that counts until it is dropped.
#[derive(Debug)]
pub struct ForwardedCall {
    provider: i64,
    calls: Arc<Mutex<HashMap<i64, usize>>>,
}

impl ForwardLimits {
    pub fn new(all_max: usize, per_provider_max: usize) -> Self {
        Self { all_max, per_provider_max, calls: Arc::default() }
    }

    /// Whether a call could begin now: for the price of a request, so that nobody pays to be refused.
    pub fn check(&self, provider: i64) -> Result<(), ForwardError> {
        self.check_in(&locked(&self.calls), provider)
    }

    /// Counts a call; refuses it as [`ForwardError::Busy`] when there are too many.
    pub fn begin(&self, provider: i64) -> Result<ForwardedCall, ForwardError> {
        let mut calls = locked(&self.calls);
        self.check_in(&calls, provider)?;
        *calls.entry(provider).or_default() += 1;
        Ok(ForwardedCall { provider, calls: self.calls.clone() })
    }

    /// How many calls wait for answers now.
    pub fn count(&self) -> usize {
        locked(&self.calls).values().sum()
    }

    fn check_in(&self, calls: &HashMap<i64, usize>, provider: i64) -> Result<(), ForwardError> {
        let own = calls.get(&provider).copied().unwrap_or_default();
        let has_place = own < self.per_provider_max && calls.values().sum::<usize>() < self.all_max;
        if has_place { Ok(()) } else { Err(ForwardError::BUSY) }
    }
}

impl Drop for ForwardedCall {
    fn drop(&mut self) {
        let mut calls = locked(&self.calls);
        if let Some(count) = calls.get_mut(&self.provider) {
            *count -= 1;
            if *count == 0 {
                calls.remove(&self.provider);
            }
        }
    }
}

/// Counts are whole after each statement, also when another thread panicked in between.
fn locked(calls: &Mutex<HashMap<i64, usize>>) -> MutexGuard<'_, HashMap<i64, usize>> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn calls_are_limited_per_provider_and_in_all() {
        let limits = ForwardLimits::new(3, 2);
        let first = limits.begin(1).unwrap();
        let second = limits.begin(1).unwrap();
        assert_eq!(limits.check(1), Err(ForwardError::BUSY));
        let other = limits.begin(2).unwrap();
        assert_eq!(limits.begin(3).unwrap_err(), ForwardError::BUSY);
        assert_eq!(limits.count(), 3);
        drop(first);
        assert_eq!(limits.check(1), Ok(()));
        drop((second, other));
        assert_eq!(limits.count(), 0);
        assert!(locked(&limits.calls).is_empty(), "no provider is remembered");
    }
}
