//! Where a page begins: after a number of rows, or after the last row of the page before.
//!
//! The rule: a cursor names the sort columns of a row, whose key is among them. So pages stay together whatever is inserted
//! meanwhile, and a page costs the same wherever it begins.

use super::keyset::Keyset;
use crate::{
    abi::{Cell, HostError, HostErrorCode, Statement, StatementResult, Value},
    sdk::{Problem, Query, Sql, row},
};
use abi_stable::std_types::RCow;
use alloy_primitives::hex;
use serde_json::Value as Json;

/// Where the page of a list begins: `offset` of a [`crate::Page`], after a number of rows or after the row that a cursor names.
///
/// [`crate::List::page`] takes it. Where no [`crate::List`] can hold the SQL, it writes the page's parts of the statement:
///
/// ```
/// use plugin_api::{HostError, Query, handles::{PageStart, StatementResult}, sql};
///
/// const ORDER: &str = "stars DESC, id DESC";
///
/// async fn page(db: &impl Query, limit: u32, start: PageStart) -> Result<StatementResult, HostError> {
///     let start = start.in_order("notes_notes", ORDER);
///     let mut columns = "id, text".to_owned();
///     start.push_columns(&mut columns);
///     let select = start.push_after(sql(format!("SELECT {columns} FROM notes_notes")), " WHERE ");
///     let select = select.push(" ORDER BY ").push(ORDER).push_bind(" LIMIT {}", limit);
///     start.read(db, start.push_offset(select), limit, 0).await
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PageStart {
    position: Position,
    /// What cursors name; nothing for a page that no other follows.
    keyset: Keyset,
}

#[derive(Clone, Debug, PartialEq)]
enum Position {
    Offset(u32),
    After(Cursor),
}

impl From<u32> for PageStart {
    fn from(offset: u32) -> Self {
        Self { position: Position::Offset(offset), keyset: Keyset::default() }
    }
}

impl PageStart {
    pub(crate) fn after(cursor: &str) -> Result<Self, Problem> {
        Ok(Self { position: Position::After(Cursor::parse(cursor)?), keyset: Keyset::default() })
    }

    /// For lists that are no table: the number of rows to skip.
    pub fn offset(self) -> Result<u32, Problem> {
        match self.position {
            Position::Offset(offset) => Ok(offset),
            Position::After(_) => Err(refusal("cursor: this list has none")),
        }
    }

    /// The same in this order, whose columns its cursors name. `list` tells apart the same order of two lists.
    pub fn in_order(self, list: &str, order: &'static str) -> Self {
        Self { keyset: Keyset::new(list, order), ..self }
    }

    /// Whether it is the first row.
    pub(super) fn is_first(&self) -> bool {
        self.position == Position::Offset(0)
    }

    /// Appends the columns of the order to those that are selected.
    pub fn push_columns(&self, columns: &mut String) {
        self.keyset.push_columns(columns);
    }

    /// Appends `word` and the condition that a row comes after the cursor, if there is one.
    pub fn push_after(&self, statement: Sql, word: &str) -> Sql {
        let Position::After(cursor) = &self.position else { return statement };
        let mut params = statement.0.params;
        let mut text = statement.0.sql.into_owned().into_string();
        text.extend([word, "("]);
        self.keyset.push_after(&mut text, &cursor.keys, &mut |value| {
            params.push(value.clone());
            format!("${}", params.len())
        });
        text.push(')');
        Sql(Statement { sql: RCow::Owned(text.into()), params })
    }

    /// Appends `OFFSET …`, unless there is a cursor.
    pub fn push_offset(&self, statement: Sql) -> Sql {
        match self.position {
            Position::Offset(offset) => statement.push_bind(" OFFSET {}", offset),
            Position::After(_) => statement,
        }
    }

    /// Reads the page, and notes where the next one begins: a full page has a link to it. `columns_after` are selected behind
    /// those of the order.
    pub async fn read(
        &self,
        db: &impl Query,
        statement: Sql,
        limit: u32,
        columns_after: usize,
    ) -> Result<StatementResult, HostError> {
        let Self { position, keyset } = self;
        let outcome = match position {
            Position::Offset(_) => db.run(statement).await?,
            Position::After(cursor) if cursor.fits(keyset) => {
                // What a client made up may be of another type than the column.
                let is_type_error = |error: &HostError| error.is(HostErrorCode::Statement);
                db.run(statement).await.map_err(|error| if is_type_error(&error) { refused() } else { error })?
            }
            Position::After(_) => return Err(refused()),
        };
        if let Some(next) = of_last_row(&outcome, keyset, limit, columns_after)? {
            db.note_next_page(next);
        }
        Ok(outcome)
    }
}

