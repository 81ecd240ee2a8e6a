//! What all payouts together are. No database adds 256-bit numbers, so the sum is a row that each payout changes.

use plugin_api::{HostError, Query, Sql, Tx, Wei, sql};

/// Key of the only row.
const ROW: i64 = 1;

pub async fn spent(db: &impl Query) -> Result<Wei, HostError> {
    Ok(db.row(sql("SELECT spent FROM referrals_budget WHERE id = $1").bind(ROW)).await?.unwrap_or_default())
}

pub async fn set_spent(tx: &Tx, spent: Wei) -> Result<(), HostError> {
    tx.execute(Sql::upsert("referrals_budget", "id", "spent").bind((ROW, spent))).await.map(drop)
}
