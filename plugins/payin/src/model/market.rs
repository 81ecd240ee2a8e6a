//! The reference price of the coin: what was read, and what is shown. Rule: integers only, and nothing of it reaches a quote or a payout.

use super::{USD_DECIMALS, Units, bridge::Bridge, format_units, market_settings::SecondarySettings};
use alloy_primitives::U256;
use coin_market::{JsonNumber, Pool, Venue};
use plugin_api::{Address, JsonSchema};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Decimals of the coin, and of the wrapped one.
const COIN_DECIMALS: u8 = 18;
/// A whole is 100 %, in hundredths of a percent.
const ALL_BPS: u64 = 10_000;
const BPS: u64 = 100;
const NOTE: &str =
    "A reference, read from reserves on the chain: quotes and payouts use the fixed price quoteUsdPerFmx alone.";

/// What the exchange of the service chain said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrimaryReading {
    /// As it was configured then: what another one said is not served.
    pub venue: Venue,
    pub block: u64,
    /// Unix seconds.
    pub read_at: i64,
    /// The deepest first; at least one.
    pub pools: Vec<Pool>,
}

/// What the pool on another chain said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondaryReading {
    /// As for the exchange.
    pub settings: SecondarySettings,
    pub chain_id: u64,
    pub block: u64,
    pub read_at: i64,
    pub pool: Pool,
    pub bridge: Bridge,
}

/// `GET /api/payin/market`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketView {
    #[serde(flatten)]
    pub price: VenueView,
    /// All pools of the exchange, the deepest first; absent while it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pools: Option<Vec<PoolView>>,
    /// The operator's fixed price.
    pub quote_usd_per_fmx: Option<String>,
    /// How far that is above the price of the exchange, in percent; below it when it is negative.
    #[schemars(schema_with = "signed_number")]
    pub quote_vs_market_pct: Option<JsonNumber>,
    pub note: &'static str,
    /// Why the exchange cannot be read, while the secondary venue is shown in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_error: Option<String>,
    /// The pool on another chain, while the exchange can be read.
    pub secondary: Option<VenueView>,
}

/// A venue and its pool.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VenueView {
    pub venue: String,
    /// What was read, and at which block.
    pub source: String,
    pub chain: String,
    pub chain_id: u64,
    /// The wrapped coin.
    pub token: Address,
    /// When it was read, in Unix seconds.
    pub at: i64,
    #[serde(flatten)]
    pub pool: PoolView,
    #[serde(flatten)]
    pub bridge: Option<BridgeView>,
}

/// A pool.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PoolView {
    pub pair: Address,
    #[serde(flatten)]
    pub quote: Option<QuoteSide>,
    pub usd_per_fmx: String,
    /// Twice the side of the quote token.
    pub liquidity_usd: String,
    pub wfmx_reserve: String,
    pub swap_url: String,
    /// When its reserves changed last, in Unix seconds.
    pub last_trade_at: u32,
}

/// The token that the coin is sold for; of pools of the exchange.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuoteSide {
    pub quote_symbol: String,
    pub quote_token: Address,
    pub quote_reserve: String,
    pub price_in_quote: String,
    pub usd_per_quote: String,
    /// Why the token is worth that.
    pub usd_basis: String,
    pub pool_url: String,
    pub dex_url: String,
}

/// The bridge of the wrapped coin; of the secondary venue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BridgeView {
    /// Coins do not reach the other chain now, or nobody knows.
    pub bridge_paused: bool,
    pub bridge_reason: Option<String>,
    pub bridge_status_url: Option<String>,
}

fn signed_number(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["number", "null"] })
}

/// URLs for people.
#[derive(Clone, Copy, Debug)]
pub struct VenueLinks<'l> {
    pub dex: &'l str,
    pub pool: &'l str,
    pub swap: &'l str,
}

impl PrimaryReading {
    /// The deepest pool, as the venue of this name on this chain.
    pub fn view(&self, venue: String, (chain, chain_id): (&str, u64), links: VenueLinks<'_>) -> Option<VenueView> {
        let pool = self.pools.first()?;
        Some(VenueView {
            venue,
            source: source(pool, self.block),
            chain: chain.to_owned(),
            chain_id,
            token: self.venue.wrapped,
            at: self.read_at,
            pool: pool_view(pool, Some(links), links.swap),
            bridge: None,
        })
    }

