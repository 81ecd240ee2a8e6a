//! The context of jobs and other handlers: the plugin's own state and its handle to the gateway.

use super::{
    Address, Authors, Db, Transaction, Tx,
    db::Query as _,
    fence,
    point::{self, Point, Service},
    write, write_scope,
};
use crate::{
    abi::{CapabilityResponse, Fault, FfiBytes, Host_TO, HostBox, HostError, HostErrorCode, StreamedResponse, TaskBox},
    manifest::{Environment, PluginPresence},
};
use abi_stable::std_types::RResult;
use async_ffi::FutureExt as _;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    ops::Deref,
    sync::Arc,
    time::Duration,
};

/// The gateway's capabilities, cheap to clone.
///
/// ```
/// use plugin_api::{HostError, HostHandle, Query, sql};
///
/// async fn count_notes(host: &HostHandle) -> Result<i64, HostError> {
///     let notes = host.db().one(sql("SELECT count(*) FROM notes_notes")).await?;
///     host.info(&format!("{notes} notes at {} on {}", host.now_s(), host.environment().base_url));
///     Ok(notes)
/// }
/// ```
#[derive(Clone)]
pub struct HostHandle {
    host: Arc<HostBox>,
    environment: Arc<Environment>,
}

impl HostHandle {
    pub(crate) fn new(host: Host_TO<'static, abi_stable::std_types::RBox<()>>) -> Result<Self, Fault> {
        let environment = serde_json::from_str(host.environment().as_str()).map_err(fence::error_fault)?;
        Ok(Self { host: Arc::new(host), environment: Arc::new(environment) })
    }

    /// Constant while the plugin runs: base URL, chain id, brand.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Unix seconds by the gateway's clock.
    pub fn now_s(&self) -> i64 {
        self.now_ms().div_euclid(1000)
    }

    /// Unix milliseconds by the gateway's clock.
    pub fn now_ms(&self) -> i64 {
        self.host.now_ms()
    }

