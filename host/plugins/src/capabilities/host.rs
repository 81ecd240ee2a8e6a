//! The capabilities of one plugin: the only way from its code into the host.

use super::{context::CapabilityContext, fetch, index_position, local_file, log_subscription, queue};
use crate::{
    bounds::BACKGROUND_TASKS_MAX,
    calls::{call_service, check_used},
    plugin::{PluginHandle, cut},
    polls::{BACKGROUND_TASK, HostFrame, PluginCall, UnwatchedFrame, current_operation, in_host, in_other_plugins},
    transaction::{CommitMode, PluginTransaction, undeclared_transaction},
};
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{RResult, RStr, RString},
};
use async_ffi::{FfiFuture, FutureExt as _};
use gateway_egress::{AllowList, Egress, EgressError};
use gateway_jobs::RunLease;
use gateway_storage::{ReadAttempt, Scope, read_tracking};
use gateway_telemetry::request_id;
use plugin_api::{
    abi::{
        CapabilityResponse, Fault, FfiBytes, Host, Host_TO, HostBox, HostError, HostErrorCode, Rows, Statement,
        StreamedResponse, Task, Task_TO, TaskBox, TransactionBox,
    },
    host::decode_call,
    manifest::{
        ContributorsCall, ContributorsResult, DataVersionResult, Grants, IndexCall, Manifest, PresenceCall,
        PresenceResult, RoutesCall, RoutesResult, ServiceCall, UrlCheckCall, UrlCheckResult, UrlProblem, WakeCall,
    },
    point::{CONTROLS, REPORTS},
};
use std::{collections::BTreeMap, future::ready, sync::Arc, time::Duration};

/// The operation of blocking work that no other one asks for.
const BLOCKING_WORK: &str = "blocking work";

#[derive(Clone)]
pub struct Capabilities {
    pub handle: Arc<PluginHandle>,
    pub context: Arc<CapabilityContext>,
    pub scope: Scope,
    pub manifest: Arc<Manifest>,
}

impl Capabilities {
    pub fn into_host_box(self) -> HostBox {
        Host_TO::from_value(self, TD_Opaque)
    }

    fn transaction(&self, mode: CommitMode) -> Arc<PluginTransaction> {
        PluginTransaction::of_plugin(&self.context.transactions, self.scope.clone(), mode, &self.manifest)
    }

    async fn chain(self, request: FfiBytes) -> Result<CapabilityResponse, HostError> {
        let Grants { chains, all_chains, .. } = &self.manifest.grants;
        let all = || self.context.chains.iter().map(|chain| chain.name.clone()).collect();
        let readable: Vec<String> = if *all_chains { all() } else { chains.clone() };
        reply(&self.context.chains.respond(&readable, &request).await?)
    }

    async fn index(self, request: &FfiBytes) -> Result<CapabilityResponse, HostError> {
        let IndexCall { chain } = decode_call("a request for the position of an index", request)?;
        let chain = self.context.chains.granted(&self.manifest.grants.chains, &chain)?;
        reply(&index_position::of(&self.context.transactions.database, &self.handle.name, chain).await?)
    }

    /// Everything that a public caller sends to the chain goes this way, and no other.
    async fn raw_call(self, request: FfiBytes, params: FfiBytes) -> Result<CapabilityResponse, HostError> {
        let Grants { raw_calls, chains, .. } = &self.manifest.grants;
        check_grant(*raw_calls, "raw_calls")?;
        let (answer, result) = self.context.chains.raw_call(chains, &request, &params).await?;
        Ok(CapabilityResponse { body: result.into(), ..reply(&answer)? })
    }

    async fn service(self, request: &FfiBytes, input: FfiBytes) -> Result<CapabilityResponse, HostError> {
        let ServiceCall { service, .. } = decode_call("a call of a service", request)?;
        check_used(&self.manifest, &service)?;
        let call = call_service(&self.context.transactions, &service, input);
        let response = in_other_plugins(self.handle.gate.clone(), call).await?;
        Ok(CapabilityResponse { response, body: FfiBytes::default() })
    }

    async fn log_batch(self, request: FfiBytes) -> Result<CapabilityResponse, HostError> {
        let call = decode_call("a request for events of the log", &request)?;
        let transactions = &self.context.transactions;
        let (database, log) = (&transactions.database, &transactions.activity);
        reply(&log_subscription::next_batch(database, log, &self.handle.name, &self.handle.stop, call).await?)
    }

