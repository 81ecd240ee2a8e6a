//! What the gateway asks of the payment service, and what it tells the client.

use crate::error_response::ErrorResponse;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use bytes::Bytes;
use gateway_http::body::Body;
use gateway_plugins::{TransactionContext, call_own_service};
use http::{
    HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
    header::{self, InvalidHeaderName},
    uri::PathAndQuery,
};
use plugin_api::{
    HostError, HostErrorCode,
    manifest::RouteSpec,
    payment::{self, Check, CheckInput, CheckedPayment, End, EndInput, Offer, OfferInput, Payment, Price, Reserve},
    point::Service,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{sync::Arc, time::Duration};

/// Headers in which clients of the eras of x402 send a payment, the newest first.
const PAYMENT_HEADERS: [&str; 3] = ["payment-signature", "x-payment", "payment"];
const PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");
const PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("payment-response");
/// As clients of x402 version 1 read it.
const X_PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("x-payment-response");
const RELEASE_REASON_CHARS_MAX: usize = 120;
/// The answer of paid work waits for its end: see [`Payments::end`].
const END_ATTEMPTS_MAX: u32 = 4;
const END_PAUSE: Duration = Duration::from_millis(250);

pub struct Payments {
    pub transactions: Arc<TransactionContext>,
    pub base_url: String,
    /// Tells the client that its payment was released, and why.
    pub released_header: HeaderName,
}

/// A price, and the URL that is paid for.
#[derive(Clone, Debug)]
pub struct PricedResource {
    pub price: Price,
    pub resource: String,
}

impl Payments {
    pub fn new(
        transactions: Arc<TransactionContext>,
        base_url: String,
        header_prefix: &str,
    ) -> Result<Self, InvalidHeaderName> {
        let released_header = HeaderName::try_from(format!("{header_prefix}-Payment-Released"))?;
        Ok(Self { transactions, base_url, released_header })
    }

    /// The URL that is paid for. A private path stays between client and plugin: it is the declared one here.
    pub fn resource(&self, spec: &RouteSpec, uri: &http::Uri) -> String {
        let base = self.base_url.trim_end_matches('/');
        if spec.private_path {
            let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
            return format!("{base}{}{query}", spec.path);
        }
        let path_and_query = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        format!("{base}{path_and_query}")
    }

    /// The response to a request that has to be paid: 402 with the price, or 503 while nobody can pay.
    pub async fn required(&self, priced: &PricedResource, refused: Option<String>) -> ErrorResponse {
        if priced.price.payee.is_none() {
            return disabled("this request has a price, and nobody is configured who could be paid");
        }
        let input = OfferInput { price: priced.price.clone(), resource: priced.resource.clone(), refused };
        match self.call(payment::OFFER, &input).await {
            Ok(Offer::Terms(terms)) => payment_required(terms),
            Ok(Offer::Disabled(reason)) => disabled(reason),
            Err(error) => error,
        }
    }

    /// Checks the payment that came, by itself and with the chain.
    pub async fn check(&self, priced: &PricedResource, payment: &str) -> Result<CheckedPayment, ErrorResponse> {
        if priced.price.payee.is_none() {
            return Err(self.required(priced, None).await);
        }
        let (price, resource) = (priced.price.clone(), priced.resource.clone());
        match self.call(payment::CHECK, &CheckInput { price, resource, payment: payment.to_owned() }).await? {
            Check::Accepted(checked) => Ok(checked),
            Check::Refused(reason) => Err(self.required(priced, Some(reason)).await),
            Check::Malformed(reason) => {
                let hint =
                    "GET /api/x402/supported says what a payment looks like; without one the answer is the price";
                Err(ErrorResponse::new(400, "bad_payment", format!("this is no payment: {reason}"), hint))
            }
            Check::Disabled(reason) => Err(disabled(reason)),
        }
    }

    /// Takes the payment until `until_s`. Returns what the client is told when it is kept.
    pub async fn reserve(
        &self,
        priced: &PricedResource,
        checked: CheckedPayment,
        until_s: i64,
    ) -> Result<String, ErrorResponse> {
        let (price, resource) = (priced.price.clone(), priced.resource.clone());
        let input = payment::ReserveInput { price, resource, checked, until_s: Some(until_s) };
        match self.call(payment::RESERVE, &input).await? {
            Reserve::Reserved(receipt) => Ok(receipt),
            Reserve::Refused(reason) => Err(self.required(priced, Some(reason)).await),
            Reserve::Disabled(reason) => Err(disabled(reason)),
        }
    }

    /// Keeps the payment, or releases it for this reason. A payment that is neither kept nor released is void after its time.
    pub async fn end(&self, payment: &Payment, released: Option<String>) -> Result<(), ErrorResponse> {
        let is_kept = released.is_none();
        let input = EndInput { payment: payment.clone(), released };
        let mut attempt = 1;
        let ended = loop {
            match self.call(payment::END, &input).await {
                Err(_) if attempt < END_ATTEMPTS_MAX => {
                    attempt += 1;
                    tokio::time::sleep(END_PAUSE).await;
                }
                ended => break ended,
            }
        };
        match ended {
            Ok(End::Done) => Ok(()),
            Ok(End::Gone) if is_kept => {
                let message = "the work took longer than its payment was reserved for: nothing is charged";
                Err(ErrorResponse::new(503, "payment_expired", message, "repeat the request with a new payment"))
            }
            Ok(End::Gone) => Ok(()),
            Err(_) if is_kept => {
                let (payer, nonce) = (payment.payer, payment.nonce.as_str());
                tracing::error!(%payer, nonce, "whether the payment of finished work is kept is not known");
                Err(unknown_end())
            }
            Err(error) => {
                let (payer, nonce) = (payment.payer, payment.nonce.as_str());
                tracing::error!(%payer, nonce, "a payment could not be released; it is void after its time");
                Err(error)
            }
        }
    }

    async fn call<I: Serialize + Sync, O: DeserializeOwned + Send>(
        &self,
        service: Service<I, O>,
        input: &I,
    ) -> Result<O, ErrorResponse> {
        call_own_service(&self.transactions, service, input).await.map_err(|error| failed(&error))
    }
}

/// The payment that came with a request.
pub(crate) fn sent_payment(headers: &HeaderMap) -> Option<Result<&str, ErrorResponse>> {
    let value = PAYMENT_HEADERS.iter().find_map(|name| headers.get(*name))?;
    Some(value.to_str().map_err(|_not_ascii| {
        let hint = "send base64 of JSON, or JSON in ASCII";
        ErrorResponse::new(400, "bad_payment", "the payment's header is not visible ASCII", hint)
    }))
}

/// No cache may keep what somebody paid for, or give a price to somebody who has paid.
pub(crate) fn forbid_storing(response: &mut Response<Body>) {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
}

pub(crate) fn add_receipt(response: &mut Response<Body>, receipt: &str) {
    if let Ok(value) = HeaderValue::try_from(BASE64.encode(receipt)) {
        response.headers_mut().insert(X_PAYMENT_RESPONSE, value.clone());
        response.headers_mut().insert(PAYMENT_RESPONSE, value);
    }
}

/// A reason as it fits into a header.
pub(crate) fn header_text(reason: &str) -> String {
    let visible = |character: char| if character.is_ascii_graphic() || character == ' ' { character } else { '?' };
    reason.chars().map(visible).take(RELEASE_REASON_CHARS_MAX).collect()
}

fn payment_required(terms: String) -> ErrorResponse {
    let mut response = Response::new(Body::Empty);
    *response.status_mut() = StatusCode::PAYMENT_REQUIRED;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(value) = HeaderValue::try_from(BASE64.encode(&terms)) {
        headers.insert(PAYMENT_REQUIRED, value);
    }
    *response.body_mut() = Body::Full(Bytes::from(terms));
    ErrorResponse::from(response)
}

pub(crate) fn disabled(reason: impl Into<String>) -> ErrorResponse {
    let hint = "nothing was charged and nothing was done; GET /api/status says what is off on this gateway";
    ErrorResponse::new(503, "disabled", reason, hint).header(header::RETRY_AFTER, "30")
}

/// The work is done, and the service may have kept its payment without a word of it.
fn unknown_end() -> ErrorResponse {
    let message = "the work was done, and it is not known whether its payment was kept";
    let hint =
        "send the same payment again: the refusal says what became of it; only if it is voided, pay with a new one";
    ErrorResponse::new(503, "unavailable", message, hint).header(header::RETRY_AFTER, "5")
}

fn failed(error: &HostError) -> ErrorResponse {
    if error.is(HostErrorCode::Disabled) {
        return disabled(format!("nothing can be paid here now: {}", error.message));
    }
    tracing::warn!(%error, "the payment service failed");
    let hint = "nothing was charged and nothing was done: repeat the request in a few seconds, with the same payment";
    ErrorResponse::new(503, "unavailable", "the payment service did not answer", hint).header(header::RETRY_AFTER, "5")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_payment_is_read_from_the_header_of_each_era() {
        for name in PAYMENT_HEADERS {
            let headers = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static("e30="))]);
            assert_eq!(sent_payment(&headers).unwrap().ok(), Some("e30="), "{name}");
        }
        assert!(sent_payment(&HeaderMap::new()).is_none());
        let value = HeaderValue::from_bytes(b"\xc3\xa9").unwrap();
        let not_ascii = HeaderMap::from_iter([(HeaderName::from_static("payment"), value)]);
        assert!(sent_payment(&not_ascii).unwrap().is_err());
    }

    #[test]
    fn a_reason_fits_into_a_header() {
        assert_eq!(header_text("the agent said:\n\u{1f4a5}"), "the agent said:??");
        assert_eq!(header_text(&"x".repeat(500)).len(), RELEASE_REASON_CHARS_MAX);
    }
}
