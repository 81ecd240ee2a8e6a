//! Errors of the routes.

use plugin_api::ApiError;

const RETRY_AFTER_S: u32 = 60;
const NO_STORE: &str = "no-store";

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum SupplyError {
    #[api(
        503,
        "chain_unavailable",
        "there is no complete snapshot of the last hour: the chain cannot be read, or its blocks are still being counted",
        hint = "wait as long as the header Retry-After says",
        header("retry-after" = retry_after_s),
        header("cache-control" = cache_control)
    )]
    ChainUnavailable { retry_after_s: u32, cache_control: &'static str },
    #[api(
        503,
        "disabled",
        "how coins come into being on this chain is not configured",
        hint = "the operator of this gateway says it in [plugins.supply.issuance]",
        header("cache-control" = cache_control)
    )]
    Disabled { cache_control: &'static str },
}

impl SupplyError {
    pub const CHAIN_UNAVAILABLE: Self =
        Self::ChainUnavailable { retry_after_s: RETRY_AFTER_S, cache_control: NO_STORE };
    pub const DISABLED: Self = Self::Disabled { cache_control: NO_STORE };
}

/// Those of the routes of the market.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum MarketError {
    #[api(404, "not_found", "coin not found", hint = "the manifest's endpoint `market` has the id of the only coin")]
    UnknownCoin,
    #[api(transparent)]
    Supply(#[from] SupplyError),
}

/// Those of the routes of one number.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum NumberError {
    #[api(400, "bad_format", "format: it is text or json", hint = "leave format out, or say text or json")]
    Format,
    #[api(transparent)]
    Supply(#[from] SupplyError),
}
