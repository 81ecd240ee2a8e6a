//! The caps. The rule: they are counted by [`take`] in the transaction that records what they limit; [`check`] only reads.

use crate::{config::Config, error::RelayError};
use plugin_api::{
    Address, HandlerError, HostError, Query, Sql, Tx,
    counter::{Count, Counter},
};

pub const DAY_S: i64 = 86_400;
/// A /48 has so many times the cap of a /64.
const SITE_FACTOR: i64 = 4;
/// The key of the counters of everything.
const ALL: &str = "";

const CALLS_OF_ACCOUNT: Counter = counter("call_account");
const CALLS_OF_CLIENT: Counter = counter("call_client");
const CALLS_OF_SITE: Counter = counter("call_site");
const CALLS: Counter = counter("call_day");
const CREATES_OF_OWNER: Counter = counter("create_owner");
const CREATES_OF_CLIENT: Counter = counter("create_client");
const CREATES_OF_SITE: Counter = counter("create_site");
const CREATES: Counter = counter("create_day");

const fn counter(name: &'static str) -> Counter {
    Counter::new("relay_counters", name, DAY_S)
}

/// Keyed hashes of the networks that a request came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    pub network: Option<String>,
    /// Of IPv6 only.
    pub site: Option<String>,
}

/// One cap that something has a share of.
#[derive(Clone, Debug)]
pub struct Share {
    counter: Counter,
    key: String,
    limit: i64,
    /// Whose cap it is; the network's refuses with another code.
    what: &'static str,
    is_network: bool,
}

impl Share {
    fn full(&self, retry_after_s: i64) -> RelayError {
        let what = self.what;
        match self.is_network {
            true => RelayError::DailyCap { what, retry_after_s },
            false => RelayError::Limit { what, retry_after_s },
        }
    }
}

/// What a call uses, in the order of the checks: the account's share first.
pub fn of_call(config: &Config, account: &str, client: &Client) -> Vec<Share> {
    let own = share(CALLS_OF_ACCOUNT, Some(account), config.account_per_day, "calls of the account");
    let of_client = (CALLS_OF_CLIENT, CALLS_OF_SITE, config.ip_per_day, "calls of your network");
    shares(own, of_client, client, network(CALLS, config.per_day, "calls"))
}

/// What the creation of an account uses.
pub fn of_account(config: &Config, owner_share: &str, client: &Client) -> Vec<Share> {
    let own = share(CREATES_OF_OWNER, Some(owner_share), config.creates_per_owner, "accounts of the owner");
    let of_client = (CREATES_OF_CLIENT, CREATES_OF_SITE, config.creates_per_ip, "accounts of your network");
    shares(own, of_client, client, network(CREATES, config.creates_per_day, "accounts"))
}

/// Anybody can create accounts for an owner. The one without salt has a share of its own, so that nobody takes that from him.
pub fn owner_share(owner: Address, is_salt_zero: bool) -> String {
    format!("{owner} {}", if is_salt_zero { "zero" } else { "other" })
}

fn shares(
    own: Option<Share>,
    (of_network, of_site, limit, what): (Counter, Counter, i64, &'static str),
    client: &Client,
    all: Share,
) -> Vec<Share> {
    let network = share(of_network, client.network.as_deref(), limit, what);
    let site = share(of_site, client.site.as_deref(), limit * SITE_FACTOR, what);
    own.into_iter().chain(network).chain(site).chain([all]).collect()
}

fn share(counter: Counter, key: Option<&str>, limit: i64, what: &'static str) -> Option<Share> {
    key.map(|key| Share { counter, key: key.to_owned(), limit, what, is_network: false })
}

fn network(counter: Counter, limit: i64, what: &'static str) -> Share {
    Share { counter, key: ALL.to_owned(), limit, what, is_network: true }
}

/// Whether each has room for one more, without counting it.
pub async fn check(db: &impl Query, shares: &[Share], now_s: i64) -> Result<(), HandlerError<RelayError>> {
    for share in shares {
        if share.counter.used(db, &share.key, now_s).await? >= share.limit {
            return Err(share.full(DAY_S - now_s.rem_euclid(DAY_S)).into());
        }
    }
    Ok(())
}

/// Counts one more for each; returns what the first one has left.
pub async fn take(tx: &Tx, shares: &[Share]) -> Result<i64, HandlerError<RelayError>> {
    let mut left = None;
    for share in shares {
        match share.counter.take(tx, &share.key, 1, share.limit).await? {
            Count::Counted { used } => left = left.or(Some(share.limit - used)),
            Count::Full { retry_after_s } => return Err(share.full(retry_after_s).into()),
        }
    }
    Ok(left.unwrap_or_default())
}

/// Gives back what was counted at that time.
pub async fn give_back(tx: &Tx, shares: &[Share], counted_at_s: i64) -> Result<(), HostError> {
    for share in shares {
        share.counter.give_back(tx, &share.key, 1, counted_at_s).await?;
    }
    Ok(())
}

/// Calls of the day of this time.
pub async fn calls_used(db: &impl Query, now_s: i64) -> Result<i64, HostError> {
    CALLS.used(db, ALL, now_s).await
}

/// Deletes what is not needed any more. The rows of a day hold what was counted since its midnight: they go at the midnight after the
/// next, so that hashes of clients are at most 48 hours old.
pub fn prune(now_s: i64) -> Vec<Sql> {
    let short =
        [CALLS_OF_ACCOUNT, CALLS_OF_CLIENT, CALLS_OF_SITE, CREATES_OF_OWNER, CREATES_OF_CLIENT, CREATES_OF_SITE];
    let long = [CALLS, CREATES].map(|counter| counter.delete_before(now_s - 90 * DAY_S));
    short.iter().map(|counter| counter.delete_before(now_s - DAY_S)).chain(long).collect()
}
