//! Notifications of the simulated server: each may be lost or late.

use super::server::Server;
use std::sync::Arc;
use tokio::sync::watch;

pub(crate) struct SimulatedNotifications {
    server: Arc<Server>,
    channel: watch::Receiver<u64>,
    absences: watch::Receiver<u64>,
}

impl SimulatedNotifications {
    pub(super) fn new(server: Arc<Server>, channel: &str) -> Self {
        let (channel, absences) = (server.subscribe(channel), server.absences.subscribe());
        Self { server, channel, absences }
    }

    /// Waits for the next one; `false` when the connection was lost.
    pub(crate) async fn next(&mut self) -> bool {
        let is_heard = tokio::select! {
            biased;
            _ = self.absences.changed() => false,
            changed = self.channel.changed() => changed.is_ok(),
        };
        if is_heard {
            let delay = {
                let mut state = self.server.state();
                let longest = state.faults.notification_late_max;
                state.random.up_to(longest)
            };
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
        }
        is_heard
    }
}
