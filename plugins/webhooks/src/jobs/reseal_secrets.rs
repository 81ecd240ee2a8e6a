//! Seals secrets again after the operator has a newer secrets key, so that the old one can be removed. Without a new key it reads an
//! empty list.

use crate::{
    Webhooks,
    model::WebhookId,
    store::{
        endpoints::{self, Secrets, StaleRow},
        sealed,
    },
};
use plugin_api::{HostError, Job, PluginContext, Sql};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10 * 60);
const PAGE_ROWS: u32 = 100;

pub fn job() -> Job<Webhooks> {
    Job::every("reseal_secrets", INTERVAL, reseal_secrets).timeout(Duration::from_secs(9 * 60))
}

async fn reseal_secrets(cx: PluginContext<Webhooks>) -> Result<(), HostError> {
    let key_id = sealed::key_id(&cx).await?;
    let (mut after, mut resealed, mut unopened) = (WebhookId(0), 0, 0);
    loop {
        let rows = endpoints::stale(&cx.db(), &key_id, after, PAGE_ROWS).await?;
        let Some(last) = rows.last() else { break };
        after = last.id;
        let mut updates = Vec::new();
        for row in &rows {
            // A row that does not open must not hold up the others.
            match reseal(&cx, &key_id, row).await {
                Ok(update) => updates.push(update),
                Err(_unopened) => unopened += 1,
            }
        }
        resealed += updates.len();
        if !updates.is_empty() {
            cx.write(async move |tx| tx.batch(updates.clone()).await.map(drop)).await?;
        }
    }
    if resealed > 0 {
        cx.info(&format!("sealed the secrets of {resealed} webhooks again with the newest secrets key"));
    }
    if unopened > 0 {
        cx.warn(&format!("the secrets of {unopened} webhooks do not open with the secrets keys of this gateway: their key is missing, or they were changed"));
    }
    Ok(())
}

async fn reseal(cx: &PluginContext<Webhooks>, key_id: &str, row: &StaleRow) -> Result<Sql, HostError> {
    let sealed = sealed::reseal(cx, row.owner, &row.url, &row.sealed_secret).await?;
    let sealed_old = match &row.sealed_old_secret {
        Some(old) => Some(sealed::reseal(cx, row.owner, &row.url, old).await?.unwrap_or_else(|| old.clone())),
        None => None,
    };
    let sealed = sealed.unwrap_or_else(|| row.sealed_secret.clone());
    let secrets = Secrets { key_id: key_id.to_owned(), sealed, sealed_old, old_until: None };
    Ok(endpoints::reseal(row, &secrets))
}
