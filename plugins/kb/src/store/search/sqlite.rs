//! FTS5, which counts words and ranks by itself.

use super::Hit;
use crate::model::{IndexText, PageId, SearchQuery};
use plugin_api::{HostError, Query, Sql, sql};

pub fn replace(page: PageId, text: &IndexText) -> [Sql; 2] {
    let [title, summary, body] = &text.columns;
    let insert = sql("INSERT INTO kb_search (rowid, title, summary, body) VALUES ($1, $2, $3, $4)");
    [sql("DELETE FROM kb_search WHERE rowid = $1").bind(page), insert.bind((page, title, summary, body))]
}

/// The weights are those of `model/index_text.rs`.
const FIND: &str = "SELECT rowid AS id, round(bm25(kb_search, 4.0, 2.0, 1.0), 9) AS score FROM kb_search \
    WHERE kb_search MATCH $1 ORDER BY score, id DESC LIMIT $2 OFFSET $3";

pub async fn find(db: &impl Query, query: &SearchQuery, limit: u32, offset: u32) -> Result<Vec<Hit>, HostError> {
    // Words consist of letters, digits and underscores only, so quotes are sufficient escaping.
    let beginnings: Vec<String> = query.beginnings().iter().map(|word| format!("\"{word}\" *")).collect();
    db.rows(sql(FIND).bind((beginnings.join(" "), limit, offset))).await
}
