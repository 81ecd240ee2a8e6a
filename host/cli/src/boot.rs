//! The order in which the gateway starts and stops. Read this first.
//!
//! configure → bind → load libraries → open database → services → plugins → serve
//! signal → stop accepting → finish or time out running requests → drain plugins → flush → exit

use crate::exit_code::ExitCode;
use crate::runtime_watchdog::RuntimeWatchdog;
use crate::spare_threads::SpareThreads;
use crate::{banner, key_secrecy, open_files};
use gateway::{Gateway, StartError, TlsError};
use gateway_admin::{Admin, AdminError};
use gateway_clock::Clock;
use gateway_config::{Config, Overrides};
use gateway_http::{Listener, ListenerError, ListenerSettings};
use gateway_otlp::{OtlpError, OtlpExport};
use gateway_plugins::{DiscoverError, FolderChanges, PendingLibrary, PluginFolder, crash_record};
use gateway_telemetry::MetricsRecorder;
use std::{sync::Arc, time::Duration};
use tokio::{
    runtime::Handle,
    signal::unix::{SignalKind, signal},
    task::{JoinError, JoinHandle},
};
use tokio_util::sync::CancellationToken;

/// How long the stop may take besides the drain timeouts of requests and plugins.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// Why the gateway does not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BootError {
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Bind(#[from] ListenerError),
    #[error(transparent)]
    Admin(#[from] AdminError),
    #[error(transparent)]
    Plugins(#[from] DiscoverError),
    #[error(transparent)]
    Open(#[from] StartError),
    #[error(transparent)]
    Traces(#[from] OtlpError),
    #[error("signals cannot be received: {0}")]
    Signals(std::io::Error),
    #[error("a thread cannot be started: {0}")]
    Thread(std::io::Error),
    #[error("the runtime of the operator's listener has failed: {0}")]
    Control(#[from] JoinError),
}

/// Runs the gateway until it is told to stop. No code of a plugin runs on `control`: it has the operator's listener and the signals.
pub(crate) async fn run(
    mut config: Config,
    overrides: Overrides,
    control: Handle,
    spare: SpareThreads,
) -> Result<(), BootError> {
    let _watchdog = RuntimeWatchdog::start(Handle::current(), spare).map_err(BootError::Thread)?;
    key_secrecy::forbid_dumps();
    config.fit_open_files(open_files::raise_limit());
    if let Some(lowered) = &config.lowered_connections {
        tracing::warn!("{lowered}");
    }
    let listener = Listener::bind(&ListenerSettings::new(&config, gateway::open_tls(&config)?))?;
    let listen = config.admin.clone();
    let admin = control.spawn(async move { Admin::bind(&listen).await }).await??;
    if let Err(error) = crash_record::open(&config.data_dir) {
        tracing::warn!(%error, "if a plugin ends the process, the next start will not know which");
    }
    let mut folder = PluginFolder::of(&config)?;
    let FolderChanges { outcomes: loaded, pending, .. } = load_plugins(&mut folder, &config).await?;
    let metrics = MetricsRecorder::install();
    let traces = OtlpExport::start(&config.traces, Handle::current())?;
    let gateway = Gateway::start(config, Clock::System, listener.local_addr(), loaded).await?;
    gateway.plugins.add_pending(pending).await;
    gateway.plugins.follow_folder(folder);
    let stop = CancellationToken::new();
    // Before the banner says that it serves: a signal without a handler ends the process at once.
    let signals = control.spawn(in_context(&control, || follow_signals(gateway.clone(), overrides, stop.clone()))?);
    banner::print(&gateway, admin.as_ref().map(Admin::url)).await;

    let admin = admin.map(|admin| control.spawn(admin.serve(gateway.clone(), metrics, stop.clone())));
    // Streams have no end of their own, so they are ended when the stop begins; else the drain would wait for them.
    let streams = end_streams(gateway.clone(), stop.clone());
    let (drained, ()) = tokio::join!(gateway.serve(listener, stop.clone()), streams);
    tracing::info!(finished = drained.finished, aborted = drained.aborted, "no more requests; closing");
    gateway.stop().await;
    if let Some(traces) = traces {
        // It has a time limit of its own.
        let _ = tokio::task::spawn_blocking(move || traces.stop()).await;
    }
    crash_record::close();
    signals.abort();
    if let Some(admin) = admin {
        // It serves until the end, so that an operator can watch; it needs no drain of its own.
        admin.abort();
    }
    Ok(())
}

/// The libraries of the folder, and those that take long, unless the gateway does not start without them.
async fn load_plugins(folder: &mut PluginFolder, config: &Config) -> Result<FolderChanges, BootError> {
    let mut found = folder.changes(config, None)?;
    let is_required =
        |library: &PendingLibrary| config.plugins.strict || config.plugins.required.contains(&library.name);
    let (required, pending): (Vec<_>, Vec<_>) = found.pending.into_iter().partition(is_required);
    found.pending = pending;
    for library in required {
        found.outcomes.push(library.wait().await);
    }
    Ok(found)
}

/// Signals are received by the runtime in whose context they are asked for.
fn in_context<T>(runtime: &Handle, work: impl FnOnce() -> T) -> T {
    let _context = runtime.enter();
    work()
}

async fn end_streams(gateway: Arc<Gateway>, stop: CancellationToken) {
    stop.cancelled().await;
    for plugin in gateway.active.list().iter() {
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
        let mut reloading = None;
        loop {
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                // Plugins that start belong to the runtime that serves.
                _ = hang_up.recv() => {
                    reloading = Some(gateway.runtime.spawn(reload(reloading.take(), gateway.clone(), overrides.clone())));
                }
            }
        }
        tracing::info!("stopping");
        stop.cancel();
        end_process_late(Duration::from_millis(gateway.config.http.drain_timeout_ms)).await;
    })
}

/// Ends the process if the stop takes longer than all of its own time limits.
#[allow(clippy::disallowed_methods, reason = "the stop itself hangs, so nobody is left to return an exit code to")]
async fn end_process_late(drain_timeout: Duration) {
    let limit = drain_timeout * 3 + STOP_TIMEOUT;
    tokio::time::sleep(limit).await;
    tracing::error!(?limit, "the stop has not ended in time; the process ends without");
    gateway_telemetry::flush_log();
    std::process::exit(ExitCode::Failure.code().into());
}

/// A configuration with problems changes nothing. `earlier` is the reload before this one: they do not overlap.
async fn reload(earlier: Option<JoinHandle<()>>, gateway: Arc<Gateway>, overrides: Overrides) {
    if let Some(earlier) = earlier {
        // How it ended does not matter to this one.
        let _ = earlier.await;
    }
    match Config::load(&overrides) {
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
            // Of a plugin that serves as it did there is nothing to say.
            for report in gateway.plugins.all_reports().iter().filter(|report| !report.reason.is_empty()) {
                tracing::info!(plugin = report.name, state = %report.state, "{}", report.reason);
            }
            let outcome = format!("applied: {applied}; waiting for a restart: {waiting}");
            gateway_admin::record(&gateway, "SIGHUP", "reload", "", &outcome).await;
        }
        Err(problems) => {
            tracing::error!("the new configuration has problems and was not used:\n{problems}");
            gateway_admin::record(&gateway, "SIGHUP", "reload", "", "refused: the configuration has problems").await;
        }
    }
}

fn listed(keys: &[String]) -> String {
    if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") }
}
