//! Notifications from other gateways on the same database.

use super::engine::PostgresEngine;
use sqlx::postgres::PgListener;

/// The notifications of one channel, on a separate connection.
pub struct Notifications(PgListener);

impl PostgresEngine {
    /// `None` when the server is unavailable.
    pub async fn listen(&self, channel: &str) -> Option<Notifications> {
        let subscribed = async {
            let mut listener = PgListener::connect_with(&self.pool).await?;
            listener.listen(channel).await?;
            Ok::<_, sqlx::Error>(Notifications(listener))
        };
        // Nothing is logged while the server is away: that was logged once.
        let subscribed = self.reachability.unless_away(subscribed).await.ok()?;
        subscribed.inspect_err(|error| tracing::warn!(%error, channel, "cannot listen for other gateways")).ok()
    }

    /// See [`crate::Database::notify`].
    pub async fn notify(&self, channel: &'static str) {
        let notify = sqlx::query("SELECT pg_notify($1, '')").bind(channel).execute(&self.pool);
        match self.reachability.unless_away(notify).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(%error, channel, "other gateways are not notified"),
            Err(error) => tracing::debug!(%error, channel, "other gateways are not notified"),
        }
    }
}

impl Notifications {
    /// Waits for the next one; `false` when the connection was lost and notifications may be missing.
    pub async fn next(&mut self) -> bool {
        matches!(self.0.try_recv().await, Ok(Some(_)))
    }
}
