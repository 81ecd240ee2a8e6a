//! Webhooks: what their owners register.

use crate::model::{DeliveryCounts, Health, WebhookDraft, WebhookId, WebhookView};
use plugin_api::{Address, HostError, Query, Sql, Tx, handles::Value, sql};
use serde::Deserialize;
use std::collections::BTreeMap;

const COLUMNS: &str = "id, owner, url, events, active, secret_hint, created_at, updated_at, disabled_at, disabled_reason, \
    old_secret_until";

#[derive(Debug, Deserialize)]
pub struct EndpointRow {
    pub id: WebhookId,
    pub owner: Address,
    pub url: String,
    #[serde(deserialize_with = "plugin_api::json_text")]
    pub events: Vec<String>,
    pub active: i64,
    pub secret_hint: String,
    pub created_at: i64,
    pub updated_at: i64,
    pub disabled_at: Option<i64>,
    pub disabled_reason: Option<String>,
    pub old_secret_until: Option<i64>,
}

impl EndpointRow {
    pub fn into_view(self, deliveries: DeliveryCounts) -> WebhookView {
        WebhookView {
            id: self.id,
            owner: self.owner.into(),
            url: self.url,
            events: self.events,
            active: self.active == 1,
            secret_hint: self.secret_hint,
            created_at: self.created_at,
            updated_at: self.updated_at,
            disabled_at: self.disabled_at,
            disabled_reason: self.disabled_reason,
            old_secret_until: self.old_secret_until,
            deliveries,
        }
    }
}

pub async fn of_owner(db: &impl Query, owner: Address) -> Result<Vec<EndpointRow>, HostError> {
    let select = format!("SELECT {COLUMNS} FROM webhooks_endpoints WHERE owner = $1 ORDER BY id");
    db.rows(sql(select).bind(owner)).await
}

pub async fn count_of(db: &impl Query, owner: Address) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM webhooks_endpoints WHERE owner = $1").bind(owner)).await
}

pub async fn find(db: &impl Query, id: WebhookId) -> Result<Option<EndpointRow>, HostError> {
    db.row(sql(format!("SELECT {COLUMNS} FROM webhooks_endpoints WHERE id = $1")).bind(id)).await
}

/// The webhook of an owner and URL, as far as its secret matters.
#[derive(Debug, Deserialize)]
pub struct SealedRow {
    pub id: WebhookId,
    /// Names the master key that sealed one of the secrets, or both.
    pub key_id: String,
    pub old_secret_until: Option<i64>,
    pub sealed_secret: Vec<u8>,
    pub sealed_old_secret: Option<Vec<u8>>,
}

pub async fn sealed(db: &impl Query, owner: Address, url: &str) -> Result<Option<SealedRow>, HostError> {
    let select = sql("SELECT id, key_id, old_secret_until, sealed_secret, sealed_old_secret FROM webhooks_endpoints \
         WHERE owner = $1 AND url = $2");
    db.row(select.bind((owner, url))).await
}

/// The secrets that a webhook has after a change.
#[derive(Clone, Debug)]
pub struct Secrets {
    pub key_id: String,
    pub sealed: Vec<u8>,
    pub sealed_old: Option<Vec<u8>>,
    pub old_until: Option<i64>,
}

/// Of two requests at the same time PostgreSQL lets the later one run again, which then updates.
pub async fn insert(
    tx: &Tx,
    owner: Address,
    draft: &WebhookDraft,
    secrets: &Secrets,
) -> Result<EndpointRow, HostError> {
    let insert = sql(
        "INSERT INTO webhooks_endpoints (owner, url, events, active, secret_hint, key_id, created_at, updated_at, \
         active_since, failures, failure_days, last_failure_day, sealed_secret) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7, 0, 0, -1, $8) ON CONFLICT (owner, url) DO NOTHING RETURNING ",
    );
    let insert = insert
        .push(COLUMNS)
        .bind((owner, &draft.url, json(&draft.events), draft.active, draft.secret_hint(), &secrets.key_id))
        .bind((tx.now_s(), &*secrets.sealed));
    tx.one(insert).await
}

/// Replaces all but id, owner, URL and the time when it was created. What the gateway noted of failures is forgotten.
pub async fn update(tx: &Tx, id: WebhookId, draft: &WebhookDraft, secrets: &Secrets) -> Result<EndpointRow, HostError> {
    let update = sql(
        "UPDATE webhooks_endpoints SET events = $2, active = $3, secret_hint = $4, key_id = $5, updated_at = $6, \
         active_since = $6, failures = 0, failure_days = 0, last_failure_day = -1, disabled_at = NULL, \
         disabled_reason = NULL, sealed_secret = $7, sealed_old_secret = $8, old_secret_until = $9 WHERE id = $1 RETURNING ",
    );
    let update = update
        .push(COLUMNS)
        .bind((id, json(&draft.events), draft.active, draft.secret_hint(), &secrets.key_id, tx.now_s()))
        .bind((&*secrets.sealed, secrets.sealed_old.clone(), secrets.old_until));
    tx.one(update).await
}

