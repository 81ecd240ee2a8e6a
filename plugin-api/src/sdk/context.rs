//! What handlers and jobs hold: the plugin's own state and its handle to the gateway.

use super::{Address, Db, Tx, db::Query as _, fence, point};
use crate::{
    abi::{Fault, FfiBytes, HeadBox, Host_TO, HostBox, HostError, HostErrorCode, Reply, TaskBox},
    manifest::Environment,
};
use abi_stable::std_types::RResult;
use async_ffi::FutureExt as _;
use serde::{Serialize, de::DeserializeOwned};
use std::{collections::BTreeMap, future::Future, ops::Deref, sync::Arc, time::Duration};

/// The gateway's capabilities, cheap to clone.
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

    /// What stays the same while the plugin runs: base URL, chain id, brand.
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

    /// Completes after that long by the gateway's clock.
    pub async fn sleep(&self, duration: Duration) {
        self.host.sleep(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)).await;
    }

    /// Reads on a snapshot.
    pub fn db(&self) -> Db {
        Db { host: self.host.clone() }
    }

    /// A transaction of one's own, to be ended with [`Tx::commit`]; dropped, it rolls back.
    pub fn begin(&self) -> Tx {
        Tx::new(self.host.begin())
    }

    /// Runs a task in the background; it is aborted when the plugin stops.
    pub fn spawn(
        &self,
        name: &'static str,
        task: impl Future<Output = Result<(), HostError>> + Send + 'static,
    ) -> TaskHandle {
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
        TaskHandle(self.host.spawn(name.into(), watched.into_ffi()))
    }

    /// Runs CPU-heavy work off the threads that serve requests.
    pub async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, HostError> {
        let slot = Arc::new(std::sync::Mutex::new(None));
        let filled = slot.clone();
        let reporter = self.host.clone();
        let task = async move {
            let outcome = fence::contain(work);
            if let Ok(mut slot) = filled.lock() {
                *slot = Some(outcome);
            }
            Ok(())
        };
        // Work that never ran and a result that nobody waits for any more are dropped over there.
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

    /// What every plugin contributes to an extension point, by plugin name.
    pub async fn collect<T: DeserializeOwned>(
        &self,
        point: &str,
        input: &impl Serialize,
    ) -> Result<Vec<(String, T)>, HostError> {
        #[derive(serde::Deserialize)]
        struct Part<T> {
            plugin: String,
            value: T,
        }
        let input = to_bytes(input)?;
        let bytes = self.host.collect(point.into(), input).await.into_result()?;
        let parts: Vec<Part<T>> = from_bytes(&bytes)?;
        Ok(parts.into_iter().map(|part| (part.plugin, part.value)).collect())
    }

    /// Names of the agents that addresses own, as the plugin that knows agents tells them; nobody is nameless twice.
    pub async fn authors(&self, addresses: impl IntoIterator<Item = Address>) -> Result<Authors, HostError> {
        let mut known = BTreeMap::new();
        let mut asked: Vec<Address> = addresses.into_iter().collect();
        asked.sort_unstable();
        asked.dedup();
        if asked.is_empty() {
            return Ok(Authors { known, network_name: self.environment.brand.network_name.clone() });
        }
        let question = point::AuthorsInput { addresses: asked };
        for (_, names) in self.collect::<BTreeMap<Address, point::AuthorName>>(point::AUTHORS, &question).await? {
            known.extend(names);
        }
        Ok(Authors { known, network_name: self.environment.brand.network_name.clone() })
    }

    /// Adds to a counter that operators see under this plugin's name.
    pub fn count(&self, metric: &str, labels: &BTreeMap<&str, &str>, amount: u64) {
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

    pub(crate) async fn ask(
        &self,
        capability: &str,
        question: &impl Serialize,
        body: FfiBytes,
    ) -> Result<Reply, HostError> {
        self.host.ask(capability.into(), to_bytes(question)?, body).await.into_result()
    }

    /// Whether the database answers; for the `status` point.
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

/// Answers [`point::Author`] records for addresses that were asked about.
#[derive(Clone, Debug, Default)]
pub struct Authors {
    known: BTreeMap<Address, point::AuthorName>,
    network_name: String,
}

impl Authors {
    pub fn get(&self, address: Address) -> point::Author {
        if address == Address::ZERO {
            return point::Author { address, name: Some(self.network_name.clone()), agent_id: None };
        }
        let known = self.known.get(&address).cloned().unwrap_or_default();
        point::Author { address, name: known.name, agent_id: known.agent_id }
    }

    /// Whether the address owns an agent, in whatever state.
    pub fn owns_agent(&self, address: Address) -> bool {
        self.known.get(&address).is_some_and(|known| known.agent_id.is_some())
    }

    pub fn owns_active_agent(&self, address: Address) -> bool {
        self.known.get(&address).is_some_and(|known| known.active)
    }
}

/// A background task.
pub struct TaskHandle(TaskBox);

impl TaskHandle {
    pub fn abort(&self) {
        self.0.abort();
    }
}

/// The plugin's state (by deref) and its handle to the gateway; what jobs and contributions get.
pub struct Gateway<P>(Arc<Shared<P>>);

struct Shared<P> {
    plugin: P,
    host: HostHandle,
}

impl<P> Gateway<P> {
    pub(crate) fn new(plugin: P, host: HostHandle) -> Self {
        Self(Arc::new(Shared { plugin, host }))
    }

    /// The plugin's own state.
    pub fn plugin(&self) -> &P {
        &self.0.plugin
    }
}

impl<P> Clone for Gateway<P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<P> Deref for Gateway<P> {
    type Target = HostHandle;

    fn deref(&self) -> &HostHandle {
        &self.0.host
    }
}

/// What a handler gets: the gateway and this request's own transaction.
pub struct Context<P> {
    gateway: Gateway<P>,
    head: HeadBox,
}

impl<P> Context<P> {
    pub(crate) fn new(gateway: Gateway<P>, head: HeadBox) -> Self {
        Self { gateway, head }
    }

    /// The request's transaction. The gateway adds the replay guard of a signed route and commits it when the answer
    /// is below 400; otherwise, or when the caller leaves, everything is rolled back.
    pub fn transaction(&self) -> Tx {
        Tx::new(self.head.transaction())
    }

    /// The caller's address behind the trusted proxies.
    pub fn client_ip(&self) -> &str {
        self.head.client_ip().as_str()
    }

    pub fn request_id(&self) -> &str {
        self.head.request_id().as_str()
    }

    pub fn gateway(&self) -> &Gateway<P> {
        &self.gateway
    }
}

impl<P> Deref for Context<P> {
    type Target = Gateway<P>;

    fn deref(&self) -> &Gateway<P> {
        &self.gateway
    }
}
