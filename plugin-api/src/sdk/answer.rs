//! The functions behind contributions and services: JSON in, JSON out.

use super::{HostError, HostErrorCode, PluginContext, Tx, job};
use crate::abi::{Fault, FfiBytes};
use abi_stable::std_types::RResult;
use async_ffi::FfiFuture;
use serde::{Serialize, de::DeserializeOwned};
use std::{future::Future, sync::Arc};

/// Answers a contribution or a call of a service: JSON in, JSON out.
pub(crate) type AnswerFn<P> =
    Box<dyn Fn(&PluginContext<P>, FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> + Send + Sync>;
/// Answers a call of a service within the caller's transaction.
pub(crate) type AnswerInWriteFn<P> =
    Box<dyn Fn(&PluginContext<P>, FfiBytes, Tx) -> FfiFuture<RResult<FfiBytes, Fault>> + Send + Sync>;

/// The function behind a service.
pub(crate) enum ServiceFn<P> {
    Outside(AnswerFn<P>),
    InWrite(AnswerInWriteFn<P>),
}
/// Decodes the input, answers, encodes the output. `place` names it in reports of faults.
pub(crate) fn answer_fn<P, I, O, F, Fut>(place: &'static str, answer: F) -> AnswerFn<P>
where
    P: Send + Sync + 'static,
    I: DeserializeOwned + Send + 'static,
    O: Serialize + Send + 'static,
    F: Fn(PluginContext<P>, I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, HostError>> + Send + 'static,
{
    let answer = Arc::new(answer);
    Box::new(move |cx: &PluginContext<P>, input: FfiBytes| {
        let (answer, cx_of_call) = (answer.clone(), cx.clone());
        contained_answer(cx, place, input, move |input| answer(cx_of_call, input))
    })
}

pub(crate) fn contained_answer<P, I, O, Fut>(
    cx: &PluginContext<P>,
    place: &'static str,
    input: FfiBytes,
    answer: impl FnOnce(I) -> Fut + Send + 'static,
) -> FfiFuture<RResult<FfiBytes, Fault>>
where
    P: Send + Sync + 'static,
    I: DeserializeOwned + Send + 'static,
    O: Serialize + Send + 'static,
    Fut: Future<Output = Result<O, HostError>> + Send + 'static,
{
    job::contained(cx, place, move || async move {
        let input = serde_json::from_slice(&input).map_err(invalid)?;
        let output = answer(input).await?;
        serde_json::to_vec(&output).map(FfiBytes::from).map_err(invalid)
    })
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}
