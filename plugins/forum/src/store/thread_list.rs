//! Lists of threads: one statement returns a page together with the total number of matches.
//!
//! Without a search the page walks the index of its order, the total is a stored count, and no post is read. A search (`q`) reads
//! every post (of the tag, if given) once: its cost grows with the forum.

use crate::model::{Sort, ThreadId};
use plugin_api::{Address, HostError, Query, Search, Sql, StatementResult, sql};
use serde::Deserialize;

/// Selects threads.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Searched in the title and all posts.
    pub search: Option<Search>,
    /// Normalised as in storage: trimmed, lower case.
    pub tag: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    pub sort: Sort,
    pub limit: u32,
    pub offset: u32,
}

#[derive(Deserialize)]
struct TotalRow {
    total: i64,
}

/// A thread of a page.
pub struct ListRow<'r> {
    pub id: ThreadId,
    pub kept: &'r str,
    pub author: Address,
    pub last_post_at: i64,
    pub post_count: i64,
    pub upvotes: i64,
}

/// Decoded by position: looking up columns by name takes as long as all other work of a page.
type Columns<'r> = (ThreadId, &'r str, Address, i64, i64, i64, i64);

const COLUMNS: &str = "t.id, t.kept, t.author, t.last_post_at, t.post_count, t.upvotes";

/// The threads of a page, and the total number of matches.
pub struct ThreadPage {
    outcome: StatementResult,
    pub total: i64,
}

impl ThreadPage {
    pub fn rows(&self) -> Result<Vec<ListRow<'_>>, HostError> {
        let rows: Vec<Columns<'_>> = self.outcome.all()?;
        let row = |(id, kept, author, last_post_at, post_count, upvotes, _total)| ListRow {
            id,
            kept,
            author,
            last_post_at,
            post_count,
            upvotes,
        };
        Ok(rows.into_iter().map(row).collect())
    }
}

pub async fn list(db: &impl Query, filter: &Filter, window: PageRequest) -> Result<ThreadPage, HostError> {
    let outcome = db.run(page(filter, window)).await?;
    let total = match outcome.first::<TotalRow>()? {
        Some(row) => row.total,
        // No row carries the total: nothing matches, or the page is past the end.
        None if window.offset == 0 => 0,
        None => db.one::<TotalRow>(total(filter)).await?.total,
    };
    Ok(ThreadPage { outcome, total })
}

/// The parts of a list's statement that depend on the filter.
struct FilterSql {
    /// `WITH …`, or empty.
    with: String,
    /// An SQL expression for the number of matches.
    count: &'static str,
    /// `WHERE …` on `forum_threads t`, or empty.
    condition: &'static str,
    /// Values of `$1 …`.
    params: Vec<String>,
}

const TAGGED: &str = "SELECT thread_id FROM forum_thread_tags WHERE tag = ";

fn filter_sql(filter: &Filter) -> FilterSql {
    match (&filter.search, &filter.tag) {
        (None, None) => FilterSql {
            with: String::new(),
            count: "coalesce((SELECT threads FROM forum_thread_counts WHERE tag = ''), 0)",
            condition: "",
            params: Vec::new(),
        },
        (None, Some(tag)) => FilterSql {
            with: String::new(),
            count: "coalesce((SELECT threads FROM forum_thread_counts WHERE tag = $1), 0)",
            condition: "WHERE t.id IN (SELECT thread_id FROM forum_thread_tags WHERE tag = $1)",
            params: vec![tag.clone()],
        },
        (Some(search), tag) => FilterSql {
            with: hits(search, tag.is_some()),
            count: "(SELECT count(*) FROM hits)",
            condition: "WHERE t.id IN (SELECT id FROM hits)",
            params: std::iter::once(search.needle().to_owned()).chain(tag.clone()).collect(),
        },
    }
}

/// The ids of the matches. Both databases materialise a `WITH` that is used twice, here for page and total.
fn hits(search: &Search, tagged: bool) -> String {
    let (in_title, in_body) = (search.condition("title", "$1"), search.condition("body", "$1"));
    let tagged = |id: &str| if tagged { format!(" AND {id} IN ({TAGGED}$2)") } else { String::new() };
    format!(
        "WITH hits AS (SELECT id FROM forum_threads WHERE {in_title}{} \
         UNION SELECT thread_id FROM forum_posts WHERE {in_body}{}) ",
        tagged("id"),
        tagged("thread_id"),
    )
}

fn bind(text: String, params: Vec<String>) -> Sql {
    params.into_iter().fold(sql(text), Sql::bind)
}

fn page(filter: &Filter, PageRequest { sort, limit, offset }: PageRequest) -> Sql {
    let FilterSql { with, count, condition, params } = filter_sql(filter);
    let order = sort.order_by();
    let text = format!("{with}SELECT {COLUMNS}, {count} AS total FROM forum_threads t {condition} ORDER BY {order}");
    bind(text, params).push_bind(" LIMIT {}", limit).push_bind(" OFFSET {}", offset)
}

fn total(filter: &Filter) -> Sql {
    let FilterSql { with, count, params, .. } = filter_sql(filter);
    bind(format!("{with}SELECT {count} AS total"), params)
}
