//! Pages whose words are to be indexed again.

use super::search::Index;
use crate::model::{IndexText, PageId};
use plugin_api::{HostError, Query, Tx, sql};
use serde::Deserialize;

pub async fn exist(db: &impl Query) -> Result<bool, HostError> {
    let found: Option<i64> = db.row(sql("SELECT page_id FROM kb_unindexed LIMIT 1")).await?;
    Ok(found.is_some())
}

#[derive(Deserialize)]
struct UnindexedPage {
    id: PageId,
    title: String,
    /// The page's JSON, which has the summary.
    kept: String,
    words: i64,
    body: String,
}

#[derive(Deserialize)]
struct PageSummary {
    summary: String,
}

/// Indexes the next pages.
pub async fn index(tx: &Tx, index: Index, limit: u32) -> Result<(), HostError> {
    let pages: Vec<UnindexedPage> = tx
        .rows(
            sql(
                "SELECT p.id, p.title, p.kept, p.words, r.body FROM kb_unindexed u JOIN kb_pages p ON p.id = u.page_id \
                 JOIN kb_revisions r ON r.page_id = p.id AND r.rev = p.rev ORDER BY p.id LIMIT $1",
            )
            .bind(limit),
        )
        .await?;
    for page in pages {
        let kept: Option<PageSummary> = serde_json::from_str(&page.kept).ok();
        let summary = kept.map(|kept| kept.summary).unwrap_or_default();
        let text = IndexText::of(&page.title, &summary, &page.body);
        let [clear, fill] = index.replace(page.id, &text);
        let count = sql("UPDATE kb_totals SET words = words + $1").bind(text.length - page.words);
        let mark = sql("UPDATE kb_pages SET words = $2 WHERE id = $1").bind(page.id).bind(text.length);
        let done = sql("DELETE FROM kb_unindexed WHERE page_id = $1").bind(page.id);
        tx.batch(vec![clear, fill, count, mark, done]).await?;
    }
    Ok(())
}
