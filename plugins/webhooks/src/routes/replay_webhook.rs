//! `POST /api/webhooks/{id}/replay`: sends deliveries of the signer's webhook again, with the id and the data that they had.

use super::{PER_MINUTE, owned};
use crate::{
    Webhooks,
    error::WebhookError,
    model::{NewReplay, Replay, ReplayAnswer, WebhookId},
    store::{fanout::QueuedDelivery, limits, queue, replays},
};
use plugin_api::{Address, HandlerError, Path, RequestContext, Route, Signed, Tx, counter::Count, response::Accepted};

pub fn route() -> Route<Webhooks> {
    Route::post("/api/webhooks/{id}/replay", replay_webhook)
        .signed("webhook.replay")
        .per_minute(PER_MINUTE)
        .summary("Send deliveries of one of your webhooks again")
        .example("POST /api/webhooks/{id}/replay {id, since, status} signed as webhook.replay")
        .description(
            "Finished deliveries of events since a time, those with this status; not tests, and no retracted events. A \
             receiver that remembers ids skips what it had. One replay of a webhook at a time.",
        )
}

type Result<T> = std::result::Result<T, HandlerError<WebhookError>>;

async fn replay_webhook(
    cx: RequestContext<Webhooks>,
    Path(id): Path<WebhookId>,
    Signed { signer, payload }: Signed<NewReplay>,
) -> Result<Accepted<ReplayAnswer>> {
    let replay = payload.check()?;
    let (now_ms, limit) = (cx.now_ms(), i64::from(cx.plugin().config.replays_per_day));
    let answer = cx.write(async move |tx| restart(tx, (id, signer), &replay, limit, now_ms).await).await?;
    Ok(Accepted(answer))
}

async fn restart(
    tx: &Tx,
    (id, signer): (WebhookId, Address),
    replay: &Replay,
    limit: i64,
    now_ms: i64,
) -> Result<ReplayAnswer> {
    let webhook = owned(tx, id, signer).await?;
    if webhook.active == 0 {
        return Err(WebhookError::NotActive(id).into());
    }
    if replays::is_running(tx, id).await? {
        return Err(WebhookError::ReplayRunning(id).into());
    }
    let key = signer.to_string();
    let remaining = limit - limits::REPLAYS.used(tx, &key, tx.now_s()).await?;
    let found = replays::select(tx, id, replay, remaining.max(0)).await?;
    let chosen = usize::try_from(remaining).unwrap_or_default().min(found.len());
    let (now, later) = found.split_at(chosen);
    // Also refuses when nothing is left and something is there to send.
    let amount = i64::try_from(now.len()).unwrap_or(i64::MAX).max(i64::from(!later.is_empty()));
    let remaining_today = match limits::REPLAYS.take(tx, &key, amount, limit).await? {
        Count::Counted { used } => limit - used,
        Count::Full { retry_after_s } => return Err(WebhookError::Replays { retry_after_s }.into()),
    };
    let deliveries: Vec<QueuedDelivery> = now.iter().map(|(delivery, _)| delivery.clone()).collect();
    replays::restart(tx, &deliveries).await?;
    queue::push(tx, &deliveries, now_ms).await?;
    let next_since = later.first().map(|(_, created_at)| *created_at);
    Ok(ReplayAnswer { id, replayed: deliveries.len(), remaining_today, next_since })
}
