//! Lists: a table with its columns, filters, search, order and total, declared once and read in one statement.

mod cursor;
mod keyset;
mod listed;
mod statement;

pub use cursor::PageStart;
pub(crate) use cursor::problem_of;
pub use listed::Listed;

use super::{Bind, HostError, Query, Search, SearchIndex, Sql, StatementResult, row};
use crate::abi::{Cell, HostErrorCode, Value};
use serde::{Deserialize, de::DeserializeOwned};

/// A list of a table's rows. Declare its fixed parts as a constant and add what a request selects:
///
/// ```
/// use plugin_api::{Address, HostError, List, Query, Search, SearchIndex, handles::ListPage};
///
/// const SEARCHED: SearchIndex = SearchIndex::new("notes_notes", &["text"]);
/// const NOTES: List = List::new("notes_notes n", "n.id, n.author, n.text").order_by("n.id DESC");
///
/// async fn list_notes(
///     db: &impl Query,
///     author: Option<Address>,
///     search: Option<Search>,
/// ) -> Result<ListPage, HostError> {
///     NOTES.filter("n.author = {}", author).search(search, "n.id", &SEARCHED).first(25).fetch(db).await
/// }
/// ```
///
/// A full page hands out a cursor: the response has a link to the page after it (header `Link`, `rel="next"`), and the list takes
/// it as the parameter `cursor`. So the order must end in a unique key, and its columns are integers or texts that are never NULL
/// (or are declared `NULLS FIRST`).
///
/// [`List::fetch`] reads a page together with the number of all matches in one statement, which runs on both databases. A
/// list that is long and seldom filtered should have a stored count: see [`List::stored_total`].
///
/// All SQL is `&'static`: texts of clients reach the database as parameters only.
#[derive(Clone, Debug)]
pub struct List {
    table: &'static str,
    columns: &'static str,
    joins: &'static str,
    order: &'static str,
    hits: Option<Hits>,
    conditions: Vec<Condition>,
    stored_total: Option<Sql>,
    page: Option<Window>,
}

#[derive(Clone, Debug)]
enum Condition {
    /// `{}` in the text stands for the value.
    Text(&'static str, Option<Value>),
    Contains(Search, &'static [&'static str]),
}

/// The keys of the matches, from a statement of their own.
#[derive(Clone, Debug)]
struct Hits {
    key: &'static str,
    select: Sql,
}

#[derive(Clone, Debug)]
struct Window {
    limit: u32,
    start: PageStart,
}

impl List {
    /// A list of `table`, which may have an alias, with these columns in this order. Structs whose fields have the order of
    /// the columns decode fastest.
    pub const fn new(table: &'static str, columns: &'static str) -> Self {
        Self {
            table,
            columns,
            joins: "",
            order: "",
            hits: None,
            conditions: Vec::new(),
            stored_total: None,
            page: None,
        }
    }

    /// Tables that columns are taken from, for example `LEFT JOIN notes_cards c ON c.note_id = n.id`. They must not change
    /// the number of rows: the total is counted without them. Filters do not see them.
    pub const fn join(mut self, joins: &'static str) -> Self {
        self.joins = joins;
        self
    }

    /// The order. It should end in a unique key, because equal rows come in any order.
    pub const fn order_by(mut self, order: &'static str) -> Self {
        self.order = order;
        self
    }

    /// Keeps rows for which the condition is true; `{}` in it stands for the value. `None` keeps all rows.
    pub fn filter(mut self, condition: &'static str, value: Option<impl Bind>) -> Self {
        self.conditions.extend(value.map(|value| Condition::Text(condition, Some(value.into_value()))));
        self
    }

    /// Keeps rows for which a condition without a value is true, when `applies`.
    pub fn filter_if(mut self, applies: bool, condition: &'static str) -> Self {
        self.conditions.extend(applies.then_some(Condition::Text(condition, None)));
        self
    }

