//! Reads the prices of assets that have a feed, from two servers that agree. An asset is paused here, and goes on, as its price says; what
//! cannot be read changes no pause.

use crate::{
    Payin,
    model::{Fallback, Feed, FeedRound, PriceAssessment, TakenChain, Token, Units, assess},
    store::prices::{self, StoredPrice},
};
use coin_market::read_pair;
use futures_util::future::join_all;
use plugin_api::{
    HostError, HostErrorCode, Job, PluginContext,
    chain::{Chain, ContractCall},
};
use serde::de::DeserializeOwned;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(15);
/// A price of this age is read again, so that quotes have one of the last minute.
const AGE_S: i64 = 25;
const ROUND: &str = "latestRoundData() returns (uint80,int256,uint256,uint256,uint80)";
const DECIMALS: &str = "decimals() returns (uint8)";

pub fn job() -> Job<Payin> {
    Job::every("read_prices", INTERVAL, read_prices)
}

async fn read_prices(cx: PluginContext<Payin>) -> Result<(), HostError> {
    forget_removed(&cx).await?;
    let updates = cx.plugin().chains.iter().flat_map(|chain| {
        let update = |(token, feed)| update(&cx, chain, token, feed);
        chain.with_feeds().map(update).collect::<Vec<_>>()
    });
    // At once: a chain whose servers hang must not hold up the prices of others.
    join_all(updates).await.into_iter().collect()
}

/// Nothing would read their prices, and end their pauses, again.
async fn forget_removed(cx: &PluginContext<Payin>) -> Result<(), HostError> {
    for (chain, asset) in prices::all(&cx.db()).await? {
        let token = cx.plugin().chain(&chain).and_then(|chain| chain.token(&asset));
        if token.is_none_or(|token| token.feed.is_none()) {
            cx.write(async move |tx| prices::forget(tx, &chain, &asset).await).await?;
        }
    }
    Ok(())
}

async fn update(cx: &PluginContext<Payin>, chain: &TakenChain, token: &Token, feed: &Feed) -> Result<(), HostError> {
    let (slug, asset) = (chain.slug.clone(), token.symbol.clone());
    let known = prices::find(&cx.db(), &slug, &asset).await?;
    let is_new = |known: &StoredPrice| {
        known.usable(feed.address, cx.now_s()).is_some() && (0..AGE_S).contains(&(cx.now_s() - known.read_at))
    };
    if known.as_ref().is_some_and(is_new) {
        return Ok(());
    }
    let source = cx.chain(&slug).quorum();
    let (said, fallback) = sources(&source, feed, cx.now_s()).await;
    let now_s = cx.now_s();
    let last = known.as_ref().and_then(|known| known.last_feed(feed.address));
    let feed_usd = said.as_ref().ok().copied();
    let assessment = assess(!token.is_native(), said, fallback, (last, now_s));
    let was_paused = known.and_then(|known| known.paused);
    let (usd, paused) = match assessment {
        PriceAssessment::Price(usd) => (Some(usd), None),
        PriceAssessment::Paused(reason) => (None, Some(reason)),
        PriceAssessment::Unknown(reason) => {
            cx.warn(&format!("{asset} of {slug} has no price now: {reason}"));
            (None, was_paused.clone())
        }
    };
    match (&was_paused, &paused) {
        (None, Some(reason)) => cx.error(&format!("{asset} of {slug} is paused: {reason}")),
        (Some(_), None) => cx.warn(&format!("{asset} of {slug} goes on: its price is as it should be")),
        _ => {}
    }
    let price = StoredPrice {
        feed: feed.address,
        usd,
        read_at: now_s,
        feed_usd: feed_usd.or(last.map(|last| last.usd)),
        feed_at: feed_usd.map(|_| now_s).or(last.map(|last| last.at)),
        paused,
    };
    cx.write(async move |tx| prices::put(tx, (&slug, &asset), &price).await).await
}

/// What feed and fallback say, at one block.
async fn sources(
    source: &Chain<'_>,
    feed: &Feed,
    now_s: i64,
) -> (Result<Units, String>, Option<Result<Units, String>>) {
    let unreadable = |error: HostError| format!("its chain cannot be read: {error}");
    let block = match source.head().await {
        Ok(head) => head.number,
        Err(error) => return (Err(unreadable(error)), None),
    };
    let said = match read_feed(source, feed, block).await {
        Ok((round, decimals)) => feed.price(&round, decimals, now_s),
        Err(error) => Err(format!("its feed cannot be read: {error}")),
    };
    let fallback = match &feed.fallback {
        None => None,
        Some(fallback) => Some(read_fallback(source, fallback, block).await),
    };
    (said, fallback)
}

async fn read_feed(source: &Chain<'_>, feed: &Feed, block: u64) -> Result<(FeedRound, u8), HostError> {
    Ok((call(source, feed, ROUND, block).await?, call(source, feed, DECIMALS, block).await?))
}

async fn call<T: DeserializeOwned>(
    source: &Chain<'_>,
    feed: &Feed,
    function: &str,
    block: u64,
) -> Result<T, HostError> {
    let mut results = source.calls::<T>(vec![ContractCall::new(feed.address, function)], Some(block)).await?;
    results.pop().unwrap_or_else(|| Err(HostError::new(HostErrorCode::Internal, "a call has no result")))
}

async fn read_fallback(source: &Chain<'_>, fallback: &Fallback, block: u64) -> Result<Units, String> {
    let Fallback { pair, wrapped, quote } = fallback;
    match read_pair(source, *wrapped, (quote, *pair), block).await {
        Ok(Some(pool)) => Ok(pool.usd),
        Ok(None) => Err("its fallback has no price".to_owned()),
        Err(error) => Err(format!("its fallback cannot be read: {error}")),
    }
}
