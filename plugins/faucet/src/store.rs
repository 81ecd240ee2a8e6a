//! The SQL of drips and of the caps that are counted with them.

use crate::{
    config::Config,
    error::FaucetError,
    model::{Budget, DAY_S},
};
use plugin_api::{
    Address, HandlerError, HostError, Query, Sql, Tx,
    chain::IntentEnd,
    counter::{Count, Counter},
    sql,
};
use serde::Deserialize;

const CLIENTS: Counter = Counter::new("faucet_counters", "client", DAY_S);
const SITES: Counter = Counter::new("faucet_counters", "site", DAY_S);
const DRIPS: Counter = Counter::new("faucet_counters", "day", DAY_S);
/// The key of the counter of all drips.
const ALL: &str = "";
/// A /48 has so many times the cap of a /64.
const SITE_FACTOR: i64 = 4;
/// A drip counts as outstanding for so long after it was seen in a block: the server that tells the balance may be behind the one that
/// told of the block.
const BALANCE_LAG_S: i64 = 60;

/// Keyed hashes of the networks that a request came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    pub network: String,
    /// Of IPv6 only.
    pub site: Option<String>,
}

/// What a drip uses of the caps; the outer error is the database's.
type HandlerResult = Result<(), HandlerError<FaucetError>>;

/// Whether the caps leave room for one more drip, without counting it.
pub async fn check_client(db: &impl Query, config: &Config, client: &Client, now_s: i64) -> HandlerResult {
    let is_full = CLIENTS.used(db, &client.network, now_s).await? >= config.ip_per_day;
    let is_site_full = match &client.site {
        Some(site) => SITES.used(db, site, now_s).await? >= config.ip_per_day * SITE_FACTOR,
        None => false,
    };
    if is_full || is_site_full {
        return Err(FaucetError::IpLimit { retry_after_s: DAY_S - now_s.rem_euclid(DAY_S) }.into());
    }
    Ok(())
}

/// Drips of the day of this time.
pub async fn used(db: &impl Query, now_s: i64) -> Result<i64, HostError> {
    DRIPS.used(db, ALL, now_s).await
}

/// Counts one more drip.
pub async fn take(tx: &Tx, config: &Config, client: &Client) -> HandlerResult {
    let limits = [(&CLIENTS, Some(&client.network), 1), (&SITES, client.site.as_ref(), SITE_FACTOR)];
    for (counter, key, factor) in limits {
        let Some(key) = key else { continue };
        if let Count::Full { retry_after_s } = counter.take(tx, key, 1, config.ip_per_day * factor).await? {
            return Err(FaucetError::IpLimit { retry_after_s }.into());
        }
    }
    let budget = Budget::at(config, tx.now_s());
    if let Count::Full { .. } = DRIPS.take(tx, ALL, 1, budget.allowed()).await? {
        let retry_after_s = budget.retry_after_s(used(tx, tx.now_s()).await?);
        return Err(FaucetError::DailyCap { retry_after_s }.into());
    }
    Ok(())
}

/// A drip of an address.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct LastDrip {
    pub intent: i64,
    pub created_at: i64,
}

/// The drip that the address got in the last 24 hours, or is getting.
pub async fn last(db: &impl Query, address: Address, now_s: i64) -> Result<Option<LastDrip>, HostError> {
    let select = sql("SELECT intent, created_at FROM faucet_drips \
         WHERE address = $1 AND state <> 'returned' AND (created_at > $2 OR state = 'open') ORDER BY id DESC LIMIT 1");
    db.row(select.bind((address, now_s - DAY_S))).await
}

/// A new drip without intent; returns its id.
pub async fn insert(tx: &Tx, address: Address, client: &Client) -> Result<i64, HostError> {
    let insert = sql("INSERT INTO faucet_drips (address, client, site, intent, state, created_at) \
         VALUES ($1, $2, $3, 0, 'open', $4) RETURNING id");
    tx.one(insert.bind((address, &client.network, client.site.as_ref(), tx.now_s()))).await
}

pub async fn set_intent(tx: &Tx, drip: i64, intent: i64) -> Result<(), HostError> {
    tx.execute(sql("UPDATE faucet_drips SET intent = $2 WHERE id = $1").bind((drip, intent))).await.map(drop)
}

/// How many drips a balance that is read now may not show yet.
pub async fn outstanding(db: &impl Query, now_s: i64) -> Result<i64, HostError> {
    let select = sql("SELECT count(*) FROM faucet_drips WHERE state = 'open' AND (mined_at IS NULL OR mined_at > $1)");
    db.one(select.bind(now_s - BALANCE_LAG_S)).await
}

/// A drip that is on its way.
#[derive(Clone, Debug, Deserialize)]
pub struct OpenDrip {
    pub id: i64,
    pub intent: i64,
    pub client: Option<String>,
    pub site: Option<String>,
    pub created_at: i64,
    pub mined_at: Option<i64>,
}

pub async fn open(db: &impl Query, limit: u32) -> Result<Vec<OpenDrip>, HostError> {
    let select = sql("SELECT id, intent, client, site, created_at, mined_at FROM faucet_drips \
         WHERE state = 'open' ORDER BY id LIMIT $1");
    db.rows(select.bind(limit)).await
}

pub async fn set_mined(tx: &Tx, drip: i64, is_mined: bool) -> Result<(), HostError> {
    let update = sql("UPDATE faucet_drips SET mined_at = $2 WHERE id = $1");
    tx.execute(update.bind((drip, is_mined.then(|| tx.now_s())))).await.map(drop)
}

/// Ends a drip; returns false when it had ended.
pub async fn end(tx: &Tx, drip: i64, end: IntentEnd) -> Result<bool, HostError> {
    let update = sql("UPDATE faucet_drips SET state = $2 WHERE id = $1 AND state = 'open'");
    Ok(tx.execute(update.bind((drip, end))).await? > 0)
}

/// Gives back what a drip used of the caps of its day.
pub async fn give_back(tx: &Tx, drip: &OpenDrip) -> Result<(), HostError> {
    let shares = [(&CLIENTS, drip.client.as_deref()), (&SITES, drip.site.as_deref()), (&DRIPS, Some(ALL))];
    for (counter, key) in shares {
        if let Some(key) = key {
            counter.give_back(tx, key, 1, drip.created_at).await?;
        }
    }
    Ok(())
}

/// Deletes what is not needed any more. Hashes of clients are at most 48 hours old.
pub fn prune(now_s: i64) -> Vec<Sql> {
    let clients = "UPDATE faucet_drips SET client = NULL, site = NULL WHERE created_at < $1 AND client IS NOT NULL";
    vec![
        // The rows of a day hold what was counted since its midnight: they go at the midnight after the next.
        CLIENTS.delete_before(now_s - DAY_S),
        SITES.delete_before(now_s - DAY_S),
        DRIPS.delete_before(now_s - 90 * DAY_S),
        // The job runs every hour.
        sql(clients).bind(now_s - 2 * DAY_S + 3600),
        sql("DELETE FROM faucet_drips WHERE created_at < $1 AND state <> 'open'").bind(now_s - 90 * DAY_S),
    ]
}