    async fn queue_renew(self, request: &[u8]) -> Result<CapabilityResponse, HostError> {
        reply(&queue::renew(&self.context.transactions.database, &self.manifest.queues, request).await?)
    }

    async fn sign(self, request: FfiBytes) -> Result<CapabilityResponse, HostError> {
        reply(&self.context.signers.call(&self.manifest.grants.signer_roles, &request)?)
    }

    async fn secret(self, request: FfiBytes, body: FfiBytes) -> Result<CapabilityResponse, HostError> {
        check_grant(self.manifest.grants.secrets, "secrets")?;
        let answer = self.context.secrets.call(&self.handle.name, &request, &body)?;
        Ok(CapabilityResponse { body: answer.bytes.into(), ..reply(&answer.value)? })
    }

    async fn file(self, request: &[u8], body: &[u8]) -> Result<CapabilityResponse, HostError> {
        check_grant(self.manifest.grants.files, "files")?;
        reply(&local_file::call(&self.context.data_dir, &self.handle.name, request, body).await?)
    }

    async fn tx(self, request: FfiBytes) -> Result<CapabilityResponse, HostError> {
        let Grants { signer_roles, chains, .. } = &self.manifest.grants;
        reply(&self.context.transactions.journal.call(&self.handle.name, (signer_roles, chains), &request).await?)
    }

    async fn wake(self, request: FfiBytes) -> Result<CapabilityResponse, HostError> {
        let WakeCall { job } = decode_call("the name of a job", &request)?;
        if !self.manifest.jobs.iter().any(|known| known.name == job) {
            return Err(HostError::new(HostErrorCode::Invalid, format!("the plugin has no job {job:?}")));
        }
        self.context.jobs.wake(&self.handle.name, &job).await?;
        reply(&())
    }

    fn routes(&self, request: &FfiBytes) -> Result<CapabilityResponse, HostError> {
        let RoutesCall { paths } = decode_call("a request for served routes", request)?;
        reply(&RoutesResult {
            served: paths.iter().map(|path| self.context.transactions.active.serves(path)).collect(),
        })
    }

    fn presence(&self, request: &FfiBytes) -> Result<CapabilityResponse, HostError> {
        let PresenceCall { plugins } = decode_call("a request for the presence of plugins", request)?;
        reply(&PresenceResult { presences: plugins.iter().map(|name| self.context.presences.of(name)).collect() })
    }

    fn contributors(&self, request: &FfiBytes) -> Result<CapabilityResponse, HostError> {
        let ContributorsCall { point } = decode_call("a request for contributors", request)?;
        reply(&ContributorsResult { plugins: self.context.presences.contributors(&point) })
    }

    /// The set of plugins counts: another one contributes something else.
    async fn data_version(self) -> Result<CapabilityResponse, HostError> {
        let transactions = &self.context.transactions;
        let revisions = transactions.database.current_revisions().await;
        let set = transactions.active.list().generation();
        reply(&DataVersionResult { version: revisions.map(|revisions| format!("{set}.{}", revisions.current())) })
    }

    /// Checks the text of a URL. Without egress every private address is refused.
    fn check_url(self, request: &FfiBytes) -> Result<CapabilityResponse, HostError> {
        let UrlCheckCall { url } = decode_call("a request to check a URL", request)?;
        let checked = match &self.context.egress {
            Some(egress) => egress.check_url(&url),
            None => gateway_egress::check_url(&url, &AllowList::default()),
        };
        let problem = |error: EgressError| UrlProblem { code: error.code().to_owned(), message: error.to_string() };
        reply(&UrlCheckResult { problem: checked.err().map(problem) })
    }

    async fn fetch(self, request: &FfiBytes, body: FfiBytes) -> Result<CapabilityResponse, HostError> {
        fetch::collected(self.egress()?, &self.handle, request, body).await
    }

    async fn fetch_streamed(self, request: &FfiBytes, body: FfiBytes) -> Result<StreamedResponse, HostError> {
        fetch::streamed(self.egress()?, &self.handle, request, body).await
    }

    fn egress(&self) -> Result<&Egress, HostError> {
        check_grant(self.manifest.grants.egress, "egress")?;
        let message = "this machine has no root certificates (install ca-certificates)";
        self.context.egress.as_ref().ok_or_else(|| HostError::new(HostErrorCode::Unavailable, message))
    }
}

