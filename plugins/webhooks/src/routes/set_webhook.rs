//! `POST /api/webhooks`: registers a URL for events, or changes the signer's webhook of that URL.

use super::PER_MINUTE;
use crate::{
    Config, Webhooks,
    error::WebhookError,
    model::{NewWebhook, WebhookDraft, WebhookView},
    store::{
        deliveries,
        endpoints::{self, SealedRow, Secrets},
        sealed::{self, OldSecret},
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
    let before = match before {
        Some(before) => {
            let compared = sealed::compare(&cx, owner, &draft.url, &before.sealed_secret, &sealed).await?;
            Some((before.sealed_secret, compared))
        }
        None => None,
    };
    let change = Change { owner, draft, sealed, key_id: sealed::key_id(&cx).await?, before };
    let config = cx.plugin().config.clone();
    cx.write(async move |tx| change.store(tx, &config).await).await
}

/// What is written, and what it was compared with.
struct Change {
    owner: Address,
    draft: WebhookDraft,
    sealed: Vec<u8>,
    key_id: String,
    /// The sealed secret of before, and what it is to the new one.
    before: Option<(Vec<u8>, OldSecret)>,
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
    /// meanwhile was not compared, and is taken for another one. The row keeps the name of the key of before with a secret of before: a job
    /// seals both again.
    fn secrets(&self, now: Option<&SealedRow>, config: &Config, now_s: i64) -> Secrets {
        let new =
            Secrets { key_id: self.key_id.clone(), sealed: self.sealed.clone(), sealed_old: None, old_until: None };
        let Some(now) = now else { return new };
        let compared = self.before.as_ref().filter(|(sealed, _)| *sealed == now.sealed_secret);
        let (sealed_old, old_until) = match compared.map_or(OldSecret::Other, |(_, compared)| *compared) {
            OldSecret::Same => (now.sealed_old_secret.clone(), now.old_secret_until),
            OldSecret::Other => (Some(now.sealed_secret.clone()), Some(now_s + config.rotation_s())),
            OldSecret::Unusable => (None, None),
        };
        let key_id = if sealed_old.is_some() { now.key_id.clone() } else { new.key_id };
        Secrets { key_id, sealed_old, old_until, ..new }
    }
}
