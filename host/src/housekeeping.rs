//! The gateway's own small chores: forgetting old signatures and idle clients, hearing of other replicas.

use crate::{
    gateway::Gateway,
    storage::{Dialect, Scope},
};
use plugin_api::{abi::Statement, sql};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

const INTERVAL: Duration = Duration::from_secs(60);
/// Between two looks at the log when PostgreSQL cannot notify us.
const POLL: Duration = Duration::from_millis(500);

/// Every replica does this; deleting twice is harmless.
pub async fn run(gateway: Arc<Gateway>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = gateway.services.clock.sleep(INTERVAL) => {}
        }
        gateway.ip_limits.tidy();
        if let Err(error) = forget_signatures(&gateway).await {
            tracing::warn!(%error, "old signatures cannot be forgotten now");
        }
    }
}

async fn forget_signatures(gateway: &Gateway) -> Result<(), crate::storage::StorageError> {
    let now_s = gateway.services.clock.now_s();
    let signatures: Statement = sql("DELETE FROM host_replay_guard WHERE remember_until_s < $1").bind(now_s).into();
    let slots: Statement = sql("DELETE FROM host_write_slots WHERE last_ms < $1").bind((now_s - 3600) * 1000).into();
    let transaction = gateway.services.database.begin(Scope::Host);
    transaction.run(vec![signatures, slots]).await?;
    transaction.commit(Vec::new()).await.map(drop)
}

/// On PostgreSQL other gateways write too: their commits wake our streams.
pub async fn follow_replicas(gateway: Arc<Gateway>, stop: CancellationToken) {
    let services = &gateway.services;
    if services.database.dialect() == Dialect::Sqlite {
        return;
    }
    let mut listener = None;
    loop {
        if listener.is_none() {
            listener = services.database.listen(crate::activity::WAKE_CHANNEL).await;
            // What was written while nobody listened.
            services.activity.wake();
        }
        let heard = async {
            match &mut listener {
                Some(listener) => listener.next().await,
                None => {
                    tokio::time::sleep(POLL).await;
                    true
                }
            }
        };
        let is_connected = tokio::select! {
            () = stop.cancelled() => return,
            heard = heard => heard,
        };
        services.activity.wake();
        if !is_connected {
            listener = None;
        }
    }
}