pub fn delete(id: WebhookId) -> Sql {
    sql("DELETE FROM webhooks_endpoints WHERE id = $1").bind(id)
}

/// Secrets of before that sign no more.
pub fn forget_old_secrets(now_s: i64) -> Sql {
    sql("UPDATE webhooks_endpoints SET sealed_old_secret = NULL, old_secret_until = NULL WHERE old_secret_until <= $1")
        .bind(now_s)
}

#[derive(Debug, Deserialize)]
pub struct Subscriber {
    pub id: WebhookId,
    pub owner: Address,
    #[serde(deserialize_with = "plugin_api::json_text")]
    pub events: Vec<String>,
}

/// Owners that one statement looks for.
const OWNERS_MAX: usize = 500;

/// Active webhooks of these owners.
pub async fn subscribers(
    db: &impl Query,
    owners: impl IntoIterator<Item = Address>,
) -> Result<BTreeMap<Address, Vec<Subscriber>>, HostError> {
    let owners: Vec<Address> = owners.into_iter().collect();
    let mut by_owner: BTreeMap<Address, Vec<Subscriber>> = BTreeMap::new();
    for owners in owners.chunks(OWNERS_MAX) {
        // `+`: by the index of the owner, however many they are, and not by that of `active`.
        let select = sql("SELECT id, owner, events FROM webhooks_endpoints WHERE +active = 1 AND owner IN (''");
        let select = owners.iter().fold(select, |select, owner| select.push_bind(", {}", *owner));
        for subscriber in db.rows::<Subscriber>(select.push(") ORDER BY id")).await? {
            by_owner.entry(subscriber.owner).or_default().push(subscriber);
        }
    }
    Ok(by_owner)
}

pub fn succeeded(id: WebhookId, now_s: i64) -> Sql {
    sql("UPDATE webhooks_endpoints SET last_success_at = $2, failures = 0, failure_days = 0, last_failure_day = -1 \
         WHERE id = $1")
    .bind((id, now_s))
}

pub fn failed(id: WebhookId, health: Health) -> Sql {
    sql("UPDATE webhooks_endpoints SET failures = $2, failure_days = $3, last_failure_day = $4 WHERE id = $1").bind((
        id,
        health.failures,
        health.failure_days,
        health.last_failure_day,
    ))
}

pub fn disable(id: WebhookId, reason: &str, now_s: i64) -> Sql {
    sql("UPDATE webhooks_endpoints SET active = 0, disabled_at = $2, disabled_reason = $3 WHERE id = $1 AND active = 1")
        .bind((id, now_s, reason))
}

/// A webhook whose secrets another master key sealed than the one that seals now.
#[derive(Debug, Deserialize)]
pub struct StaleRow {
    pub id: WebhookId,
    pub owner: Address,
    pub url: String,
    pub sealed_secret: Vec<u8>,
    pub sealed_old_secret: Option<Vec<u8>>,
}

pub async fn stale(db: &impl Query, key_id: &str, after: WebhookId, limit: u32) -> Result<Vec<StaleRow>, HostError> {
    let select = sql("SELECT id, owner, url, sealed_secret, sealed_old_secret FROM webhooks_endpoints \
         WHERE key_id <> $1 AND id > $2 ORDER BY id LIMIT $3");
    db.rows(select.bind((key_id, after, limit))).await
}

/// Replaces sealed secrets by what they are under a newer key, unless somebody changed them meanwhile.
pub fn reseal(row: &StaleRow, secrets: &Secrets) -> Sql {
    sql("UPDATE webhooks_endpoints SET key_id = $2, sealed_secret = $3, sealed_old_secret = $4 \
         WHERE id = $1 AND sealed_secret = $5")
    .bind((row.id, &secrets.key_id, &*secrets.sealed, secrets.sealed_old.clone(), &*row.sealed_secret))
}

pub async fn count_stale(db: &impl Query, key_id: &str) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM webhooks_endpoints WHERE key_id < $1 OR key_id > $1").bind(key_id)).await
}

pub async fn count_active(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM webhooks_endpoints WHERE active = 1")).await
}

fn json(events: &[&str]) -> Value {
    Value::Text(serde_json::json!(events).to_string().into())
}
