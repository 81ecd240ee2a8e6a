//! Counters in the database, for limits that must hold on all gateways and after a restart.

use super::{Query, Sql, Tx, sql};
use crate::abi::HostError;

/// A limit on how often something happens within a period, for example 10 a day for each client. It is counted in the transaction
/// of what it limits: both are committed, or neither.
///
/// See [`crate::counter`] for the table and an example.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    table: &'static str,
    name: &'static str,
    period_s: i64,
}

/// What a counter says about one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// It is counted; so many are used now in this period, this one included.
    Counted { used: i64 },
    /// The limit is reached, and nothing was counted. It is free again after so many seconds.
    Full { retry_after_s: i64 },
}

impl Counter {
    /// `table` is the plugin's table for counters, `name` names this one among them. Periods follow each other from 1970 on: a day
    /// (86,400 s) begins at midnight UTC.
    pub const fn new(table: &'static str, name: &'static str, period_s: i64) -> Self {
        Self { table, name, period_s }
    }

    /// Counts `amount` for `key` if the sum of this period stays within `limit`. Transactions at the same time never pass the limit
    /// together.
    pub async fn take(&self, tx: &Tx, key: &str, amount: i64, limit: i64) -> Result<Count, HostError> {
        let retry_after_s = self.period_s - tx.now_s().rem_euclid(self.period_s);
        if amount > limit {
            return Ok(Count::Full { retry_after_s });
        }
        let Self { table, name, .. } = self;
        let insert = format!(
            "INSERT INTO {table} (name, key, period, used) VALUES ($1, $2, $3, $4) ON CONFLICT (name, key, period) DO UPDATE \
             SET used = {table}.used + excluded.used WHERE {table}.used + excluded.used <= $5 RETURNING used"
        );
        let counted = sql(insert).bind((*name, key, self.period(tx.now_s()), amount, limit));
        let used: Option<i64> = tx.row(counted).await?;
        Ok(used.map_or(Count::Full { retry_after_s }, |used| Count::Counted { used }))
    }

    /// How much is used for `key` in the period of this time.
    pub async fn used(&self, db: &impl Query, key: &str, at_s: i64) -> Result<i64, HostError> {
        let select = format!("SELECT used FROM {} WHERE name = $1 AND key = $2 AND period = $3", self.table);
        let used: Option<i64> = db.row(sql(select).bind((self.name, key, self.period(at_s)))).await?;
        Ok(used.unwrap_or(0))
    }

    /// Gives back what was counted for `key` at this time, because it did not happen after all.
    pub async fn give_back(&self, tx: &Tx, key: &str, amount: i64, counted_at_s: i64) -> Result<(), HostError> {
        let update = format!(
            "UPDATE {} SET used = CASE WHEN used > $4 THEN used - $4 ELSE 0 END WHERE name = $1 AND key = $2 AND period = $3",
            self.table
        );
        tx.execute(sql(update).bind((self.name, key, self.period(counted_at_s), amount))).await.map(drop)
    }

    /// Deletes the rows of periods that ended before this time.
    pub fn delete_before(&self, before_s: i64) -> Sql {
        let delete = format!("DELETE FROM {} WHERE name = $1 AND period < $2", self.table);
        sql(delete).bind((self.name, self.period(before_s)))
    }

    fn period(&self, at_s: i64) -> i64 {
        at_s.div_euclid(self.period_s)
    }
}
