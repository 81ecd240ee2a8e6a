//! Sends several requests before it waits for the first answer.
//!
//! The rule: requests are sent in order, and after one that could not be sent nothing more is, above all no COMMIT. The first
//! error counts; those of later statements only say that the transaction had failed.

use super::{
    bind::Param,
    error::{ExecuteError, no_answer},
    execute::read_result,
    pipeline_step::{Begin, PipelineStep},
    query::Query,
    session::{QueryForm, Session},
    shared_sync::SyncSharing,
};
use crate::{
    check::CheckedStatement,
    error::StorageError,
    statements::{result_budget::ResultBudget, slow_statement::SlowStatementLog},
};
use futures_util::{
    FutureExt as _, TryStreamExt as _,
    future::{BoxFuture, MaybeDone, maybe_done},
};
use plugin_api::abi::StatementResult;
use std::{
    future::poll_fn,
    iter::empty,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::{Duration, Instant},
};
use tokio::time::{error::Elapsed, timeout};
use tokio_postgres::{Client, Error, RowStream, Statement};

/// What is sent in one round trip.
pub(crate) struct Pipeline<'s> {
    pub begin: Option<Begin<'s>>,
    pub queries: &'s [Query<'s>],
    /// How the session sends each of the queries.
    pub forms: &'s [QueryForm],
    pub end: Option<&'static str>,
    /// How long to wait for each answer.
    pub answer_limit: Duration,
    pub slow_statements: SlowStatementLog,
}

pub(crate) struct PipelineError {
    pub step: PipelineStep,
    pub error: ExecuteError,
    /// The transaction is over, rolled back.
    pub has_ended: bool,
}

type Request<'c, T> = MaybeDone<BoxFuture<'c, Result<T, Error>>>;

/// The statements that begin and end a transaction, where they are prepared.
#[derive(Clone, Copy)]
struct Boundaries<'c> {
    begin: Option<&'c [Statement]>,
    end: Option<&'c Statement>,
}

struct Requests<'c> {
    begin: Vec<Request<'c, ()>>,
    queries: Vec<Request<'c, RowStream>>,
    end: Option<Request<'c, ()>>,
    /// Whether the queries, and BEGIN and the end if they are prepared, end with one Sync, so that their answers come together.
    shares_sync: bool,
    /// Otherwise BEGIN is a text, which ends by itself.
    is_begin_prepared: bool,
    /// The same of the end.
    is_end_prepared: bool,
}

impl Session {
    pub(crate) async fn run(
        &mut self,
        pipeline: &Pipeline<'_>,
        budget: &mut ResultBudget,
    ) -> Result<Vec<StatementResult>, PipelineError> {
        let begin = pipeline.begin.filter(|begin| !begin.waits);
        let prepared_begin = begin.and_then(|begin| self.prepared_begin(begin.statements));
        let statements = pipeline.queries.iter().map(|query| query.statement);
        let shares_sync = self.shares_sync() && pipeline.slow_statements.may_record_together(statements);
        let prepared_end = pipeline.end.and_then(|text| self.prepared_boundary(text));
        let Self { client, driver, sharing, .. } = self;
        let boundaries = Boundaries {
            begin: prepared_begin.as_deref().filter(|_| shares_sync),
            end: prepared_end.as_ref().filter(|_| shares_sync),
        };
        let requests = Requests::new(client, pipeline, boundaries, shares_sync);
        driver.drive(run(client, requests, sharing, pipeline, budget)).await
    }
}

async fn run<'c>(
    client: &'c Client,
    mut requests: Requests<'c>,
    sharing: &SyncSharing,
    pipeline: &Pipeline<'_>,
    budget: &mut ResultBudget,
) -> Result<Vec<StatementResult>, PipelineError> {
    let is_all_sent = poll_fn(|cx| Poll::Ready(requests.send(cx, sharing))).await;
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
        // The server answers a COMMIT with a rollback, unless it skipped it because it shared the Sync of what failed.
        let end = if requests.is_end_prepared { maybe_done(client.batch_execute("ROLLBACK").boxed()) } else { end };
        error.is_connection_usable = answer(pipeline.answer_limit, end).await.is_ok();
        has_ended = error.is_connection_usable;
    }
    Err(PipelineError { step, error, has_ended })
}

