//! What is counted of final blocks. The rule: a block is counted in the transaction that marks it.

use super::blocks::BlockRow;
use crate::model::{DAY_S, HOUR_S, Kind, TotalsByKind};
use plugin_api::{HostError, Query, Tx, Wei, sql};
use serde::Deserialize;

/// Key of the only row of `loadtest_totals`.
const ROW: i64 = 1;
/// How long the hours are kept.
const HOURS_KEPT: i64 = 48;
/// Days of which the counts are told.
const DAYS_TOLD: i64 = 400;

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Totals {
    pub through_block: i64,
    pub transactions: i64,
    pub labelled: i64,
    pub counted_at: i64,
    /// The newest final block at that time.
    pub final_block: i64,
    pub first_block: Option<i64>,
    pub first_at: Option<i64>,
    pub last_block: Option<i64>,
    pub last_at: Option<i64>,
}

pub async fn totals(db: &impl Query) -> Result<Option<Totals>, HostError> {
    let select = sql("SELECT through_block, transactions, labelled, counted_at, final_block, first_block, first_at, \
         last_block, last_at FROM loadtest_totals WHERE id = $1");
    db.row(select.bind(ROW)).await
}

/// Adds a final block to all counts; `final_block` is the newest one.
pub async fn count(tx: &Tx, block: &BlockRow, tally: &TotalsByKind, final_block: i64) -> Result<(), HostError> {
    let BlockRow { number, mined_at, transactions, labelled, .. } = *block;
    let labelled_at = (labelled > 0).then_some((number, mined_at));
    let (seen_block, seen_at) = (labelled_at.map(|(number, _)| number), labelled_at.map(|(_, at)| at));
    let total = sql(
        "INSERT INTO loadtest_totals (id, through_block, transactions, labelled, counted_at, first_block, \
         first_at, last_block, last_at, final_block) VALUES ($1, $2, $3, $4, $5, $6, $7, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET \
         through_block = excluded.through_block, transactions = loadtest_totals.transactions + excluded.transactions, \
         labelled = loadtest_totals.labelled + excluded.labelled, counted_at = excluded.counted_at, \
         final_block = excluded.final_block, \
         first_block = coalesce(loadtest_totals.first_block, excluded.first_block), \
         first_at = coalesce(loadtest_totals.first_at, excluded.first_at), \
         last_block = coalesce(excluded.last_block, loadtest_totals.last_block), \
         last_at = coalesce(excluded.last_at, loadtest_totals.last_at)",
    );
    tx.execute(total.bind((ROW, number, transactions, labelled, tx.now_s())).bind((seen_block, seen_at, final_block)))
        .await?;
    let hour = mined_at.div_euclid(HOUR_S);
    let hours = sql("INSERT INTO loadtest_hours (hour, transactions, labelled) VALUES ($1, $2, $3) \
         ON CONFLICT (hour) DO UPDATE SET transactions = loadtest_hours.transactions + excluded.transactions, \
         labelled = loadtest_hours.labelled + excluded.labelled");
    tx.execute(hours.bind((hour, transactions, labelled))).await?;
    tx.execute(sql("DELETE FROM loadtest_hours WHERE hour < $1").bind(hour - HOURS_KEPT)).await?;
    if labelled == 0 {
        return Ok(());
    }
    let days = sql("INSERT INTO loadtest_days (day, transactions) VALUES ($1, $2) \
         ON CONFLICT (day) DO UPDATE SET transactions = loadtest_days.transactions + excluded.transactions");
    tx.execute(days.bind((mined_at.div_euclid(DAY_S), labelled))).await?;
    let mut sums = kinds(tx).await?;
    for (kind, (transactions, volume)) in &tally.0 {
        sums.add(*kind, *transactions, *volume);
    }
    for (kind, (transactions, volume)) in sums.0.iter().filter(|(kind, _)| tally.0.contains_key(kind)) {
        let store = sql("INSERT INTO loadtest_kinds (kind, transactions, volume) VALUES ($1, $2, $3) \
             ON CONFLICT (kind) DO UPDATE SET transactions = excluded.transactions, volume = excluded.volume");
        tx.execute(store.bind((*kind, *transactions, *volume))).await?;
    }
    Ok(())
}

pub async fn kinds(db: &impl Query) -> Result<TotalsByKind, HostError> {
    let rows: Vec<(String, i64, Wei)> = db.rows(sql("SELECT kind, transactions, volume FROM loadtest_kinds")).await?;
    let mut tally = TotalsByKind::default();
    for (kind, transactions, volume) in rows {
        if let Some(kind) = Kind::parse(&kind) {
            tally.add(kind, transactions, volume);
        }
    }
    Ok(tally)
}

/// All and the load test's transactions of the hours that began less than a day ago.
pub async fn last_day(db: &impl Query, now_s: i64) -> Result<(i64, i64), HostError> {
    let select =
        sql("SELECT cast(coalesce(sum(transactions), 0) AS BIGINT), cast(coalesce(sum(labelled), 0) AS BIGINT) \
         FROM loadtest_hours WHERE hour > $1");
    db.one(select.bind((now_s - DAY_S).div_euclid(HOUR_S))).await
}

/// The load test's transactions of each of the last hours, oldest first, with those in which there was none.
pub async fn hours(db: &impl Query, now_s: i64, count: i64) -> Result<Vec<u64>, HostError> {
    let first = now_s.div_euclid(HOUR_S) - count + 1;
    let rows: Vec<(i64, i64)> =
        db.rows(sql("SELECT hour, labelled FROM loadtest_hours WHERE hour >= $1").bind(first)).await?;
    let of_hour = |hour| rows.iter().find(|(of, _)| *of == hour).map_or(0, |(_, labelled)| labelled.unsigned_abs());
    Ok((first..first + count).map(of_hour).collect())
}

/// The load test's transactions by day, oldest first.
pub async fn days(db: &impl Query) -> Result<Vec<(i64, i64)>, HostError> {
    let select = sql("SELECT day, transactions FROM loadtest_days ORDER BY day DESC LIMIT $1").bind(DAYS_TOLD);
    let mut days: Vec<(i64, i64)> = db.rows(select).await?;
    days.reverse();
    Ok(days)
}
