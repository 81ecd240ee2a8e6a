//! Notifications from other gateways on the same database.

use super::Postgres;
use sqlx::postgres::PgListener;

/// One channel, on a connection of its own.
pub struct Wakes(PgListener);

impl Postgres {
    /// `None` when the server cannot be reached now.
    pub async fn listen(&self, channel: &str) -> Option<Wakes> {
        let subscribed = async {
            let mut listener = PgListener::connect_with(&self.pool).await?;
            listener.listen(channel).await?;
            Ok::<_, sqlx::Error>(Wakes(listener))
        };
        subscribed.await.inspect_err(|error| tracing::warn!(%error, channel, "cannot listen for other gateways")).ok()
    }
}

impl Wakes {
    /// Waits for the next one; `false` when the connection was lost, and notifications with it.
    pub async fn next(&mut self) -> bool {
        matches!(self.0.try_recv().await, Ok(Some(_)))
    }
}
