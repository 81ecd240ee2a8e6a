//! Transactions: [`Tx`] inside of a write, and [`Transaction`] for a task that commits it itself. `write.rs` runs a write.
//!
//! The rule: what a write's closure does reaches the database, the clock, the activity log and the journal of intents through
//! its [`Tx`], and nothing else, so that the closure can run again when the database refused an attempt. It owns what it uses
//! (`'static`), so it cannot borrow a context. Each attempt has a transaction of its own: its rows, events and intents are
//! committed together or discarded together.
//!
//! On PostgreSQL such writes run at the same time, SERIALIZABLE. The gateway takes for granted that all transactions of a plugin
//! can run again, unless the plugin declares [`super::Definition::own_transactions`]: then they run one after the other, by a lock.

use super::{
    Query, Sql,
    payment::{Payment, Price},
    point::Service,
};
use crate::{
    abi::{CapabilityResponse, HostError, HostErrorCode, NewEvent, StatementResult, TransactionBox},
    manifest::ServiceCall,
};
use abi_stable::std_types::{RResult, RVec};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// A write in progress: statements, events ([`super::Event::publish`]), intents ([`super::TransactionRequest::record`]) and the
/// time. Its first statement opens the transaction; a statement that fails rolls everything back.
///
/// ```
/// use plugin_api::{Address, HostError, Query, Tx, sql};
///
/// async fn insert_note(tx: &Tx, author: Address, text: &str) -> Result<i64, HostError> {
///     tx.execute(sql("DELETE FROM notes_notes WHERE author = $1").bind(author)).await?;
///     let insert = sql("INSERT INTO notes_notes (author, text, created_at) VALUES ($1, $2, $3) RETURNING id");
///     tx.one(insert.bind(author).bind(text).bind(tx.now_s())).await
/// }
/// ```
///
/// It commits when the closure of the write returns `Ok`, or with the response, and has no method for it:
///
/// ```compile_fail,E0624
/// # use plugin_api::{HostError, Tx};
/// async fn commit(tx: &Tx) -> Result<(), HostError> {
///     tx.commit().await
/// }
/// ```
#[derive(Clone)]
pub struct Tx {
    inner: Arc<Inner>,
}

struct Inner {
    transaction: TransactionBox,
    now_ms: i64,
    has_conflict: AtomicBool,
}

impl Tx {
    pub(crate) fn new(transaction: TransactionBox, now_ms: i64) -> Self {
        Self { inner: Arc::new(Inner { transaction, now_ms, has_conflict: AtomicBool::new(false) }) }
    }

    /// Unix seconds when the write began, by the gateway's clock: the same at every call and in every attempt. Handlers of
    /// chain events use the time of the event instead.
    pub fn now_s(&self) -> i64 {
        self.now_ms().div_euclid(1000)
    }

    /// Unix milliseconds when the write began: see [`Self::now_s`].
    pub fn now_ms(&self) -> i64 {
        self.inner.now_ms
    }

    /// Runs a statement for its effect; returns the number of rows that it changed.
    pub async fn execute(&self, statement: Sql) -> Result<u64, HostError> {
        Ok(self.run(statement).await?.changes)
    }

    /// Queues a statement without waiting for it. It runs together with the next statement that is awaited, at the latest
    /// before the commit; when it fails, that statement or the commit returns its error. The cheapest way to write, above
    /// all in handlers of chain events.
    pub fn defer(&self, statement: Sql) -> Result<(), HostError> {
        self.checked(self.inner.transaction.defer(statement.0))
    }

    /// Runs statements in order, in one call of the database.
    pub async fn batch(&self, statements: Vec<Sql>) -> Result<Vec<StatementResult>, HostError> {
        let statements = statements.into_iter().map(|statement| statement.0).collect();
        Ok(self.checked(self.inner.transaction.run(statements).await)?.into_vec())
    }

    /// The same for statements that are known, each with its result.
    ///
    /// ```
    /// use plugin_api::{HostError, Tx, sql};
    ///
    /// async fn insert_note(tx: &Tx, text: &str) -> Result<(i64, i64), HostError> {
    ///     let insert = sql("INSERT INTO notes_notes (text) VALUES ($1) RETURNING id").bind(text);
    ///     let [id, count] = tx.run_all([insert, sql("SELECT count(*) FROM notes_notes")]).await?;
    ///     Ok((id.one()?, count.one()?))
    /// }
    /// ```
    pub async fn run_all<const N: usize>(&self, statements: [Sql; N]) -> Result<[StatementResult; N], HostError> {
        let missing = |_| HostError::new(HostErrorCode::Internal, "the gateway answered another number of statements");
        self.batch(statements.into()).await?.try_into().map_err(missing)
    }

