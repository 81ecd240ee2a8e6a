//! Pages and their totals: reads, and the write of a revision.

use super::search::Index;
use crate::model::{IndexText, PageId, PageText, PageWritten, RevisionDraft, RevisionText, Slug, Sort};
use plugin_api::{Address, Author, Event as _, HostError, List, Query, Tx, handles::StatementResult, render_json, sql};
use serde::Deserialize;

/// Its rows decode as [`crate::model::SummaryRow`]s.
const PAGES: List = List::new("kb_pages", "kept, created_by, updated_by");

/// All pages. A page of the list walks the index of its order, and the total is a stored count.
pub fn list(sort: Sort) -> List {
    PAGES.order_by(sort.order_by()).stored_total(sql("SELECT pages FROM kb_totals"))
}

/// Totals of all current revisions.
#[derive(Clone, Copy, Default, Deserialize)]
pub struct Totals {
    pub pages: i64,
    /// Number of indexed words.
    pub words: i64,
}

pub async fn totals(db: &impl Query) -> Result<Totals, HostError> {
    Ok(db.row(sql("SELECT pages, words FROM kb_totals")).await?.unwrap_or_default())
}

/// The creator of the page with this slug.
pub async fn creator(db: &impl Query, slug: &Slug) -> Result<Option<Address>, HostError> {
    db.row(sql("SELECT created_by FROM kb_pages WHERE slug = $1").bind(slug)).await
}

/// A page with its current body.
#[derive(Deserialize)]
pub struct PageRow<'r> {
    pub id: PageId,
    pub kept: &'r str,
    pub created_by: Author,
    pub updated_by: Author,
    pub body: &'r str,
}

/// Selects [`PageRow`]s.
pub const SELECT: &str = "SELECT p.id, p.kept, p.created_by, p.updated_by, r.body FROM kb_pages p \
    JOIN kb_revisions r ON r.page_id = p.id AND r.rev = p.rev";

/// One row, [`PageRow`], or none.
pub async fn find(db: &impl Query, slug: &Slug) -> Result<StatementResult, HostError> {
    db.run(sql(SELECT).push_bind(" WHERE p.slug = {}", slug)).await
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
