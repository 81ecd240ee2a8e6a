//! One file per route, named after its operation.

pub mod delete_webhook;
pub mod list_own_webhooks;
pub mod replay_webhook;
pub mod set_webhook;
pub mod test_webhook;

use crate::{
    error::WebhookError,
    model::WebhookId,
    store::endpoints::{self, EndpointRow},
};
use plugin_api::{Address, HandlerError, Query};

/// Calls of one client in a minute, for each route that writes.
const PER_MINUTE: u32 = 30;

/// The signer's webhook with this id.
async fn owned(db: &impl Query, id: WebhookId, signer: Address) -> Result<EndpointRow, HandlerError<WebhookError>> {
    let webhook = endpoints::find(db, id).await?.ok_or(WebhookError::Unknown(id))?;
    if webhook.owner == signer { Ok(webhook) } else { Err(WebhookError::NotOwner(id).into()) }
}
