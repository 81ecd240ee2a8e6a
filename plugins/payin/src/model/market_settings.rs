//! `[plugins.payin.market]`: where the reference price is read. Rule: nothing of it reaches a quote or a payout.

use super::Problems;
use coin_market::{QuoteToken, Venue, VenueSettings, not_url};
use plugin_api::{Address, JsonSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The exchange of the service chain, and a pool of the wrapped coin on another chain.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MarketSettings {
    /// The exchange's factory, which has `getPair`. Without it: that of the named network on the chain 3961, none elsewhere.
    pub factory: Option<Address>,
    /// The wrapped coin, of 18 decimals.
    pub wrapped: Option<Address>,
    /// First-party stable tokens that the coin is sold for, with what each is worth.
    pub quotes: Option<Vec<QuoteToken>>,
    /// URL of the exchange for people.
    pub dex_url: Option<String>,
    /// URL of a pool for people; `{pair}` is its address.
    pub pool_url: Option<String>,
    /// URL where people trade the coin.
    pub swap_url: Option<String>,
    /// A pool of the wrapped coin on another chain, which counts while the service chain cannot be read.
    pub secondary: Option<SecondarySettings>,
}

/// A pool of the wrapped coin on another chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecondarySettings {
    /// What the venue is called.
    #[serde(default = "pancakeswap")]
    pub venue: String,
    /// Name of the chain in `[chains]`.
    pub chain: String,
    pub pair: Address,
    /// The wrapped coin there, of 18 decimals.
    pub wrapped: Address,
    pub quote: QuoteToken,
    #[serde(default)]
    pub swap_url: Option<String>,
    /// Where the bridge reports whether it is paused. Without it, it counts as paused.
    #[serde(default)]
    pub bridge_status_url: Option<String>,
}

fn pancakeswap() -> String {
    "pancakeswap".to_owned()
}

/// What the settings mean.
#[derive(Clone, Debug)]
pub struct Market {
    /// None where the operator has said nothing of it, and the chain is not the named one.
    pub venue: Option<Venue>,
    pub secondary: Option<SecondarySettings>,
    pub dex_url: String,
    pub pool_url: String,
    pub swap_url: String,
}

impl MarketSettings {
    /// `chain_id` is that of the service chain, `chain_ids` those of all.
    pub fn market(&self, chain_id: u64, chain_ids: &BTreeMap<String, u64>, problems: &mut Problems) -> Market {
        let settings = VenueSettings {
            factory: self.factory,
            wrapped: self.wrapped,
            quotes: self.quotes.as_deref(),
            min_depth_usd: "0",
        };
        let venue = settings.venue(chain_id, problems);
        problems.extend([
            not_url("market.dex_url", self.dex_url.as_deref()),
            not_url("market.pool_url", self.pool_url.as_deref()),
            not_url("market.swap_url", self.swap_url.as_deref()),
        ]);
        if let Some(secondary) = &self.secondary {
            let is_known = chain_ids.contains_key(&secondary.chain);
            problems.extend(secondary.quote.problems("market.secondary.quote"));
            problems.extend([
                (!is_known).then(|| format!("market.secondary.chain: `{}` is not in [chains]", secondary.chain)),
                not_url("market.secondary.swap_url", secondary.swap_url.as_deref()),
                not_url("market.secondary.bridge_status_url", secondary.bridge_status_url.as_deref()),
            ]);
        }
        let url = |url: &Option<String>| url.clone().unwrap_or_default();
        Market {
            venue,
            secondary: self.secondary.clone(),
            dex_url: url(&self.dex_url),
            pool_url: url(&self.pool_url),
            swap_url: url(&self.swap_url),
        }
    }
}

impl Market {
    /// Whether a reference price can be read anywhere.
    pub fn is_configured(&self) -> bool {
        self.venue.is_some() || self.secondary.is_some()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_problem_is_reported_at_once() {
        let address = Address([1; 20]);
        let quote = json!({ "symbol": "USDT", "token": address, "decimals": 40, "usd": "1,0" });
        let secondary = json!({
            "chain": "bsc", "pair": address, "wrapped": address, "quote": quote, "bridge_status_url": "ftp://x",
        });
        let settings = json!({ "factory": address, "swap_url": "swap", "secondary": secondary });
        let settings: MarketSettings = serde_json::from_value(settings).unwrap();
        let mut problems = Problems::new();
        let market = settings.market(1, &[("eth".to_owned(), 1)].into(), &mut problems);
        assert!(market.venue.is_none());
        let reason = problems.into_iter().flatten().collect::<Vec<_>>().join("\n");
        for part in [
            "set together",
            "market.swap_url",
            "market.secondary.quote: usd of USDT",
            "market.secondary.quote: decimals of USDT is 40",
            "market.secondary.chain: `bsc`",
            "market.secondary.bridge_status_url",
        ] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
        let named = MarketSettings::default().market(3961, &BTreeMap::new(), &mut Problems::new());
        assert!(named.is_configured());
        assert!(!MarketSettings::default().market(1, &BTreeMap::new(), &mut Problems::new()).is_configured());
    }
}
