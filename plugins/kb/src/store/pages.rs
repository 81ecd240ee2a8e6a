//! Pages: reads, and writes of revisions.

use super::{search::Index, totals};
use crate::model::{IndexText, PageId, PageText, RevisionDraft, RevisionText, Slug};
use plugin_api::{Address, HostError, Query, StatementResult, Tx, render_json, sql};
use serde::Deserialize;

/// The creator of the page with this slug.
pub async fn creator(db: &impl Query, slug: &Slug) -> Result<Option<Address>, HostError> {
    db.row(sql("SELECT created_by FROM kb_pages WHERE slug = $1").bind(slug)).await
}

/// A page with its current body.
#[derive(Deserialize)]
pub struct PageRow<'r> {
    pub kept: &'r str,
    pub created_by: Address,
    pub updated_by: Address,
    pub body: &'r str,
}

/// One row, [`PageRow`], or none.
pub async fn find(db: &impl Query, slug: &Slug) -> Result<StatementResult, HostError> {
    let find = sql("SELECT p.kept, p.created_by, p.updated_by, r.body FROM kb_pages p \
         JOIN kb_revisions r ON r.page_id = p.id AND r.rev = p.rev WHERE p.slug = $1");
    db.run(find.bind(slug)).await
}

/// A page after a write.
pub struct WrittenPage {
    pub text: PageText,
    pub created_by: Address,
}

#[derive(Deserialize)]
struct Before {
    id: PageId,
    rev: i64,
    created_by: Address,
    created_at: i64,
    words: i64,
}

/// A revision to store.
pub struct RevisionWrite<'a> {
    pub slug: &'a Slug,
    /// The page's creator, as read before the transaction; `None` for a new page.
    pub creator: Option<Address>,
    pub author: Address,
    pub draft: &'a RevisionDraft,
    pub now_s: i64,
}

/// Stores a revision. `None` when the page has another creator than was read before: it was created in the meantime.
pub async fn write(tx: &Tx, index: Index, write: &RevisionWrite<'_>) -> Result<Option<WrittenPage>, HostError> {
    let RevisionWrite { slug, creator, author, draft, now_s } = *write;
    let find = sql("SELECT id, rev, created_by, created_at, words FROM kb_pages WHERE slug = $1").bind(slug);
    let before: Option<Before> = tx.row(find).await?;
    if before.as_ref().map(|page| page.created_by) != creator {
        return Ok(None);
    }
    let text = PageText {
        slug: slug.clone(),
        title: draft.title.clone(),
        summary: draft.summary.clone(),
        rev: before.as_ref().map_or(0, |page| page.rev) + 1,
        created_at: before.as_ref().map_or(now_s, |page| page.created_at),
        updated_at: now_s,
        bytes: i64::try_from(draft.body.len()).unwrap_or(i64::MAX),
    };
    let indexed = IndexText::of(&draft.title, &draft.summary, &draft.body);
    let page = put(tx, before.as_ref(), &text, author, indexed.length).await?;
    tx.batch(index.replace(page, &indexed)).await?;
    store_revision(tx, page, &text, author, &draft.body).await?;
    Ok(Some(WrittenPage { text, created_by: creator.unwrap_or(author) }))
}

/// Updates the page's own row and the totals.
async fn put(
    tx: &Tx,
    before: Option<&Before>,
    text: &PageText,
    author: Address,
    words: i64,
) -> Result<PageId, HostError> {
    let kept = render_json(text)?;
    match before {
        None => {
            let insert = sql("INSERT INTO kb_pages \
                 (slug, title, rev, created_by, updated_by, created_at, updated_at, words, kept) \
                 VALUES ($1, $2, $3, $4, $4, $5, $5, $6, $7) RETURNING id")
            .bind(&text.slug)
            .bind(&text.title)
            .bind(text.rev)
            .bind(author)
            .bind(text.updated_at)
            .bind(words)
            .bind(kept);
            let page = tx.one(insert).await?;
            tx.execute(totals::add(1, words)).await?;
            Ok(page)
        }
        Some(page) => {
            let update =
                sql("UPDATE kb_pages SET title = $2, rev = $3, updated_by = $4, updated_at = $5, words = $6, \
                 kept = $7 WHERE id = $1")
                .bind(page.id)
                .bind(&text.title)
                .bind(text.rev)
                .bind(author)
                .bind(text.updated_at)
                .bind(words)
                .bind(kept);
            tx.batch(vec![update, totals::add(0, words - page.words)]).await?;
            Ok(page.id)
        }
    }
}

async fn store_revision(tx: &Tx, page: PageId, text: &PageText, author: Address, body: &str) -> Result<(), HostError> {
    let kept = RevisionText {
        slug: text.slug.clone(),
        title: text.title.clone(),
        summary: text.summary.clone(),
        rev: text.rev,
        created_at: text.updated_at,
        bytes: text.bytes,
    };
    let insert = sql("INSERT INTO kb_revisions (page_id, rev, author, created_at, body, kept) \
         VALUES ($1, $2, $3, $4, $5, $6)")
    .bind(page)
    .bind(text.rev)
    .bind(author)
    .bind(text.updated_at)
    .bind(body)
    .bind(render_json(&kept)?);
    tx.execute(insert).await.map(drop)
}
