//! The revisions of pages. A page's are numbered from 1 without a gap, and none is ever changed.

use super::search::Index;
use crate::model::{IndexText, PageId, PageText, PageWritten, RevisionDraft, RevisionText, Slug};
use plugin_api::{
    Address, Event as _, HostError, Query, Tx, handles::StatementResult, point::LeaderboardInput, render_json, sql,
};
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

/// A revision to store.
pub struct RevisionWrite {
    index: Index,
    pub slug: Slug,
    /// The page's creator, as read before the transaction; `None` for a new page.
    creator: Option<Address>,
    author: Address,
    pub draft: RevisionDraft,
    words: IndexText,
}

impl RevisionWrite {
    pub fn new(index: Index, slug: Slug, creator: Option<Address>, author: Address, draft: RevisionDraft) -> Self {
        let words = IndexText::of(&draft.title, &draft.summary, &draft.body);
        Self { index, slug, creator, author, draft, words }
    }

    /// Stores the revision and publishes its event; returns the page. `None` when the page has another creator than was read
    /// before: it was created in the meantime.
    pub async fn store(&self, tx: &Tx) -> Result<Option<PageText>, HostError> {
        let Self { index, slug, creator, author, draft, words } = self;
        let find = sql("SELECT created_by, created_at, rev, words FROM kb_pages WHERE slug = $1").bind(slug);
        let before: Option<(Address, i64, i64, i64)> = tx.row(find).await?;
        if before.map(|(created_by, ..)| created_by) != *creator {
            return Ok(None);
        }
        let (_, created_at, rev_before, words_before) = before.unwrap_or((*author, tx.now_s(), 0, 0));
        let text = PageText {
            slug: slug.clone(),
            title: draft.title.clone(),
            summary: draft.summary.clone(),
            rev: rev_before + 1,
            created_at,
            updated_at: tx.now_s(),
            bytes: i64::try_from(draft.body.len()).unwrap_or(i64::MAX),
        };
        let put = sql(if before.is_some() { UPDATE_PAGE } else { INSERT_PAGE }).bind((
            slug,
            &text.title,
            text.rev,
            author,
            text.updated_at,
            words.length,
            render_json(&text)?,
        ));
        let page: PageId = tx.one(put).await?;
        let count = sql("UPDATE kb_totals SET pages = pages + $1, words = words + $2")
            .bind((before.is_none(), words.length - words_before));
        let insert = sql("INSERT INTO kb_revisions (page_id, rev, author, created_at, body, kept) \
             VALUES ($1, $2, $3, $4, $5, $6)")
        .bind((page, text.rev, author, text.updated_at, &draft.body, render_json(&RevisionText::of(&text))?));
        let [clear, fill] = index.replace(page, words);
        tx.batch(vec![count, clear, fill, insert]).await?;
        PageWritten::of(&text).by(*author).at(text.updated_at).publish(tx)?;
        Ok(Some(text))
    }
}

const INSERT_PAGE: &str = "INSERT INTO kb_pages \
    (slug, title, rev, created_by, updated_by, created_at, updated_at, words, kept) \
    VALUES ($1, $2, $3, $4, $4, $5, $5, $6, $7) RETURNING id";
const UPDATE_PAGE: &str = "UPDATE kb_pages SET title = $2, rev = $3, updated_by = $4, updated_at = $5, words = $6, kept = $7 \
    WHERE slug = $1 RETURNING id";