    /// Completes after `duration` by the gateway's clock.
    pub async fn sleep(&self, duration: Duration) {
        self.host.sleep(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)).await;
    }

    /// Reads on a snapshot.
    pub fn db(&self) -> Db {
        Db { host: self.host.clone(), next_page: None }
    }

    /// Writes in a transaction of its own: for jobs and tasks. A handler uses
    /// [`RequestContext::write`](crate::RequestContext::write), whose rules for the closure hold here, too.
    ///
    /// ```
    /// # use plugin_api::{HostError, PluginContext, Query as _, sql};
    /// # struct Notes;
    /// async fn prune_notes(cx: PluginContext<Notes>) -> Result<(), HostError> {
    ///     let deleted = cx
    ///         .write(async |tx| {
    ///             tx.execute(sql("DELETE FROM notes_notes WHERE created_at < $1").bind(tx.now_s() - 3600)).await
    ///         })
    ///         .await?;
    ///     cx.info(&format!("deleted {deleted} notes"));
    ///     Ok(())
    /// }
    /// ```
    pub async fn write<T>(
        &self,
        work: impl AsyncFn(&Tx) -> Result<T, HostError> + Send + Sync + 'static,
    ) -> Result<T, HostError> {
        write::write(self.now_ms(), || Ok(self.host.begin_write()), work).await
    }

    /// A new transaction that is ended with [`Transaction::commit`]; dropping it rolls it back. For work that must do other
    /// things between its statements and therefore cannot run again: where one closure can hold the write, use [`Self::write`].
    ///
    /// The plugin declares it: [`super::Definition::own_transactions`]. Without that, every call of the transaction fails with
    /// [`HostErrorCode::Refused`].
    pub fn begin(&self) -> Transaction {
        Transaction::new(Tx::new(self.host.begin(), self.now_ms()))
    }

    /// Runs a task in the background; it is aborted when the plugin stops. When too many tasks fail, those that come after them
    /// are dropped without a run for a while: work that must be done belongs into a job. A task that a job spawns is a part of its
    /// run: it writes while the run has its lease, and fails with [`HostErrorCode::Closed`](crate::HostErrorCode::Closed) later.
    pub fn spawn(
        &self,
        name: &'static str,
        task: impl Future<Output = Result<(), HostError>> + Send + 'static,
    ) -> TaskHandle {
        if let Err(error) = write_scope::check_outside("spawn") {
            self.report(name, fence::error_fault(error.message));
            return TaskHandle(None);
        }
        let (host, reporter) = (self.host.clone(), self.host.clone());
        let contained =
            fence::ContainedFuture::new(async move { task.await.map_err(fence::error_fault) }, move |fault| {
                reporter.fault(name.into(), fault)
            });
        let watched = async move {
            if let RResult::RErr(fault) = contained.await {
                host.fault(name.into(), fault);
            }
        };
        TaskHandle(Some(self.host.spawn(name.into(), watched.into_ffi())))
    }

    /// Runs CPU-heavy work off the threads that serve requests.
    pub async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, HostError> {
        write_scope::check_outside("blocking work")?;
        let slot = Arc::new(std::sync::Mutex::new(None));
        let result = slot.clone();
        let reporter = self.host.clone();
        let task = async move {
            let outcome = fence::contain(work);
            if let Ok(mut slot) = result.lock() {
                *slot = Some(outcome);
            }
            Ok(())
        };
        // The gateway drops work that never ran, and results whose caller is gone; the fence contains a panic in that drop.
        let contained = fence::ContainedFuture::new(task, move |fault| reporter.fault("blocking".into(), fault));
        self.host.blocking(async move { drop(contained.await) }.into_ffi()).await;
        let outcome = slot.lock().ok().and_then(|mut slot| slot.take());
        match outcome {
            Some(Ok(value)) => Ok(value),
            Some(Err(fault)) => {
                Err(HostError::new(HostErrorCode::Internal, format!("{} at {}", fault.message, fault.location)))
            }
            None => Err(HostError::new(HostErrorCode::Internal, "the work was cancelled")),
        }
    }

    /// Asks for a run of one of the plugin's jobs at once, whatever its schedule says; several calls before it begins are one run. For
    /// work that a request leaves to a job: write the row, then wake the job.
    ///
    /// When this returns, the wish is stored. If no gateway runs the job, this one begins it; if one does, it runs again after that
    /// run. Runs that were asked for begin at most ten times a second. A crash between your commit and this call loses the call, so
    /// the job's schedule must find the row, too. A name that is no job of the plugin is a [`HostErrorCode::Invalid`].
    ///
    /// ```
    /// use plugin_api::{HostError, HostHandle, Query, sql};
    ///
    /// async fn queue_mail(host: &HostHandle, text: String) -> Result<(), HostError> {
    ///     host.write(async move |tx| tx.execute(sql("INSERT INTO notes_mails (text) VALUES ($1)").bind(&text)).await).await?;
    ///     host.wake("send_mails").await
    /// }
    /// ```
    pub async fn wake(&self, job: &str) -> Result<(), HostError> {
        let call = crate::manifest::WakeCall { job: job.to_owned() };
        self.call_capability("wake", &call, FfiBytes::default()).await.map(drop)
    }

    /// Which of these paths enabled plugins serve, in their order. Parameters may have any name: `/api/cv/{agent}`. For links to
    /// what another plugin serves, because a response names no route that nobody serves.
    pub async fn serves<const N: usize>(&self, paths: [&str; N]) -> Result<[bool; N], HostError> {
        let call = crate::manifest::RoutesCall { paths: paths.map(str::to_owned).into() };
        let response = self.call_capability("routes", &call, FfiBytes::default()).await?.response;
        let served: crate::manifest::RoutesResult = from_bytes(&response)?;
        served
            .served
            .try_into()
            .map_err(|_: Vec<bool>| HostError::new(HostErrorCode::Internal, "not an answer for each path"))
    }

    /// Whether these plugins are on and serve, by name. Who collects contributions learns from it why one is missing: a plugin that is
    /// off has none, and one that is down would have.
    pub async fn presence(
        &self,
        plugins: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<BTreeMap<String, PluginPresence>, HostError> {
        let plugins: Vec<String> = plugins.into_iter().map(Into::into).collect();
        let call = crate::manifest::PresenceCall { plugins };
        let response = self.call_capability("presence", &call, FfiBytes::default()).await?.response;
        let crate::manifest::PresenceResult { presences } = from_bytes(&response)?;
        if presences.len() != call.plugins.len() {
            return Err(HostError::new(HostErrorCode::Internal, "not an answer for each plugin"));
        }
        Ok(call.plugins.into_iter().zip(presences).collect())
    }

    /// The plugins that are on and contribute to an extension point, whether they serve or not: of [`Self::collect`] each one is missing that
    /// does not serve, fails, or takes too long. Of a plugin whose library is not loaded nobody knows, so it is among them.
    ///
    /// ```
    /// use plugin_api::{HostError, HostHandle, point};
    ///
    /// async fn have_all_answered(host: &HostHandle) -> Result<bool, HostError> {
    ///     let asked = host.contributors(point::STATUS).await?;
    ///     let answers = host.collect(point::STATUS, &point::NoInput {}).await?;
    ///     Ok(asked.iter().all(|plugin| answers.iter().any(|(name, _)| name == plugin)))
    /// }
    /// ```
    pub async fn contributors<I, O>(&self, point: Point<I, O>) -> Result<BTreeSet<String>, HostError> {
        let call = crate::manifest::ContributorsCall { point: point.name().to_owned() };
        let response = self.call_capability("contributors", &call, FfiBytes::default()).await?.response;
        let crate::manifest::ContributorsResult { plugins } = from_bytes(&response)?;
        Ok(plugins.into_iter().collect())
    }

    /// A text that stays the same as long as nothing is committed to the database, by this gateway or another one, and the same plugins
    /// serve. Ask before you read: what you make of those reads and keep in memory is current while a later call returns the same text.
    /// `None` while the gateway cannot tell: then nothing that is kept may be used. It says nothing about what is not in the database,
    /// such as the time.
    ///
    /// ```
    /// use plugin_api::{HostError, HostHandle};
    ///
    /// async fn is_current(host: &HostHandle, kept_since: &str) -> Result<bool, HostError> {
    ///     Ok(host.data_version().await?.as_deref() == Some(kept_since))
    /// }
    /// ```
    pub async fn data_version(&self) -> Result<Option<String>, HostError> {
        let response = self.call_capability("data_version", &(), FfiBytes::default()).await?.response;
        let crate::manifest::DataVersionResult { version } = from_bytes(&response)?;
        Ok(version)
    }

    /// What every plugin contributes to an extension point, by plugin name. A part of another shape is logged and left out.
    pub async fn collect<I: Serialize, O: DeserializeOwned>(
        &self,
        point: Point<I, O>,
        input: &I,
    ) -> Result<Vec<(String, O)>, HostError> {
        let contributions = self.collect_json(point, input).await?;
        let decode = |(plugin, value): (String, Box<RawValue>)| match serde_json::from_str(value.get()) {
            Ok(value) => Some((plugin, value)),
            Err(error) => {
                let point = point.name();
                self.warn(&format!("the contribution of {plugin} to {point} has another shape: {error}"));
                None
            }
        };
        Ok(contributions.into_iter().filter_map(decode).collect())
    }

    /// The same as JSON, by plugin name.
    pub async fn collect_json<I: Serialize, O>(
        &self,
        point: Point<I, O>,
        input: &I,
    ) -> Result<Vec<(String, Box<RawValue>)>, HostError> {
        #[derive(serde::Deserialize)]
        struct Contribution {
            plugin: String,
            value: Box<RawValue>,
        }
        write_scope::check_outside("collect")?;
        let bytes = self.host.collect(point.name().into(), to_bytes(input)?).await.into_result()?;
        let contributions: Vec<Contribution> = from_bytes(&bytes)?;
        Ok(contributions.into_iter().map(|Contribution { plugin, value }| (plugin, value)).collect())
    }

    /// The views of labelled addresses, which leaderboards and statistics leave out: [`point::LABELLED_ADDRESSES`].
    pub async fn labelled_addresses(&self) -> Result<Vec<point::LabelledAddresses>, HostError> {
        let contributed = self.collect(point::LABELLED_ADDRESSES, &point::NoInput {}).await?;
        Ok(contributed.into_iter().map(|(_, labelled)| labelled).collect())
    }

    /// Calls a service of another plugin, which [`super::Definition::uses`] declares.
    ///
    /// # Errors
    ///
    /// [`HostErrorCode::Disabled`] when no plugin that serves provides it, [`HostErrorCode::Unavailable`] when the provider fails,
    /// [`HostErrorCode::Timeout`] when it takes longer than ten seconds.
    pub async fn call<I: Serialize, O: DeserializeOwned>(
        &self,
        service: Service<I, O>,
        input: &I,
    ) -> Result<O, HostError> {
        let call = crate::manifest::ServiceCall { service: service.name().to_owned(), input: None };
        let answered = self.call_capability("service", &call, to_bytes(input)?).await?;
        from_bytes(&answered.response).map_err(|error| {
            self.warn(&format!("the answer of {} has another shape: {}", service.name(), error.message));
            HostError::new(HostErrorCode::Unavailable, format!("the service {} failed", service.name()))
        })
    }

    /// Names of the agents that these addresses own, from the plugins that contribute to [`point::AUTHORS`]. Duplicate
    /// addresses are looked up once.
    pub async fn authors(&self, addresses: impl IntoIterator<Item = Address>) -> Result<Authors, HostError> {
        let mut names = BTreeMap::new();
        let mut addresses: Vec<Address> = addresses.into_iter().collect();
        addresses.sort_unstable();
        addresses.dedup();
        if !addresses.is_empty() {
            let input = point::AuthorsInput { addresses };
            for (_, found) in self.collect(point::AUTHORS, &input).await? {
                names.extend(found);
            }
        }
        Ok(Authors { names, network_name: self.environment.brand.network_name.clone() })
    }

    /// Adds to a counter that operators see under this plugin's name.
    pub fn count(&self, metric: &str, labels: &BTreeMap<&str, &str>, amount: u64) {
        if let Err(error) = write_scope::check_outside("count") {
            return self.report(metric, fence::error_fault(error.message));
        }
        let labels = serde_json::to_string(labels).unwrap_or_default();
        self.host.count(metric.into(), labels.as_str().into(), amount);
    }

    pub fn error(&self, message: &str) {
        self.host.log(1, message.into());
    }

    pub fn warn(&self, message: &str) {
        self.host.log(2, message.into());
    }

    pub fn info(&self, message: &str) {
        self.host.log(3, message.into());
    }

    pub fn debug(&self, message: &str) {
        self.host.log(4, message.into());
    }

    pub(crate) fn report(&self, place: &str, fault: Fault) {
        self.host.fault(place.into(), fault);
    }

    pub(crate) async fn call_capability(
        &self,
        capability: &str,
        request: &impl Serialize,
        body: FfiBytes,
    ) -> Result<CapabilityResponse, HostError> {
        write_scope::check_outside(capability)?;
        self.host.call(capability.into(), to_bytes(request)?, body).await.into_result()
    }

    pub(crate) async fn fetch_streamed(
        &self,
        request: &impl Serialize,
        body: FfiBytes,
    ) -> Result<StreamedResponse, HostError> {
        write_scope::check_outside("fetch")?;
        self.host.fetch_streamed(to_bytes(request)?, body).await.into_result()
    }

    /// Fails when the database cannot be reached; for the `status` point.
    pub async fn probe_db(&self) -> Result<(), HostError> {
        self.db().run(super::sql("SELECT 1")).await.map(drop)
    }
}

