//! Notifications from other gateways on the same database.

use super::{
    engine::PostgresEngine,
    error::{driver_error, no_answer},
    session::Session,
};
use crate::error::StorageError;
use tokio::time::{error::Elapsed, timeout};

/// The notifications of one channel, on a separate connection.
pub struct Notifications(Source);

enum Source {
    Server(Box<Session>),
    #[cfg(feature = "simulation")]
    Simulated(crate::simulation::SimulatedNotifications),
}

impl PostgresEngine {
    /// `None` when the server is unavailable, or nothing is to be listened for.
    pub(crate) async fn listen(&self, channel: &str) -> Option<Notifications> {
        let listener = self.listener.as_ref()?;
        let subscribed = async {
            let mut session = listener.connect().await.map_err(driver_error)?;
            let quoted = channel.replace('"', "\"\"");
            session.batch(&format!("LISTEN \"{quoted}\"")).await.map_err(driver_error)?;
            Ok::<_, StorageError>(Notifications(Source::Server(Box::new(session))))
        };
        // Nothing is logged while the server is away: that was logged once.
        let subscribed = self.reachability.while_reachable(subscribed).await.ok()?;
        subscribed.inspect_err(|error| tracing::warn!(%error, channel, "cannot listen for other gateways")).ok()
    }

    /// Wakes those who listen. The server writes a notification to its log as a commit: it need not wait for the disk there.
    pub(crate) async fn notify(&self, channel: &str) -> Result<(), StorageError> {
        let quoted = channel.replace('\'', "''");
        let text =
            format!("BEGIN READ ONLY; SET LOCAL synchronous_commit = off; SELECT pg_notify('{quoted}', ''); COMMIT");
        let mut connection = self.pool.acquire(None).await?;
        let session = connection.get()?;
        let notified = self.reachability.while_reachable(timeout(self.wait_timeout(), session.batch(&text))).await?;
        notified.map_err(|_elapsed: Elapsed| no_answer())?.map_err(driver_error)?;
        connection.return_to_pool();
        Ok(())
    }
}

impl Notifications {
    /// Waits for the next one; `false` when the connection was lost and notifications may be missing.
    pub async fn next(&mut self) -> bool {
        match &mut self.0 {
            Source::Server(session) => session.driver.notified().await,
            #[cfg(feature = "simulation")]
            Source::Simulated(simulated) => simulated.next().await,
        }
    }

    #[cfg(feature = "simulation")]
    pub(crate) fn simulated(notifications: crate::simulation::SimulatedNotifications) -> Self {
        Self(Source::Simulated(notifications))
    }
}
