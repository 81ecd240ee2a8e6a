//! One connection to the server, with its prepared statements.
//!
//! The rule: the task that asks moves the bytes itself, so a future that is dropped leaves nothing behind that goes on, and
//! what it sends before it waits leaves in one write.

use super::{
    error::ExecuteError,
    pipeline_step::{Begin, PipelineStep},
    query::{PlanFor, Query},
    session_settings::SessionState,
    shared_sync::SyncSharing,
};
use crate::error::StorageError;
use futures_util::{
    Stream,
    future::{join, join_all},
    stream::{self, BoxStream},
};
use lru::LruCache;
use std::{
    borrow::Cow,
    collections::HashMap,
    future::poll_fn,
    num::NonZeroUsize,
    pin::{Pin, pin},
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::{AsyncMessage, Client, Connection, Error, SimpleQueryMessage, Statement};

/// Plugins' texts are unbounded, and each prepared statement holds memory of the server.
pub(crate) const PREPARED_STATEMENTS_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);

pub(crate) struct Session {
    pub client: Client,
    pub driver: Driver,
    pub state: SessionState,
    /// `None` where statements are not prepared.
    prepared: Option<LruCache<String, Statement>>,
    /// Prepared statements that begin and end transactions; there are a few texts.
    boundaries: HashMap<String, Statement>,
    pub sharing: SyncSharing,
}

/// How a query is sent.
#[derive(Clone)]
pub(crate) enum QueryForm {
    Prepared(Statement),
    /// Parsed with each call.
    Unnamed,
}

impl Session {
    pub(crate) fn new(
        client: Client,
        driver: Driver,
        state: SessionState,
        prepares: bool,
        sharing: SyncSharing,
    ) -> Self {
        let prepared = prepares.then(|| LruCache::new(PREPARED_STATEMENTS_MAX));
        Self { client, driver, state, prepared, boundaries: HashMap::new(), sharing }
    }

    /// Whether the statements of a round trip are synchronised together. A pooler between may not know it, and statements that are
    /// parsed with each call need the description of their columns.
    pub(crate) fn shares_sync(&self) -> bool {
        self.prepared.is_some() && self.state.has_startup_options
    }

