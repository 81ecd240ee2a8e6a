//! The gateway: everything that handles requests, in one process, with or without a socket in front.

use crate::{dispatch::Dispatcher, lifecycle::PluginManager, operators::Operators};
use gateway_config::Config;
use gateway_envelope::Brand;
use gateway_http::body::{Body, RequestBody};
use gateway_indexer::Indexes;
use gateway_jobs::JobStore;
use gateway_plugins::HostContext;
use http::{Request, Response};
use plugin_api::manifest::Environment;
use std::sync::Arc;
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
}
