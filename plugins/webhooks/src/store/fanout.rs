//! Deliveries of events: one for each event and webhook.
//!
//! The rule: everything here runs in the transaction that moves the cursor of the log, so that no event is delivered twice and none
//! is lost.

use super::endpoints::{self, Subscriber};
use crate::model::{CHAIN_RETRACTED, DeliveryId, Notification, WebhookId};
use plugin_api::{Address, HostError, Query, Sql, Tx, sql};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// A delivery that is to be sent.
#[derive(Clone, Debug, Deserialize)]
pub struct QueuedDelivery {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub owner: Address,
}

struct NewDelivery {
    webhook: WebhookId,
    owner: Address,
    event: &'static str,
    activity_id: i64,
    part: i64,
    data: String,
}

/// Rows of one statement: some carry the body of a message.
const ROWS_MAX: usize = 100;
/// Deliveries that one `chain.retracted` names.
const RETRACTED_MAX: usize = 100;
/// Ids that one statement looks for.
const IDS_MAX: usize = 500;

const RETRACTED: &str = "a reorganisation of the chain undid the event";

/// Stores the deliveries of these events, in their order.
pub async fn insert(tx: &Tx, notifications: &[Notification]) -> Result<Vec<QueuedDelivery>, HostError> {
    let recipients: BTreeSet<Address> = notifications.iter().flat_map(|event| event.recipients.clone()).collect();
    let subscribers = endpoints::subscribers(tx, recipients).await?;
    let rows: Vec<NewDelivery> = notifications.iter().flat_map(|event| deliveries_of(event, &subscribers)).collect();
    insert_rows(tx, &rows).await
}

fn deliveries_of(event: &Notification, subscribers: &BTreeMap<Address, Vec<Subscriber>>) -> Vec<NewDelivery> {
    let data = event.data.to_string();
    let of_recipient = |owner: &Address| {
        let wants = |webhook: &&Subscriber| webhook.events.iter().any(|name| name == event.event);
        subscribers.get(owner).into_iter().flatten().filter(wants)
    };
    let delivery = |webhook: &Subscriber| NewDelivery {
        webhook: webhook.id,
        owner: webhook.owner,
        event: event.event,
        activity_id: event.activity_id,
        part: 0,
        data: data.clone(),
    };
    event.recipients.iter().flat_map(of_recipient).map(delivery).collect()
}

async fn insert_rows(tx: &Tx, rows: &[NewDelivery]) -> Result<Vec<QueuedDelivery>, HostError> {
    let columns =
        "webhook_id, owner, event, event_id, activity_id, part, status, attempts, next_at, created_at, replayed, data";
    let mut inserted = Vec::with_capacity(rows.len());
    for rows in rows.chunks(ROWS_MAX) {
        let now_s = tx.now_s();
        let values = rows.iter().map(|row| {
            let NewDelivery { webhook, owner, event, activity_id, part, data } = row;
            (*webhook, *owner, *event, row.event_id(), *activity_id, *part, "pending", 0, now_s, now_s, 0, data)
        });
        let Some(insert) = Sql::insert_rows("webhooks_deliveries", columns, values) else { continue };
        let end = " ON CONFLICT (activity_id, webhook_id, part) DO NOTHING RETURNING id, webhook_id, owner";
        let mut stored: Vec<QueuedDelivery> = tx.rows(insert.push(end)).await?;
        stored.sort_unstable_by_key(|delivery| delivery.id);
        inserted.append(&mut stored);
    }
    Ok(inserted)
}

impl NewDelivery {
    /// The same for the same event and webhook, whatever happens.
    fn event_id(&self) -> String {
        let Self { webhook, event, activity_id, part, .. } = self;
        if *part == 0 {
            format!("{event}:{activity_id}:{webhook}")
        } else {
            format!("{event}:{activity_id}.{part}:{webhook}")
        }
    }
}

