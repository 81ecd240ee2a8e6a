//! Accounts that are contracts, with whom they count for.

use super::folded;
use plugin_api::{Address, HostError, Query as _, Tx, sql};

pub const TABLE: &str = "network_accounts";

/// Adds an account; returns whom it counts for from now on. An account may belong to an account, so it is the last owner in that row. `None`
/// when nothing changes: the account is there already, or would belong to itself.
pub async fn insert(tx: &Tx, account: Address, owner: Address) -> Result<Option<Address>, HostError> {
    let folded = folded("$1");
    let select = sql(format!("SELECT {folded}, (SELECT count(*) FROM network_accounts WHERE account = $2)"))
        .bind((owner, account));
    let (owner, known): (Address, i64) = tx.one(select).await?;
    if known > 0 || owner == account {
        return Ok(None);
    }
    tx.defer(sql("UPDATE network_accounts SET owner = $2 WHERE owner = $1").bind((account, owner)))?;
    tx.defer(sql("INSERT INTO network_accounts (account, owner) VALUES ($1, $2)").bind((account, owner)))?;
    Ok(Some(owner))
}
