//! The pure part: payloads with their checks, answers, which events concern whom, and what an answer of an endpoint means.

mod delivery;
mod event;
mod health;
mod notification;
mod outcome;
mod replay;
mod signature;
mod webhook;

pub use delivery::{DeliveryBody, DeliveryId, DeliveryStatus, DeliveryView};
pub use event::{CHAIN_RETRACTED, EVENTS, LOG_TYPES, PING};
pub use health::{Health, Limits};
pub use notification::{LookupRequest, LookupResult, Message, Notification};
pub use outcome::{Attempt, Outcome, Verdict};
pub use replay::{NewReplay, Replay, ReplayAnswer, ReplayStatus};
pub use signature::{DeliveryHeaders, Tags, message_to_sign};
pub use webhook::{DeletedWebhook, DeliveryCounts, NewWebhook, OwnWebhooks, WebhookDraft, WebhookTarget, WebhookView};

plugin_api::record_id! {
    /// A webhook, by its id.
    WebhookId, "webhook";
}

pub const DAY_S: i64 = 24 * 60 * 60;
