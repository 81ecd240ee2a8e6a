//! The gateway: everything that handles requests, in one process, with or without a socket in front.

use crate::{
    dispatch::Dispatcher,
    housekeeping,
    lifecycle::PluginManager,
    operators::Operators,
    start::{self, StartError},
};
use gateway_clock::Clock;
use gateway_config::Config;
use gateway_envelope::Brand;
use gateway_http::body::{Body, RequestBody};
use gateway_indexer::Indexes;
use gateway_jobs::JobStore;
use gateway_plugins::{FenceRequest, HostContext, LoadedPlugin, PluginReport};
use http::{Request, Response};
use plugin_api::manifest::Environment;
use std::{net::SocketAddr, sync::Arc};
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub struct Gateway {
    pub config: Arc<Config>,
    pub environment: Arc<Environment>,
    pub brand: Brand,
    pub host: Arc<HostContext>,
    pub operators: Operators,
    pub indexes: Arc<Indexes>,
    pub jobs: JobStore,
    pub plugins: Arc<PluginManager>,
    pub dispatcher: Dispatcher,
    /// Background tasks; they end when `stop` is cancelled.
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl Gateway {
    /// Opens the database and everything that needs it, then starts the plugins.
    pub async fn start(
        config: Config,
        clock: Clock,
        bound: SocketAddr,
        loaded: Vec<Result<LoadedPlugin, Box<PluginReport>>>,
    ) -> Result<Arc<Self>, StartError> {
        let (fence_requests, fences) = mpsc::unbounded_channel();
        let gateway = Arc::new(start::build(config, clock, bound, fence_requests).await?);
        gateway.plugins.load_switches().await?;
        gateway.plugins.start(loaded).await;
        gateway.start_background(fences);
        Ok(gateway)
    }

    /// Answers a request. Every failure has the one error body.
    pub async fn handle(&self, request: Request<RequestBody>) -> Response<Body> {
        self.dispatcher.handle(request).await
    }

    /// Drains the plugins, stops the background work, writes out what is left.
    pub async fn stop(&self) {
        self.plugins.stop().await;
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.host.database.close().await;
    }

    fn start_background(&self, fences: mpsc::UnboundedReceiver<FenceRequest>) {
        let (host, stop) = (&self.host, &self.stop);
        self.tasks.spawn(fence_plugins(self.plugins.clone(), fences, stop.clone()));
        host.chains.start(&self.tasks, stop);
        for chain in host.chains.iter() {
            self.tasks.spawn(gateway_tx::run(host.journal.clone(), chain.clone(), stop.clone()));
        }
        self.tasks.spawn(housekeeping::run(host.clone(), self.dispatcher.routes.clone(), stop.clone()));
        self.tasks.spawn(housekeeping::follow_replicas(host.clone(), stop.clone()));
    }
}

async fn fence_plugins(
    plugins: Arc<PluginManager>,
    mut fences: mpsc::UnboundedReceiver<FenceRequest>,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            request = fences.recv() => match request {
                Some(request) => plugins.fence(&request).await,
                None => return,
            },
        }
    }
}
