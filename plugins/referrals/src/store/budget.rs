//! What all payouts together are. No database adds 256-bit numbers, so the sum is a row that each payout changes.

use plugin_api::{HostError, Query, Tx, Wei, sql};

/// Key of the only row.
const ROW: i64 = 1;

pub async fn spent(db: &impl Query) -> Result<Wei, HostError> {
    Ok(db.row(sql("SELECT spent FROM referrals_budget WHERE id = $1").bind(ROW)).await?.unwrap_or_default())
}

pub async fn set_spent(tx: &Tx, spent: Wei) -> Result<(), HostError> {
    let upsert = "INSERT INTO referrals_budget (id, spent) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET spent = excluded.spent";
    tx.execute(sql(upsert).bind((ROW, spent))).await.map(drop)
}