impl<'c> Requests<'c> {
    fn new(client: &'c Client, pipeline: &'c Pipeline<'_>, prepared: Boundaries<'c>, shares_sync: bool) -> Self {
        let query = |(query, form): (&'c Query<'_>, &'c QueryForm)| {
            maybe_done(match form {
                QueryForm::Prepared(statement) => client.query_raw(statement, query.params()).boxed(),
                QueryForm::Unnamed => client.query_typed_raw(query.text(), query.typed_params()).boxed(),
            })
        };
        let begin = match (pipeline.begin, prepared.begin) {
            (None, _) => Vec::new(),
            (Some(_), Some(statements)) => {
                statements.iter().map(|statement| execute(client, statement).boxed()).collect()
            }
            (Some(begin), None) => {
                let text = begin.statements.join("; ");
                vec![async move { client.batch_execute(&text).await }.boxed()]
            }
        };
        let end = pipeline.end.map(|text| match prepared.end {
            Some(statement) => execute(client, statement).boxed(),
            None => client.batch_execute(text).boxed(),
        });
        Self {
            begin: begin.into_iter().map(maybe_done).collect(),
            queries: pipeline.queries.iter().zip(pipeline.forms).map(query).collect(),
            end: end.map(maybe_done),
            shares_sync,
            is_begin_prepared: prepared.begin.is_some(),
            is_end_prepared: prepared.end.is_some(),
        }
    }

    /// The driver sends a request when its future is polled first. Nobody moves bytes meanwhile, so one that is done then has
    /// failed.
    fn send(&mut self, cx: &mut Context<'_>, sharing: &SyncSharing) -> bool {
        let begin = send_all(&mut self.begin, cx);
        let queries = if begin == self.begin.len() { send_all(&mut self.queries, cx) } else { 0 };
        let are_sent = begin + queries == self.begin.len() + self.queries.len();
        let end = if are_sent { send_all(self.end.as_mut_slice(), cx) } else { 0 };
        let boundaries = if self.is_begin_prepared { begin } else { 0 } + if self.is_end_prepared { end } else { 0 };
        sharing.share(if self.shares_sync { boundaries + queries } else { 0 });
        are_sent && end == self.end.iter().len()
    }

    async fn read(
        &mut self,
        pipeline: &Pipeline<'_>,
        budget: &mut ResultBudget,
    ) -> Result<Vec<StatementResult>, (PipelineStep, ExecuteError)> {
        let sent_at = Instant::now();
        for begin in self.begin.drain(..) {
            answer(pipeline.answer_limit, begin).await.map_err(|error| (PipelineStep::Begin, error))?;
        }
        let mut outcomes = Vec::with_capacity(self.queries.len());
        let failure = self.read_queries(pipeline, budget, &mut outcomes).await.err();
        if self.shares_sync {
            let answered = pipeline.queries.iter().take(outcomes.len() + usize::from(failure.is_some()));
            let statements: Vec<&CheckedStatement> = answered.map(|query| query.statement).collect();
            let results = failure.is_none().then_some(&outcomes[..]);
            let end = pipeline.end.filter(|_| self.is_end_prepared);
            pipeline.slow_statements.record_together(&statements, end, sent_at.elapsed(), results);
        }
        if let Some(error) = failure {
            return Err((PipelineStep::Query(outcomes.len()), error));
        }
        if let Some(end) = self.end.take() {
            answer(pipeline.answer_limit, end).await.map_err(|error| (PipelineStep::End, error))?;
        }
        Ok(outcomes)
    }

    /// Up to the first one that failed.
    async fn read_queries(
        &mut self,
        pipeline: &Pipeline<'_>,
        budget: &mut ResultBudget,
        outcomes: &mut Vec<StatementResult>,
    ) -> Result<(), ExecuteError> {
        // The server runs one after the other.
        let mut previous_end = Instant::now();
        let sent = self.queries.drain(..).zip(pipeline.queries).zip(pipeline.forms);
        for ((request, query), form) in sent {
            let read = async {
                let stream = output(request).await?;
                read_result(stream, query.statement, form, budget).await
            };
            let outcome = in_time(pipeline.answer_limit, read).await;
            let now = Instant::now();
            if !self.shares_sync {
                pipeline.slow_statements.record_alone(query.statement, now - previous_end, outcome.as_ref().ok());
            }
            previous_end = now;
            outcomes.push(outcome?);
        }
        Ok(())
    }
}

/// How many are sent before one fails.
fn send_all<T>(requests: &mut [Request<'_, T>], cx: &mut Context<'_>) -> usize {
    let not_sent = requests.iter_mut().position(|request| Pin::new(request).poll(cx).is_ready());
    not_sent.unwrap_or(requests.len())
}

async fn execute(client: &Client, statement: &Statement) -> Result<(), Error> {
    let mut rows = pin!(client.query_raw(statement, empty::<Param<'_>>()).await?);
    while rows.try_next().await?.is_some() {}
    Ok(())
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
    let elapsed = |_: Elapsed| no_answer().into();
    timeout(answer_limit, work).await.map_err(elapsed).flatten()
}
