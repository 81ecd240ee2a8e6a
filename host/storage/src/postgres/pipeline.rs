//! Sends several requests before it waits for the first answer.
//!
//! The rule: requests are sent in order, and after one that could not be sent nothing more is, above all no COMMIT. The first
//! error counts; those of later statements only say that the transaction had failed.

use super::{
    error::ExecuteError,
    execute::read_result,
    query::Query,
    session::{QueryForm, Session},
};
use crate::{error::StorageError, result_budget::ResultBudget, slow_statement::SlowStatementLog};
use futures_util::{
    FutureExt as _,
    future::{BoxFuture, MaybeDone, maybe_done},
};
use plugin_api::abi::StatementResult;
use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};
use tokio::time::{error::Elapsed, timeout};
use tokio_postgres::{Client, Error, RowStream};

/// What is sent in one round trip.
pub(crate) struct Pipeline<'s> {
    pub begin: Option<&'s str>,
    pub queries: &'s [Query<'s>],
    /// How the session sends each of the queries.
    pub forms: &'s [QueryForm],
    pub end: Option<&'static str>,
    /// How long to wait for each answer.
    pub answer_limit: Duration,
    pub slow_statements: SlowStatementLog,
}

/// Where a pipeline failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PipelineStep {
    Begin,
    Query(usize),
    End,
}

pub(crate) struct PipelineError {
    pub step: PipelineStep,
    pub error: ExecuteError,
    /// The end was sent and has been answered: the transaction is over, rolled back.
    pub has_ended: bool,
}

type Request<'c, T> = MaybeDone<BoxFuture<'c, Result<T, Error>>>;

struct Requests<'c> {
    begin: Option<Request<'c, ()>>,
    queries: Vec<Request<'c, RowStream>>,
    end: Option<Request<'c, ()>>,
}

impl Session {
    pub(crate) async fn run(
        &mut self,
        pipeline: &Pipeline<'_>,
        budget: &mut ResultBudget,
    ) -> Result<Vec<StatementResult>, PipelineError> {
        let Self { client, driver, .. } = self;
        driver.drive(run(client, pipeline, budget)).await
    }
}

async fn run(
    client: &Client,
    pipeline: &Pipeline<'_>,
    budget: &mut ResultBudget,
) -> Result<Vec<StatementResult>, PipelineError> {
    let mut requests = Requests::new(client, pipeline);
    let is_all_sent = poll_fn(|cx| Poll::Ready(requests.send(cx))).await;
    let result = requests.read(pipeline, budget).await;
    let Err((step, mut error)) = result else {
        return result.map_err(|(step, error)| PipelineError { step, error, has_ended: false });
    };
    // After a COMMIT that failed nothing is left to roll back, but a pooler in between might have failed it: asking is cheap.
    let mut has_ended = false;
    if step != PipelineStep::End
        && is_all_sent
        && error.is_connection_usable
        && let Some(end) = requests.end.take()
    {
        // The server answers it with a rollback.
        error.is_connection_usable = answer(pipeline.answer_limit, end).await.is_ok();
        has_ended = error.is_connection_usable;
    }
    Err(PipelineError { step, error, has_ended })
}

impl<'c> Requests<'c> {
    fn new(client: &'c Client, pipeline: &'c Pipeline<'_>) -> Self {
        let query = |(query, form): (&'c Query<'_>, &'c QueryForm)| {
            maybe_done(match form {
                QueryForm::Prepared(statement) => client.query_raw(statement, query.params()).boxed(),
                QueryForm::Unnamed => client.query_typed_raw(query.text(), query.typed_params()).boxed(),
            })
        };
        let batch = |sql: &'c str| maybe_done(client.batch_execute(sql).boxed());
        Self {
            begin: pipeline.begin.map(batch),
            queries: pipeline.queries.iter().zip(pipeline.forms).map(query).collect(),
            end: pipeline.end.map(batch),
        }
    }

    /// The driver sends a request when its future is polled first. Nobody moves bytes meanwhile, so one that is done then has
    /// failed.
    fn send(&mut self, cx: &mut Context<'_>) -> bool {
        is_sent(self.begin.as_mut(), cx)
            && self.queries.iter_mut().all(|query| is_sent(Some(query), cx))
            && is_sent(self.end.as_mut(), cx)
    }

    async fn read(
        &mut self,
        pipeline: &Pipeline<'_>,
        budget: &mut ResultBudget,
    ) -> Result<Vec<StatementResult>, (PipelineStep, ExecuteError)> {
        if let Some(begin) = self.begin.take() {
            answer(pipeline.answer_limit, begin).await.map_err(|error| (PipelineStep::Begin, error))?;
        }
        let mut outcomes = Vec::with_capacity(self.queries.len());
        // The server runs one after the other.
        let mut previous_end = Instant::now();
        let sent = self.queries.drain(..).zip(pipeline.queries).zip(pipeline.forms);
        for (index, ((request, query), form)) in sent.enumerate() {
            let read = async {
                let stream = output(request).await?;
                read_result(stream, query.statement, form, budget).await
            };
            let outcome = in_time(pipeline.answer_limit, read).await;
            let now = Instant::now();
            pipeline.slow_statements.record(query.statement, now - previous_end, outcome.as_ref().ok());
            previous_end = now;
            outcomes.push(outcome.map_err(|error| (PipelineStep::Query(index), error))?);
        }
        if let Some(end) = self.end.take() {
            answer(pipeline.answer_limit, end).await.map_err(|error| (PipelineStep::End, error))?;
        }
        Ok(outcomes)
    }
}

fn is_sent<T>(request: Option<&mut Request<'_, T>>, cx: &mut Context<'_>) -> bool {
    request.is_none_or(|request| Pin::new(request).poll(cx).is_pending())
}

async fn output<T>(mut request: Request<'_, T>) -> Result<T, ExecuteError> {
    Pin::new(&mut request).await;
    match Pin::new(&mut request).take_output() {
        Some(output) => output.map_err(ExecuteError::from),
        None => Err(StorageError::Internal("an answer of the server was taken twice".into()).into()),
    }
}

async fn answer(answer_limit: Duration, request: Request<'_, ()>) -> Result<(), ExecuteError> {
    in_time(answer_limit, output(request)).await
}

/// Fails when the server does not respond although its own limits have passed.
async fn in_time<T>(
    answer_limit: Duration,
    work: impl Future<Output = Result<T, ExecuteError>>,
) -> Result<T, ExecuteError> {
    let elapsed = |_: Elapsed| StorageError::Unavailable("the server does not answer".into()).into();
    timeout(answer_limit, work).await.map_err(elapsed).flatten()
}
