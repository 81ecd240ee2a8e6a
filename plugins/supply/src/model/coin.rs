//! The coin as price aggregators describe one: the shape that their clients read.

use super::{MarketReading, Snapshot, amount};
use coin_market::{JsonNumber, value};
use jiff::Timestamp;
use plugin_api::{JsonSchema, Wei};
use serde::Serialize;
use std::collections::BTreeMap;

/// What the operator calls the coin and where it is traded.
#[derive(Clone, Debug)]
pub struct Listing {
    pub coin_id: String,
    pub name: String,
    /// Name of the member with what aggregators have no member for.
    pub marker: String,
    pub logo: Option<String>,
    pub dex_url: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Coin {
    pub id: String,
    /// In lower case.
    pub symbol: String,
    pub web_slug: String,
    pub name: String,
    /// Always null: the coin is its chain's own.
    pub asset_platform_id: Option<String>,
    pub platforms: BTreeMap<String, String>,
    pub detail_platforms: BTreeMap<String, String>,
    /// Not stated: 0.
    pub block_time_in_minutes: u8,
    pub categories: Vec<String>,
    pub preview_listing: bool,
    pub additional_notices: Vec<String>,
    pub description: BTreeMap<String, String>,
    pub links: BTreeMap<String, String>,
    pub image: Image,
    pub country_origin: String,
    pub watchlist_portfolio_users: u8,
    pub has_supply_breakdown: bool,
    pub market_data: MarketData,
    pub status_updates: Vec<String>,
    /// ISO 8601.
    pub last_updated: String,
    /// One member, called as the network's manifest is.
    #[serde(flatten)]
    pub extension: BTreeMap<String, Extension>,
}

/// URLs of the logo; null where the operator has set none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Image {
    pub thumb: Option<String>,
    pub small: Option<String>,
    pub large: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct MarketData {
    pub current_price: InUsd,
    /// Price times circulating supply.
    pub market_cap: InUsd,
    /// Price times maximum supply.
    pub fully_diluted_valuation: InUsd,
    /// Empty: volume is not counted.
    pub total_volume: BTreeMap<String, String>,
    pub total_supply: JsonNumber,
    pub circulating_supply: JsonNumber,
    pub max_supply: JsonNumber,
    /// ISO 8601.
    pub last_updated: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct InUsd {
    /// Null while no pool is deep enough to have a price.
    pub usd: Option<JsonNumber>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Extension {
    /// What the price is, and what it is not.
    pub note: &'static str,
    /// Where the price is from; null where there is none.
    pub price_venue: Option<String>,
    /// Where the coin is traded; null where the operator has said nothing of it.
    pub dex: Option<String>,
    /// The block of the supply and, unless `stale` is true, of the price.
    pub as_of_block: u64,
    /// True when newer numbers could not be had; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<bool>,
}

const NOTE: &str = "The price is that of the deepest pool of this chain's exchange, read at one block; it is a reference, and null while no \
     pool is deep enough. The supply is explained at /api/supply.";

impl Coin {
    /// `market` is what the venue said, unless that is too old to be shown.
    pub fn of(listing: &Listing, snapshot: &Snapshot, market: Option<&MarketReading>) -> Self {
        let price = market.and_then(|market| market.price.as_ref());
        let worth = |coins: Wei| InUsd { usd: price.and_then(|price| value(price.usd, coins)).map(in_dollars) };
        let coins = |wei: Wei| JsonNumber(amount::number(wei));
        let updated =
            Timestamp::from_millisecond(snapshot.computed_at).map_or_else(|_| String::new(), |at| at.to_string());
        let logo = || listing.logo.clone();
        let extension = Extension {
            note: NOTE,
            price_venue: price.map(|price| format!("{}-dex {} {}", listing.marker, price.quote.symbol, price.pair)),
            dex: listing.dex_url.clone(),
            as_of_block: snapshot.as_of_block,
            stale: snapshot.stale,
        };
        Self {
            id: listing.coin_id.clone(),
            symbol: snapshot.symbol.to_ascii_lowercase(),
            web_slug: listing.coin_id.clone(),
            name: listing.name.clone(),
            asset_platform_id: None,
            platforms: BTreeMap::new(),
            detail_platforms: BTreeMap::new(),
            block_time_in_minutes: 0,
            categories: Vec::new(),
            preview_listing: false,
            additional_notices: Vec::new(),
            description: BTreeMap::new(),
            links: BTreeMap::new(),
            image: Image { thumb: logo(), small: logo(), large: logo() },
            country_origin: String::new(),
            watchlist_portfolio_users: 0,
            has_supply_breakdown: false,
            market_data: MarketData {
                current_price: InUsd { usd: price.map(|price| in_dollars(price.usd)) },
                market_cap: worth(snapshot.wei.circulating),
                fully_diluted_valuation: worth(snapshot.wei.max),
                total_volume: BTreeMap::new(),
                total_supply: coins(snapshot.wei.total),
                circulating_supply: coins(snapshot.wei.circulating),
                max_supply: coins(snapshot.wei.max),
                last_updated: updated.clone(),
            },
            status_updates: Vec::new(),
            last_updated: updated,
            extension: [(listing.marker.clone(), extension)].into(),
        }
    }
}

/// All decimals: a price may be far below a cent.
fn in_dollars(amount: Wei) -> JsonNumber {
    let text = amount.in_coins();
    JsonNumber(text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned))
}
