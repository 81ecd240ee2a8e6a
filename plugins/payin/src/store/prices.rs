//! Prices of assets that have a feed, and the pauses that follow from them.

use super::pauses;
use crate::model::{LastFeedPrice, PRICE_AGE_MAX_S, Units};
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;

/// What is known of an asset's price.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredPrice {
    pub feed: Address,
    /// None while there is none.
    pub usd: Option<Units>,
    /// When it was read, or tried, last.
    pub read_at: i64,
    pub feed_usd: Option<Units>,
    pub feed_at: Option<i64>,
    /// Why the asset is paused.
    pub paused: Option<String>,
}

impl StoredPrice {
    /// As quotes may use it: by this feed, read within the last minute, of an asset that is not paused.
    pub fn usable(&self, feed: Address, now_s: i64) -> Option<Units> {
        let is_usable = self.feed == feed && self.paused.is_none() && now_s - self.read_at <= PRICE_AGE_MAX_S;
        self.usd.filter(|_| is_usable)
    }

    /// What this feed said when it could be read last.
    pub fn last_feed(&self, feed: Address) -> Option<LastFeedPrice> {
        let (usd, at) = self.feed_usd.zip(self.feed_at).filter(|_| self.feed == feed)?;
        Some(LastFeedPrice { usd, at })
    }
}

pub async fn find(db: &impl Query, chain: &str, asset: &str) -> Result<Option<StoredPrice>, HostError> {
    let select =
        "SELECT feed, usd, read_at, feed_usd, feed_at, paused FROM payin_prices WHERE chain = $1 AND asset = $2";
    db.row(sql(select).bind((chain, asset))).await
}

pub async fn put(tx: &Tx, (chain, asset): (&str, &str), price: &StoredPrice) -> Result<(), HostError> {
    let upsert = "INSERT INTO payin_prices (chain, asset, feed, usd, read_at, feed_usd, feed_at, paused) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (chain, asset) DO UPDATE SET feed = excluded.feed, usd = excluded.usd, \
         read_at = excluded.read_at, feed_usd = excluded.feed_usd, feed_at = excluded.feed_at, paused = excluded.paused";
    let upsert = sql(upsert).bind((chain, asset, price.feed, price.usd, price.read_at)).bind((
        price.feed_usd,
        price.feed_at,
        price.paused.clone(),
    ));
    tx.execute(upsert).await.map(drop)
}

/// Chains and assets of which a price is stored.
pub async fn all(db: &impl Query) -> Result<Vec<(String, String)>, HostError> {
    db.rows(sql("SELECT chain, asset FROM payin_prices ORDER BY chain, asset")).await
}

/// Forgets an asset, and its pause.
pub async fn forget(tx: &Tx, chain: &str, asset: &str) -> Result<(), HostError> {
    tx.execute(sql("DELETE FROM payin_prices WHERE chain = $1 AND asset = $2").bind((chain, asset))).await.map(drop)
}

/// Scopes and reasons of the assets that are paused for their price.
pub async fn paused(db: &impl Query) -> Result<Vec<(String, String)>, HostError> {
    let select = "SELECT chain, asset, paused FROM payin_prices WHERE paused IS NOT NULL ORDER BY chain, asset";
    let rows: Vec<(String, String, String)> = db.rows(sql(select)).await?;
    Ok(rows.into_iter().map(|(chain, asset, reason)| (pauses::of_asset(&chain, &asset), reason)).collect())
}
