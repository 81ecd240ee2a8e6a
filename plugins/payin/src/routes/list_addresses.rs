//! `GET /api/payin/addresses`: the addresses of quotes to which something came, for operators. Wallets stop at a gap of 20 empty addresses, so
//! the operator needs the indexes.

use super::check_operator;
use crate::{
    Payin,
    error::OperatorError,
    store::addresses::{AddressRow, FUNDED},
};
use plugin_api::{Address, HandlerError, JsonSchema, Listed, Page, RequestContext, Route, extract::SignedBy};
use serde::Serialize;

/// An address with a token that came to it, on the chain where it came. What is there now is not said: the operator may have moved it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FundedAddress {
    /// The account, of which it is the child `0/index`.
    pub xpub: String,
    pub index: i64,
    pub chain: String,
    pub address: Address,
    pub quote_id: String,
    pub asset: String,
    /// The contract of the token.
    pub token: Address,
    pub deposits: i64,
}

pub fn route() -> Route<Payin> {
    Route::get("/api/payin/addresses", list_addresses)
        .signed_headers("payin.addresses")
        .needs_setting("operators", &OperatorError::NoOperators)
        .per_minute(60)
        .cache_control("private, no-store")
        .summary(
            "Deposit addresses of single quotes to which something came, with their indexes and tokens; for operators",
        )
        .example("GET /api/payin/addresses signed as payin.addresses")
}

async fn list_addresses(
    cx: RequestContext<Payin>,
    SignedBy(signer): SignedBy,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<FundedAddress>, HandlerError<OperatorError>> {
    check_operator(cx.plugin(), signer)?;
    let list = FUNDED.page(limit, offset).fetch(&cx.db()).await?;
    let view = |row: AddressRow| {
        Some(FundedAddress {
            xpub: row.xpub,
            index: row.address_index,
            chain: row.chain,
            address: row.address,
            quote_id: row.quote,
            asset: row.asset?,
            token: row.token?,
            deposits: row.deposits,
        })
    };
    Ok(Listed::new(list.rows()?.into_iter().filter_map(view).collect(), list.total)?)
}
