//! Lines of audit exports: what the webhooks of an agent's owner were sent. Of a URL only its origin is shown, of an error nothing.

use crate::{
    Webhooks,
    store::audit::{self, AuditedDelivery, KIND},
};
use plugin_api::{
    HostError, PluginContext,
    point::{AuditInput, AuditLine, AuditLines},
};
use serde_json::json;

pub async fn audit_lines(cx: PluginContext<Webhooks>, input: AuditInput) -> Result<AuditLines, HostError> {
    let line = |delivery: AuditedDelivery| {
        AuditLine::numbered(
            KIND,
            delivery.created_at,
            delivery.id.0,
            [
                ("deliveryId", delivery.id.0.into()),
                ("webhookId", json!(delivery.webhook_id)),
                ("url", json!(delivery.url.as_deref().and_then(AuditLine::origin))),
                ("event", delivery.event.into()),
                ("status", json!(delivery.status)),
                ("attempts", delivery.attempts.into()),
                ("lastStatus", json!(delivery.last_status)),
                ("deliveredAt", json!(delivery.delivered_at)),
            ],
        )
    };
    // There is a row more than an export has, where others follow.
    let lines = audit::deliveries(&cx.db(), &input).await?.into_iter().map(line).collect();
    Ok(AuditLines { lines, more: false }.first(input.limit))
}
