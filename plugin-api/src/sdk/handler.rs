//! A handler: an async function of a [`Context`] and up to five extractors.

use super::{ApiError, Context, Describe, Extract, Failure, Gateway, IntoAnswer, Request, fence};
use crate::abi::{self, Fault};
use abi_stable::std_types::RResult;
use async_ffi::{FfiFuture, FutureExt as _};
use std::future::Future;

/// Implemented for `async fn(Context<P>, extractors…) -> Result<impl IntoAnswer, Failure<impl ApiError>>`.
pub trait Handler<P, Args>: Send + Sync + 'static {
    type Error: ApiError;

    fn describe(describe: &mut Describe<'_>);

    fn call(
        &self,
        gateway: &Gateway<P>,
        request: abi::Request,
        place: &'static str,
    ) -> FfiFuture<RResult<abi::Response, Fault>>;
}

macro_rules! handler {
    ($($part:ident),*) => {
        impl<P, F, Fut, A, E, $($part,)*> Handler<P, ($($part,)*)> for F
        where
            P: Send + Sync + 'static,
            F: Fn(Context<P>, $($part),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<A, Failure<E>>> + Send + 'static,
            A: IntoAnswer,
            E: ApiError,
            $($part: Extract,)*
        {
            type Error = E;

            fn describe(describe: &mut Describe<'_>) {
                $($part::describe(describe);)*
                A::describe(describe);
            }

            #[allow(non_snake_case, reason = "one name serves as type and as value")]
            fn call(&self, gateway: &Gateway<P>, request: abi::Request, place: &'static str) -> FfiFuture<RResult<abi::Response, Fault>> {
                let started = fence::contain(|| {
                    #[allow(unused_mut, reason = "no extractor, nothing to take")]
                    let mut request = Request::new(request);
                    $(let $part = match $part::extract(&mut request) {
                        Ok(part) => part,
                        Err(problem) => return Err(problem.into_response()),
                    };)*
                    Ok(self(Context::new(gateway.clone(), request.head), $($part),*))
                });
                let future = match started {
                    Ok(Ok(future)) => future,
                    Ok(Err(refusal)) => return std::future::ready(RResult::ROk(refusal)).into_ffi(),
                    Err(fault) => return std::future::ready(RResult::RErr(fault)).into_ffi(),
                };
                let reporter = gateway.clone();
                let answer = async move { future.await.map_or_else(Failure::into_answer, |answer| Ok(answer.into_response())) };
                fence::ContainedFuture::new(answer, move |fault| reporter.report(place, fault)).into_ffi()
            }
        }
    };
}

handler!();
handler!(E1);
handler!(E1, E2);
handler!(E1, E2, E3);
handler!(E1, E2, E3, E4);
handler!(E1, E2, E3, E4, E5);
