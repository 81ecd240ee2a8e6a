//! A quote: what is asked for, and what is stored.

use super::{
    Decimal, Units,
    price::{coins_for, usd_of},
};
use plugin_api::{Address, Hash256, JsonSchema, Wei, handles::Bind};
use serde::{Deserialize, Serialize};

/// What a client asks for.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct NewQuote {
    /// Name of the chain, for example `base`.
    pub chain: String,
    /// Symbol of the token, in any case; USDC by default.
    #[serde(default)]
    pub asset: Option<String>,
    /// At most 15 digits before the point, and as many after it as the token has decimals.
    #[serde(default)]
    pub amount: Option<Decimal>,
    /// The amount of USDC, where `asset` and `amount` are absent.
    #[serde(default)]
    pub usdc: Option<Decimal>,
    /// Who gets the coins; `target` and `address` mean the same.
    #[serde(alias = "target", alias = "address")]
    pub to: Address,
    /// The account that will send the deposit. A deposit of another one is then not matched with this quote.
    #[serde(default)]
    pub from: Option<Address>,
}

/// Where a quote is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Quoted,
    /// The same payer asked again for the same recipient; a deposit of this amount still counts.
    Superseded,
    Seen,
    Confirmed,
    Paid,
    Expired,
    Failed,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::Quoted => "quoted",
            Self::Superseded => "superseded",
            Self::Seen => "seen",
            Self::Confirmed => "confirmed",
            Self::Paid => "paid",
            Self::Expired => "expired",
            Self::Failed => "failed",
        }
    }
}

impl Bind for Status {
    fn into_value(self) -> plugin_api::abi::Value {
        self.name().into_value()
    }
}

/// A quote with the place of its deposit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Quote {
    pub id: String,
    pub chain: String,
    pub asset: String,
    pub token: Address,
    pub decimals: u8,
    pub deposit_address: Address,
    pub recipient: Address,
    pub payer: Option<Address>,
    pub network: String,
    pub requested: Units,
    pub send: Units,
    /// USD for one whole token, with 18 decimals, as the two that follow.
    pub asset_usd: Units,
    pub usd: Units,
    pub price: Units,
    pub spread_bps: i64,
    /// What its deposit buys; before it has one, what was quoted.
    pub fmx_out: Wei,
    pub position: i64,
    pub required: i64,
    pub status: Status,
    pub deposit: Option<i64>,
    pub confirmations: i64,
    pub error: Option<String>,
    pub attempt: i64,
    pub intent: Option<i64>,
    pub tx_out: Option<Hash256>,
    pub nonce: Option<i64>,
    pub is_mined: bool,
    pub created_at: i64,
    pub expires_at: i64,
    pub seen_at: Option<i64>,
    pub paid_at: Option<i64>,
    pub tx_in: Option<Hash256>,
    pub block_in: Option<i64>,
    /// What its deposit is.
    pub units_in: Option<Units>,
    /// Whether its amount is still its own.
    pub is_open: bool,
}

impl Quote {
    /// The same with the amount that arrived, which an operator may have given to a quote for another.
    pub fn arrived(&self) -> Self {
        let send = self.units_in.unwrap_or(self.send);
        let usd = self.usd_of(send).unwrap_or(self.usd);
        Self { send, usd, ..self.clone() }
    }

    /// What so much is worth, by the price of the quote.
    pub fn usd_of(&self, units: Units) -> Option<Units> {
        usd_of(units, self.decimals, self.asset_usd)
    }

    /// The coins for a deposit of so much, at the price of the quote. `None` when that is no amount of coins.
    pub fn coins_for(&self, units: Units) -> Option<Wei> {
        coins_for(self.usd_of(units)?, self.price, self.spread_bps.unsigned_abs())
    }
}
