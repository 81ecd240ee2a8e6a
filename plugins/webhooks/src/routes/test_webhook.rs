//! `POST /api/webhooks/{id}/test`: sends a `ping` to a webhook of the signer, once.

use super::{PER_MINUTE, owned};
use crate::{
    Webhooks,
    error::WebhookError,
    model::{DeliveryView, PING, WebhookId, WebhookTarget},
    store::{deliveries, fanout::QueuedDelivery, limits, queue},
};
use plugin_api::{
    HandlerError, HostError, HostErrorCode, Path, RequestContext, Route, Signed, counter::Count, response::Accepted,
};
use serde_json::json;

pub fn route() -> Route<Webhooks> {
    Route::post("/api/webhooks/{id}/test", test_webhook)
        .signed("webhook.test")
        .per_minute(PER_MINUTE)
        .summary("Send a ping to one of your webhooks")
        .example("POST /api/webhooks/{id}/test {id} signed as webhook.test")
        .description(
            "The event is ping, the data {message}. It is sent once, also while the webhook is not active. GET \
             /api/webhooks/mine shows what became of it.",
        )
}

async fn test_webhook(
    cx: RequestContext<Webhooks>,
    Path(id): Path<WebhookId>,
    Signed { signer, payload: _ }: Signed<WebhookTarget>,
) -> Result<Accepted<DeliveryView>, HandlerError<WebhookError>> {
    let (now_s, now_ms, limit) = (cx.now_s(), cx.now_ms(), cx.plugin().config.tests_per_minute);
    let event_id = format!("{PING}:{id}:{now_s}:{:08x}", rand::random::<u32>());
    let data = json!({ "message": "this is a test" }).to_string();
    cx.write(async move |tx| {
        owned(tx, id, signer).await?;
        if let Count::Full { retry_after_s } = limits::TESTS.take(tx, &signer.to_string(), 1, limit.into()).await? {
            return Err(WebhookError::Tests { retry_after_s }.into());
        }
        let delivery = deliveries::insert_ping(tx, id, signer, &event_id, &data).await?;
        queue::push(tx, &[QueuedDelivery { id: delivery, webhook_id: id, owner: signer }], now_ms).await?;
        let view = deliveries::view(tx, delivery).await?;
        let lost = || HostError::new(HostErrorCode::Internal, "a delivery is gone within its transaction");
        Ok(Accepted(view.ok_or_else(lost)?))
    })
    .await
}
