//! Reads the reference price: the pools of the service chain's exchange, and the pool on another chain with the state of its bridge. A venue
//! that was read is read again before a minute has passed, one that was not in the next run.

use crate::{
    Payin,
    model::{Bridge, PrimaryReading, SecondaryReading, SecondarySettings},
    store::market::{self, VenueAttempt, VenueKind},
};
use coin_market::{Venue, read_pair, read_pools};
use plugin_api::{
    Fetch, HostError, HostErrorCode, Job, PluginContext,
    chain::{BlockInfo, Chain, MAIN},
    handles::FetchError,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(15);
/// A reading of this age is replaced, so that none that is served is older than a minute.
const AGE_S: i64 = 40;
const BRIDGE_TIMEOUT: Duration = Duration::from_secs(5);
const BRIDGE_BYTES_MAX: u64 = 64 * 1024;
/// What everybody reads; the log has the reasons.
const UNREADABLE: &str = "its chain cannot be read now";
const NO_POOL: &str = "it has no pool of the coin with reserves";

pub fn job() -> Job<Payin> {
    Job::every("read_market", INTERVAL, read_market)
}

/// Why a venue has no price.
enum VenueFailure {
    NoPool,
    Chain(HostError),
}

impl From<HostError> for VenueFailure {
    fn from(error: HostError) -> Self {
        Self::Chain(error)
    }
}

async fn read_market(cx: PluginContext<Payin>) -> Result<(), HostError> {
    let market = cx.plugin().market.clone();
    if let Some(venue) = &market.venue {
        let is_of = |reading: &PrimaryReading| reading.venue == *venue;
        if is_due(&cx, VenueKind::Primary, is_of).await? {
            let outcome = primary(&cx, venue).await;
            store(&cx, VenueKind::Primary, outcome).await?;
        }
    }
    if let Some(settings) = &market.secondary {
        let is_of = |reading: &SecondaryReading| reading.settings == *settings;
        if is_due(&cx, VenueKind::Secondary, is_of).await? {
            let outcome = secondary(&cx, settings).await;
            store(&cx, VenueKind::Secondary, outcome).await?;
        }
    }
    Ok(())
}

async fn is_due<R: DeserializeOwned>(
    cx: &PluginContext<Payin>,
    of: VenueKind,
    is_of: impl Fn(&R) -> bool,
) -> Result<bool, HostError> {
    let last = market::find::<R>(&cx.db(), of).await?;
    Ok(match last {
        Some(VenueAttempt { at, outcome: Ok(reading) }) => !is_of(&reading) || !(0..AGE_S).contains(&(cx.now_s() - at)),
        _ => true,
    })
}

async fn store<R: Serialize + Clone + Send + Sync + 'static>(
    cx: &PluginContext<Payin>,
    of: VenueKind,
    outcome: Result<R, VenueFailure>,
) -> Result<(), HostError> {
    let outcome = outcome.map_err(|failure| {
        match failure {
            VenueFailure::NoPool => NO_POOL,
            VenueFailure::Chain(error) => {
                cx.debug(&format!("the {of:?} venue of the reference price cannot be read now: {error}"));
                UNREADABLE
            }
        }
        .to_owned()
    });
    let attempt = VenueAttempt { at: cx.now_s(), outcome };
    cx.write(async move |tx| market::put(tx, of, &attempt).await).await
}

async fn primary(cx: &PluginContext<Payin>, venue: &Venue) -> Result<PrimaryReading, VenueFailure> {
    let chain = cx.chain(MAIN);
    let block = chain.finalized().await?;
    let mut pools = read_pools(&chain, venue, block.number).await?;
    check_block(&chain, block).await?;
    pools.sort_by_key(|pool| std::cmp::Reverse(pool.depth_usd));
    if pools.is_empty() {
        return Err(VenueFailure::NoPool);
    }
    Ok(PrimaryReading { venue: venue.clone(), block: block.number, read_at: cx.now_s(), pools })
}

async fn secondary(cx: &PluginContext<Payin>, settings: &SecondarySettings) -> Result<SecondaryReading, VenueFailure> {
    let chain = cx.chain(&settings.chain);
    let block = chain.finalized().await?;
    let pool = read_pair(&chain, settings.wrapped, (&settings.quote, settings.pair), block.number).await?;
    check_block(&chain, block).await?;
    let pool = pool.ok_or(VenueFailure::NoPool)?;
    let chain_id = cx.environment().chain_ids.get(&settings.chain).copied().unwrap_or_default();
    let bridge = bridge(cx, settings).await;
    let settings = settings.clone();
    Ok(SecondaryReading { settings, chain_id, block: block.number, read_at: cx.now_s(), pool, bridge })
}

/// The pools were asked at the block's number.
async fn check_block(chain: &Chain<'_>, block: BlockInfo) -> Result<(), HostError> {
    let is_same = chain.block(block.number).await? == Some(block);
    let left = || HostError::new(HostErrorCode::Unavailable, format!("block {} has left the chain", block.number));
    if is_same { Ok(()) } else { Err(left()) }
}

async fn bridge(cx: &PluginContext<Payin>, settings: &SecondarySettings) -> Bridge {
    let Some(url) = &settings.bridge_status_url else { return Bridge::paused("it reports nothing") };
    match report(cx, url).await {
        Ok(report) => Bridge::of(&report, cx.now_s()),
        Err(error) => {
            cx.debug(&format!("the report of the bridge cannot be read: {error}"));
            Bridge::paused("its report cannot be read")
        }
    }
}

async fn report(cx: &PluginContext<Payin>, url: &str) -> Result<Value, FetchError> {
    let request = Fetch::get(url).timeout(BRIDGE_TIMEOUT).response_bytes_max(BRIDGE_BYTES_MAX);
    request.send(cx).await?.error_for_status()?.json()
}
