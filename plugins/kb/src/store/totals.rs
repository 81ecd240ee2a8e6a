//! Totals of the knowledge base.

use plugin_api::{Address, HostError, Query, Sql, sql};
use serde::Deserialize;

/// Totals of all current revisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Totals {
    pub pages: i64,
    /// Number of indexed words.
    pub words: i64,
}

pub async fn read(db: &impl Query) -> Result<Totals, HostError> {
    Ok(db.row(sql("SELECT pages, words FROM kb_totals")).await?.unwrap_or_default())
}

pub fn add(pages: i64, words: i64) -> Sql {
    sql("UPDATE kb_totals SET pages = pages + $1, words = words + $2").bind(pages).bind(words)
}

/// Number of revisions per author since that second; of all when it is absent. The network's own do not count.
pub async fn count_by_author(db: &impl Query, since_s: Option<i64>) -> Result<Vec<(Address, u64)>, HostError> {
    let all = "SELECT author, count(*) FROM kb_revisions WHERE author <> $1";
    db.rows(match since_s {
        Some(second) => sql(format!("{all} AND created_at >= $2 GROUP BY author")).bind(Address::ZERO).bind(second),
        None => sql(format!("{all} GROUP BY author")).bind(Address::ZERO),
    })
    .await
}
