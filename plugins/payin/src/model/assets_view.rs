//! What `GET /api/payin/assets` responds.

use super::{
    SPREAD_BPS, USD_MAX, USD_MIN, Units,
    chain::Token,
    price::LIFE_S,
    view::{asset_kind, in_usd, token_of},
};
use plugin_api::{Address, JsonSchema};
use serde::Serialize;

/// `GET /api/payin/assets`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssetsView {
    /// Whether quotes are given.
    pub enabled: bool,
    /// The fixed price of one coin.
    pub price_usd_per_fmx: Option<String>,
    pub spread_bps: u64,
    pub min_usd: u64,
    pub max_usd: u64,
    /// Seconds for which a quote is valid.
    pub expires: i64,
    pub chains: Vec<ChainView>,
    /// The chains for which quotes are given now.
    pub available_chains: Vec<String>,
}

/// A chain on which deposits are taken.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChainView {
    pub chain: String,
    pub chain_id: u64,
    pub name: String,
    pub explorer: String,
    pub confirmations: u64,
    /// Where deposits of all its assets are sent; null where quotes have addresses of their own.
    pub deposit_address: Option<Address>,
    pub assets: Vec<AssetView>,
    /// False while its deposits are not scanned.
    pub available: bool,
    pub last_scan_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable_reason: Option<String>,
}

/// An asset that is taken.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssetView {
    pub symbol: String,
    /// `erc20` or `native`
    pub kind: &'static str,
    /// Null for the coins of the chain itself.
    pub token: Option<Address>,
    pub decimals: u8,
    /// Whether one counts as 1 USD.
    pub stable: bool,
    /// Whether each quote has a deposit address of its own.
    pub address_per_quote: bool,
}

impl AssetView {
    pub fn new(token: &Token, address_per_quote: bool) -> Self {
        Self {
            symbol: token.symbol.clone(),
            kind: asset_kind(token.address),
            token: token_of(token.address),
            decimals: token.decimals,
            stable: !token.is_native(),
            address_per_quote,
        }
    }
}

impl AssetsView {
    pub fn new(price: Option<Units>, enabled: bool, chains: Vec<ChainView>) -> Self {
        let available = chains.iter().filter(|chain| enabled && chain.available).map(|chain| chain.chain.clone());
        Self {
            enabled,
            price_usd_per_fmx: price.map(in_usd),
            spread_bps: SPREAD_BPS,
            min_usd: USD_MIN,
            max_usd: USD_MAX,
            expires: LIFE_S,
            available_chains: available.collect(),
            chains,
        }
    }
}