    /// Keeps rows that contain the text in one of these columns. `None` keeps all rows. Each row that the other conditions keep
    /// is read: for a table that grows, see [`List::search`].
    pub fn contains(mut self, search: Option<Search>, columns: &'static [&'static str]) -> Self {
        self.conditions.extend(search.map(|search| Condition::Contains(search, columns)));
        self
    }

    /// Keeps rows that contain the text in one of the columns of this index, whose `id` is this list's `key` (for example
    /// `n.id`). `None` keeps all rows. It takes the place of [`List::hits`].
    pub fn search(self, search: Option<Search>, key: &'static str, index: &SearchIndex) -> Self {
        match search {
            Some(search) => self.hits(key, index.select("id", &search)),
            None => self,
        }
    }

    /// Keeps rows whose `key` (for example `n.id`) is in the only column of `select`, which must have no duplicates. The
    /// database runs `select` once for page and total: for conditions that are expensive, or about other tables.
    ///
    /// ```
    /// use plugin_api::{List, sql};
    ///
    /// fn discussed(notes: List, since_s: i64) -> List {
    ///     let hits = "SELECT DISTINCT note_id FROM notes_comments WHERE created_at >= $1";
    ///     notes.hits("n.id", sql(hits).bind(since_s))
    /// }
    /// ```
    pub fn hits(mut self, key: &'static str, select: Sql) -> Self {
        self.hits = Some(Hits { key, select });
        self
    }

    /// Takes the total from a stored count instead of `count(*)`, which reads every match. `select` must return the number of
    /// rows that the filters of this request keep; no row counts as 0. `None`: nobody counted what this request selects.
    ///
    /// ```
    /// use plugin_api::{List, sql};
    ///
    /// fn tagged(notes: List, tag: Option<&str>) -> List {
    ///     let count = sql("SELECT notes FROM notes_counts WHERE tag = $1").bind(tag.unwrap_or_default());
    ///     notes.filter("n.id IN (SELECT note_id FROM notes_tags WHERE tag = {})", tag).stored_total(count)
    /// }
    /// ```
    pub fn stored_total(mut self, select: impl Into<Option<Sql>>) -> Self {
        self.stored_total = select.into();
        self
    }

    /// A page of a [`super::Page`]: at most `limit` rows from `start` on (its `offset`). All rows without it. The order must be set
    /// before.
    pub fn page(mut self, limit: u32, start: impl Into<PageStart>) -> Self {
        self.page = Some(Window { limit, start: start.into().in_order(self.table, self.order) });
        self
    }

    /// The first `limit` rows, which no page follows.
    pub fn first(mut self, limit: u32) -> Self {
        self.page = Some(Window { limit, start: PageStart::from(0) });
        self
    }

    /// Reads the page and the number of all matches.
    pub async fn fetch(self, db: &impl Query) -> Result<ListPage, HostError> {
        let outcome = self.run(db, self.page_statement(), 1).await?;
        let total = match total_of(&outcome)? {
            Some(total) => total,
            // No row carries the total: nothing matches, or the page is past the end.
            None if self.page.as_ref().is_none_or(|page| page.start.is_first()) => 0,
            None => self.count(db).await?,
        };
        Ok(ListPage { outcome, total })
    }

    /// Reads the page alone, for answers without a total.
    pub async fn rows<T: DeserializeOwned>(self, db: &impl Query) -> Result<Vec<T>, HostError> {
        self.run(db, self.rows_statement(), 0).await?.all()
    }

    /// Runs the statement of a page, and notes where the next one begins. `columns_after` follow those of the order.
    async fn run(&self, db: &impl Query, statement: Sql, columns_after: usize) -> Result<StatementResult, HostError> {
        let Some(Window { limit, start }) = &self.page else { return db.run(statement).await };
        start.read(db, statement, *limit, columns_after).await
    }

    /// The number of all matches.
    pub async fn count(&self, db: &impl Query) -> Result<i64, HostError> {
        db.one(self.count_statement()).await
    }
}

/// The rows of a page, and the number of all matches.
pub struct ListPage {
    outcome: StatementResult,
    /// Matches on all pages.
    pub total: i64,
}

impl ListPage {
    /// The rows; their texts may be borrowed from this page.
    pub fn rows<'r, T: Deserialize<'r>>(&'r self) -> Result<Vec<T>, HostError> {
        self.outcome.all()
    }
}

