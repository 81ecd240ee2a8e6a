//! What the clients may ask: the weight of their calls, and how many of their requests are answered at the same time. Rule: kept in
//! memory, as the gateway's limits per address are; each gateway counts its own.

use super::RpcError;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

const MINUTE_MS: i64 = 60_000;
/// Clients that are remembered. More at a time share one account.
const CLIENTS_MAX: usize = 50_000;
const OTHERS: &str = "others";

pub struct ClientLimits {
    per_minute: i64,
    requests_per_client_max: usize,
    requests_max: usize,
    clients: Arc<Mutex<Clients>>,
}

#[derive(Default)]
struct Clients {
    by_network: HashMap<String, Client>,
    in_flight: usize,
}

struct Client {
    /// What it may still ask, in weight × milliseconds, so that every millisecond gives a whole number back.
    credit: i64,
    updated_ms: i64,
    in_flight: usize,
}

/// A request that counts until it is dropped.
pub struct ClientRequest {
    network: String,
    clients: Arc<Mutex<Clients>>,
}

/// Why a request or call is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitExceeded {
    /// It weighs more than a client may ask in a minute.
    NeverFits,
    TooMuch {
        retry_after_s: u64,
    },
    /// Too many requests of this client wait.
    TooMany,
    /// Too many requests of all clients wait.
    Busy,
}

impl From<LimitExceeded> for RpcError {
    fn from(refused: LimitExceeded) -> Self {
        match refused {
            LimitExceeded::NeverFits => {
                Self::invalid_request("the batch weighs more than a client may ask in a minute: divide it")
            }
            LimitExceeded::TooMuch { retry_after_s } => {
                Self::rate_limited("limit exceeded: your network asks too much in a minute", retry_after_s)
            }
            LimitExceeded::TooMany => {
                Self::rate_limited("limit exceeded: too many requests of your network wait for answers", 1)
            }
            LimitExceeded::Busy => Self::busy("too many requests wait for the chain: repeat it"),
        }
    }
}

impl ClientLimits {
    pub fn new(weight_per_minute: u32, requests_per_client_max: usize, requests_max: usize) -> Self {
        let per_minute = i64::from(weight_per_minute);
        Self { per_minute, requests_per_client_max, requests_max, clients: Arc::default() }
    }

    /// Begins a request of this weight.
    pub fn begin(&self, network: &str, weight: u32, now_ms: i64) -> Result<ClientRequest, LimitExceeded> {
        let mut clients = self.locked();
        if clients.in_flight >= self.requests_max {
            return Err(LimitExceeded::Busy);
        }
        let (network, client) = clients.of(network, self.per_minute, now_ms);
        if client.in_flight >= self.requests_per_client_max {
            return Err(LimitExceeded::TooMany);
        }
        client.take(weight, self.per_minute, now_ms)?;
        client.in_flight += 1;
        clients.in_flight += 1;
        Ok(ClientRequest { network, clients: self.clients.clone() })
    }

    /// More weight of a request that has begun.
    pub fn take(&self, network: &str, weight: u32, now_ms: i64) -> Result<(), LimitExceeded> {
        let mut clients = self.locked();
        clients.of(network, self.per_minute, now_ms).1.take(weight, self.per_minute, now_ms)
    }

    pub fn in_flight(&self) -> usize {
        self.locked().in_flight
    }

    fn locked(&self) -> MutexGuard<'_, Clients> {
        locked(&self.clients)
    }
}

impl Clients {
    fn of(&mut self, network: &str, per_minute: i64, now_ms: i64) -> (String, &mut Client) {
        let is_new = !self.by_network.contains_key(network);
        if is_new && self.by_network.len() >= CLIENTS_MAX {
            self.by_network.retain(|_, client| client.in_flight > 0 || !client.is_full(per_minute, now_ms));
        }
        let is_full = self.by_network.len() >= CLIENTS_MAX;
        let name = if is_new && is_full { OTHERS } else { network };
        let full = Client { credit: per_minute * MINUTE_MS, updated_ms: now_ms, in_flight: 0 };
        (name.to_owned(), self.by_network.entry(name.to_owned()).or_insert(full))
    }
}

