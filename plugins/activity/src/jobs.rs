//! Work that runs by itself.

use crate::{Activity, model::IDLE_S, store::presence};
use plugin_api::{Gateway, HostError};

/// Removes who has not pinged for a day. Bears to be run twice, and late: a ping after a day starts a new stay anyway.
pub async fn forget_idle_presence(gateway: Gateway<Activity>) -> Result<(), HostError> {
    let tx = gateway.begin();
    presence::forget(&tx, gateway.now_s() - IDLE_S).await?;
    tx.commit().await
}
