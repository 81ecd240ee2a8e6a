//! The durable queue of deliveries: the endpoint is the key, so that its deliveries start in order and one at a time, and its owner
//! is the group.

use crate::{Webhooks, model::DeliveryId, store::fanout::QueuedDelivery};
use plugin_api::{
    HostError, Tx,
    queue::{NewTask, Queue, QueueSettings},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The row of `webhooks_deliveries` has everything else.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeliveryTask {
    pub id: DeliveryId,
}

pub const DELIVERIES: Queue<DeliveryTask> = Queue::new("webhooks_queue");

/// More than a delivery can have: see [`crate::jobs::deliver`].
const ATTEMPTS_MAX: usize = 5000;

/// Tasks of one call.
const TASKS_MAX: usize = 1000;

/// The plugin says after each attempt when the next one is, because one that was not sent does not count. So these pauses are
/// for unexpected failures only, and as many as nobody reaches.
pub fn settings(plugin: &Webhooks) -> QueueSettings {
    QueueSettings {
        backoff: vec![Duration::from_secs(60); ATTEMPTS_MAX],
        concurrency: plugin.config.endpoints_at_once,
        concurrency_per_group: plugin.config.endpoints_at_once_per_owner,
        ..QueueSettings::default()
    }
}

/// Adds deliveries to the queue, in the transaction that stores them.
pub async fn push(tx: &Tx, deliveries: &[QueuedDelivery], now_ms: i64) -> Result<(), HostError> {
    for deliveries in deliveries.chunks(TASKS_MAX) {
        let texts: Vec<TaskTexts> = deliveries.iter().map(TaskTexts::of).collect();
        let tasks: Vec<NewTask<'_, DeliveryTask>> = texts.iter().map(|texts| texts.task().due_ms(now_ms)).collect();
        DELIVERIES.push_all(tx, &tasks).await?;
    }
    Ok(())
}

/// What a task borrows.
struct TaskTexts {
    key: String,
    group: String,
    payload: DeliveryTask,
}

impl TaskTexts {
    fn of(delivery: &QueuedDelivery) -> Self {
        let QueuedDelivery { id, webhook_id, owner } = delivery;
        Self { key: format!("endpoint:{webhook_id}"), group: owner.to_string(), payload: DeliveryTask { id: *id } }
    }

    /// A delivery that is replayed may still have its task of before, which may be about to end, or wait for long: that one finds nothing
    /// to do when its time comes.
    fn task(&self) -> NewTask<'_, DeliveryTask> {
        NewTask::new(&self.key, &self.payload).group(&self.group)
    }
}