    /// Runs statements without parameters.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), Error> {
        let Self { client, driver, .. } = self;
        driver.drive(client.batch_execute(sql)).await
    }

    /// The first value of the first row that statements without parameters return.
    pub(crate) async fn text(&mut self, sql: &str) -> Result<Option<String>, Error> {
        let answers = self.simple(sql).await?;
        let first = answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => Some(row.get(0)?.to_owned()),
            _ => None,
        });
        Ok(first)
    }

    /// How many rows statements without parameters change.
    pub(crate) async fn changes(&mut self, sql: &str) -> Result<u64, Error> {
        let changes = self.simple(sql).await?.into_iter().map(|answer| match answer {
            SimpleQueryMessage::CommandComplete(count) => count,
            _ => 0,
        });
        Ok(changes.sum())
    }

    async fn simple(&mut self, sql: &str) -> Result<Vec<SimpleQueryMessage>, Error> {
        let Self { client, driver, .. } = self;
        driver.drive(client.simple_query(sql)).await
    }

    /// Whether the server has not closed the connection. Asks nobody.
    pub(crate) async fn is_open(&mut self) -> bool {
        poll_fn(|cx| {
            self.driver.poll(cx);
            Poll::Ready(self.driver.messages.is_some())
        })
        .await
    }

    /// Prepares what is not prepared yet, all in one round trip. The error comes with the place of its query.
    pub(crate) async fn prepare(
        &mut self,
        queries: &[Query<'_>],
        plan_for: PlanFor,
        begin: Option<Begin<'_>>,
        end: Option<&'static str>,
    ) -> Result<Vec<QueryForm>, (PipelineStep, ExecuteError)> {
        let shares_sync = self.shares_sync();
        let Self { client, driver, prepared: Some(prepared), boundaries, .. } = self else {
            return Ok(vec![QueryForm::Unnamed; queries.len()]);
        };
        let client: &Client = client;
        let keys: Vec<String> = queries.iter().map(|query| query.key(plan_for)).collect();
        let mut missing: Vec<usize> = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            // Asking for it makes it the newest: what this call needs is not dropped for what it prepares.
            if prepared.get(key).is_none() && !missing.iter().any(|earlier| keys.get(*earlier) == Some(key)) {
                missing.push(index);
            }
        }
        let begin = begin.filter(|begin| shares_sync && !begin.waits).map_or(&[][..], |begin| begin.statements);
        let begin = begin.iter().map(|text| (PipelineStep::Begin, text.as_ref()));
        let end = end.filter(|_| shares_sync).map(|text| (PipelineStep::End, text));
        let new_boundaries: Vec<(PipelineStep, &str)> =
            begin.chain(end).filter(|(_, text)| !boundaries.contains_key(*text)).collect();
        let wanted = missing.iter().filter_map(|index| Some((*index, keys.get(*index)?, queries.get(*index)?)));
        let prepare = wanted.map(|(index, key, query)| async move {
            let types = query.types();
            (index, key, client.prepare_typed(query.text(), &types).await)
        });
        let prepare_boundaries = new_boundaries.iter().map(|(_, text)| client.prepare(text));
        let (mut answers, mut boundary_answers) = (Vec::new(), Vec::new());
        if !missing.is_empty() || !new_boundaries.is_empty() {
            (answers, boundary_answers) = driver.drive(join(join_all(prepare), join_all(prepare_boundaries))).await;
        }
        for ((step, text), answer) in new_boundaries.into_iter().zip(boundary_answers) {
            let statement = answer.map_err(|error| (step, error.into()))?;
            boundaries.insert(text.to_owned(), statement);
        }
        let mut first_error = None;
        for (index, key, answer) in answers {
            match answer {
                Ok(statement) => drop(prepared.put(key.clone(), statement)),
                Err(error) if first_error.is_none() => first_error = Some((PipelineStep::Query(index), error.into())),
                Err(_later) => {}
            }
        }
        if let Some(error) = first_error {
            return Err(error);
        }
        let form = |(index, key): (usize, &String)| match prepared.get(key) {
            Some(statement) => Ok(QueryForm::Prepared(statement.clone())),
            None => {
                let error = StorageError::Internal("a call has more statements than are kept".into());
                Err((PipelineStep::Query(index), error.into()))
            }
        };
        keys.iter().enumerate().map(form).collect()
    }

    /// The statements that begin a transaction, if they are prepared.
    pub(crate) fn prepared_begin(&self, texts: &[Cow<'static, str>]) -> Option<Vec<Statement>> {
        texts.iter().map(|text| self.prepared_boundary(text)).collect()
    }

    /// The statement that ends a transaction, if it is prepared.
    pub(crate) fn prepared_boundary(&self, text: &str) -> Option<Statement> {
        self.boundaries.get(text).cloned()
    }

    /// Forgets what is prepared, after a table has changed.
    pub(crate) fn forget_prepared(&mut self) {
        if let Some(prepared) = &mut self.prepared {
            prepared.clear();
        }
    }
}

/// The half of a connection that moves bytes.
pub(crate) struct Driver {
    /// `None` once the connection is lost: who waits for its answers learns that when it is dropped.
    messages: Option<BoxStream<'static, Result<AsyncMessage, Error>>>,
    /// Received, and not waited for yet.
    notifications: usize,
}

impl Driver {
    pub(crate) fn new<S, T>(mut connection: Connection<S, T>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let messages = stream::poll_fn(move |cx| connection.poll_message(cx));
        Self { messages: Some(Box::pin(messages)), notifications: 0 }
    }

    /// Runs work that uses the client of this connection.
    pub(crate) async fn drive<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|cx| {
            // First the work, so that all that it sends is written together.
            if let Poll::Ready(output) = work.as_mut().poll(cx) {
                return Poll::Ready(output);
            }
            self.poll(cx);
            work.as_mut().poll(cx)
        })
        .await
    }

    /// Waits for a notification; `false` when the connection was lost.
    pub(crate) async fn notified(&mut self) -> bool {
        poll_fn(|cx| {
            self.poll(cx);
            match self.notifications.checked_sub(1) {
                Some(left) => {
                    self.notifications = left;
                    Poll::Ready(true)
                }
                None if self.messages.is_none() => Poll::Ready(false),
                None => Poll::Pending,
            }
        })
        .await
    }

    fn poll(&mut self, cx: &mut Context<'_>) {
        while let Some(messages) = &mut self.messages {
            match Pin::new(messages).poll_next(cx) {
                Poll::Pending => return,
                Poll::Ready(Some(Ok(AsyncMessage::Notification(_)))) => self.notifications += 1,
                Poll::Ready(Some(Ok(AsyncMessage::Notice(notice)))) => {
                    tracing::debug!(code = notice.code().code(), "PostgreSQL: {}", notice.message());
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => {
                    tracing::debug!(error = &error as &dyn std::error::Error, "a connection to PostgreSQL has ended");
                    self.messages = None;
                }
                Poll::Ready(None) => self.messages = None,
            }
        }
    }
}
