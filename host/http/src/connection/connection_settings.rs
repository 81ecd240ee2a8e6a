//! What all connections of a listener share. Rule: it is built once from the configuration; only the penalties and the list of open connections change.

use super::builder::Builders;
use super::framing::HeadLimits;
use super::open_connections::OpenConnections;
use super::penalties::Penalties;
use super::timeouts::Timeouts;
use gateway_config::HttpConfig;
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct ConnectionSettings {
    pub(super) builders: Arc<Builders>,
    pub(super) head_limits: HeadLimits,
    pub(crate) timeouts: Timeouts,
    pub(super) body_timeout: Duration,
    pub(crate) tarpit: Duration,
    pub(crate) penalties: Penalties,
    pub(crate) open_connections: Arc<OpenConnections>,
}

impl ConnectionSettings {
    pub(crate) fn new(config: &HttpConfig) -> Self {
        Self {
            builders: Arc::new(Builders::new(config)),
            head_limits: HeadLimits::new(config),
            timeouts: Timeouts::new(config),
            body_timeout: Duration::from_millis(config.body_timeout_ms),
            tarpit: Duration::from_millis(config.tarpit_ms),
            penalties: Penalties::new(config.trusted_proxy_hops),
            open_connections: Arc::default(),
        }
    }
}
