//! The steps of a pipeline: BEGIN, the queries, and the end.

use std::borrow::Cow;

/// The statements that begin a transaction.
#[derive(Clone, Copy)]
pub(crate) struct Begin<'s> {
    pub statements: &'s [Cow<'static, str>],
    /// One of them waits for other transactions.
    pub waits: bool,
}

/// Where a pipeline failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PipelineStep {
    Begin,
    Query(usize),
    End,
}
