//! Opens connections.
//!
//! The rule: a session that reads texts otherwise than the statement check (`standard_conforming_strings = off`) is refused.

use super::{
    cancel::cancel,
    error::{driver_error, is_out_of_connections, refuses_startup},
    server_address::ServerAddress,
    session::{Driver, Session},
    session_settings::{SessionSettings, SessionState},
    shared_sync::SyncSharing,
    transport::PostgresTransport,
};
use crate::error::StorageError;
use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use secrecy::SecretString;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};
use tokio_postgres::{CancelToken, Client, Config, Error};

/// A backend process keeps what it has cached of the schema; a new server behind the same name gets its share of connections.
const SESSION_AGE_MAX: Duration = Duration::from_secs(30 * 60);
/// How long to wait for another client to leave when the server has no connection left.
const TURN_WAIT: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(100);
const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);

/// Connects to one server with fixed settings.
pub(crate) struct Connector {
    address: ServerAddress,
    settings: Option<SessionSettings>,
    prepares: bool,
    /// The first of [`STARTUPS`] that the server may take.
    startup: AtomicUsize,
}

/// What a session may begin with, the best first.
const STARTUPS: [Startup; 3] = [Startup::Full, Startup::Limits, Startup::Bare];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Startup {
    Full,
    /// Some systems cannot tell whether a client has gone.
    Limits,
    /// A pooler takes no options.
    Bare,
}

impl Connector {
    /// For a session with the server's own settings, and no statements that are prepared.
    pub(crate) fn bare(url: &SecretString) -> Result<Self, StorageError> {
        let address = ServerAddress::parse(url)?;
        Ok(Self { address, settings: None, prepares: false, startup: AtomicUsize::new(STARTUPS.len() - 1) })
    }

    pub(crate) fn new(url: &SecretString, settings: SessionSettings, prepares: bool) -> Result<Self, StorageError> {
        let address = ServerAddress::parse(url)?;
        Ok(Self { address, settings: Some(settings), prepares, startup: AtomicUsize::new(0) })
    }

    pub(crate) async fn connect(&self) -> Result<Session, Error> {
        let mut index = self.startup.load(Relaxed);
        loop {
            let startup = STARTUPS.get(index).copied().unwrap_or(Startup::Bare);
            // Boxed: it is large, and awaited wherever a connection is needed.
            match Box::pin(self.connect_as(startup)).await {
                Err(error) if startup != Startup::Bare && refuses_startup(&error) => {
                    tracing::debug!(error = &error as &dyn std::error::Error, "a parameter of the session was refused");
                    index += 1;
                }
                Ok(session) => {
                    self.startup.store(index, Relaxed);
                    return Ok(session);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn connect_as(&self, startup: Startup) -> Result<Session, Error> {
        let mut config = self.address.config.clone();
        if let (Some(settings), Startup::Full | Startup::Limits) = (&self.settings, startup) {
            let options = settings.startup(startup == Startup::Full);
            let own = config.get_options().map(|own| format!("{own} {options}"));
            config.options(own.unwrap_or(options));
        }
        // Boxed: the handshake's future is large, and everything that waits for a connection would hold it.
        let Opened { client, driver, parameters, sharing } = Box::pin(self.open(&config)).await?;
        // A pooler may ignore the options in silence; the server reports this one, which only they can have set.
        let has_startup_options = startup != Startup::Bare && parameters.is_read_only;
        let state = SessionState {
            has_startup_options,
            is_async_commit: false,
            detects_lost_clients: has_startup_options && startup == Startup::Full,
            reads_backslashes: parameters.reads_backslashes,
        };
        let mut session = Session::new(client, driver, state, self.prepares, sharing);
        if has_startup_options && self.settings.as_ref().is_some_and(SessionSettings::is_durable) {
            session.state.is_async_commit = session.text("SHOW synchronous_commit").await?.as_deref() == Some("off");
        }
        Ok(session)
    }

    async fn open(&self, config: &Config) -> Result<Opened, Error> {
        let (transport, config) = PostgresTransport::new(config, self.address.tls.clone());
        let sharing = transport.sharing();
        let (client, parameters, driver) = match self.address.socket() {
            Some(socket) => {
                let (client, connection) = config.connect_raw(tokio::io::empty(), transport.to_socket(socket)).await?;
                let parameters = Parameters::of(|name| connection.parameter(name));
                (client, parameters, Driver::new(connection))
            }
            None => {
                let (client, connection) = config.connect(transport).await?;
                let parameters = Parameters::of(|name| connection.parameter(name));
                (client, parameters, Driver::new(connection))
            }
        };
        Ok(Opened { client, driver, parameters, sharing })
    }

    /// Makes the server stop what a session runs. Another statement of the session may be hit, so nothing else may follow in
    /// it.
    pub(crate) async fn cancel(&self, token: &CancelToken) {
        match timeout(CANCEL_TIMEOUT, cancel(&self.address, token)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "a statement could not be cancelled"),
            Err(_elapsed) => tracing::debug!("a statement could not be cancelled in time"),
        }
    }
}

/// A connection that has begun.
struct Opened {
    client: Client,
    driver: Driver,
    parameters: Parameters,
    sharing: SyncSharing,
}

/// What the server told of a session when it began.
struct Parameters {
    is_read_only: bool,
    reads_backslashes: bool,
}

impl Parameters {
    fn of<'p>(parameter: impl Fn(&str) -> Option<&'p str>) -> Self {
        Self {
            is_read_only: parameter("default_transaction_read_only") == Some("on"),
            reads_backslashes: parameter("standard_conforming_strings") == Some("off"),
        }
    }
}

/// Makes the connections of the pool.
pub(crate) struct SessionManager {
    pub connector: Arc<Connector>,
    /// Told of a connection that was found closed.
    pub dead_connection: Arc<Notify>,
}

impl Manager for SessionManager {
    type Type = Box<Session>;
    type Error = StorageError;

    async fn create(&self) -> Result<Box<Session>, StorageError> {
        let started = Instant::now();
        loop {
            match self.connector.connect().await {
                Ok(session) if session.state.reads_backslashes => {
                    let reason = "the server's setting standard_conforming_strings is off";
                    return Err(StorageError::Unavailable(reason.into()));
                }
                Ok(session) => return Ok(Box::new(session)),
                Err(error) if is_out_of_connections(&error) && started.elapsed() < TURN_WAIT => sleep(RETRY).await,
                Err(error) => return Err(driver_error(error)),
            }
        }
    }

    async fn recycle(&self, session: &mut Box<Session>, metrics: &Metrics) -> RecycleResult<StorageError> {
        if !session.is_open().await {
            self.dead_connection.notify_one();
            return Err(RecycleError::message("the connection is closed"));
        }
        if metrics.age() > SESSION_AGE_MAX { Err(RecycleError::message("the connection is old")) } else { Ok(()) }
    }
}