/// The place of a row in an order, as it was handed out: opaque to clients.
#[derive(Clone, Debug, PartialEq)]
struct Cursor {
    order: u32,
    keys: Vec<Value>,
}

/// What a client may send; no list has longer keys.
const TEXT_BYTES_MAX: usize = 8192;

impl Cursor {
    /// Reads what [`Cursor::text`] wrote.
    fn parse(text: &str) -> Result<Self, Problem> {
        Self::read(text).ok_or_else(bad_cursor)
    }

    fn read(text: &str) -> Option<Self> {
        let json = (text.len() <= TEXT_BYTES_MAX).then(|| hex::decode(text).ok())??;
        let (order, keys): (u32, Vec<Json>) = serde_json::from_slice(&json).ok()?;
        let keys = keys.into_iter().map(|key| match key {
            Json::Null => Some(Value::Null),
            Json::Number(number) => Some(Value::Int(number.as_i64()?)),
            Json::String(text) => (!text.contains('\0')).then(|| Value::Text(text.into())),
            _ => None,
        });
        Some(Self { order, keys: keys.collect::<Option<_>>()? })
    }

    fn text(order: u32, keys: &[Json]) -> String {
        hex::encode(serde_json::to_vec(&(order, keys)).unwrap_or_default())
    }

    /// Whether a row of this order can have these keys.
    fn fits(&self, keyset: &Keyset) -> bool {
        self.order == keyset.id() && self.keys.len() == keyset.key_count()
    }
}

/// The cursor of the last row. Its keys are in the columns from `first` on. `None`: no other page follows.
fn of_last_row(
    outcome: &StatementResult,
    keyset: &Keyset,
    limit: u32,
    keys_end: usize,
) -> Result<Option<String>, HostError> {
    let (rows, row_count) = (&outcome.rows, outcome.rows.row_count());
    if row_count < limit as usize || row_count == 0 || keyset.key_count() == 0 {
        return Ok(None);
    }
    let columns = rows.columns().map_err(row::broken)?.len();
    let first = ((row_count - 1) * columns + columns).saturating_sub(keys_end + keyset.key_count());
    let mut keys = Vec::with_capacity(keyset.key_count());
    for cell in rows.cells().map_err(row::broken)?.skip(first).take(keyset.key_count()) {
        keys.push(match cell.map_err(row::broken)? {
            Cell::Null => Json::Null,
            Cell::Int(number) => number.into(),
            Cell::Text(text) => text.into(),
            // No list sorts by them.
            Cell::Real(_) | Cell::Blob(_) => return Ok(None),
        });
    }
    Ok(Some(Cursor::text(keyset.id(), &keys)))
}

const BAD_CURSOR: &str = "cursor: it is none of this list in this order";

/// The error of a list whose cursor is of another one; a handler's response for it is a 400.
fn refused() -> HostError {
    HostError::new(HostErrorCode::Invalid, BAD_CURSOR)
}

/// The caller's 400, if the error is a [`refused`] cursor.
pub(crate) fn problem_of(error: &HostError) -> Option<Problem> {
    (error.is(HostErrorCode::Invalid) && error.message == BAD_CURSOR).then(bad_cursor)
}

fn bad_cursor() -> Problem {
    refusal(BAD_CURSOR)
}

fn refusal(message: &str) -> Problem {
    Problem::new(400, "bad_request", message)
        .hint("begin without it, and follow the link `next` (header Link) of each page")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let keys = [Json::from(i64::MIN), Json::from("ä\"'"), Json::Null];
        let cursor = Cursor::parse(&Cursor::text(7, &keys)).unwrap();
        let values = vec![Value::Int(i64::MIN), Value::Text("ä\"'".into()), Value::Null];
        assert_eq!(cursor, Cursor { order: 7, keys: values });
    }

    #[test]
    fn what_is_no_cursor_is_a_400() {
        let of = |json: &str| hex::encode(json);
        for text in [
            "",
            "x",
            "5b",
            &of("{}"),
            &of("[1]"),
            &of("[1,[1.5]]"),
            &of("[-1,[]]"),
            &of("[1,[\"\\u0000\"]]"),
            &of("[1,[[]]]"),
        ] {
            let problem = Cursor::parse(text).unwrap_err();
            assert_eq!((problem.status, problem.code.as_str()), (400, "bad_request"), "{text}");
        }
        assert!(Cursor::parse(&of(&format!("[1,[\"{}\"]]", "a".repeat(9000)))).is_err());
    }
}
