//! The table of accounts.

use super::{Conditions, List, PageRequest};
use crate::model::AccountView;
use plugin_api::{Address, Hash256, HostError, Query, Tx, sql};

pub const TABLE: &str = "economy_accounts";

pub fn insert(tx: &Tx, account: Address, owner: Address, created_at: i64, tx_hash: Hash256) -> Result<(), HostError> {
    let insert = sql("INSERT INTO economy_accounts (account, nth, owner, created_at, tx_hash) \
         SELECT $1, coalesce(max(nth), 0) + 1, $2, $3, $4 FROM economy_accounts WHERE true ON CONFLICT (account) DO NOTHING")
    .bind(account)
    .bind(owner)
    .bind(created_at)
    .bind(tx_hash);
    tx.defer(insert)
}

const LIST: List = List {
    columns: "account, owner, created_at AS \"createdAt\", tx_hash AS \"txHash\"",
    from: TABLE,
    table: TABLE,
    // Chain order is also the order of the times.
    order: "nth DESC",
};

pub async fn list(
    db: &impl Query,
    owner: Option<Address>,
    window: PageRequest,
) -> Result<(Vec<AccountView>, i64), HostError> {
    LIST.read(db, &Conditions::default().and_if("owner = {}", owner), window).await
}

pub async fn count(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM economy_accounts")).await
}
