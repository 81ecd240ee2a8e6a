//! Errors of the webhooks' routes: texts, statuses and codes. Rule: no text repeats a secret.

use crate::{
    limits::{SECRET_CHARS_MAX, SECRET_CHARS_MIN},
    model::WebhookId,
};
use plugin_api::{ApiError, ErrorSpec};

const NOT_FOUND: ErrorSpec = ErrorSpec::new(404, "not_found", "GET /api/webhooks/mine lists your webhooks");

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum WebhookError {
    #[api("url: {0}")]
    Url(String),
    #[api(400, "private_url", "url: {0}", hint = "name a host that everybody can reach")]
    PrivateUrl(String),
    #[api("secret: a text of {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} characters is needed")]
    SecretLength,
    #[api("secret: {0}")]
    Secret(String),
    #[api("events: at least one event is needed")]
    NoEvents,
    #[api("events: member {0} is no event; GET /api/webhooks/mine lists them")]
    UnknownEvent(usize),
    #[api("active: true or false is needed")]
    Active,
    #[api("status: it is all, ok or failed")]
    ReplayStatus,
    #[api("since: unix seconds are needed")]
    Since,
    #[api(
        409,
        "too_many_webhooks",
        "you have {0} webhooks, and no address may have more",
        hint = "delete one, or change the URL's webhook by sending its URL again"
    )]
    TooMany(i64),
    #[api(NOT_FOUND, "unknown webhook {0}")]
    Unknown(WebhookId),
    #[api(
        403,
        "not_owner",
        "webhook {0} belongs to somebody else",
        hint = "sign with the wallet that registered the webhook"
    )]
    NotOwner(WebhookId),
    #[api(
        409,
        "not_active",
        "webhook {0} is not active",
        hint = "register its URL again with active: true, then replay"
    )]
    NotActive(WebhookId),
    #[api(
        409,
        "replay_running",
        "webhook {0} still has deliveries to send of a replay before",
        hint = "wait until GET /api/webhooks/mine shows no pending ones"
    )]
    ReplayRunning(WebhookId),
    #[api(
        429,
        "rate_limited",
        "you have had all the tests of this minute",
        hint = "wait as long as the header Retry-After says",
        header("retry-after" = retry_after_s)
    )]
    Tests { retry_after_s: i64 },
    #[api(
        429,
        "daily_replays",
        "you have had all the replays of this day",
        hint = "try again after midnight UTC",
        header("retry-after" = retry_after_s)
    )]
    Replays { retry_after_s: i64 },
}
