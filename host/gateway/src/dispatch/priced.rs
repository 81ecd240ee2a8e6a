//! Calls of priced routes.
//!
//! The rule: paid work begins when its payment is reserved, and its answer leaves when the payment is kept, both committed. Work that
//! failed releases its payment. From the reservation on nothing depends on the client: one that leaves gets what it paid for, and
//! pays for what it got.
//!
//! A signed write has no reservation: its payment is charged in its own transaction.

use super::{
    call::Call,
    dispatcher::{AuthenticatedRequest, Dispatcher, log_context_of},
    payments::{PricedResource, add_receipt, disabled, forbid_storing, header_text, sent_payment},
    request_head::{AbiRequestHead, PaidRequest, RequestTransaction},
    response,
};
use crate::{error_response::ErrorResponse, routes::Route};
use futures_util::FutureExt as _;
use gateway_http::body::Body;
use gateway_plugins::{ActivePlugin, CallError, ChargeOutcome, RequestCharge};
use http::{HeaderValue, Response, StatusCode};
use plugin_api::{
    abi::{self, FfiBytes},
    payment::{CheckedPayment, Price},
};
use std::{net::IpAddr, sync::Arc, time::Duration};

/// How much longer than its work a payment is reserved, for keeping it.
const RESERVED_LONGER: Duration = Duration::from_secs(60);

impl Dispatcher {
    pub(super) async fn call_priced(
        self: &Arc<Self>,
        call: Call<'_>,
        request: AuthenticatedRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let mut answer = self.price_and_call(call, request).await.unwrap_or_else(ErrorResponse::into_response);
        forbid_storing(&mut answer);
        Ok(answer)
    }

    async fn price_and_call(
        self: &Arc<Self>,
        call: Call<'_>,
        request: AuthenticatedRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let price = match self.quote(&call, &request).await? {
            Quote::Price(price) => price,
            Quote::Response(response) => return Ok(response),
        };
        let priced = PricedResource { price, resource: self.payments.resource(&call.route.spec, &request.parts.uri) };
        if call.route.auth.is_guarded() {
            return self.call_charged(call, request, priced).await;
        }
        if priced.price.is_free() {
            return self.call_plugin(call, request).await;
        }
        let Some(sent) = sent_payment(&request.parts.headers) else {
            return Err(self.payments.required(&priced, None).await);
        };
        let checked = self.payments.check(&priced, sent?).await?;
        let in_flight = call.plugin.acquire().ok_or_else(|| ErrorResponse::not_serving(call.plugin))?;
        let log_context = log_context_of(call.route, &request.parts);
        let paid = PaidCall {
            dispatcher: self.clone(),
            route: call.route.clone(),
            plugin: call.plugin.clone(),
            index: call.index,
            ip: call.ip,
        };
        let answer = tokio::spawn(async move {
            let _in_flight = in_flight;
            gateway_telemetry::with_log_context(log_context, paid.run(request, priced, checked)).await
        });
        answer.await.unwrap_or_else(|error| {
            tracing::error!(%error, "paid work ended badly; its payment is void after its time");
            Err(ErrorResponse::internal())
        })
    }

    /// A signed write, whose transaction charges.
    async fn call_charged(
        &self,
        call: Call<'_>,
        mut request: AuthenticatedRequest,
        priced: PricedResource,
    ) -> Result<Response<Body>, ErrorResponse> {
        let checked = match sent_payment(&request.parts.headers) {
            // What came with a request that is free now, is not looked at.
            _ if priced.price.is_free() => None,
            None => return Err(self.payments.required(&priced, None).await),
            Some(sent) => Some(self.payments.check(&priced, sent?).await?),
        };
        let charge = Arc::new(RequestCharge::new(priced.resource.clone(), checked));
        request.charge = Some(charge.clone());
        let answer = self.call_plugin(call, request).await;
        match charge.outcome() {
            ChargeOutcome::NotCharged => answer,
            ChargeOutcome::Charged(receipt) => answer.map(|mut response| {
                if response.status().as_u16() < 400 {
                    add_receipt(&mut response, &receipt);
                }
                response
            }),
            ChargeOutcome::Refused(price, reason) => {
                Err(self.payments.required(&PricedResource { price, ..priced }, reason).await)
            }
            ChargeOutcome::Disabled(reason) => Err(disabled(reason)),
        }
    }

