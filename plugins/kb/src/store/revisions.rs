//! The revisions of pages. A page's are numbered from 1 without a gap, and none is ever changed.

use crate::model::{PageId, Slug};
use plugin_api::{Address, HostError, Query, handles::StatementResult, point::LeaderboardInput, sql};
use serde::Deserialize;

/// The page of the history.
#[derive(Deserialize)]
pub struct HistorySubject {
    pub id: PageId,
    pub title: String,
    pub rev: i64,
}

pub async fn subject(db: &impl Query, slug: &Slug) -> Result<Option<HistorySubject>, HostError> {
    db.row(sql("SELECT id, title, rev FROM kb_pages WHERE slug = $1").bind(slug)).await
}

/// Revisions per statement: the gateway limits the size of a result, not of a response.
const REVISIONS_PER_READ: i64 = 5000;

/// The revisions up to the page's current one, the newest first: [`crate::model::RevisionRow`]s without bodies.
pub async fn list(db: &impl Query, subject: &HistorySubject) -> Result<Vec<StatementResult>, HostError> {
    let mut parts = Vec::new();
    let mut newest = subject.rev;
    while newest > 0 {
        let oldest = newest - REVISIONS_PER_READ + 1;
        let read = sql("SELECT kept, id, author FROM kb_revisions WHERE page_id = $1 AND rev BETWEEN $2 AND $3 \
             ORDER BY rev DESC");
        parts.push(db.run(read.bind((subject.id, oldest, newest))).await?);
        newest = oldest - 1;
    }
    Ok(parts)
}

/// One row, [`crate::model::RevisionRow`], or none.
pub async fn find(db: &impl Query, slug: &Slug, rev: i64) -> Result<StatementResult, HostError> {
    let find = sql("SELECT r.kept, r.id, r.author, r.body FROM kb_pages p JOIN kb_revisions r ON r.page_id = p.id \
         WHERE p.slug = $1 AND r.rev = $2");
    db.run(find.bind((slug, rev))).await
}

/// Number of revisions per author. The network's own do not count.
pub async fn count_by_author(db: &impl Query, input: &LeaderboardInput) -> Result<Vec<(Address, u64)>, HostError> {
    let count = sql("SELECT author, count(*) FROM kb_revisions WHERE author <> $1 AND created_at >= $2");
    db.rows(input.select(count.bind((Address::ZERO, input.since())), "author", "count(*) DESC")).await
}
