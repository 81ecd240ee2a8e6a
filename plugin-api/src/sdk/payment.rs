//! Prices and payments: what a priced route and the payment service exchange.

use super::{Address, IntoResponse, Wei, point::Service, response};
use crate::abi;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a request costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// Who is paid. A price without payee cannot be paid: the gateway answers 503 `disabled`.
    pub payee: Option<Address>,
    /// In wei; zero is free.
    pub amount: Wei,
    /// What is paid for, for people: one line.
    pub description: String,
}

impl Price {
    /// The handler is called at once.
    pub const fn free() -> Self {
        Self { payee: None, amount: Wei::ZERO, description: String::new() }
    }

    pub fn is_free(&self) -> bool {
        self.amount == Wei::ZERO
    }
}

impl IntoResponse for Price {
    fn into_response(self) -> abi::Response {
        response::Json(self).into_response()
    }
}

/// A payment that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Payment {
    pub payer: Address,
    /// Unique for the payer: a decimal number of at most 256 bits.
    pub nonce: String,
}

/// Says how a price is paid: the body of a 402.
pub const OFFER: Service<OfferInput, Offer> = Service::new("payment-offer");

/// Checks a payment by itself and with the chain, outside of a transaction.
pub const CHECK: Service<CheckInput, Check> = Service::new("payment-check");

/// Takes a payment that was checked, within a transaction: whether it is still the first with its nonce, and covered.
pub const RESERVE: Service<ReserveInput, Reserve> = Service::new("payment-reserve");

/// Ends a reservation.
pub const END: Service<EndInput, End> = Service::new("payment-end");

/// Which of some payees were paid after a time: for lists of what nobody buys yet. Any plugin may call it.
pub const PAID_SINCE: Service<PaidSinceInput, BTreeSet<Address>> = Service::new("payment-paid-since");

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaidSinceInput {
    /// Unix seconds.
    pub since_s: i64,
    pub payees: BTreeSet<Address>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferInput {
    pub price: Price,
    /// The URL that is paid for, with its query.
    pub resource: String,
    /// Why the payment that came is refused, if one came.
    pub refused: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// The body of the 402, a JSON text. The gateway sends its base64 in the header `PAYMENT-REQUIRED`, too.
    Terms(String),
    /// Nothing can be paid now, for this reason.
    Disabled(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckInput {
    pub price: Price,
    /// The URL that is paid for, with its query.
    pub resource: String,
    /// The value of the payment's header, as the client sent it.
    pub payment: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    Accepted(CheckedPayment),
    /// It is a payment, but not for this price or not covered: 402 with this reason.
    Refused(String),
    /// It is no payment: 400 with this reason.
    Malformed(String),
    /// Nothing can be paid now, for this reason.
    Disabled(String),
}

/// A payment that [`CHECK`] accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedPayment {
    pub payment: Payment,
    /// What the provider wants to find again in [`RESERVE`].
    pub document: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReserveInput {
    /// Asked again, in the transaction of a signed write.
    pub price: Price,
    /// The URL that is paid for, with its query.
    pub resource: String,
    pub checked: CheckedPayment,
    /// Unix seconds until which [`END`] comes: after them the reservation is void. `None`: the payment is kept with this transaction.
    pub until_s: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reserve {
    /// What the client is told in the header `PAYMENT-RESPONSE`, a JSON text whose base64 the gateway sends.
    Reserved(String),
    /// 402 with this reason.
    Refused(String),
    /// Nothing can be paid now, for this reason.
    Disabled(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndInput {
    pub payment: Payment,
    /// Why the payment is released. `None`: the work is done and the payment is kept.
    pub released: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Done,
    /// There is no such reservation, or its time is over: nothing is paid.
    Gone,
}