    pub fn pool_views(&self, links: VenueLinks<'_>) -> Vec<PoolView> {
        self.pools.iter().map(|pool| pool_view(pool, Some(links), links.swap)).collect()
    }
}

impl SecondaryReading {
    pub fn view(&self) -> VenueView {
        let settings = &self.settings;
        VenueView {
            venue: settings.venue.clone(),
            source: source(&self.pool, self.block),
            chain: settings.chain.clone(),
            chain_id: self.chain_id,
            token: settings.wrapped,
            at: self.read_at,
            pool: pool_view(&self.pool, None, settings.swap_url.as_deref().unwrap_or_default()),
            bridge: Some(BridgeView {
                bridge_paused: self.bridge.paused.is_some(),
                bridge_reason: self.bridge.paused.clone(),
                bridge_status_url: settings.bridge_status_url.clone(),
            }),
        }
    }
}

impl MarketView {
    /// `fixed` is the operator's price. `primary_usd` is the price of the exchange, while it can be read.
    pub fn new(price: VenueView, fixed: Option<Units>, primary_usd: Option<Units>) -> Self {
        let gap = fixed.zip(primary_usd).and_then(|(fixed, market)| percent_above(fixed, market));
        Self {
            price,
            pools: None,
            quote_usd_per_fmx: fixed.map(|price| format_units(price, USD_DECIMALS)),
            quote_vs_market_pct: gap,
            note: NOTE,
            primary_error: None,
            secondary: None,
        }
    }
}

fn source(pool: &Pool, block: u64) -> String {
    format!("reserves of the pool {} at block {block}", pool.pair)
}

/// `links` are for pools of the exchange.
fn pool_view(pool: &Pool, links: Option<VenueLinks<'_>>, swap_url: &str) -> PoolView {
    let usd = |amount: Units| format_units(amount, USD_DECIMALS);
    let token = &pool.quote;
    let usd_per_quote = usd(token.usd().unwrap_or_default());
    let quote = links.map(|links| QuoteSide {
        quote_symbol: token.symbol.clone(),
        quote_token: token.token,
        quote_reserve: format_units(pool.reserves.quote, token.decimals),
        price_in_quote: usd(pool.price),
        usd_basis: format!("peg: one {} is {usd_per_quote} USD by the operator's configuration", token.symbol),
        usd_per_quote,
        pool_url: links.pool.replace("{pair}", &pool.pair.to_string()),
        dex_url: links.dex.to_owned(),
    });
    PoolView {
        pair: pool.pair,
        quote,
        usd_per_fmx: usd(pool.usd),
        liquidity_usd: usd(pool.depth_usd),
        wfmx_reserve: format_units(pool.reserves.wrapped, COIN_DECIMALS),
        swap_url: swap_url.to_owned(),
        last_trade_at: pool.reserves.changed_at,
    }
}

/// By how many percent one price is above another, rounded to two decimals.
fn percent_above(price: Units, market: Units) -> Option<JsonNumber> {
    let (difference, is_below) = if price >= market { (price.0 - market.0, false) } else { (market.0 - price.0, true) };
    let half = market.0 / U256::from(2);
    let hundredths = difference.checked_mul(U256::from(ALL_BPS))?.checked_add(half)?.checked_div(market.0)?;
    let (whole, rest) = (hundredths / U256::from(BPS), hundredths % U256::from(BPS));
    let sign = if is_below && hundredths > U256::ZERO { "-" } else { "" };
    Some(JsonNumber(format!("{sign}{whole}.{rest:0>2}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::parse_units;

    #[test]
    fn the_gap_is_a_signed_number_of_two_decimals() {
        let price = |text: &str| parse_units(text, USD_DECIMALS).unwrap();
        for (fixed, market, expected) in [
            ("0.05", "0.04", "25.00"),
            ("0.04", "0.05", "-20.00"),
            ("1", "1", "0.00"),
            ("1", "3", "-66.67"),
            ("2", "3", "-33.33"),
            ("0.99999999", "1", "0.00"),
            ("1000000", "0.001", "99999999900.00"),
        ] {
            let above = percent_above(price(fixed), price(market)).unwrap();
            assert_eq!(above, JsonNumber(expected.to_owned()), "{fixed} {market}");
        }
        assert_eq!(percent_above(price("1"), Units::ZERO), None);
    }
}
