//! Errors of the routes: texts, statuses and codes, in the order in which a request is checked.

use crate::model::Dust;
use plugin_api::{ApiError, ErrorSpec};

const NOT_OPERATOR: ErrorSpec =
    ErrorSpec::new(403, "not_operator", "sign with an address of `operators` in [plugins.payin]");
const NO_OPERATORS: ErrorSpec =
    ErrorSpec::new(503, "disabled", "the operator of the gateway sets `operators` in [plugins.payin]");
const ASSETS: &str = "GET /api/payin/assets lists chains, assets and bounds";

/// Why there is no quote.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum QuoteError {
    #[api(
        503,
        "disabled",
        "pay-in is off: {reason}",
        hint = "GET /api/status says what is off on this gateway",
        member("disabled" = disabled),
        member("reason" = reason)
    )]
    Disabled { disabled: bool, reason: String },
    #[api(400, "unknown_chain", "chain: no deposits are taken on `{0}`", hint = ASSETS)]
    UnknownChain(String),
    #[api(400, "unknown_asset", "asset: `{asset}` is not taken on {chain}", hint = ASSETS)]
    UnknownAsset { asset: String, chain: String },
    #[api(
        400,
        "bad_amount",
        "amount: {0}",
        hint = "send what you want to pay in whole tokens, such as {{\"chain\": \"base\", \"asset\": \"USDC\", \"amount\": \"25\", \"to\": \"0x…\"}}"
    )]
    Amount(String),
    #[api(
        400,
        "bad_address",
        "to: nobody has the key of the zero address",
        hint = "send the address that is to get the coins"
    )]
    ZeroAddress,
    #[api(400, "out_of_bounds", "amount: it is worth {usd} USD, and 1 to 10000 are taken", hint = ASSETS)]
    OutOfBounds { usd: String },
    #[api(
        503,
        "chain_unavailable",
        "no quote for {chain} now: {reason}",
        hint = "use one of availableChains, or repeat the request later",
        member("chain" = chain),
        member("unavailable" = unavailable),
        member("availableChains" = available)
    )]
    ChainUnavailable { chain: String, reason: String, unavailable: bool, available: Vec<String> },
    #[api(
        503,
        "price_unavailable",
        "no quote for {asset} of {chain} now: {reason}",
        hint = "ask for another asset, or repeat the request in a minute"
    )]
    PriceUnavailable { asset: String, chain: String, reason: &'static str },
    #[api(
        503,
        "no_coins",
        "the gateway has not enough coins for this quote now",
        hint = "ask for a smaller amount, or later: the operator has to fill the account up"
    )]
    NoCoins,
    #[api(
        429,
        "too_many_open",
        "open quotes: {of}",
        hint = "send what a quote says, or wait until some have expired",
        header("retry-after" = retry_after_s)
    )]
    TooManyOpen { of: &'static str, retry_after_s: i64 },
    #[api(
        503,
        "open_usd_full",
        "the open quotes together reach what the operator allows",
        hint = "repeat the request when some have expired, in some minutes"
    )]
    OpenUsdFull,
    #[api(
        503,
        "addresses_full",
        "no more addresses are watched on {0} now",
        hint = "repeat the request when some quotes have ended, in some minutes, or use another chain"
    )]
    AddressesFull(String),
    #[api(
        503,
        "no_amount_free",
        "no amount near this one is free{0}",
        hint = "ask for a somewhat different amount: deposits are told apart by it"
    )]
    NoAmountFree(&'static str),
}

impl QuoteError {
    pub fn no_amount_free(dust: Dust) -> Self {
        Self::NoAmountFree(match dust {
            Dust::Collision => "",
            Dust::Always => ", or it is too small to be told apart",
        })
    }
}

/// A quote that does not exist.
#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(404, "not_found", "unknown quote {0}", hint = "POST /api/payin/quote makes one and returns its quoteId")]
pub struct UnknownQuote(pub String);

/// Why there is no reference price.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum MarketError {
    #[api(
        503,
        "disabled",
        "no pool of the coin is configured",
        hint = "the operator of the gateway sets [plugins.payin.market]"
    )]
    Disabled,
    #[api(
        503,
        "market_unavailable",
        "no venue can be read now: the exchange of the service chain: {primary}; the secondary venue: {secondary}",
        hint = "repeat the request in a minute; quotes do not need it",
        member("source" = source)
    )]
    Unavailable { primary: String, secondary: String, source: String },
}

/// Why an operator's request is refused.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum OperatorError {
    #[api(NO_OPERATORS, "no operators are configured")]
    NoOperators,
    #[api(NOT_OPERATOR, "only operators see deposits and decide about them")]
    NotOperator,
    #[api(404, "not_found", "unknown deposit {0}", hint = "GET /api/payin/deposits lists them")]
    UnknownDeposit(i64),
    #[api(404, "not_found", "unknown quote {0}", hint = "POST /api/payin/quote returned its quoteId")]
    UnknownQuote(String),
    #[api(400, "unknown_chain", "chain: no deposits are taken on `{0}`", hint = ASSETS)]
    UnknownChain(String),
    #[api(
        409,
        "not_resolvable",
        "{0}",
        hint = "GET /api/payin/deposits shows the state of a deposit, GET /api/payin/{{quoteId}} that of a quote"
    )]
    NotResolvable(&'static str),
}