/// A delivery of an event that is retracted.
#[derive(Clone, Debug, Deserialize)]
pub struct RetractedDelivery {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub owner: Address,
    pub event: String,
    pub event_id: String,
    pub activity_id: i64,
    pub status: String,
    pub attempts: i64,
    /// Attempts before a replay may have been heard.
    pub heard_before: i64,
}

impl RetractedDelivery {
    /// An attempt that seems to have failed may have been heard.
    pub fn may_have_been_heard(&self) -> bool {
        self.status == "ok" || self.attempts > 0 || self.heard_before == 1
    }
}

/// Withdraws deliveries of these events; who may have heard of one gets `chain.retracted`, at this position of the log.
pub async fn retract(tx: &Tx, retraction: i64, events: &[i64]) -> Result<Vec<QueuedDelivery>, HostError> {
    let mut heard = Vec::new();
    for events in events.chunks(IDS_MAX) {
        let select = sql("SELECT id, webhook_id, owner, event, event_id, activity_id, status, attempts, heard_before \
             FROM webhooks_deliveries WHERE activity_id IN (0");
        let select = events.iter().fold(select, |select, id| select.push_bind(", {}", *id));
        heard.extend(tx.rows::<RetractedDelivery>(select.push(") ORDER BY id")).await?);
        let withdraw = sql("UPDATE webhooks_deliveries SET retracted_by = $1, \
             last_error = CASE WHEN status = 'pending' THEN $2 ELSE last_error END, \
             finished_at = CASE WHEN status = 'pending' THEN $3 ELSE finished_at END, replayed = 0, \
             status = CASE WHEN status = 'pending' THEN 'failed' ELSE status END WHERE activity_id IN (0")
        .bind((retraction, RETRACTED, tx.now_s()));
        let withdraw = events.iter().fold(withdraw, |withdraw, id| withdraw.push_bind(", {}", *id));
        tx.execute(withdraw.push(")")).await?;
    }
    heard.retain(RetractedDelivery::may_have_been_heard);
    announce(tx, retraction, &heard).await
}

/// Also for one that was being sent while its event was retracted.
pub async fn announce(tx: &Tx, retraction: i64, heard: &[RetractedDelivery]) -> Result<Vec<QueuedDelivery>, HostError> {
    let subscribers =
        endpoints::subscribers(tx, heard.iter().map(|delivery| delivery.owner).collect::<BTreeSet<_>>()).await?;
    let mut by_webhook: BTreeMap<WebhookId, Vec<&RetractedDelivery>> = BTreeMap::new();
    heard.iter().for_each(|delivery| by_webhook.entry(delivery.webhook_id).or_default().push(delivery));
    let wants = |webhook: &&Subscriber| webhook.events.iter().any(|name| name == CHAIN_RETRACTED);
    let rows: Vec<NewDelivery> = subscribers
        .values()
        .flatten()
        .filter(wants)
        .filter_map(|webhook| Some((webhook, by_webhook.get(&webhook.id)?)))
        .flat_map(|(webhook, heard)| heard.chunks(RETRACTED_MAX).map(move |heard| (webhook, heard)))
        .filter_map(|(webhook, heard)| retraction_of(webhook, retraction, heard))
        .collect();
    insert_rows(tx, &rows).await
}

/// `part` is the first delivery that it names: no other one names it.
fn retraction_of(webhook: &Subscriber, retraction: i64, heard: &[&RetractedDelivery]) -> Option<NewDelivery> {
    let part = heard.first()?.id.0;
    let named = |delivery: &&RetractedDelivery| {
        let RetractedDelivery { id, event, event_id, activity_id, .. } = delivery;
        json!({ "id": event_id, "event": event, "activityId": activity_id, "webhookId": webhook.id, "deliveryId": format!("whd_{id}") })
    };
    let deliveries: Vec<_> = heard.iter().map(named).collect();
    Some(NewDelivery {
        webhook: webhook.id,
        owner: webhook.owner,
        event: CHAIN_RETRACTED,
        activity_id: retraction,
        part,
        data: json!({ "activityId": retraction, "deliveries": deliveries }).to_string(),
    })
}
