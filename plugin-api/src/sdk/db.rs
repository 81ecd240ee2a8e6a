//! The database as a plugin sees it: statements with `$1 …` placeholders, typed rows. Transactions are in `transaction.rs`.
//!
//! The same SQL runs on SQLite and PostgreSQL. Use `BIGINT` for integers, 0 and 1 for booleans, text for 256-bit
//! numbers, `{{id}}` for keys in migrations; cast sums (`cast(sum(x) as bigint)`).

use super::{Address, Hash256, Wei, row};
use crate::abi::{HostBox, HostError, HostErrorCode, Rows, Statement, StatementResult, Value};
use abi_stable::std_types::{RCow, RStr, RString, RVec};
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    borrow::Cow,
    future::Future,
    sync::{Arc, OnceLock},
};

/// One statement with its parameters.
///
/// ```
/// use plugin_api::{Address, Sql, sql};
///
/// fn delete_notes(author: Address, before_s: Option<i64>) -> Sql {
///     let delete = sql("DELETE FROM notes_notes WHERE author = $1").bind(author);
///     match before_s {
///         Some(before_s) => delete.push_bind(" AND created_at < {}", before_s),
///         None => delete,
///     }
/// }
/// assert_eq!(delete_notes(Address::ZERO, Some(7)).param_count(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Sql(pub(crate) Statement);

impl From<Sql> for Statement {
    fn from(sql: Sql) -> Self {
        sql.0
    }
}

/// Starts a statement; add one [`Sql::bind`] per placeholder.
///
/// ```
/// use plugin_api::sql;
///
/// let select = sql("SELECT id FROM notes_notes WHERE author = $1 AND stars > $2").bind("0x00").bind(3);
/// assert_eq!(select.param_count(), 2);
/// ```
pub fn sql(text: impl Into<Cow<'static, str>>) -> Sql {
    let sql = match text.into() {
        Cow::Borrowed(text) => RCow::Borrowed(RStr::from_str(text)),
        Cow::Owned(text) => RCow::Owned(RString::from(text)),
    };
    Sql(Statement { sql, params: RVec::new() })
}

/// Initial capacity, which few statements exceed: growing the list would copy it.
const PARAMS_CAPACITY: usize = 8;

impl Sql {
    /// Binds the next placeholder, or several by a tuple of values: `.bind((id, author, "text"))`.
    pub fn bind(mut self, values: impl Params) -> Self {
        if self.0.params.capacity() == 0 {
            self.0.params.reserve(PARAMS_CAPACITY);
        }
        values.push_to(&mut self.0.params);
        self
    }

    /// Number of parameters so far: `$n` of the last one bound.
    pub fn param_count(&self) -> usize {
        self.0.params.len()
    }

    /// Appends text to the statement, for example an optional filter.
    pub fn push(mut self, text: &str) -> Self {
        let mut sql = self.0.sql.into_owned();
        sql.push_str(text);
        self.0.sql = RCow::Owned(sql);
        self
    }

    /// Appends text whose `{}` stands for the placeholder of `value`.
    pub fn push_bind(self, text: &str, value: impl Bind) -> Self {
        let placeholder = format!("${}", self.param_count() + 1);
        self.push(&text.replace("{}", &placeholder)).bind(value)
    }

    /// Appends ` IN (…)` with these values; without values no row matches.
    ///
    /// ```
    /// use plugin_api::sql;
    ///
    /// let select = sql("SELECT title FROM notes_notes WHERE author = $1 AND id").bind("0x00").push_in([3, 7]).push(" ORDER BY id");
    /// assert_eq!(select.param_count(), 3);
    /// ```
    pub fn push_in(self, values: impl IntoIterator<Item = impl Bind>) -> Self {
        let begun = self.push(" IN (NULL");
        values.into_iter().fold(begun, |statement, value| statement.push_bind(", {}", value)).push(")")
    }

    /// Appends another statement; its placeholders follow those there are.
    pub fn push_sql(mut self, Self(Statement { sql, params }): Self) -> Self {
        let mut text = self.0.sql.into_owned();
        push_renumbered(&mut text, &sql, self.0.params.len());
        self.0.sql = RCow::Owned(text);
        self.0.params.extend(params);
        self
    }

