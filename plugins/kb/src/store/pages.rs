//! Pages and their totals. `revisions.rs` writes them.

use crate::model::{PageId, Slug, Sort};
use plugin_api::{Address, Author, HostError, List, Query, handles::StatementResult, sql};
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
