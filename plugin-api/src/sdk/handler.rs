//! A handler: an async function of a [`RequestContext`] and up to five extractors.

use super::{
    ApiError, FromRequest, HandlerError, IntoResponse, PluginContext, Request, RequestContext, RouteDescription,
    db::NextPage, fence, page::link_to_next,
};
use crate::abi::{self, Fault};
use abi_stable::std_types::{RCowStr, RResult, RString, Tuple2};
use async_ffi::{FfiFuture, FutureExt as _};
use std::future::Future;

/// Implemented for `async fn(RequestContext<P>, extractors…) -> Result<impl IntoResponse, HandlerError<impl ApiError>>`.
pub trait Handler<P, Args>: Send + Sync + 'static {
    type Error: ApiError;
    type Output: IntoResponse;

    fn describe(describe: &mut RouteDescription<'_>);

    fn call(
        &self,
        cx: &PluginContext<P>,
        request: abi::Request,
        route_path: &'static str,
    ) -> FfiFuture<RResult<abi::Response, Fault>>;
}

/// What the header `Link` of a page is made of.
struct NextPageLink {
    query: String,
    next_page: NextPage,
}

impl NextPageLink {
    fn add_to(self, mut response: abi::Response) -> abi::Response {
        if let Some(cursor) = self.next_page.get() {
            response
                .headers
                .push(Tuple2("link".into(), RCowStr::from(RString::from(link_to_next(&self.query, cursor)))));
        }
        response
    }
}

macro_rules! handler {
    ($($part:ident),*) => {
        impl<P, F, Fut, R, E, $($part,)*> Handler<P, ($($part,)*)> for F
        where
            P: Send + Sync + 'static,
            F: Fn(RequestContext<P>, $($part),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<R, HandlerError<E>>> + Send + 'static,
            R: IntoResponse,
            E: ApiError,
            $($part: FromRequest,)*
        {
            type Error = E;
            type Output = R;

            fn describe(describe: &mut RouteDescription<'_>) {
                $($part::describe(describe);)*
                R::describe(describe);
            }

            #[allow(non_snake_case, reason = "one name serves as type and as value")]
            fn call(&self, cx: &PluginContext<P>, request: abi::Request, route_path: &'static str) -> FfiFuture<RResult<abi::Response, Fault>> {
                let started = fence::contain(|| {
                    #[allow(unused_mut, reason = "no extractor, nothing to take")]
                    let mut request = Request::new(request);
                    $(let $part = match $part::from_request(&mut request) {
                        Ok(part) => part,
                        Err(problem) => return Err(problem.into_response()),
                    };)*
                    let next_page = NextPage::default();
                    let link = NextPageLink { query: request.query().to_owned(), next_page: next_page.clone() };
                    Ok((self(RequestContext::new(cx.clone(), request.head, next_page), $($part),*), link))
                });
                let (future, link) = match started {
                    Ok(Ok(future)) => future,
                    Ok(Err(response)) => return std::future::ready(RResult::ROk(response)).into_ffi(),
                    Err(fault) => return std::future::ready(RResult::RErr(fault)).into_ffi(),
                };
                let reporter = cx.clone();
                let response = async move { future.await.map_or_else(HandlerError::into_handler_response, |response| Ok(link.add_to(response.into_response()))) };
                fence::ContainedFuture::new(response, move |fault| reporter.report(route_path, fault)).into_ffi()
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