    /// Calls a service within this transaction, which [`super::Definition::uses`] declares and another plugin provides by
    /// [`super::Definition::provides_in_write`]: what it writes is committed with this write, or not at all.
    ///
    /// # Errors
    ///
    /// As [`super::HostHandle::call`]; and [`HostErrorCode::Refused`] when the service is not one for transactions.
    pub async fn call<I: Serialize, O: DeserializeOwned>(
        &self,
        service: Service<I, O>,
        input: &I,
    ) -> Result<O, HostError> {
        let input = Some(serde_json::to_value(input).map_err(invalid)?);
        let call = ServiceCall { service: service.name().to_owned(), input };
        let answered = self.call_capability("service", &call).await?;
        serde_json::from_slice(&answered.response).map_err(invalid)
    }

    /// Charges the payment that came with the request, on a signed write of a [priced](super::Route::priced) route: the payment and
    /// the write are committed together. The price is asked again here, because rows may have changed since the gateway asked for it.
    ///
    /// # Errors
    ///
    /// [`HostErrorCode::Refused`] when no payment came, or it does not suffice any more. The write returns this error; one that does
    /// not is not committed either. The gateway answers 402 with the price.
    ///
    /// ```
    /// use plugin_api::{HostError, Query as _, Tx, Wei, payment::Price, sql};
    ///
    /// async fn store(tx: &Tx, text: &str, treasury: Option<plugin_api::Address>) -> Result<(), HostError> {
    ///     let stored: i64 = tx.one(sql("SELECT count(*) FROM notes_notes")).await?;
    ///     if stored >= 100 {
    ///         let price = Price { payee: treasury, amount: Wei::from(1_000_u64), description: "One more note".to_owned() };
    ///         tx.charge(&price).await?;
    ///     }
    ///     tx.execute(sql("INSERT INTO notes_notes (text) VALUES ($1)").bind(text)).await.map(drop)
    /// }
    /// ```
    pub async fn charge(&self, price: &Price) -> Result<Payment, HostError> {
        let charged = self.call_capability("charge", price).await?;
        serde_json::from_slice(&charged.response).map_err(invalid)
    }

    /// Runs the deferred statements.
    pub(crate) async fn flush(&self) -> Result<(), HostError> {
        self.checked(self.inner.transaction.run(RVec::new()).await).map(drop)
    }

    pub(crate) fn begin_event(&self, index: u32) {
        self.inner.transaction.begin_event(index);
    }

    pub(crate) async fn call_capability(
        &self,
        capability: &str,
        request: &impl Serialize,
    ) -> Result<CapabilityResponse, HostError> {
        let bytes = serde_json::to_vec(request).map_err(invalid)?;
        self.checked(self.inner.transaction.call(capability.into(), bytes.into()).await)
    }

    pub(crate) fn publish(&self, event: NewEvent) -> Result<(), HostError> {
        self.checked(self.inner.transaction.publish(event))
    }

    pub(super) async fn commit(&self) -> Result<(), HostError> {
        self.checked(self.inner.transaction.commit().await)
    }

    /// Whether a call of this attempt conflicted with another transaction.
    pub(super) fn has_conflict(&self) -> bool {
        self.inner.has_conflict.load(Relaxed)
    }

    /// Notes a conflict here, because the closure may return another error in its place.
    fn checked<T>(&self, result: RResult<T, HostError>) -> Result<T, HostError> {
        let result = result.into_result();
        if let Err(error) = &result
            && error.is(HostErrorCode::Conflict)
        {
            self.inner.has_conflict.store(true, Relaxed);
        }
        result
    }
}

impl Query for Tx {
    async fn run(&self, statement: Sql) -> Result<StatementResult, HostError> {
        let outcomes = self.checked(self.inner.transaction.run(RVec::from(vec![statement.0])).await)?;
        let missing = || HostError::new(HostErrorCode::Internal, "the gateway answered a statement with nothing");
        outcomes.into_iter().next().ok_or_else(missing)
    }
}

/// A [`Tx`] that a job or task commits itself: see [`super::HostHandle::begin`]. Dropping it rolls it back.
pub struct Transaction(Tx);

impl Transaction {
    pub(crate) fn new(tx: Tx) -> Self {
        Self(tx)
    }

    /// Returns when it is durable.
    pub async fn commit(self) -> Result<(), HostError> {
        self.0.commit().await
    }
}

impl Deref for Transaction {
    type Target = Tx;

    fn deref(&self) -> &Tx {
        &self.0
    }
}

impl Query for Transaction {
    async fn run(&self, statement: Sql) -> Result<StatementResult, HostError> {
        self.0.run(statement).await
    }
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}
