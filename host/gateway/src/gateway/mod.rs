//! The gateway: everything that handles requests, in one process, with or without a socket in front.

mod assemble;
mod dry_run;
mod reload;
mod resources;
mod start;

pub use dry_run::{DryRunReport, FailedPlugin, dry_run_start};
pub use reload::ReloadReport;
pub use resources::Resources;
pub use start::StartError;

use crate::{
    background::{Backups, Replicas},
    dispatch::Dispatcher,
    health::HealthMonitor,
    lifecycle::PluginManager,
    operators::{Controls, Operators, Reports},
    tls::{PublicTls, TlsReloader, TlsSource},
};
use arc_swap::ArcSwap;
use futures_util::{FutureExt as _, future::BoxFuture};
use gateway_activity::ActivityLog;
use gateway_chain::Chains;
use gateway_clock::Clock;
use gateway_config::Config;
use gateway_egress::Egress;
use gateway_envelope::Brand;
use gateway_http::{
    DrainReport, Listener,
    body::{Body, RequestBody},
};
use gateway_indexer::Indexes;
use gateway_jobs::JobStore;
use gateway_plugins::{ActivePlugins, ExtensionPoints};
use gateway_secrets::Secrets;
use gateway_storage::Database;
use gateway_telemetry::Usage;
use gateway_tx::Journal;
use http::{Request, Response};
use parking_lot::Mutex;
use plugin_api::manifest::Environment;
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::runtime::Handle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::service_fn;

/// For what the stop closes after the drain.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

pub struct Gateway {
    /// As the gateway was started.
    pub config: Arc<Config>,
    /// As it is in use: with what SIGHUP has changed since.
    pub live: Arc<ArcSwap<Config>>,
    /// Tells at SIGHUP whether the keys are others: see [`reload`].
    pub(crate) signers_digest: blake3::Hash,
    pub environment: Arc<Environment>,
    pub brand: Brand,
    pub database: Database,
    pub clock: Clock,
    pub activity: ActivityLog,
    pub journal: Arc<Journal>,
    pub chains: Arc<Chains>,
    /// `None` on a machine without root certificates.
    pub egress: Option<Egress>,
    pub usage: Arc<Usage>,
    pub active: ActivePlugins,
    pub extension_points: Arc<ExtensionPoints>,
    pub(crate) secrets: Arc<Secrets>,
    pub operators: Operators,
    pub controls: Controls,
    pub reports: Reports,
    pub replicas: Replicas,
    pub indexes: Arc<Indexes>,
    pub jobs: JobStore,
    pub plugins: Arc<PluginManager>,
    pub health: Arc<HealthMonitor>,
    pub backups: Arc<Backups>,
    pub dispatcher: Arc<Dispatcher>,
    /// Of the listeners that serve with TLS.
    pub(crate) tls: Mutex<Vec<Arc<TlsReloader>>>,
    /// Where plugins run: work that calls or starts them belongs there, whoever asks for it.
    pub runtime: Handle,
    /// Background tasks; they end when `stop` is cancelled.
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    /// Ends the publisher of chain events, before the indexes end one after the other: it must not take one that has ended
    /// already for one that is off.
    pub(crate) stop_publishing: CancellationToken,
}

/// The futures are boxed, so that their code, which is most of the gateway's, is compiled in this crate once and not in
/// every program and test that awaits them.
impl Gateway {
    /// Answers a request. Every failure has the one error body.
    pub fn handle(self: &Arc<Self>, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>> {
        let gateway = self.clone();
        Box::pin(async move { gateway.dispatcher.handle(request).await })
    }

    /// Serves on this listener until `stop`, then drains it.
    pub fn serve(self: &Arc<Self>, listener: Listener, stop: CancellationToken) -> BoxFuture<'static, DrainReport> {
        let gateway = self.clone();
        let service = service_fn(move |request| gateway.handle(request).map(Ok::<_, Infallible>));
        let serving = self.clone();
        Box::pin(async move {
            if let Some(tls) = listener.tls() {
                serving.follow_tls(Arc::new(PublicTls { tls: tls.clone(), live: serving.live.clone() })).await;
            }
            listener.serve(service, stop).await
        })
    }

    /// Keeps what this listener shows as its files are, until the gateway stops.
    pub fn follow_tls(&self, source: Arc<dyn TlsSource>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let reloader = Arc::new(TlsReloader::new(source).await);
            let (following, stop) = (reloader.clone(), self.stop.clone());
            self.tasks.spawn(async move { following.follow(stop).await });
            self.tls.lock().push(reloader);
        })
    }

    /// What a plugin holds may never end, and must not keep the process.
    async fn close_within(&self, what: &str, closing: impl Future<Output = ()>) {
        let limit = Duration::from_millis(self.config.http.drain_timeout_ms) + CLOSE_TIMEOUT;
        if tokio::time::timeout(limit, closing).await.is_err() {
            tracing::error!(what, ?limit, "not closed in time; the process ends without");
        }
    }

    /// Drains the plugins, stops the background work, writes out what is left.
    pub fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.stop_publishing.cancel();
            self.plugins.stop().await;
            self.stop.cancel();
            self.tasks.close();
            self.close_within("the background tasks", self.tasks.wait()).await;
            self.close_within("the database", self.database.close()).await;
        })
    }
}
