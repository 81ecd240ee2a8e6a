//! Accounts that are created.

use super::caps::Client;
use plugin_api::{Address, HostError, Query, Tx, sql};

/// The intent of an account that is on its way.
pub async fn open_intent(db: &impl Query, account: Address) -> Result<Option<i64>, HostError> {
    let select =
        sql("SELECT intent FROM relay_accounts WHERE account = $1 AND state = 'open' ORDER BY id DESC LIMIT 1");
    db.row(select.bind(account)).await
}

/// A new account without intent; returns its id.
pub async fn insert(tx: &Tx, account: Address, share: &str, client: &Client) -> Result<i64, HostError> {
    let insert = sql("INSERT INTO relay_accounts (account, share, client, site, intent, state, created_at) \
         VALUES ($1, $2, $3, $4, 0, 'open', $5) RETURNING id");
    tx.one(insert.bind((account, share, client.network.as_ref(), client.site.as_ref(), tx.now_s()))).await
}
