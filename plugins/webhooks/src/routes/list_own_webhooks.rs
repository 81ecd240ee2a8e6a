//! `GET /api/webhooks/mine`: the signer's webhooks, with counts and the latest deliveries.

use crate::{
    Webhooks,
    model::{EVENTS, OwnWebhooks, WebhookId},
    store::{deliveries, endpoints},
};
use plugin_api::{HandlerError, Json, JsonSchema, QueryString, RequestContext, Route, extract::SignedBy, lenient};
use serde::Deserialize;

const DELIVERIES_DEFAULT: i64 = 20;
const DELIVERIES_MAX: i64 = 200;

#[derive(Deserialize, JsonSchema)]
pub struct Query {
    /// How many of the latest deliveries: 1 to 200, 20 by default.
    #[serde(default, deserialize_with = "lenient")]
    deliveries: i64,
}

pub fn route() -> Route<Webhooks> {
    Route::get("/api/webhooks/mine", list_own_webhooks)
        .signed_headers("webhook.set")
        .per_minute(60)
        .cache_control("private, no-store")
        .summary("List your webhooks and their latest deliveries")
        .example("GET /api/webhooks/mine signed as webhook.set")
        .description("The signature is over an empty text or over {}.")
}

async fn list_own_webhooks(
    cx: RequestContext<Webhooks>,
    SignedBy(address): SignedBy,
    QueryString(query): QueryString<Query>,
) -> Result<Json<OwnWebhooks>, HandlerError> {
    let (db, config) = (cx.db(), &cx.plugin().config);
    let limit = match query.deliveries {
        0 => DELIVERIES_DEFAULT,
        asked => asked.clamp(1, DELIVERIES_MAX),
    };
    let rows = endpoints::of_owner(&db, address).await?;
    let ids: Vec<WebhookId> = rows.iter().map(|row| row.id).collect();
    let mut counts = deliveries::counts(&db, &ids).await?;
    let items = rows.into_iter().map(|row| {
        let counts = counts.remove(&row.id).unwrap_or_default();
        row.into_view(counts)
    });
    Ok(Json(OwnWebhooks {
        address,
        items: items.collect(),
        events: EVENTS.to_vec(),
        retry_seconds: config.retry_s.clone(),
        deliveries: deliveries::latest(&db, address, limit).await?,
    }))
}
