//! The full-text index: FTS5 on SQLite, a `tsvector` on PostgreSQL.
//!
//! The rule: both return the same pages with the same rank. The rank is BM25 as FTS5 computes it, over the words and weights of
//! `model/index_text.rs`, rounded to nine decimals; of equal ranks the newer page comes first.

mod hit;
mod postgres;
mod sqlite;

pub use hit::Hit;

use super::pages;
use crate::model::{IndexText, PageId, SearchQuery};
use plugin_api::{HostError, Query, Sql, handles, sql};

/// The full-text index of the database.
#[derive(Clone, Copy)]
pub enum Index {
    Sqlite,
    Postgres,
}

impl Index {
    pub fn of(environment: &handles::Environment) -> Self {
        if environment.dialect == "postgres" { Self::Postgres } else { Self::Sqlite }
    }

    /// Replaces a page's words in the index.
    pub fn replace(self, page: PageId, text: &IndexText) -> [Sql; 2] {
        match self {
            Self::Sqlite => sqlite::replace(page, text),
            Self::Postgres => postgres::replace(page, text),
        }
    }

    /// The pages that contain a word for every prefix, the best first.
    pub async fn find(
        self,
        db: &impl Query,
        query: &SearchQuery,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<Hit>, HostError> {
        match self {
            Self::Sqlite => sqlite::find(db, query, limit, offset).await,
            Self::Postgres => postgres::find(db, query, limit, offset).await,
        }
    }
}

/// Pages with their bodies, [`pages::PageRow`], in any order.
pub async fn read(db: &impl Query, hits: &[Hit]) -> Result<handles::StatementResult, HostError> {
    let read = sql(format!("{} WHERE p.id", pages::SELECT));
    db.run(read.push_in(hits.iter().map(|hit| hit.id))).await
}
