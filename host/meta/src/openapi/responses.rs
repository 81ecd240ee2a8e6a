//! Responses of an operation: those that the route declares, and the errors of router, envelope and limits.

use super::{
    body, parameters,
    references::{self, ERROR},
};
use plugin_api::manifest::{Answer, ErrorDetail, ErrorDetailIn, RouteSpec};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// An error that the gateway itself responds with.
pub(super) struct GatewayError {
    pub status: u16,
    pub component: &'static str,
    description: &'static str,
    codes: &'static [&'static str],
    applies: fn(&RouteSpec) -> bool,
}

const TOO_MANY_CODES: &[&str] = &["rate_limited", "ip_rate_limited"];

pub(super) const GATEWAY_ERRORS: &[GatewayError] = &[
    GatewayError {
        status: 400,
        component: "BadRequest",
        description: "The request is not valid",
        codes: &[],
        applies: |_| true,
    },
    GatewayError {
        status: 401,
        component: "BadSignature",
        description: "The signature is missing, stale or not by this address",
        codes: &["bad_action", "bad_address", "bad_ts", "stale_ts", "bad_sig", "sig_mismatch"],
        applies: |route| route.auth.action().is_some(),
    },
    GatewayError {
        status: 404,
        component: "NotFound",
        description: "The path names nothing that exists",
        codes: &[],
        applies: |route| route.parent.is_some() || parameters::has_path_parameters(route),
    },
    GatewayError {
        status: 408,
        component: "BodyTimeout",
        description: "The body did not arrive in time",
        codes: &[],
        applies: body::takes_body,
    },
    GatewayError {
        status: 409,
        component: "Replay",
        description: "This signature was used before: the write it belongs to has happened",
        codes: &["replay"],
        applies: |route| route.auth.is_guarded(),
    },
    GatewayError {
        status: 413,
        component: "TooLarge",
        description: "The body is larger than this route takes",
        codes: &[],
        applies: body::takes_body,
    },
    GatewayError {
        status: 429,
        component: "TooManyRequests",
        description: "Too often; `Retry-After` says when to come again",
        codes: TOO_MANY_CODES,
        applies: |_| true,
    },
    GatewayError {
        status: 503,
        component: "Unavailable",
        description: "Not now: the feature is off, the gateway is full, or its data is out of reach; `Retry-After` says when to \
                      come again",
        codes: &[],
        applies: |_| true,
    },
];

impl GatewayError {
    /// The response as a component.
    pub(super) fn response(&'static self) -> Value {
        ResponseParts { gateway: Some(self), ..Default::default() }.render(self.status)
    }

    fn text(&self) -> String {
        with_codes(self.description.to_owned(), self.codes)
    }
}

#[derive(Default)]
struct ResponseParts<'a> {
    descriptions: Vec<&'a str>,
    content: Map<String, Value>,
    codes: Vec<&'a str>,
    cache_control: bool,
    etag: bool,
    /// Headers and members beside the one body of errors.
    details: Vec<&'a ErrorDetail>,
    /// The gateway's own error with the same status.
    gateway: Option<&'static GatewayError>,
    /// A header about the payment, and what it says.
    payment_header: Option<(&'static str, &'static str)>,
}

const PRICE: &str = "The request has a price: pay one of `accepts`, and repeat it with the payment";
const PAYMENT_REQUIRED: (&str, &str) = ("PAYMENT-REQUIRED", "Base64 of the body");
const PAYMENT_RESPONSE: (&str, &str) = ("PAYMENT-RESPONSE", "Base64 of JSON: the receipt, if something was paid");

pub(super) fn responses(route: &RouteSpec) -> Value {
    let mut by_status = declared_responses(route);
    let mut rendered: BTreeMap<u16, Value> = BTreeMap::new();
    for error in GATEWAY_ERRORS.iter().filter(|error| (error.applies)(route)) {
        let declared = by_status.remove(&error.status).and_then(|parts| parts.merged_with(error));
        match declared {
            Some(parts) => {
                by_status.insert(error.status, parts);
            }
            None => {
                rendered.insert(error.status, references::response(error.component));
            }
        }
    }
    rendered.extend(by_status.into_iter().map(|(status, parts)| (status, parts.render(status))));
    rendered.into_iter().map(|(status, response)| (status.to_string(), response)).collect::<Map<_, _>>().into()
}

fn declared_responses(route: &RouteSpec) -> BTreeMap<u16, ResponseParts<'_>> {
    let mut by_status: BTreeMap<u16, ResponseParts<'_>> = BTreeMap::new();
    for answer in &route.answers {
        let parts = by_status.entry(answer.status).or_default();
        parts.add(answer);
        parts.cache_control = (route.cache_control.is_some() || route.cached) && answer.status < 400;
        parts.etag = route.cached && answer.status == 200;
    }
    for detail in &route.error_details {
        by_status.entry(detail.status).or_default().details.push(detail);
    }
    if route.price.is_some() {
        add_payment(&mut by_status);
    }
    for limit in route.rate_limits.iter().filter(|limit| !TOO_MANY_CODES.contains(&limit.code.as_str())) {
        by_status.entry(429).or_default().add_codes([limit.code.as_str()]);
    }
    let streams = route.answers.iter().any(|answer| answer.content_type.starts_with("text/event-stream"));
    if streams {
        by_status.entry(503).or_default().add_codes(["sse_capacity"]);
    }
    if !by_status.keys().any(|status| (200..300).contains(status)) {
        by_status.insert(200, ResponseParts { descriptions: vec!["OK"], ..Default::default() });
    }
    if route.cached {
        let descriptions = vec!["Unchanged: the client has the answer with one of the tags in `If-None-Match`"];
        by_status.insert(304, ResponseParts { descriptions, cache_control: true, etag: true, ..Default::default() });
    }
    by_status
}

