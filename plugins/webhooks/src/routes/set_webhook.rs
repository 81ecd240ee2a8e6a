//! `POST /api/webhooks`: registers a URL for events, or changes the signer's webhook of that URL.

use super::PER_MINUTE;
use crate::{
    Config, Webhooks,
    error::WebhookError,
    model::{NewWebhook, WebhookDraft, WebhookView},
    store::{
        deliveries,
        endpoints::{self, SealedRow, Secrets},
        sealed,
    },
};
use plugin_api::{
    Address, HandlerError, RequestContext, Route, Signed, Tx, handles::UrlProblem, response::CreatedOrUpdated,
};

pub fn route() -> Route<Webhooks> {
    Route::post("/api/webhooks", set_webhook)
        .signed("webhook.set")
        .per_minute(PER_MINUTE)
        .body_max_bytes(8 * 1024)
        .summary("Have events sent to a URL")
        .endpoint("webhooks")
        .briefing(
            "Webhooks",
            "signed calls of your URL when something concerns you: POST sets one (url, secret, events; signed as \
             webhook.set), GET /mine lists yours with their latest deliveries, DELETE /{id} removes one, POST /{id}/test \
             sends a ping, POST /{id}/replay sends deliveries again",
        )
        .example("POST /api/webhooks {url, secret, events} signed as webhook.set")
        .description(
            "One webhook for each signer and URL: the same URL again replaces secret, events and active. A new secret signs \
             beside the old one for a day. The secret is in no answer. Deliveries are signed twice: X-Service-Signature is \
             sha256= and the hex HMAC-SHA256 of the body, keyed by the text of the secret; webhook-id, webhook-timestamp and \
             webhook-signature follow Standard Webhooks.",
        )
}

type Result<T> = std::result::Result<T, HandlerError<WebhookError>>;

async fn set_webhook(
    cx: RequestContext<Webhooks>,
    Signed { signer: owner, payload }: Signed<NewWebhook>,
) -> Result<CreatedOrUpdated<WebhookView>> {
    let draft = payload.check()?;
    if let Some(UrlProblem { code, message }) = cx.check_url(&draft.url).await? {
        let is_private = code == "private_url";
        return Err(if is_private { WebhookError::PrivateUrl(message) } else { WebhookError::Url(message) }.into());
    }
    let sealed = sealed::seal(&cx, owner, &draft.url, &draft.secret).await?;
    let before = endpoints::sealed(&cx.db(), owner, &draft.url).await?;
    let is_same = match &before {
        Some(before) => sealed::are_equal(&cx, owner, &draft.url, [&sealed, &before.sealed_secret]).await?,
        None => false,
    };
    let change = Change { owner, draft, sealed, key_id: sealed::key_id(&cx).await?, before, is_same };
    let config = cx.plugin().config.clone();
    cx.write(async move |tx| change.store(tx, &config).await).await
}

/// What is written, and what it was compared with.
struct Change {
    owner: Address,
    draft: WebhookDraft,
    sealed: Vec<u8>,
    key_id: String,
    before: Option<SealedRow>,
    /// Whether the secret is that of before.
    is_same: bool,
}

impl Change {
    async fn store(&self, tx: &Tx, config: &Config) -> Result<CreatedOrUpdated<WebhookView>> {
        let Self { owner, draft, .. } = self;
        let Some(now) = endpoints::sealed(tx, *owner, &draft.url).await? else {
            let count = endpoints::count_of(tx, *owner).await?;
            if count >= config.webhooks_per_owner.into() {
                return Err(WebhookError::TooMany(count).into());
            }
            let row = endpoints::insert(tx, *owner, draft, &self.secrets(None, config, tx.now_s())).await?;
            return Ok(CreatedOrUpdated { created: true, value: row.into_view(Default::default()) });
        };
        let row = endpoints::update(tx, now.id, draft, &self.secrets(Some(&now), config, tx.now_s())).await?;
        let counts = deliveries::counts(tx, &[row.id]).await?.remove(&row.id).unwrap_or_default();
        Ok(CreatedOrUpdated { created: false, value: row.into_view(counts) })
    }

    /// A new secret keeps the one of before for a while; the same secret changes nothing. A secret that another request set
    /// meanwhile was not compared, and is taken for another one.
    fn secrets(&self, now: Option<&SealedRow>, config: &Config, now_s: i64) -> Secrets {
        let new =
            Secrets { key_id: self.key_id.clone(), sealed: self.sealed.clone(), sealed_old: None, old_until: None };
        let Some(now) = now else { return new };
        let compared = self.before.as_ref().is_some_and(|before| before.sealed_secret == now.sealed_secret);
        if compared && self.is_same {
            return Secrets { sealed_old: now.sealed_old_secret.clone(), old_until: now.old_secret_until, ..new };
        }
        let until = now_s + config.rotation_s();
        Secrets { sealed_old: Some(now.sealed_secret.clone()), old_until: Some(until), ..new }
    }
}