impl Client {
    fn credit_at(&self, per_minute: i64, now_ms: i64) -> i64 {
        let elapsed_ms = now_ms.saturating_sub(self.updated_ms).clamp(0, MINUTE_MS);
        (self.credit + elapsed_ms * per_minute).min(per_minute * MINUTE_MS)
    }

    fn is_full(&self, per_minute: i64, now_ms: i64) -> bool {
        self.credit_at(per_minute, now_ms) == per_minute * MINUTE_MS
    }

    fn take(&mut self, weight: u32, per_minute: i64, now_ms: i64) -> Result<(), LimitExceeded> {
        let cost = i64::from(weight) * MINUTE_MS;
        if cost > per_minute * MINUTE_MS {
            return Err(LimitExceeded::NeverFits);
        }
        self.credit = self.credit_at(per_minute, now_ms);
        self.updated_ms = now_ms;
        let lacking = cost - self.credit;
        if lacking > 0 {
            let retry_after_s = u64::try_from(lacking).unwrap_or_default().div_ceil(per_minute.unsigned_abs() * 1000);
            return Err(LimitExceeded::TooMuch { retry_after_s });
        }
        self.credit -= cost;
        Ok(())
    }
}

impl Drop for ClientRequest {
    fn drop(&mut self) {
        let mut clients = locked(&self.clients);
        clients.in_flight -= 1;
        if let Some(client) = clients.by_network.get_mut(&self.network) {
            client.in_flight -= 1;
        }
    }
}

/// Counts are whole after each statement, also when another thread panicked in between.
fn locked(clients: &Mutex<Clients>) -> MutexGuard<'_, Clients> {
    clients.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_client_asks_so_much_in_a_minute() {
        let limits = ClientLimits::new(600, 10, 10);
        for _ in 0..6 {
            drop(limits.begin("a", 100, 0).unwrap());
        }
        assert_eq!(limits.begin("a", 1, 0).err(), Some(LimitExceeded::TooMuch { retry_after_s: 1 }));
        assert_eq!(limits.begin("a", 100, 0).err(), Some(LimitExceeded::TooMuch { retry_after_s: 10 }));
        assert_eq!(limits.begin("a", 601, 0).err(), Some(LimitExceeded::NeverFits));
        // Another client has its own share, and a refused call costs nothing.
        assert!(limits.begin("b", 600, 0).is_ok());
        assert!(limits.begin("a", 100, 10_000).is_ok());
        assert_eq!(limits.take("a", 1, 10_000), Err(LimitExceeded::TooMuch { retry_after_s: 1 }));
        // A clock that goes back gives nothing.
        assert_eq!(limits.take("a", 1, 0), Err(LimitExceeded::TooMuch { retry_after_s: 1 }));
        assert_eq!(limits.take("a", 600, 999_000), Ok(()));
    }

    #[test]
    fn so_many_requests_wait_at_a_time() {
        let limits = ClientLimits::new(600, 2, 3);
        let first = [limits.begin("a", 1, 0).unwrap(), limits.begin("a", 1, 0).unwrap()];
        assert_eq!(limits.begin("a", 1, 0).err(), Some(LimitExceeded::TooMany));
        let other = limits.begin("b", 1, 0).unwrap();
        assert_eq!((limits.begin("c", 1, 0).err(), limits.in_flight()), (Some(LimitExceeded::Busy), 3));
        drop((first, other));
        assert_eq!(limits.in_flight(), 0);
        assert!(limits.begin("a", 1, 0).is_ok());
    }

    #[test]
    fn many_clients_need_bounded_memory() {
        let limits = ClientLimits::new(600, 2, 3);
        for number in 0..CLIENTS_MAX + 10 {
            drop(limits.begin(&number.to_string(), 60, 0).unwrap_or_else(|refused| {
                assert!(number >= CLIENTS_MAX, "{refused:?}");
                limits.begin("0", 0, 0).unwrap()
            }));
        }
        assert_eq!(limits.locked().by_network.len(), CLIENTS_MAX + 1);
        // Those that ask nothing for a while are forgotten.
        drop(limits.begin("new", 1, 120_000).unwrap());
        assert_eq!(limits.locked().by_network.len(), 1);
    }
}