fn add_payment(by_status: &mut BTreeMap<u16, ResponseParts<'_>>) {
    for (_, paid) in by_status.iter_mut().filter(|(status, _)| **status < 400) {
        paid.payment_header = Some(PAYMENT_RESPONSE);
    }
    let required = by_status.entry(402).or_default();
    required.descriptions.push(PRICE);
    required.payment_header = Some(PAYMENT_REQUIRED);
    required.content.insert("application/json".into(), json!({ "schema": payment_required_schema() }));
    by_status.entry(400).or_default().add_codes(["bad_payment"]);
    by_status.entry(503).or_default().add_codes(["disabled", "payment_expired"]);
}

/// What every payment service has in common; the rest is its own.
fn payment_required_schema() -> Value {
    json!({
        "type": "object",
        "required": ["accepts"],
        "properties": {
            "x402Version": { "type": "integer" },
            "accepts": { "type": "array", "items": { "type": "object" } },
            "error": { "type": "string", "description": "Why the payment that came is refused" },
        },
    })
}

impl<'a> ResponseParts<'a> {
    /// With the gateway's own error of the same status; `None` when that says it all.
    fn merged_with(mut self, error: &'static GatewayError) -> Option<Self> {
        self.codes.retain(|code| !error.codes.contains(code));
        let is_told =
            self.codes.is_empty() && self.descriptions.is_empty() && self.content.is_empty() && self.details.is_empty();
        self.gateway = Some(error);
        (!is_told).then_some(self)
    }

    fn add(&mut self, answer: &'a Answer) {
        // The SDK also lists an error's codes as its description.
        if !answer.description.is_empty() && answer.description != answer.codes.join(", ") {
            self.descriptions.push(&answer.description);
        }
        self.add_codes(answer.codes.iter().map(String::as_str));
        let media_type = answer.content_type.split(';').next().unwrap_or_default().trim();
        if !media_type.is_empty() && (answer.status < 400 || answer.schema.is_some()) {
            let media = answer.schema.as_ref().map_or_else(|| json!({}), |schema| json!({ "schema": schema }));
            self.content.insert(media_type.to_owned(), media);
        }
    }

    fn add_codes(&mut self, codes: impl IntoIterator<Item = &'a str>) {
        for code in codes {
            if !self.codes.contains(&code) {
                self.codes.push(code);
            }
        }
    }

    fn render(mut self, status: u16) -> Value {
        if status >= 400 && self.content.is_empty() {
            self.content.insert("application/json".into(), self.error());
        }
        let mut response = Map::new();
        response.insert("description".into(), self.description().into());
        response.insert("headers".into(), self.headers(status));
        if !self.content.is_empty() {
            response.insert("content".into(), self.content.into());
        }
        response.into()
    }

    fn headers(&self, status: u16) -> Value {
        let mut names = vec!["X-Request-Id", "RateLimit", "RateLimit-Policy"];
        names.extend(matches!(status, 429 | 503).then_some("Retry-After"));
        names.extend(self.cache_control.then_some("Cache-Control"));
        names.extend(self.etag.then_some("ETag"));
        let mut headers: Map<String, Value> =
            names.into_iter().map(|name| (name.to_owned(), references::header(name))).collect();
        if let Some((name, description)) = self.payment_header {
            headers.insert(name.to_owned(), json!({ "description": description, "schema": { "type": "string" } }));
        }
        for detail in self.details_in(ErrorDetailIn::Header) {
            if !headers.keys().any(|name| name.eq_ignore_ascii_case(&detail.name)) {
                let description = with_codes(String::new(), &[&detail.code]);
                headers.insert(detail.name.clone(), json!({ "description": description, "schema": detail.schema }));
            }
        }
        headers.into()
    }

    fn details_in(&self, place: ErrorDetailIn) -> impl Iterator<Item = &'a ErrorDetail> {
        self.details.iter().copied().filter(move |detail| detail.place == place)
    }

    /// The body of all errors, with an example for this response.
    fn error(&self) -> Value {
        let text = self.descriptions.first().copied().or_else(|| self.gateway.map(|error| error.description));
        let code = self.codes.first().copied().or_else(|| self.gateway.and_then(|error| error.codes.first().copied()));
        let mut example = json!({ "error": text.unwrap_or("refused") });
        if let Some(code) = code {
            example["code"] = code.into();
        }
        json!({ "schema": self.error_schema(), "example": example })
    }

    /// Members that one of the errors has are optional: another one with the same status has none.
    fn error_schema(&self) -> Value {
        let members = self.details_in(ErrorDetailIn::Body).map(|detail| (detail.name.clone(), detail.schema.clone()));
        let members: Map<String, Value> = members.collect();
        if members.is_empty() {
            return references::schema(ERROR);
        }
        json!({ "allOf": [references::schema(ERROR), { "type": "object", "properties": members }] })
    }

    fn description(&mut self) -> String {
        self.descriptions.dedup();
        let declared = with_codes(self.descriptions.join(". "), &self.codes);
        match (declared.is_empty(), self.gateway) {
            (true, None) => "Refused".into(),
            (false, None) => declared,
            (true, Some(error)) => error.text(),
            (false, Some(error)) => format!("{declared}. Or: {}", error.text()),
        }
    }
}

fn with_codes(text: String, codes: &[&str]) -> String {
    if codes.is_empty() {
        return text;
    }
    let codes: Vec<_> = codes.iter().map(|code| format!("`{code}`")).collect();
    let separator = if text.is_empty() { "" } else { ". " };
    format!("{text}{separator}Codes: {}", codes.join(", "))
}
