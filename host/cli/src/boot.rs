//! The order in which the gateway starts and stops. Read this first.
//!
//! configure → bind → load libraries → open database → services → plugins → serve
//! signal → stop accepting → finish or time out running requests → drain plugins → flush → exit

use crate::runtime_watchdog::RuntimeWatchdog;
use crate::{banner, key_secrecy, open_files};
use gateway::{Gateway, StartError};
use gateway_admin::{Admin, AdminError};
use gateway_clock::Clock;
use gateway_config::{Config, Overrides};
use gateway_http::{Listener, ListenerError, ListenerSettings};
use gateway_plugins::DiscoverError;
use gateway_telemetry::MetricsRecorder;
use std::sync::Arc;
use tokio::{
    runtime::Handle,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

/// Why the gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    #[error(transparent)]
    Bind(#[from] ListenerError),
    #[error(transparent)]
    Admin(#[from] AdminError),
    #[error(transparent)]
    Plugins(#[from] DiscoverError),
    #[error(transparent)]
    Open(#[from] StartError),
    #[error("signals cannot be received: {0}")]
    Signals(std::io::Error),
    #[error("a thread cannot be started: {0}")]
    Thread(std::io::Error),
}

/// Runs the gateway until it is told to stop.
pub async fn run(mut config: Config, overrides: Overrides) -> Result<(), BootError> {
    let _watchdog = RuntimeWatchdog::start(Handle::current()).map_err(BootError::Thread)?;
    key_secrecy::forbid_dumps();
    config.fit_open_files(open_files::raise_limit());
    if let Some(lowered) = &config.lowered_connections {
        tracing::warn!("{lowered}");
    }
    let listener = Listener::bind(&ListenerSettings::new(&config))?;
    let admin = Admin::bind(&config.admin).await?;
    let loaded = gateway_plugins::load_folder(&config)?;
    let metrics = MetricsRecorder::install();
    let gateway = Gateway::start(config, Clock::System, listener.local_addr(), loaded).await?;
    let stop = CancellationToken::new();
    // Before the banner says that it serves: a signal without a handler ends the process at once.
    let signals = tokio::spawn(follow_signals(gateway.clone(), overrides, stop.clone())?);
    banner::print(&gateway, admin.as_ref().map(Admin::local_addr)).await;

    let admin = admin.map(|admin| admin.spawn(gateway.clone(), metrics, stop.clone()));
    // Streams have no end of their own, so they are ended when the stop begins; else the drain would wait for them.
    let streams = end_streams(gateway.clone(), stop.clone());
    let (drained, ()) = tokio::join!(gateway.serve(listener, stop.clone()), streams);
    tracing::info!(finished = drained.finished, aborted = drained.aborted, "no more requests; closing");
    gateway.stop().await;
    signals.abort();
    if let Some(admin) = admin {
        // It serves until the end, so that an operator can watch; it needs no drain of its own.
        admin.abort();
    }
    Ok(())
}

async fn end_streams(gateway: Arc<Gateway>, stop: CancellationToken) {
    stop.cancelled().await;
    for plugin in gateway.host.active.list().iter() {
        plugin.handle.stop.cancel();
    }
}

/// SIGTERM and SIGINT stop the gateway, SIGHUP reads the configuration again.
fn follow_signals(
    gateway: Arc<Gateway>,
    overrides: Overrides,
    stop: CancellationToken,
) -> Result<impl Future<Output = ()>, BootError> {
    let mut terminate = signal(SignalKind::terminate()).map_err(BootError::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(BootError::Signals)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(BootError::Signals)?;
    Ok(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                _ = hang_up.recv() => reload(&gateway, &overrides).await,
            }
        }
        tracing::info!("stopping");
        stop.cancel();
    })
}

/// A configuration with problems changes nothing.
async fn reload(gateway: &Gateway, overrides: &Overrides) {
    match Config::load(overrides) {
        Ok(config) => {
            // Operators may have sent commands to other replicas since.
            if let Err(error) = gateway.plugins.load_switches().await {
                tracing::warn!(%error, "the operators' decisions cannot be read again; the known ones stay");
            }
            let report = gateway.reload(config).await;
            let (applied, waiting) = (listed(&report.applied), listed(&report.waiting));
            tracing::info!(applied, "the configuration is read again");
            if !report.waiting.is_empty() {
                tracing::warn!(waiting, "these keys take effect at the next start of the gateway, or of their plugin");
            }
            for report in gateway.plugins.reports() {
                tracing::info!(plugin = report.name, state = %report.state, "{}", report.reason);
            }
            let outcome = format!("applied: {applied}; waiting for a restart: {waiting}");
            gateway_admin::record(gateway, "SIGHUP", "reload", "", &outcome).await;
        }
        Err(problems) => {
            tracing::error!("the new configuration has problems and was not used:\n{problems}");
            gateway_admin::record(gateway, "SIGHUP", "reload", "", "refused: the configuration has problems").await;
        }
    }
}

fn listed(keys: &[String]) -> String {
    if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") }
}