fn to_bytes(value: &impl Serialize) -> Result<FfiBytes, HostError> {
    let bytes = serde_json::to_vec(value).map_err(|error| HostError::new(HostErrorCode::Invalid, error.to_string()))?;
    Ok(bytes.into())
}

fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, HostError> {
    serde_json::from_slice(bytes).map_err(|error| HostError::new(HostErrorCode::Invalid, error.to_string()))
}

/// A background task; of one that was refused there is nothing.
pub struct TaskHandle(Option<TaskBox>);

impl TaskHandle {
    pub fn abort(&self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// The plugin's state and, by deref, its [`HostHandle`]: the argument of jobs, contributions and chain event handlers.
///
/// ```
/// use plugin_api::{HostError, PluginContext};
///
/// struct Notes {
///     keep_days: u32,
/// }
///
/// async fn report(cx: PluginContext<Notes>) -> Result<(), HostError> {
///     cx.info(&format!("notes are kept for {} days", cx.plugin().keep_days));
///     Ok(())
/// }
/// ```
pub struct PluginContext<P>(Arc<Shared<P>>);

struct Shared<P> {
    plugin: P,
    host: HostHandle,
}

impl<P> PluginContext<P> {
    pub(crate) fn new(plugin: P, host: HostHandle) -> Self {
        Self(Arc::new(Shared { plugin, host }))
    }

    /// The plugin's own state.
    pub fn plugin(&self) -> &P {
        &self.0.plugin
    }
}

impl<P> Clone for PluginContext<P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<P> Deref for PluginContext<P> {
    type Target = HostHandle;

    fn deref(&self) -> &HostHandle {
        &self.0.host
    }
}
