//! The history of a page.

use crate::model::{PageId, RevisionId, Slug};
use plugin_api::{Address, HostError, Query, StatementResult, sql};
use serde::Deserialize;

/// The page of the history.
#[derive(Clone, Debug, Deserialize)]
pub struct HistorySubject {
    pub id: PageId,
    pub title: String,
    pub rev: i64,
}

pub async fn subject(db: &impl Query, slug: &Slug) -> Result<Option<HistorySubject>, HostError> {
    db.row(sql("SELECT id, title, rev FROM kb_pages WHERE slug = $1").bind(slug)).await
}

#[derive(Deserialize)]
pub struct RevisionRow<'r> {
    pub id: RevisionId,
    pub rev: i64,
    pub author: Address,
    pub kept: &'r str,
}

/// The rows of a history, the newest first.
pub struct HistoryRows {
    parts: Vec<StatementResult>,
}

impl HistoryRows {
    pub fn rows(&self) -> Result<Vec<RevisionRow<'_>>, HostError> {
        let mut rows = Vec::new();
        for part in &self.parts {
            rows.append(&mut part.all()?);
        }
        Ok(rows)
    }
}

/// Revisions per statement: the gateway limits the size of a result, not of a response.
const REVISIONS_PER_READ: usize = 5000;

/// The revisions up to the page's current one.
pub async fn list(db: &impl Query, subject: &HistorySubject) -> Result<HistoryRows, HostError> {
    let mut parts = Vec::new();
    let mut up_to = subject.rev;
    loop {
        let read = sql("SELECT id, rev, author, kept FROM kb_revisions WHERE page_id = $1 AND rev <= $2 \
             ORDER BY rev DESC LIMIT $3");
        let limit = u32::try_from(REVISIONS_PER_READ).unwrap_or(u32::MAX);
        let part = db.run(read.bind(subject.id).bind(up_to).bind(limit)).await?;
        let (count, last) = (part.rows.row_count(), part.all::<RevisionRow<'_>>()?.last().map(|row| row.rev));
        parts.push(part);
        match last {
            Some(rev) if count == REVISIONS_PER_READ => up_to = rev - 1,
            _ => return Ok(HistoryRows { parts }),
        }
    }
}

/// A revision with its body.
#[derive(Deserialize)]
pub struct FullRevisionRow<'r> {
    pub id: RevisionId,
    pub author: Address,
    pub kept: &'r str,
    pub body: &'r str,
}

/// One row, [`FullRevisionRow`], or none.
pub async fn find(db: &impl Query, slug: &Slug, rev: i64) -> Result<StatementResult, HostError> {
    let find = sql("SELECT r.id, r.author, r.kept, r.body FROM kb_pages p JOIN kb_revisions r ON r.page_id = p.id \
         WHERE p.slug = $1 AND r.rev = $2");
    db.run(find.bind(slug).bind(rev)).await
}