fn check_grant(is_granted: bool, grant: &str) -> Result<(), HostError> {
    let refused = || HostError::new(HostErrorCode::Refused, format!("the plugin does not declare the grant `{grant}`"));
    if is_granted { Ok(()) } else { Err(refused()) }
}

fn reply(answer: &impl serde::Serialize) -> Result<CapabilityResponse, HostError> {
    let answer =
        serde_json::to_vec(answer).map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?;
    Ok(CapabilityResponse { response: answer.into(), body: FfiBytes::default() })
}

impl Host for Capabilities {
    fn environment(&self) -> RStr<'_> {
        self.context.environment_json.as_str().into()
    }

    fn now_ms(&self) -> i64 {
        read_tracking::mark_uncacheable();
        self.context.transactions.clock.now_ms()
    }

    fn sleep(&self, duration_ms: u64) -> FfiFuture<()> {
        read_tracking::mark_uncacheable();
        let clock = self.context.transactions.clock.clone();
        async move { clock.sleep(Duration::from_millis(duration_ms)).await }.into_ffi()
    }

    fn spawn(&self, name: RString, task: FfiFuture<()>) -> TaskBox {
        read_tracking::mark_uncacheable();
        if self.handle.tasks.len() >= BACKGROUND_TASKS_MAX {
            let reason = format!("{name} is not run: the plugin has {BACKGROUND_TASKS_MAX} background tasks already");
            self.handle.error(BACKGROUND_TASK, reason);
            // Its drop is code of the plugin, which runs in its own call here.
            drop(task);
            return Task_TO::from_value(SpawnedTask(None), TD_Opaque);
        }
        if !self.handle.admits_tasks() {
            let (plugin, task_name) = (&*self.handle.name, name.as_str());
            tracing::warn!(plugin, task_name, "not run: its background tasks failed too often and are paused");
            drop(task);
            return Task_TO::from_value(SpawnedTask(None), TD_Opaque);
        }
        let (stop, operation) = (self.handle.stop.clone(), self.handle.operation_number(BACKGROUND_TASK));
        let task = PluginCall::new(self.handle.gate.clone(), operation, || task);
        let running = self.handle.tasks.spawn(RunLease::inherit(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                _ended_or_fenced = task => {}
            }
        }));
        Task_TO::from_value(SpawnedTask(Some(running.abort_handle())), TD_Opaque)
    }

    fn blocking(&self, work: FfiFuture<()>) -> FfiFuture<()> {
        read_tracking::mark_uncacheable();
        let permits = self.handle.blocking.clone();
        // It belongs to the operation that asks for it. A thread of the plugin's own has none.
        let operation = current_operation().unwrap_or_else(|| self.handle.operation_number(BLOCKING_WORK));
        async move {
            // Held until the work is done, even when the caller has gone. The semaphore is never closed.
            let permit = permits.acquire_owned().await;
            let work = move || {
                let _permit = permit;
                let _frame = UnwatchedFrame::enter(operation);
                futures_util::FutureExt::now_or_never(work)
            };
            let finished = tokio::task::spawn_blocking(work).await;
            match finished {
                Ok(Some(())) => {}
                Ok(None) => tracing::error!("blocking work of a plugin waited for something; it was dropped"),
                Err(error) => tracing::error!(%error, "blocking work of a plugin ended badly"),
            }
        }
        .into_ffi()
    }

    fn read(&self, statement: Statement) -> FfiFuture<RResult<Rows, HostError>> {
        let attempt = {
            let _host = HostFrame::enter();
            self.context.transactions.database.try_read(&self.scope, statement)
        };
        let admitted = match attempt {
            ReadAttempt::Ready(result) => return ready(result.map_err(HostError::from).into()).into_ffi(),
            ReadAttempt::Pending(admitted) => admitted,
        };
        let (database, scope) = (self.context.transactions.database.clone(), self.scope.clone());
        in_host(async move { database.read_checked(&scope, admitted).await.map_err(HostError::from).into() }).into_ffi()
    }

    fn begin(&self) -> TransactionBox {
        read_tracking::mark_uncacheable();
        if !self.manifest.own_transactions {
            return undeclared_transaction();
        }
        self.transaction(CommitMode::Plugin).transaction_box()
    }

    fn begin_write(&self) -> TransactionBox {
        read_tracking::mark_uncacheable();
        let attempt = self.transaction(CommitMode::Attempt);
        attempt.set_permit(|| self.handle.writes.of_job());
        attempt.transaction_box()
    }

    fn collect(&self, point: RString, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, HostError>> {
        if [CONTROLS.name(), REPORTS.name()].contains(&point.as_str()) {
            let reason = "switches and reports of plugins are the operator's: no plugin collects them";
            return ready(RResult::RErr(HostError::new(HostErrorCode::Refused, reason))).into_ffi();
        }
        let points = self.context.extension_points.clone();
        let collected = async move {
            let parts = points.collect_cached(&point, bytes::Bytes::from_owner(input)).await;
            parts.map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string())).into()
        };
        in_other_plugins(self.handle.gate.clone(), collected).into_ffi()
    }

    fn call(
        &self,
        capability: RString,
        request: FfiBytes,
        body: FfiBytes,
    ) -> FfiFuture<RResult<CapabilityResponse, HostError>> {
        if capability == "routes" {
            // It depends on the set of plugins, and so does each route that a response is cached for.
            return ready(self.routes(&request).into()).into_ffi();
        }
        read_tracking::mark_uncacheable();
        let capabilities = self.clone();
        if capability == "service" {
            // Another plugin's code runs in it.
            return async move { capabilities.service(&request, body).await.into() }.into_ffi();
        }
        in_host(async move {
            match capability.as_str() {
                "presence" => capabilities.presence(&request).into(),
                "contributors" => capabilities.contributors(&request).into(),
                "data_version" => capabilities.data_version().await.into(),
                "fetch" => capabilities.fetch(&request, body).await.into(),
                "check_url" => capabilities.check_url(&request).into(),
                "chain" => capabilities.chain(request).await.into(),
                "index" => capabilities.index(&request).await.into(),
                "raw_call" => capabilities.raw_call(request, body).await.into(),
                "sign" => capabilities.sign(request).await.into(),
                "secret" => capabilities.secret(request, body).await.into(),
                "file" => capabilities.file(&request, &body).await.into(),
                "tx" => capabilities.tx(request).await.into(),
                "log_batch" => capabilities.log_batch(request).await.into(),
                "queue_renew" => capabilities.queue_renew(&request).await.into(),
                "wake" => capabilities.wake(request).await.into(),
                other => {
                    let message = format!("this gateway has no capability `{other}`");
                    RResult::RErr(HostError::new(HostErrorCode::Refused, message))
                }
            }
        })
        .into_ffi()
    }

    fn fetch_streamed(&self, request: FfiBytes, body: FfiBytes) -> FfiFuture<RResult<StreamedResponse, HostError>> {
        read_tracking::mark_uncacheable();
        let capabilities = self.clone();
        in_host(async move { capabilities.fetch_streamed(&request, body).await.into() }).into_ffi()
    }

    fn fault(&self, operation: RStr<'_>, fault: Fault) {
        read_tracking::mark_uncacheable();
        self.handle.fault(operation.as_str(), &fault);
    }

    fn count(&self, metric: RStr<'_>, labels: RStr<'_>, amount: u64) {
        let mut labels: BTreeMap<String, String> = serde_json::from_str(labels.as_str()).unwrap_or_default();
        labels.insert("plugin".to_owned(), self.handle.name.to_string());
        if !self.context.usage.plugin(&self.handle.name).admits_series(metric.as_str(), &labels) {
            tracing::warn!(plugin = &*self.handle.name, metric = metric.as_str(), "not counted: too many series");
            return;
        }
        let labels: Vec<metrics::Label> =
            labels.into_iter().map(|(name, value)| metrics::Label::new(name, value)).collect();
        metrics::counter!(format!("plugin_{}", metric.as_str()), labels).increment(amount);
    }

    fn log(&self, level: u8, message: RStr<'_>) {
        let (plugin, message) = (&*self.handle.name, cut(message.as_str()));
        let id = request_id();
        let request_id = id.as_deref();
        match level {
            1 => tracing::error!(plugin, request_id, "{message}"),
            2 => tracing::warn!(plugin, request_id, "{message}"),
            3 => tracing::info!(plugin, request_id, "{message}"),
            4 => tracing::debug!(plugin, request_id, "{message}"),
            _ => tracing::trace!(plugin, request_id, "{message}"),
        }
    }
}

/// `None` when the limit of background tasks was reached, or the plugin's background tasks are paused.
struct SpawnedTask(Option<tokio::task::AbortHandle>);

impl Task for SpawnedTask {
    fn abort(&self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}
