//! One attempt of a delivery: `POST` to the endpoint, signed over the exact bytes that are sent.
//!
//! The rule: the outcome is written in the transaction that ends the task, and no attempt begins without a renewed lease. Of the
//! body only `ts` differs between attempts.

use crate::{
    Webhooks,
    model::{
        Attempt, DeliveryBody, DeliveryHeaders, DeliveryStatus, Limits, Outcome, PING, Tags, Verdict, message_to_sign,
    },
    store::{
        attempts::{self, AttemptState, DeliveryRow},
        endpoints, fanout,
        queue::{self, DeliveryTask},
        sealed::{Signer, does_not_open},
    },
};
use plugin_api::{
    Fetch, HostError, HostErrorCode, PluginContext, Tx,
    queue::{Retry, Task},
};
use std::{collections::BTreeMap, time::Duration};

/// Of the whole exchange.
const TIMEOUT: Duration = Duration::from_secs(10);
/// What an endpoint answers is read up to here, and thrown away.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// A delivery that was not sent for that long, because its host gets no more requests, counts as a failed attempt.
const UNSENT_MAX_MS: i64 = 24 * 60 * 60 * 1000;
/// The part of a pause that is added by chance, so that what failed together does not come back together.
const JITTER_PERCENT: u64 = 10;

pub async fn deliver(cx: PluginContext<Webhooks>, task: Task<DeliveryTask>) -> Result<(), HostError> {
    let Some(row) = attempts::find(&cx.db(), task.payload.id).await? else { return Ok(()) };
    if row.status != DeliveryStatus::Pending {
        return Ok(());
    }
    if let Some(reason) = row.withheld_because() {
        let (id, reason) = (row.id, reason.to_owned());
        return cx
            .write(async move |tx| {
                tx.defer(attempts::withhold(id, &reason, tx.now_s()))?;
                task.done(tx).await
            })
            .await;
    }
    if !task.renew(&cx).await? {
        return Ok(());
    }
    let attempt = attempt(&cx, &row).await?;
    let label = attempt.label();
    let ended = End { attempt, row, limits: Limits::of(&cx.plugin().config), is_late: is_late(&cx, &task) };
    let pauses = cx.clone();
    let now_ms = cx.now_ms();
    cx.write(async move |tx| ended.write(tx, &task, &pauses.plugin().config, now_ms).await).await?;
    cx.count("webhooks_attempts", &BTreeMap::from([("outcome", label)]), 1);
    Ok(())
}

fn is_late(cx: &PluginContext<Webhooks>, task: &Task<DeliveryTask>) -> bool {
    cx.now_ms() - task.pushed_ms() >= UNSENT_MAX_MS
}

impl DeliveryRow {
    /// Why nothing is sent at all.
    fn withheld_because(&self) -> Option<&'static str> {
        // A test says whether it would work.
        let is_off = self.active == 0 && self.event != PING;
        if self.is_retracted == 1 {
            Some("a reorganisation of the chain undid the event")
        } else {
            is_off.then_some("the webhook is not active")
        }
    }
}

impl Attempt {
    fn label(&self) -> &'static str {
        match self.verdict {
            Verdict::Delivered => "delivered",
            Verdict::Failed { .. } => "failed",
            Verdict::Gone => "gone",
            Verdict::NotSent { .. } => "not_sent",
        }
    }
}

async fn attempt(cx: &PluginContext<Webhooks>, row: &DeliveryRow) -> Result<Attempt, HostError> {
    let now_s = cx.now_s();
    let DeliveryRow { id, event_id, event, webhook_id, data, .. } = row;
    let body = DeliveryBody { id: event_id, event, ts: now_s, webhook_id: *webhook_id, data };
    let body = serde_json::to_vec(&body).map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?;
    let tags = match sign(cx, row, now_s, &body).await {
        Ok(tags) => tags,
        // One webhook whose secret does not open must not stop the queue.
        Err(error) if does_not_open(&error) => {
            cx.warn(&format!("the secret of webhook {webhook_id} does not open: {error}"));
            return Ok(Attempt::not_signed());
        }
        Err(error) => return Err(error),
    };
    let brand = &cx.environment().brand;
    let headers = DeliveryHeaders { prefix: &brand.header_prefix, id: *id, event, now_s, tags };
    let request = Fetch::post(row.url.clone())
        .body(body)
        .header("user-agent", format!("{}-gateway/webhooks", brand.marker))
        .timeout(TIMEOUT)
        .redirects_max(0)
        .truncate_at(ANSWER_BYTES_MAX)
        .background();
    let request = headers.named().into_iter().fold(request, |request, (name, value)| request.header(&name, value));
    Ok(Attempt::of(&request.send(cx).await, now_s))
}