/// The total is the last column of each row. It is read without its row's type, so that this need not name it.
fn total_of(outcome: &StatementResult) -> Result<Option<i64>, HostError> {
    let rows = &outcome.rows;
    let columns = rows.columns().map_err(row::broken)?.len();
    match rows.cells().map_err(row::broken)?.take(columns).last().transpose().map_err(row::broken)? {
        Some(Cell::Int(total)) => Ok(Some(total)),
        None => Ok(None),
        Some(_) => Err(HostError::new(HostErrorCode::Statement, "the total of a list is no integer")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::abi::{RowsBuilder, Statement};
    use std::{
        future::Future,
        pin::pin,
        sync::Mutex,
        task::{Context, Poll, Waker},
    };

    /// Id, text and total.
    type Cells = (i64, &'static str, i64);

    /// Answers each statement with the next of these results.
    struct Answers {
        results: Mutex<Vec<Vec<Cells>>>,
        asked: Mutex<Vec<String>>,
        next: Mutex<Option<String>>,
    }

    impl Query for Answers {
        async fn run(&self, statement: Sql) -> Result<StatementResult, HostError> {
            let statement = Statement::from(statement);
            self.asked.lock().unwrap().push(statement.sql.to_string());
            let is_count = statement.sql.starts_with("SELECT (");
            let mut builder = if is_count { RowsBuilder::new(["total"].into_iter()) } else { page_builder() };
            for (id, text, total) in self.results.lock().unwrap().remove(0) {
                if !is_count {
                    builder.cell(Cell::Int(id));
                    builder.cell(Cell::Text(text));
                    builder.cell(Cell::Int(id));
                }
                builder.cell(Cell::Int(total));
                builder.end_row();
            }
            Ok(StatementResult { rows: builder.finish(), changes: 0 })
        }

        fn note_next_page(&self, cursor: String) {
            *self.next.lock().unwrap() = Some(cursor);
        }
    }

    fn page_builder() -> RowsBuilder {
        RowsBuilder::new(["id", "text", "page_key_0", "total"].into_iter())
    }

    fn now<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => unreachable!("the answers are ready"),
        }
    }

    const NOTES: List = List::new("notes_notes", "id, text").order_by("id DESC");

    fn fetched(list: List, results: &[&[Cells]]) -> (ListPage, usize) {
        let results = results.iter().map(|rows| rows.to_vec()).collect();
        let db = Answers { results: Mutex::new(results), asked: Mutex::default(), next: Mutex::default() };
        let page = now(list.fetch(&db)).unwrap();
        (page, db.asked.lock().unwrap().len())
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct NoteRow<'r> {
        id: i64,
        text: &'r str,
    }

    #[test]
    fn a_page_carries_its_total() {
        let (page, statements) = fetched(NOTES.page(2, 0_u32), &[&[(7, "x", 9), (6, "y", 9)]]);
        assert_eq!((page.total, statements), (9, 1));
        assert_eq!(page.rows::<NoteRow<'_>>().unwrap(), [NoteRow { id: 7, text: "x" }, NoteRow { id: 6, text: "y" }]);
        assert_eq!(page.rows::<(i64, &str, i64, i64)>().unwrap()[0], (7, "x", 7, 9));
    }

    #[test]
    fn a_full_page_hands_out_the_cursor_of_its_last_row() {
        let next = |list: List, rows: &[Cells]| {
            let results = Mutex::new(vec![rows.to_vec(), rows.to_vec()]);
            let db = Answers { results, asked: Mutex::default(), next: Mutex::default() };
            now(list.fetch(&db)).map(|_| db.next.lock().unwrap().take())
        };
        let rows = [(7, "x", 9), (6, "y", 9)];
        let cursor = next(NOTES.page(2, 0_u32), &rows).unwrap().unwrap();
        assert!(String::from_utf8(alloy_primitives::hex::decode(&cursor).unwrap()).unwrap().ends_with(",[6]]"));
        for list in [NOTES.page(3, 0_u32), NOTES.first(2), NOTES] {
            assert_eq!(next(list, &rows).unwrap(), None);
        }
        let after = PageStart::after(&cursor).unwrap();
        assert!(next(NOTES.page(2, after.clone()), &rows).unwrap().is_some());
        let error = next(NOTES.order_by("text, id").page(2, after), &rows).unwrap_err();
        assert_eq!(problem_of(&error).unwrap().status, 400, "of another order");
    }

    #[test]
    fn an_empty_page_past_the_end_is_counted() {
        let (page, statements) = fetched(NOTES.page(2, 10_u32), &[&[], &[(0, "", 3)]]);
        assert_eq!((page.total, statements), (3, 2));
        assert_eq!(page.rows::<NoteRow<'_>>().unwrap(), []);
    }

    #[test]
    fn an_empty_first_page_has_no_matches() {
        for list in [NOTES.page(2, 0_u32), NOTES] {
            let (page, statements) = fetched(list, &[&[]]);
            assert_eq!((page.total, statements), (0, 1));
        }
    }
}
