//! `[plugins.supply.market]`: where the coin is traded, and what price aggregators are told of it.

use super::Listing;
use coin_market::{QuoteToken, Venue, VenueSettings, not_url};
use plugin_api::{Address, ConfigError, JsonSchema, handles::Brand};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Market {
    /// A pool that is less deep, in US dollars, gives no price. Its depth is twice the side of the quote token.
    pub min_depth_usd: String,
    /// The exchange's factory, which has `getPair`. Without it: that of the named network on the chain 3961, none elsewhere.
    pub factory: Option<Address>,
    /// The wrapped coin, of 18 decimals.
    pub wrapped: Option<Address>,
    /// Tokens that the coin is sold for, with what each is worth.
    pub quotes: Option<Vec<QuoteToken>>,
    /// The coin's id in the paths of `/api/market`: lower-case letters, digits and `-`. Without it the marker of the network's manifest.
    pub coin_id: Option<String>,
    /// The coin's name. Without it the network's.
    pub name: Option<String>,
    /// URL of the coin's logo.
    pub logo: Option<String>,
    /// URL where people trade the coin.
    pub dex_url: Option<String>,
}

impl Default for Market {
    fn default() -> Self {
        Self {
            min_depth_usd: "1000".to_owned(),
            factory: None,
            wrapped: None,
            quotes: None,
            coin_id: None,
            name: None,
            logo: None,
            dex_url: None,
        }
    }
}

impl Market {
    /// Where the coin is traded, if anywhere; reports all problems at once.
    pub fn venue(&self, chain_id: u64) -> Result<Option<Venue>, ConfigError> {
        let mut problems = vec![
            self.coin_id
                .as_deref()
                .filter(|id| !is_id(id))
                .map(|id| format!("market.coin_id `{id}`: 1 to 64 lower-case letters, digits and - are needed")),
            not_url("market.logo", self.logo.as_deref()),
            not_url("market.dex_url", self.dex_url.as_deref()),
        ];
        let settings = VenueSettings {
            factory: self.factory,
            wrapped: self.wrapped,
            quotes: self.quotes.as_deref(),
            min_depth_usd: &self.min_depth_usd,
        };
        let venue = settings.venue(chain_id, &mut problems);
        ConfigError::check(problems).map(|()| venue)
    }

    pub fn listing(&self, brand: &Brand) -> Listing {
        Listing {
            coin_id: self.coin_id.clone().unwrap_or_else(|| brand.marker.clone()),
            name: self.name.clone().unwrap_or_else(|| brand.network_name.clone()),
            marker: brand.marker.clone(),
            logo: self.logo.clone(),
            dex_url: self.dex_url.clone(),
        }
    }
}

fn is_id(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    (1..=64).contains(&text.len()) && text.chars().all(is_part)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_reported_at_once() {
        let quote = QuoteToken { symbol: "X".into(), token: Address::ZERO, decimals: 37, usd: "1e3".into() };
        let market = Market {
            min_depth_usd: "-1".into(),
            quotes: Some(vec![quote]),
            coin_id: Some("My coin".into()),
            logo: Some("logo.png".into()),
            dex_url: Some("javascript:alert(1)".into()),
            ..Market::default()
        };
        let ConfigError(reason) = market.venue(1).unwrap_err();
        for part in [
            "min_depth_usd `-1`",
            "usd of X `1e3`",
            "decimals of X is 37",
            "coin_id `My coin`",
            "logo `logo.png`",
            "dex_url `java",
            "set together",
        ] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
    }
}
