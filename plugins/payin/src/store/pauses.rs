//! What is paused: a token of a chain, a chain, or everything. The reasons are the operators'. Pauses for a price are in `prices`.

use plugin_api::{Address, HostError, Query, Tx, sql};

/// The scope of everything. No chain has this name.
pub const ALL: &str = "";

/// The scope of a token. No chain has a name with a space.
pub fn of_asset(chain: &str, asset: &str) -> String {
    format!("{chain} {asset}")
}

/// Whether it is the scope of a token.
pub fn is_of_asset(scope: &str) -> bool {
    scope.contains(' ')
}

/// Whether nothing is quoted and paid for this chain, or for this token of it.
pub async fn is_paused(db: &impl Query, chain: &str, asset: Option<&str>) -> Result<bool, HostError> {
    let scope = asset.map_or_else(|| chain.to_owned(), |asset| of_asset(chain, asset));
    let select = "SELECT (SELECT count(*) FROM payin_pauses WHERE scope IN ($1, $2, $3)) \
         + (SELECT count(*) FROM payin_prices WHERE chain = $4 AND asset = $5 AND paused IS NOT NULL)";
    let count: i64 = db.one(sql(select).bind((ALL, chain, scope, chain, asset.unwrap_or_default()))).await?;
    Ok(count > 0)
}

/// Scopes and reasons.
pub async fn list(db: &impl Query) -> Result<Vec<(String, String)>, HostError> {
    db.rows(sql("SELECT scope, reason FROM payin_pauses ORDER BY scope")).await
}

/// What is paused already keeps its reason; returns whether it was not.
pub async fn pause(tx: &Tx, scope: &str, reason: &str, operator: Option<Address>) -> Result<bool, HostError> {
    let insert =
        "INSERT INTO payin_pauses (scope, reason, operator, at) VALUES ($1, $2, $3, $4) ON CONFLICT (scope) DO NOTHING";
    Ok(tx.execute(sql(insert).bind((scope, reason, operator, tx.now_s()))).await? > 0)
}

/// Notes a restore of the database; returns false when it is noted.
pub async fn note_restore(tx: &Tx, restored_s: i64) -> Result<bool, HostError> {
    let insert = "INSERT INTO payin_restores (restored_s) VALUES ($1) ON CONFLICT (restored_s) DO NOTHING";
    Ok(tx.execute(sql(insert).bind(restored_s)).await? > 0)
}

pub async fn knows_restore(db: &impl Query, restored_s: i64) -> Result<bool, HostError> {
    let select = "SELECT count(*) FROM payin_restores WHERE restored_s = $1";
    Ok(db.one::<i64>(sql(select).bind(restored_s)).await? > 0)
}

pub async fn resume(tx: &Tx, scope: &str) -> Result<(), HostError> {
    tx.execute(sql("DELETE FROM payin_pauses WHERE scope = $1").bind(scope)).await.map(drop)
}
