//! A quote: what is asked for, and what is stored.

use super::{
    Decimal, Deposit, Units,
    price::{GRACE_S, coins_for, usd_of},
};
use alloy_primitives::U256;
use plugin_api::{Address, Hash256, JsonSchema, Wei, handles::Bind};
use serde::{Deserialize, Serialize};

/// At its own address a quote takes deposits from this part of its amount on, and up to this part more.
const LEAST_PART: u64 = 2;
const MORE_PART: u64 = 100;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
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
    /// Whether its amount is still its own, which it also is for a while after it was paid.
    pub is_open: bool,
    /// Of the address that is this quote's alone.
    pub address_index: Option<i64>,
}

impl Quote {
    /// The same with the amount that arrived, which an operator may have given to a quote for another.
    pub fn arrived(&self) -> Self {
        let send = self.units_in.unwrap_or(self.send);
        let usd = self.usd_of(send).unwrap_or(self.usd);
        Self { send, usd, ..self.clone() }
    }

    /// Why a deposit at the quote's own address is not for it by itself. Exchanges deduct fees, so less is taken, down to half: what is less
    /// than that is rather a first try. More than a hundredth above would let a sender use the quote's price for what it was not
    /// asked for.
    pub fn misfit(&self, deposit: &Deposit) -> Option<&'static str> {
        let (least, most) = (self.send.0 / U256::from(LEAST_PART), self.send.0 + self.send.0 / U256::from(MORE_PART));
        let is_open = self.is_open && matches!(self.status, Status::Quoted | Status::Superseded);
        [
            (self.chain != deposit.chain || self.token != deposit.token, "is for another token"),
            (!is_open || self.deposit.is_some(), "has a deposit, or is over"),
            (deposit.block <= self.position, "was made after the block of the deposit"),
            (deposit.block_time > self.expires_at + GRACE_S, "had expired"),
            (self.payer.is_some_and(|payer| payer != deposit.sender), "names another payer"),
            (deposit.units.0 < least, "is for more than twice as much"),
            (deposit.units.0 > most, "is for less"),
        ]
        .into_iter()
        .find_map(|(is_so, reason)| is_so.then_some(reason))
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