    /// The same for an optional condition: without a value, nothing is appended.
    pub fn push_filter(self, text: &str, value: Option<impl Bind>) -> Self {
        match value {
            Some(value) => self.push_bind(text, value),
            None => self,
        }
    }
}

/// Appends SQL; its `$1` becomes the first placeholder after `before` others.
pub(super) fn push_renumbered(text: &mut impl std::fmt::Write, sql: &str, before: usize) {
    for (index, part) in sql.split('$').enumerate() {
        let digits = part.len() - part.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (number, rest) = part.split_at(if index == 0 { 0 } else { digits });
        // Writing to a text does not fail.
        let _ = match number.parse::<usize>() {
            _ if index == 0 => Ok(()),
            Ok(number) => write!(text, "${}", before + number),
            // No placeholder: the database refuses the text as it is.
            Err(_) => write!(text, "${number}"),
        };
        let _ = text.write_str(rest);
    }
}

/// A value that can be bound to a placeholder. Derived for an enum, it binds the name of the variant as serde writes it, which `name` returns. A number
/// that no column holds (2^63 and more) is bound as the largest that one does.
///
/// ```
/// use plugin_api::{handles::Bind, sql};
///
/// #[derive(serde::Deserialize, Bind)]
/// #[serde(rename_all = "lowercase")]
/// enum Colour {
///     Red,
/// }
///
/// assert_eq!(Colour::Red.name(), "red");
/// let select = sql("SELECT id FROM notes_notes WHERE colour = $1 AND stars > $2").bind(Colour::Red).bind(3);
/// ```
pub trait Bind {
    fn into_value(self) -> Value;
}

macro_rules! bind {
    ($($kind:ty: $value:ident => $converted:expr;)*) => {$(
        impl Bind for $kind {
            fn into_value(self) -> Value {
                let $value = self;
                $converted
            }
        }
    )*};
}

bind! {
    Value: value => value;
    i64: value => Value::Int(value);
    i32: value => Value::Int(value.into());
    u32: value => Value::Int(value.into());
    u16: value => Value::Int(value.into());
    u8: value => Value::Int(value.into());
    u64: value => Value::Int(i64::try_from(value).unwrap_or(i64::MAX));
    usize: value => Value::Int(i64::try_from(value).unwrap_or(i64::MAX));
    bool: value => Value::Int(value.into());
    f64: value => Value::Real(value);
    String: value => Value::Text(value.into());
    &str: value => Value::Text(value.into());
    Vec<u8>: value => Value::Blob(value.into());
    &[u8]: value => Value::Blob(value.into());
    Address: value => Value::Text(value.to_string().into());
    Hash256: value => Value::Text(value.to_string().into());
    Wei: value => Value::Text(value.to_string().into());
}

impl<T: Bind + Clone> Bind for &T {
    fn into_value(self) -> Value {
        self.clone().into_value()
    }
}

impl<T: Bind> Bind for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, Bind::into_value)
    }
}

/// The values of one or more placeholders: a value, or a tuple of up to sixteen.
pub trait Params {
    /// Number of placeholders.
    const COUNT: usize;

    fn push_to(self, params: &mut RVec<Value>);
}

impl<T: Bind> Params for T {
    const COUNT: usize = 1;

    fn push_to(self, params: &mut RVec<Value>) {
        params.push(self.into_value());
    }
}

macro_rules! params {
    ($first:ident $($more:ident)*) => {
        params!($($more)*);

        impl<$first: Bind, $($more: Bind),*> Params for ($first, $($more,)*) {
            const COUNT: usize = [stringify!($first), $(stringify!($more)),*].len();

            #[allow(non_snake_case, reason = "one name serves as type and as value")]
            fn push_to(self, params: &mut RVec<Value>) {
                let ($first, $($more,)*) = self;
                params.push($first.into_value());
                $(params.push($more.into_value());)*
            }
        }
    };
    () => {};
}

params!(A B C D E F G H I J K L M N O P);