/// With each secret: the tag of the body, and of the message of Standard Webhooks.
async fn sign(
    cx: &PluginContext<Webhooks>,
    row: &DeliveryRow,
    now_s: i64,
    body: &[u8],
) -> Result<Vec<Tags>, HostError> {
    let signer = Signer { host: cx, owner: row.owner, url: &row.url };
    let message = message_to_sign(row.id, now_s, body);
    let mut tags = Vec::new();
    for (place, secret) in row.secrets(now_s).into_iter().enumerate() {
        match signer.tags(secret, &message, message.len() - body.len()).await {
            Ok(made) => tags.push(made),
            // The one of before, whose key is gone: the new one signs alone.
            Err(error) if place > 0 && does_not_open(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(tags)
}

impl DeliveryRow {
    /// The secret, and the one of before while it signs, too.
    fn secrets(&self, now_s: i64) -> Vec<&[u8]> {
        let signs = self.old_secret_until.is_some_and(|until| now_s < until);
        let old = self.sealed_old_secret.as_deref().filter(|_| signs);
        std::iter::once(&*self.sealed_secret).chain(old).collect()
    }
}

/// An attempt that is over.
struct End {
    attempt: Attempt,
    row: DeliveryRow,
    limits: Limits,
    /// Whether it waits too long already to be sent.
    is_late: bool,
}

impl End {
    async fn write(
        &self,
        tx: &Tx,
        task: &Task<DeliveryTask>,
        config: &crate::Config,
        now_ms: i64,
    ) -> Result<(), HostError> {
        let Self { attempt, row, .. } = self;
        if attempt.verdict == Verdict::Delivered && self.write_success(tx).await? {
            return task.done(tx).await;
        }
        let Some(state) = attempts::state(tx, row.id).await? else { return task.done(tx).await };
        if let (Verdict::NotSent { retry_after }, false) = (&attempt.verdict, self.is_late) {
            let pause = jittered((*retry_after).max(unsent_pause(task.attempt())));
            tx.defer(attempts::postpone(row.id, attempt.error.as_deref(), at_s(now_ms, pause)))?;
            return self.retry(tx, task, pause).await;
        }
        if state.status != DeliveryStatus::Pending {
            return self.write_too_late(tx, task, &state, now_ms).await;
        }
        self.note_failure(tx, &state)?;
        let outcome = self.outcome(&state, config);
        let (status, next_at) = match &outcome {
            Outcome::Failed => (DeliveryStatus::Failed, tx.now_s()),
            Outcome::Retry { pause } => (DeliveryStatus::Pending, at_s(now_ms, *pause)),
        };
        tx.defer(attempts::record_failure(row.id, attempt, status, next_at, tx.now_s()))?;
        self.disable_if_over(tx, &state)?;
        match outcome {
            Outcome::Retry { pause } => self.retry(tx, task, pause).await,
            // A failed delivery is a row that its owner sees and may replay.
            Outcome::Failed => task.give_up(tx).await,
        }
    }

    /// Most attempts end here, so it reads nothing. Whether the delivery was still waiting for it.
    async fn write_success(&self, tx: &Tx) -> Result<bool, HostError> {
        let Self { attempt, row, .. } = self;
        if tx.execute(attempts::record_success(row.id, attempt.status, tx.now_s())).await? == 0 {
            return Ok(false);
        }
        if row.is_success_news(tx.now_s()) {
            tx.defer(endpoints::succeeded(row.webhook_id, tx.now_s()))?;
        }
        Ok(true)
    }

    fn outcome(&self, state: &AttemptState, config: &crate::Config) -> Outcome {
        let asked = match &self.attempt.verdict {
            Verdict::Delivered | Verdict::Gone => return Outcome::Failed,
            Verdict::Failed { retry_after } => *retry_after,
            Verdict::NotSent { retry_after } => Some(*retry_after),
        };
        // A test has one attempt: its owner looks at it.
        let pause = config.pause_after(state.attempts + 1).filter(|_| self.row.event != PING);
        pause.map_or(Outcome::Failed, |pause| Outcome::Retry { pause: jittered(pause.max(asked.unwrap_or_default())) })
    }

    /// A failed test counts nothing against the endpoint.
    fn note_failure(&self, tx: &Tx, state: &AttemptState) -> Result<(), HostError> {
        if self.row.event == PING {
            return Ok(());
        }
        tx.defer(endpoints::failed(self.row.webhook_id, state.health().failed(tx.now_s())))
    }

    fn disable_if_over(&self, tx: &Tx, state: &AttemptState) -> Result<(), HostError> {
        let reason = match self.attempt.verdict {
            Verdict::Gone => Some("the endpoint answered 410: it is gone".to_owned()),
            _ if self.row.event == PING => None,
            _ => state.health().failed(tx.now_s()).disabled_because(self.limits, tx.now_s()),
        };
        reason.map_or(Ok(()), |reason| attempts::disable(tx, self.row.webhook_id, &reason))
    }

    /// While it was sent, the delivery was ended: by its owner, or because its event was retracted. Who heard of that event has
    /// to hear of the retraction.
    async fn write_too_late(
        &self,
        tx: &Tx,
        task: &Task<DeliveryTask>,
        state: &AttemptState,
        now_ms: i64,
    ) -> Result<(), HostError> {
        tx.defer(attempts::count(self.row.id, &self.attempt))?;
        // After an earlier attempt it was announced when the event was retracted.
        if let Some((retraction, heard)) = state.heard(&self.row)
            && !heard.may_have_been_heard()
        {
            let queued = fanout::announce(tx, retraction, &[heard]).await?;
            queue::push(tx, &queued, now_ms).await?;
        }
        task.done(tx).await
    }

    async fn retry(&self, tx: &Tx, task: &Task<DeliveryTask>, pause: Duration) -> Result<(), HostError> {
        let reason = self.attempt.error.as_deref().unwrap_or_default();
        task.retry(tx, Retry::After(pause), reason).await.map(drop)
    }
}

/// The more often it was not sent, the longer it waits: a host without a limit of its own says a second each time.
fn unsent_pause(attempt: u32) -> Duration {
    Duration::from_secs(attempt.clamp(1, 60).into())
}

fn at_s(now_ms: i64, pause: Duration) -> i64 {
    let pause_ms = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
    now_ms.saturating_add(pause_ms).div_euclid(1000)
}

/// Never earlier than the pause.
fn jittered(pause: Duration) -> Duration {
    let spread = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX).saturating_mul(JITTER_PERCENT) / 100;
    pause.saturating_add(Duration::from_millis(rand::random_range(0..=spread)))
}