    /// What the plugin says that this request costs. A price that cannot be read is an error, never free.
    async fn quote(&self, call: &Call<'_>, request: &AuthenticatedRequest) -> Result<Quote, ErrorResponse> {
        let head = AbiRequestHead {
            parts: request.parts.clone(),
            params: request.params.clone(),
            signer: request.caller.signer.clone(),
            client_ip: call.ip.into(),
            transaction: RequestTransaction::read_only(&self.transactions, call.plugin),
            body_parts: None,
            paid: None,
        };
        let body = FfiBytes::from_owner(request.caller.body.clone());
        let priced = abi::Request { route: call.index, head: head.into_head_box(), body };
        let refused = |error: CallError| match error {
            CallError::Fault(_) => unknown_price(),
            other => ErrorResponse::of_call(call.plugin, &other),
        };
        let admitted = call.plugin.admit_call(call.operation).map_err(refused)?;
        let ask = || call.plugin.object.price(priced);
        let answer = admitted.run(call.route.timeout, ask, || false).await.map_err(refused)?;
        let quote = if answer.status == StatusCode::OK.as_u16() {
            let price = match &answer.body {
                abi::Body::Full(json) => serde_json::from_slice(json).map_err(|error| error.to_string()),
                _ => Err("it is no JSON".to_owned()),
            };
            price.map(Quote::Price).map_err(|reason: String| format!("its price cannot be read: {reason}"))
        } else {
            let response = response::into_response(&self.streams, call, answer).await?.response;
            match response.status().as_u16() {
                ..400 => Err(format!("a price with status {}", response.status())),
                _ => Ok(Quote::Response(response)),
            }
        };
        let quote = admitted.check(quote).map_err(|_counted| unknown_price())?;
        admitted.end();
        Ok(quote)
    }
}

/// What a plugin answers when the gateway asks what a request costs.
enum Quote {
    Price(Price),
    /// In place of the handler's.
    Response(Response<Body>),
}

fn unknown_price() -> ErrorResponse {
    disabled("what this request costs is not known at this moment")
}

/// A call whose payment is checked. It goes on when the client leaves.
struct PaidCall {
    dispatcher: Arc<Dispatcher>,
    route: Arc<Route>,
    plugin: Arc<ActivePlugin>,
    index: u32,
    ip: IpAddr,
}

impl PaidCall {
    async fn run(
        self,
        mut request: AuthenticatedRequest,
        priced: PricedResource,
        checked: CheckedPayment,
    ) -> Result<Response<Body>, ErrorResponse> {
        let payments = &self.dispatcher.payments;
        let operation = self.plugin.operations.route(self.index).ok_or_else(ErrorResponse::internal)?;
        let reserved_for = i64::try_from((self.route.timeout + RESERVED_LONGER).as_secs()).unwrap_or(i64::MAX);
        let until_s = payments.transactions.clock.now_s().saturating_add(reserved_for);
        let payment = checked.payment.clone();
        let receipt = payments.reserve(&priced, checked, until_s).await?;
        let paid = PaidRequest::new(&payment);
        request.paid = Some(paid.clone());
        let (route, plugin, index, ip) = (&self.route, &self.plugin, self.index, self.ip);
        let call = Call { route, plugin, operation, index, ip, may_use_read_replica: false, sink: None };
        let answer = self.dispatcher.call_plugin(call, request).boxed().await;
        let answer = answer.unwrap_or_else(ErrorResponse::into_response);
        let mut answer = self.refuse_stream(answer);
        let status = answer.status();
        let failed = (status.as_u16() >= 400).then(|| format!("the answer is {}", status.as_u16()));
        let released = paid.released().or(failed).map(|reason| header_text(&reason));
        match payments.end(&payment, released.clone()).await {
            // Nothing is charged in either case: the reservation ends by its time.
            Err(refused) if released.is_none() => return Err(refused),
            Err(_) | Ok(()) => {}
        }
        match released {
            Some(reason) => {
                if let Ok(value) = HeaderValue::try_from(reason) {
                    answer.headers_mut().insert(payments.released_header.clone(), value);
                }
            }
            None => add_receipt(&mut answer, &receipt),
        }
        Ok(answer)
    }

    /// The answer is complete before its payment is kept.
    fn refuse_stream(&self, answer: Response<Body>) -> Response<Body> {
        if let Body::Boxed(_) = answer.body() {
            let operation = &self.route.spec.operation;
            self.plugin.handle.error(operation, "the answer of a paid call is a stream".to_owned());
            return ErrorResponse::internal().into_response();
        }
        answer
    }
}