/// Runs queries: [`Db`] on a snapshot, [`super::Tx`] inside a transaction. Store functions take `&impl Query` to accept both.
///
/// ```
/// use plugin_api::{Address, HostError, Query, sql};
///
/// #[derive(serde::Deserialize)]
/// struct NoteRow {
///     id: i64,
///     text: String,
/// }
///
/// /// Of `cx.db()` or of a write's `tx`.
/// async fn notes_of(db: &impl Query, author: Address) -> Result<Vec<NoteRow>, HostError> {
///     db.rows(sql("SELECT id, text FROM notes_notes WHERE author = $1 ORDER BY id").bind(author)).await
/// }
/// ```
pub trait Query: Sync {
    fn run(&self, statement: Sql) -> impl Future<Output = Result<StatementResult, HostError>> + Send;

    /// Notes the cursor of the page that follows the one just read, for the response's link to it.
    #[doc(hidden)]
    fn note_next_page(&self, _cursor: String) {}

    /// All rows. A struct takes columns by name, a tuple by position, a plain value the only column.
    fn rows<T: DeserializeOwned>(&self, statement: Sql) -> impl Future<Output = Result<Vec<T>, HostError>> + Send {
        async move { self.run(statement).await?.all() }
    }

    /// The first row, if any.
    fn row<T: DeserializeOwned>(&self, statement: Sql) -> impl Future<Output = Result<Option<T>, HostError>> + Send {
        async move { self.run(statement).await?.first() }
    }

    /// The first row of a statement that always has one (`count(*)`, `… RETURNING id`).
    fn one<T: DeserializeOwned>(&self, statement: Sql) -> impl Future<Output = Result<T, HostError>> + Send {
        async move { self.run(statement).await?.one() }
    }
}

impl StatementResult {
    /// All rows; see [`Query::rows`]. Their texts may be borrowed from this outcome.
    pub fn all<'r, T: Deserialize<'r>>(&'r self) -> Result<Vec<T>, HostError> {
        row::decode(&self.rows)
    }

    /// The first row, if any.
    pub fn first<'r, T: Deserialize<'r>>(&'r self) -> Result<Option<T>, HostError> {
        row::decode_first(&self.rows)
    }

    /// The first row of a statement that always has one.
    pub fn one<'r, T: Deserialize<'r>>(&'r self) -> Result<T, HostError> {
        let missing = || HostError::new(HostErrorCode::Statement, "a statement that must return a row returned none");
        self.first()?.ok_or_else(missing)
    }
}

/// Reads outside any transaction, on a snapshot.
#[derive(Clone)]
pub struct Db {
    pub(crate) host: Arc<HostBox>,
    /// Of the request that it reads for.
    pub(crate) next_page: Option<NextPage>,
}

/// The cursor of the page that follows the one in the response.
pub(crate) type NextPage = Arc<OnceLock<String>>;

impl Query for Db {
    async fn run(&self, statement: Sql) -> Result<StatementResult, HostError> {
        let rows: Rows = self.host.read(statement.0).await.into_result()?;
        Ok(StatementResult { rows, changes: 0 })
    }

    fn note_next_page(&self, cursor: String) {
        if let Some(next_page) = &self.next_page {
            // A response has one list: the first page counts.
            let _ = next_page.set(cursor);
        }
    }
}

#[cfg(test)]
mod tests {

    use crate::handles::Bind;

    #[derive(Clone, Copy, Bind)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        DeepRed,
        #[serde(rename = "b")]
        Blue,
    }

    #[test]
    fn a_derived_value_is_the_name_of_the_variant() {
        let colours = [Colour::DeepRed, Colour::Blue];
        assert_eq!(colours.map(Colour::name), ["deep_red", "b"]);
        assert_eq!(colours.map(Bind::into_value), ["deep_red", "b"].map(Bind::into_value));
    }

    #[test]
    fn a_number_that_no_column_holds_is_the_largest() {
        assert_eq!([7_u64, u64::MAX].map(Bind::into_value), [7, i64::MAX].map(Bind::into_value));
        assert_eq!([7_usize, usize::MAX].map(Bind::into_value), [7, i64::MAX].map(Bind::into_value));
    }
}
