//! Pure parts: chains, amounts, prices, what is stored and what is shown.

mod account;
mod amount;
mod assets_view;
mod bridge;
mod chain;
mod chain_settings;
mod deposit;
mod event;
mod feed;
mod market;
mod market_settings;
mod price;
mod problems;
mod quote;
mod view;

pub use account::Account;
pub use amount::{Decimal, Dust, USD_DECIMALS, dust_max, format_units, free_amount, parse_units, power_of_ten};
pub use assets_view::{AssetView, AssetsView, ChainView};
pub use bridge::Bridge;
pub use chain::{NATIVE, NATIVE_DECIMALS, TakenChain, Token};
pub use chain_settings::{ChainSettings, pairs};
pub use deposit::{Deposit, DepositState, FoundTransfer, TransferArguments, least_units, ordered};
pub use event::PayinPaid;
pub use feed::{Fallback, Feed, FeedRound, LastFeedPrice, PRICE_AGE_MAX_S, PriceAssessment, assess};
pub use market::{MarketView, PrimaryReading, SecondaryReading, VenueLinks, VenueView};
pub use market_settings::{Market, MarketSettings, SecondarySettings};
pub use price::{GRACE_S, LIFE_S, SPREAD_BPS, USD_MAX, USD_MIN, coins_for, in_micro, one_usd, usd_of};
pub use problems::Problems;
pub use quote::{NewQuote, Quote, Status};
pub use view::{DepositView, HistoryView, QuoteView, StatusView};

/// A 256-bit amount of any smallest unit: of a token, of a coin, or USD with 18 decimals.
pub type Units = plugin_api::Wei;

/// Role of the key that pays.
pub const ROLE: &str = "payin";
