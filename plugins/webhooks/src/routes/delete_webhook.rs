//! `DELETE /api/webhooks/{id}`: deletes a webhook of the signer. What waits for it is not sent.

use super::{PER_MINUTE, owned};
use crate::{
    Webhooks,
    error::WebhookError,
    model::{DeletedWebhook, WebhookId},
    store::{deliveries, endpoints},
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route, extract::SignedBy};

pub fn route() -> Route<Webhooks> {
    Route::delete("/api/webhooks/{id}", delete_webhook)
        .signed_headers_once("webhook.delete")
        .per_minute(PER_MINUTE)
        .summary("Delete one of your webhooks")
        .description(
            "The signature is over an empty text, over {} or over the JSON body {id}, which must be the id of the path. Pending \
             deliveries become failed ones.",
        )
}

async fn delete_webhook(
    cx: RequestContext<Webhooks>,
    SignedBy(signer): SignedBy,
    Path(id): Path<WebhookId>,
) -> Result<Json<DeletedWebhook>, HandlerError<WebhookError>> {
    cx.write(async move |tx| {
        owned(tx, id, signer).await?;
        tx.execute(endpoints::delete(id)).await?;
        tx.execute(deliveries::give_up(id, "the webhook was deleted", tx.now_s(), true)).await?;
        Ok(Json(DeletedWebhook { deleted: true, id }))
    })
    .await
}
