//! The contexts of handlers and jobs: the plugin's own state and its handle to the gateway.

use super::{
    Address, ApiError, Db, HandlerError, Transaction, Tx,
    db::{NextPage, Query as _},
    fence,
    payment::Payment,
    point::{self, Point, Service},
    transaction,
};
use crate::{
    abi::{
        CapabilityResponse, Fault, FfiBytes, HeadBox, Host_TO, HostBox, HostError, HostErrorCode, StreamedResponse,
        TaskBox,
    },
    manifest::{Environment, PluginPresence},
};
use abi_stable::std_types::{ROption, RResult};
use alloy_primitives::hex;
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

    /// Writes in a transaction of its own: for jobs and tasks. A handler uses [`RequestContext::write`], whose rules for the
    /// closure hold here, too.
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
        transaction::write(self.now_ms(), || Ok(self.host.begin_write()), work).await
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
    /// are dropped without a run for a while: work that must be done belongs into a job.
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

    /// What every plugin contributes to an extension point, by plugin name. A part of another shape is logged and left out.
    pub async fn collect<I: Serialize, O: DeserializeOwned>(
        &self,
        point: Point<I, O>,
        input: &I,
    ) -> Result<Vec<(String, O)>, HostError> {
        #[derive(serde::Deserialize)]
        struct Contribution {
            plugin: String,
            value: Box<RawValue>,
        }
        let (point, input) = (point.name(), to_bytes(input)?);
        let bytes = self.host.collect(point.into(), input).await.into_result()?;
        let contributions: Vec<Contribution> = from_bytes(&bytes)?;
        let decode = |Contribution { plugin, value }: Contribution| match serde_json::from_str(value.get()) {
            Ok(value) => Some((plugin, value)),
            Err(error) => {
                self.warn(&format!("the contribution of {plugin} to {point} has another shape: {error}"));
                None
            }
        };
        Ok(contributions.into_iter().filter_map(decode).collect())
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
        self.host.call(capability.into(), to_bytes(request)?, body).await.into_result()
    }

    pub(crate) async fn fetch_streamed(
        &self,
        request: &impl Serialize,
        body: FfiBytes,
    ) -> Result<StreamedResponse, HostError> {
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

/// The [`point::Author`] records of the addresses that [`HostHandle::authors`] looked up.
#[derive(Clone, Debug, Default)]
pub struct Authors {
    names: BTreeMap<Address, point::AuthorName>,
    network_name: String,
}

impl Authors {
    pub fn get(&self, address: Address) -> point::Author {
        if address == Address::ZERO {
            return point::Author { address, name: Some(self.network_name.clone()), agent_id: None };
        }
        let author = self.names.get(&address).cloned().unwrap_or_default();
        point::Author { address, name: author.name, agent_id: author.agent_id }
    }

    /// Whether the address owns an agent, active or not.
    pub fn owns_agent(&self, address: Address) -> bool {
        self.names.get(&address).is_some_and(|author| author.agent_id.is_some())
    }

    pub fn owns_active_agent(&self, address: Address) -> bool {
        self.names.get(&address).is_some_and(|author| author.active)
    }
}

/// A background task.
pub struct TaskHandle(TaskBox);

impl TaskHandle {
    pub fn abort(&self) {
        self.0.abort();
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

/// A request handler's first argument: the [`PluginContext`], by deref, and this request's own write.
///
/// ```
/// use plugin_api::{HandlerError, Json, Query, RequestContext, sql};
///
/// # struct Notes;
/// async fn count_notes(cx: RequestContext<Notes>) -> Result<Json<i64>, HandlerError> {
///     Ok(Json(cx.db().one(sql("SELECT count(*) FROM notes_notes")).await?))
/// }
/// ```
pub struct RequestContext<P> {
    cx: PluginContext<P>,
    head: HeadBox,
    next_page: NextPage,
}

impl<P> RequestContext<P> {
    pub(crate) fn new(cx: PluginContext<P>, head: HeadBox, next_page: NextPage) -> Self {
        Self { cx, head, next_page }
    }

    /// Reads on a snapshot. The page of a list that is read by it is the response's: a link leads to the next one.
    pub fn db(&self) -> Db {
        Db { next_page: Some(self.next_page.clone()), ..self.cx.db() }
    }

    /// The request's write. Runs `work` in a transaction and commits: when this returns `Ok`, rows, events, intents and the
    /// replay guard of a signed route are durable, and reads see them. An error of `work` rolls everything back and nothing is
    /// published; so does a request that ends in the middle of it (time limit, client gone).
    ///
    /// What `work` reads and decides holds at the commit, as if no other transaction of the plugin had run at the same time. On
    /// SQLite one runs at a time. On PostgreSQL they run at the same time, and `work` may run more than once: when the database
    /// refuses an attempt because of another write, all that the attempt wrote, published and recorded is discarded, and `work`
    /// begins again. Each attempt has its own transaction; from the third on it runs alone among the plugin's writes in this
    /// gateway. After sixteen the error is a [`HostErrorCode::Conflict`], which is answered by 503 `busy`.
    ///
    /// So `work` must do nothing but statements, [`super::Event::publish`] and [`super::TransactionRequest::record`] on its `tx`,
    /// and use `tx.now_s()` as time, which stays the same in each attempt. It must not fetch, sign, call a chain, spawn, collect,
    /// look up authors, count or read with `cx.db()`: these would happen
    /// once per attempt, also of one that is discarded, they would not see the transaction's own rows, and on SQLite all other
    /// writers would wait for them. Do that before the write and move what it returned into the closure, or do it after.
    /// Therefore `work` owns what it uses (`async move`): it cannot borrow `cx`, and must not get a clone of the context either.
    /// A captured reference is a compile error, even `&'static str` ("implementation of `Send` is not general enough").
    ///
    /// A request writes once: a second call fails. To refuse, return the error from `work`: a response of 400 or more that a
    /// handler makes after its write cannot undo it.
    ///
    /// ```
    /// # use plugin_api::{Created, HandlerError, JsonSchema, Query as _, RequestContext, Signed, sql, stream::EventBuilder};
    /// # struct Notes;
    /// # #[derive(serde::Deserialize, JsonSchema)]
    /// # struct NewNote { text: String }
    /// async fn create_note(
    ///     cx: RequestContext<Notes>,
    ///     Signed { signer, payload }: Signed<NewNote>,
    /// ) -> Result<Created<i64>, HandlerError> {
    ///     let id = cx
    ///         .write(async move |tx| {
    ///             let insert = sql("INSERT INTO notes_notes (author, text, created_at) VALUES ($1, $2, $3) RETURNING id");
    ///             let id: i64 = tx.one(insert.bind(signer).bind(&payload.text).bind(tx.now_s())).await?;
    ///             EventBuilder::new("notes.create", &id).actor(signer).publish(tx)?;
    ///             Ok(id)
    ///         })
    ///         .await?;
    ///     Ok(Created(id))
    /// }
    /// # plugin_api::Route::<Notes>::post("/api/notes/notes", create_note);
    /// ```
    pub async fn write<T, E: ApiError>(
        &self,
        work: impl AsyncFn(&Tx) -> Result<T, HandlerError<E>> + Send + Sync + 'static,
    ) -> Result<T, HandlerError<E>> {
        transaction::write(self.now_ms(), || self.head.begin_write().into_result(), work).await
    }

    /// The older form of [`Self::write`], whose transaction runs once. The gateway adds the replay guard of a signed route and
    /// commits when the status is below 400. On any other status, or when the client disconnects, it rolls everything back.
    ///
    /// The plugin declares it: [`super::Definition::own_transactions`]. Without that, every call of the transaction fails with
    /// [`HostErrorCode::Refused`].
    pub fn transaction(&self) -> Tx {
        Tx::new(self.head.transaction(), self.now_ms())
    }

    /// The future borrows nothing of the context, which is not `Sync` for every plugin.
    pub(crate) fn next_body_part(&self) -> impl Future<Output = Result<Option<FfiBytes>, HostError>> + Send + use<P> {
        let next = self.head.next_body_part();
        async move { next.await.into_result().map(ROption::into_option) }
    }

    /// The first header with this lower-case name: for a name that depends on the deployment, such as one that begins with
    /// [`crate::handles::Brand::header_prefix`]. For a name that is known, [`crate::extract::HeaderValue`] documents the parameter.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name.into()).into_option().map(Into::into)
    }

    /// The payment that is reserved for this request: `None` where nothing is paid. A signed write charges in its transaction instead:
    /// [`Tx::charge`].
    pub fn payment(&self) -> Option<Payment> {
        let payment = self.head.payment().into_option()?;
        serde_json::from_str(payment.as_str()).ok()
    }

    /// The paid work failed for this reason: when the handler has answered, whatever its status, the gateway releases the payment and
    /// tells the client why. A response of 400 or more does that without this call.
    pub fn release_payment(&self, reason: &str) {
        self.head.release_payment(reason.into());
    }

    /// The client's network, for limits: a host with IPv6 has a whole /64 of addresses.
    pub fn client_network(&self) -> String {
        let ip = self.client_ip();
        ip.parse().map_or_else(|_no_address| ip.to_owned(), |ip| super::client_network(ip).to_string())
    }

    /// The client's IPv6 /48, for limits beside those of [`Self::client_network`], of which it has 65,536; `None` with IPv4.
    pub fn client_site(&self) -> Option<String> {
        super::client_network::client_site(self.client_ip().parse().ok()?).map(|site| site.to_string())
    }

    /// Keyed hashes of [`Self::client_network`] and, with IPv6, of [`Self::client_site`], as hex digits: what limits are counted by, without
    /// an address that anybody could read. `secret` names the plugin's own key ([`HostHandle::secret`], with its grant).
    pub async fn client_hashes(&self, secret: &str) -> Result<(String, Option<String>), HostError> {
        let (network, site, secret) = (self.client_network(), self.client_site(), self.secret(secret));
        let site = match site {
            Some(site) => Some(hex::encode(secret.hmac(format!("{site}/48")).await?)),
            None => None,
        };
        Ok((hex::encode(secret.hmac(network).await?), site))
    }

    /// The client's IP address behind the trusted proxies. Count by [`Self::client_network`].
    pub fn client_ip(&self) -> &str {
        self.head.client_ip().as_str()
    }

    /// `GET`, `POST` and so on, on a route for any method.
    pub fn method(&self) -> &str {
        self.head.method().as_str()
    }

    pub fn request_id(&self) -> &str {
        self.head.request_id().as_str()
    }

    pub fn plugin_context(&self) -> &PluginContext<P> {
        &self.cx
    }
}

impl<P> Deref for RequestContext<P> {
    type Target = PluginContext<P>;

    fn deref(&self) -> &PluginContext<P> {
        &self.cx
    }
}
