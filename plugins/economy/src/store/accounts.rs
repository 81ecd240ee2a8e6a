//! The table of accounts.

use plugin_api::{
    Address, List, Sql,
    contracts::{ChainEvent, account_factory::AccountCreated},
    sql,
};

pub const TABLE: &str = "economy_accounts";

/// Chain order is also the order of the times. The rows decode as [`crate::model::AccountView`]s.
const ACCOUNTS: List = List::new(TABLE, "account, owner, created_at, tx_hash").order_by("nth DESC");

pub fn accounts(owner: Option<Address>) -> List {
    let total = owner.is_none().then(|| sql("SELECT row_count FROM economy_accounts_counts"));
    ACCOUNTS.filter("owner = {}", owner).stored_total(total)
}

pub fn insert(event: &ChainEvent<AccountCreated>) -> Sql {
    sql("INSERT INTO economy_accounts (account, nth, owner, created_at, tx_hash) \
         SELECT $1, coalesce(max(nth), 0) + 1, $2, $3, $4 FROM economy_accounts WHERE true ON CONFLICT (account) DO NOTHING")
    .bind((event.args.account, event.args.owner, event.time_s, event.tx))
}
