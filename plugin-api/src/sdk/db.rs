//! The database as a plugin sees it: statements with `$1 …` placeholders, typed rows, transactions.
//!
//! The same SQL runs on SQLite and PostgreSQL. Use `BIGINT` for integers, 0 and 1 for booleans, text for 256-bit
//! numbers, `{{id}}` for keys in migrations; cast sums (`cast(sum(x) as bigint)`).

use super::{Address, Hash256, Wei, row};
use crate::abi::{
    CapabilityResponse, HostBox, HostError, HostErrorCode, Rows, Statement, StatementResult, TransactionBox, Value,
};
use abi_stable::std_types::{RCow, RStr, RString, RVec};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{borrow::Cow, future::Future, sync::Arc};

/// One statement with its parameters.
#[derive(Clone, Debug)]
pub struct Sql(pub(crate) Statement);

impl From<Sql> for Statement {
    fn from(sql: Sql) -> Self {
        sql.0
    }
}

/// Starts a statement; add one [`Sql::bind`] per placeholder.
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
    /// Binds the next placeholder.
    pub fn bind(mut self, value: impl Bind) -> Self {
        if self.0.params.capacity() == 0 {
            self.0.params.reserve(PARAMS_CAPACITY);
        }
        self.0.params.push(value.into_value());
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
}

/// A value that can be bound to a placeholder.
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
    bool: value => Value::Int(value.into());
    f64: value => Value::Real(value);
    String: value => Value::Text(value.into());
    &str: value => Value::Text(value.into());
    &String: value => Value::Text(value.as_str().into());
    Vec<u8>: value => Value::Blob(value.into());
    &[u8]: value => Value::Blob(value.into());
    Address: value => Value::Text(value.to_string().into());
    Hash256: value => Value::Text(value.to_string().into());
    Wei: value => Value::Text(value.to_string().into());
}

impl<T: Bind> Bind for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, Bind::into_value)
    }
}

/// Runs queries: [`Db`] on a snapshot, [`Tx`] inside a transaction. Store functions take `&impl Query` to accept both.
pub trait Query: Sync {
    fn run(&self, statement: Sql) -> impl Future<Output = Result<StatementResult, HostError>> + Send;

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
}

impl Query for Db {
    async fn run(&self, statement: Sql) -> Result<StatementResult, HostError> {
        let rows: Rows = self.host.read(statement.0).await.into_result()?;
        Ok(StatementResult { rows, changes: 0 })
    }
}

/// A transaction. Its first statement opens it; a statement that fails rolls everything back.
#[derive(Clone)]
pub struct Tx {
    inner: Arc<TransactionBox>,
}

impl Tx {
    pub(crate) fn new(inner: TransactionBox) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Runs a statement for its effect; returns the number of rows that it changed.
    pub async fn execute(&self, statement: Sql) -> Result<u64, HostError> {
        Ok(self.run(statement).await?.changes)
    }

    /// Queues a statement without waiting for it. It runs together with the next statement that is awaited, at the latest
    /// before the commit; when it fails, that statement or the commit returns its error. The cheapest way to write, above
    /// all in handlers of chain events.
    pub fn defer(&self, statement: Sql) -> Result<(), HostError> {
        self.inner.defer(statement.0).into_result()
    }

    /// Runs the deferred statements.
    pub(crate) async fn flush(&self) -> Result<(), HostError> {
        self.inner.run(RVec::new()).await.into_result().map(drop)
    }

    pub(crate) fn begin_event(&self, index: u32) {
        self.inner.begin_event(index);
    }

    /// Runs statements in order, in one call of the database.
    pub async fn batch(&self, statements: Vec<Sql>) -> Result<Vec<StatementResult>, HostError> {
        let statements = statements.into_iter().map(|statement| statement.0).collect();
        Ok(self.inner.run(statements).await.into_result()?.into_vec())
    }

    /// Commits a transaction of [`super::HostHandle::begin`]; returns when it is durable.
    /// The gateway commits a request's own transaction: there this is an error.
    pub async fn commit(self) -> Result<(), HostError> {
        self.inner.commit().await.into_result()
    }

    pub(crate) async fn call_capability(
        &self,
        capability: &str,
        request: &impl Serialize,
    ) -> Result<CapabilityResponse, HostError> {
        let bytes =
            serde_json::to_vec(request).map_err(|error| HostError::new(HostErrorCode::Invalid, error.to_string()))?;
        self.inner.call(capability.into(), bytes.into()).await.into_result()
    }

    pub(crate) fn publish(&self, event: &impl Serialize) -> Result<(), HostError> {
        let bytes =
            serde_json::to_vec(event).map_err(|error| HostError::new(HostErrorCode::Invalid, error.to_string()))?;
        self.inner.publish(bytes.into()).into_result()
    }
}

impl Query for Tx {
    async fn run(&self, statement: Sql) -> Result<StatementResult, HostError> {
        let outcomes = self.inner.run(RVec::from(vec![statement.0])).await.into_result()?;
        let missing = || HostError::new(HostErrorCode::Internal, "the gateway answered a statement with nothing");
        outcomes.into_iter().next().ok_or_else(missing)
    }
}
