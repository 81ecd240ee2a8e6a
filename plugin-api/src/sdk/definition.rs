//! A plugin's definition: routes, jobs, migrations, contributions and chain event handlers.

use super::{
    ContractEvent, HostHandle, Job, Migration, PluginContext, Route, RouteDescription, Skill, Sql,
    answer::{AnswerFn, ServiceFn, answer_fn, contained_answer},
    call_types::{call_types, service_spec},
    config::ConfigError,
    contracts::registry,
    job::JobFn,
    log_events::{self, LogEvents},
    payload_references::referenced_payloads,
    point::{
        AUDIT, AuditInput, LABELLED_ADDRESSES, LabelledAddresses, NoInput, PAYLOAD_REFERENCES, PayloadReferencesInput,
        Point, Service,
    },
    queue::{Queue, QueueFn, QueueSettings, Task, queue_fn},
    route::HandlerFn,
    schemas::{prefix_schemas, schema_settings},
    stream::{self, RenderFn},
};
use crate::{
    abi::{EventSource, Frame, HostError, SubscribedEvent},
    manifest::{ChainEvent, ContributionSpec, Grants, Manifest, QueueSpec, ServiceSpec, SubscriptionSpec, TopicRow},
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    future::{Future, ready},
    pin::Pin,
    sync::Arc,
};

/// Name, version and summary of the plugin; [`crate::export_plugin!`] takes them from the package.
pub trait Identity {
    const NAME: &'static str;
    const VERSION: &'static str;
    const SUMMARY: &'static str;
}

/// A plugin: its configuration, its definition, its state.
///
/// ```
/// use plugin_api::{ConfigError, Definition, HostHandle, NoConfig, Plugin};
///
/// struct Notes;
///
/// impl Plugin for Notes {
///     type Config = NoConfig;
///
///     fn define() -> Definition<Self> {
///         Definition::new()
///     }
///
///     fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
///         Ok(Self)
///     }
/// }
///
/// # impl plugin_api::host::Identity for Notes {
/// #     const NAME: &'static str = "notes";
/// #     const VERSION: &'static str = "1.0.0";
/// #     const SUMMARY: &'static str = "Notes";
/// # }
/// ```
pub trait Plugin: Identity + Send + Sync + Sized + 'static {
    /// The members of `[plugins.<name>]`. Use `#[serde(deny_unknown_fields)]`, or [`crate::NoConfig`].
    type Config: DeserializeOwned + JsonSchema;

    /// Routes, jobs, migrations, views, contributions.
    fn define() -> Definition<Self>;

    /// Constructs the plugin's state. Runs before the migrations, so it must not use the database.
    fn new(config: Self::Config, host: &HostHandle) -> Result<Self, ConfigError>;

    /// Called last: no request and no job runs any more.
    fn stop(&self) {}
}

pub(crate) type ChainEventFn<P> =
    Box<dyn Fn(&PluginContext<P>, super::Tx, &EventSource, &SubscribedEvent) -> ChainEventFuture + Send + Sync>;
pub(crate) type ChainEventFuture = Pin<Box<dyn Future<Output = Result<(), HostError>> + Send>>;

/// Everything a plugin offers; built by [`Plugin::define`].
///
/// ```
/// use plugin_api::{Definition, Migration, Plugin, Route};
///
/// fn define<P: Plugin>(list_notes: Route<P>) -> Definition<P> {
///     Definition::new()
///         .routes([list_notes])
///         .migrations([Migration::new(1, "create", "CREATE TABLE notes_notes (id {{id}}, text TEXT NOT NULL)")])
///         .publishes(&["notes.create"])
/// }
/// ```
pub struct Definition<P> {
    tag: String,
    routes: Vec<Route<P>>,
    jobs: Vec<Job<P>>,
    queues: Vec<QueueFn<P>>,
    contributions: Vec<(ContributionSpec, AnswerFn<P>)>,
    services: Vec<ServiceFn<P>>,
    topics: Vec<(String, RenderFn<P>)>,
    subscriptions: Vec<(SubscriptionSpec, ChainEventFn<P>)>,
    skills: Vec<Skill>,
    manifest: Manifest,
}

/// The functions behind a manifest, in the order of its lists.
pub(crate) struct Handlers<P> {
    pub(crate) routes: Vec<HandlerFn<P>>,
    /// Of each route, if it has one.
    pub(crate) prices: Vec<Option<HandlerFn<P>>>,
    pub(crate) jobs: Vec<JobFn<P>>,
    pub(crate) queues: Vec<QueueFn<P>>,
    pub(crate) contributions: Vec<AnswerFn<P>>,
    pub(crate) services: Vec<ServiceFn<P>>,
    pub(crate) topics: Vec<RenderFn<P>>,
    pub(crate) subscriptions: Arc<[ChainEventFn<P>]>,
}

impl<P: Plugin> Default for Definition<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Plugin> Definition<P> {
    pub fn new() -> Self {
        let manifest = Manifest {
            name: P::NAME.into(),
            version: P::VERSION.into(),
            summary: P::SUMMARY.into(),
            ..Default::default()
        };
        Self {
            tag: P::NAME.into(),
            routes: Vec::new(),
            jobs: Vec::new(),
            queues: Vec::new(),
            contributions: Vec::new(),
            services: Vec::new(),
            topics: Vec::new(),
            subscriptions: Vec::new(),
            skills: Vec::new(),
            manifest,
        }
    }

    /// Heading of the routes in the documentation, and title of the plugin's section of llms.txt; the plugin's name by
    /// default.
    pub fn tag(mut self, tag: &str) -> Self {
        self.tag = tag.to_owned();
        self
    }

    pub fn routes(mut self, routes: impl IntoIterator<Item = Route<P>>) -> Self {
        self.routes.extend(routes);
        self
    }

    pub fn migrations(mut self, migrations: impl IntoIterator<Item = Migration>) -> Self {
        self.manifest.migrations.extend(migrations.into_iter().map(|migration| migration.0));
        self
    }

    /// Views that other plugins may read; document them in the plugin's README.
    pub fn views(mut self, views: &[&str]) -> Self {
        self.manifest.views.extend(views.iter().map(ToString::to_string));
        self
    }

    /// Views with what is not public: only plugins with the grant for them ([`Grants::views`]) may read them, and where such a plugin
    /// did not come with the gateway, by the word of the operator.
    ///
    /// ```
    /// use plugin_api::{Definition, Grants, Plugin};
    ///
    /// fn publisher<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.private_views(&["letters_v1"])
    /// }
    ///
    /// fn reader<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.grants(Grants { views: vec!["letters_v1".to_owned()], ..Grants::default() })
    /// }
    /// ```
    pub fn private_views(mut self, views: &[&str]) -> Self {
        self.manifest.private_views.extend(views.iter().map(ToString::to_string));
        self.views(views)
    }

    pub fn jobs(mut self, jobs: impl IntoIterator<Item = Job<P>>) -> Self {
        self.jobs.extend(jobs);
        self
    }

    /// The plugin is off until an operator enables it by name: `plugins.default_enabled` does not.
    pub fn off_by_default(mut self) -> Self {
        self.manifest.off_by_default = true;
        self
    }

    /// The plugin uses [`HostHandle::begin`] or [`super::RequestContext::transaction`], which cannot run again and are refused
    /// without this. On PostgreSQL all of its transactions then run one after the other, on all gateways; those of other plugins
    /// run at the same time, and one that collides with another runs again.
    pub fn own_transactions(mut self) -> Self {
        self.manifest.own_transactions = true;
        self
    }

    /// Plugins that must run before this one starts.
    pub fn requires(mut self, plugins: &[&str]) -> Self {
        self.manifest.requires.extend(plugins.iter().map(ToString::to_string));
        self
    }

    pub fn grants(mut self, grants: Grants) -> Self {
        self.manifest.grants = grants;
        self
    }

    /// Event types that the plugin publishes.
    pub fn publishes(mut self, event_types: &[&str]) -> Self {
        self.manifest.event_types.extend(event_types.iter().map(ToString::to_string));
        self
    }

    /// Adds a skill to the network's agent card.
    pub fn skill(mut self, skill: Skill) -> Self {
        self.skills.push(skill);
        self
    }

    /// Shows a limit that the plugin enforces in `limits` of the network's manifest. The name says the unit, for example
    /// `forumBodyBytes`.
    pub fn limit(mut self, name: &str, limit: impl Into<serde_json::Number>) -> Self {
        self.manifest.limits.insert(name.to_owned(), Value::Number(limit.into()));
        self
    }

    /// Contributes to an extension point; see [`super::point`] for those of the gateway.
    pub fn contributes<I, O, F, Fut>(mut self, point: Point<I, O>, answer: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(PluginContext<P>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        let is_own = point.name().contains('.');
        let types = is_own.then(call_types::<I, O>);
        let spec = ContributionSpec { point: point.name().to_owned(), cached: false, types };
        self.contributions.push((spec, answer_fn(point.name(), answer)));
        self
    }

    /// Contributes a value that depends on the input and on stored data alone, by the rules of [`Route::cached`]. The
    /// gateway may then cache it, and cached routes may collect it.
    pub fn contributes_cached<I, O, F, Fut>(self, point: Point<I, O>, answer: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(PluginContext<P>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        let mut definition = self.contributes(point, answer);
        if let Some((spec, _)) = definition.contributions.last_mut() {
            spec.cached = true;
        }
        definition
    }

    /// Publishes a view of labelled addresses, which leaderboards and statistics leave out: [`super::point::LABELLED_ADDRESSES`]. Its
    /// column `address` is checksummed, and an index finds it.
    ///
    /// ```
    /// # use plugin_api::{Definition, Plugin};
    /// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.labels_addresses("robots_labelled_v1")
    /// }
    /// ```
    pub fn labels_addresses(self, view: &'static str) -> Self {
        let contribution =
            move |_: PluginContext<P>, _: NoInput| async move { Ok(LabelledAddresses { view: view.to_owned() }) };
        self.views(&[view]).contributes_cached(LABELLED_ADDRESSES, contribution)
    }

    /// An extension point of the plugin's own, to which others contribute and from which it collects.
    pub fn extension_point<I: JsonSchema, O: JsonSchema>(mut self, point: Point<I, O>) -> Self {
        self.manifest.points.push(service_spec::<I, O>(point.name()));
        self
    }

    /// Provides a service, which other plugins call. Of two plugins that provide the same one, only one starts.
    pub fn provides<I, O, F, Fut>(mut self, service: Service<I, O>, answer: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(PluginContext<P>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        self.manifest.provides.push(service_spec::<I, O>(service.name()));
        self.services.push(ServiceFn::Outside(answer_fn(service.name(), answer)));
        self
    }

    /// Provides a service that is called within a transaction: what it writes is committed with what the caller writes, or not at all.
    ///
    /// `answer` gets the [`super::Tx`] of the caller's transaction, in which it reaches the tables of this plugin. Like the closure of a
    /// [write](HostHandle::write) it does nothing but statements on it, and it may run again. A caller in a write of its own uses
    /// [`super::Tx::call`]; for others the gateway opens a transaction and commits it after the answer.
    ///
    /// ```
    /// use plugin_api::{Definition, Plugin, Query as _, point::Service, sql};
    ///
    /// /// Takes so many points from an account; the answer is whether there were enough.
    /// pub const SPEND: Service<u32, bool> = Service::new("points.spend");
    ///
    /// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.provides_in_write(SPEND, async |_, tx, points| {
    ///         let spend = sql("UPDATE points_accounts SET points = points - $1 WHERE id = 1 AND points >= $1");
    ///         Ok(tx.execute(spend.bind(points)).await? == 1)
    ///     })
    /// }
    /// ```
    pub fn provides_in_write<I, O, F, Fut>(mut self, service: Service<I, O>, answer: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(PluginContext<P>, super::Tx, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        let spec = ServiceSpec { in_write: true, ..service_spec::<I, O>(service.name()) };
        self.manifest.provides.push(spec);
        let answer = Arc::new(answer);
        self.services.push(ServiceFn::InWrite(Box::new(move |cx, input, tx| {
            let (answer, cx_of_call) = (answer.clone(), cx.clone());
            contained_answer(cx, service.name(), input, move |input| answer(cx_of_call, tx, input))
        })));
        self
    }

    /// A service that the plugin calls by [`HostHandle::call`]. The plugin starts without a provider, too.
    pub fn uses<I: JsonSchema, O: JsonSchema>(mut self, service: Service<I, O>) -> Self {
        self.manifest.uses.push(service_spec::<I, O>(service.name()));
        self
    }

    /// Says which stored texts may reference payloads, which are then not pruned: [`super::point::PAYLOAD_REFERENCES`].
    ///
    /// Each statement selects rows `(key, text)` whose integer key is above `$1`, ordered by key, with a `LIMIT` that bounds a
    /// page to a few megabytes. Where the key is not unique, a page is all rows of the next key.
    ///
    /// ```
    /// use plugin_api::{Definition, Plugin};
    ///
    /// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.references_payloads(&["SELECT id, text FROM notes_notes WHERE id > $1 ORDER BY id LIMIT 500"])
    /// }
    /// ```
    pub fn references_payloads(self, pages: &'static [&'static str]) -> Self {
        self.contributes(PAYLOAD_REFERENCES, move |cx, PayloadReferencesInput { hashes }| async move {
            let (db, candidates) = (cx.db(), hashes.into_iter().collect());
            let mut referenced = BTreeSet::new();
            for page in pages {
                referenced.extend(referenced_payloads(&db, &candidates, page).await?);
            }
            Ok(referenced)
        })
    }

    /// Contributes the events of these types (whole names) that an agent's owner caused to the agent's audit export:
    /// [`super::point::AUDIT`]. The data of an event is public already.
    ///
    /// ```
    /// use plugin_api::{Definition, Plugin};
    ///
    /// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.publishes(&["note.create"]).audits(&["note.create"])
    /// }
    /// ```
    pub fn audits(self, event_types: &'static [&'static str]) -> Self {
        self.contributes(AUDIT, move |cx, input: AuditInput| async move { input.events(&cx.db(), event_types).await })
    }

    /// Handles events of the activity log, those of these types (whole names), once each and in the order of the log; of those of
    /// other plugins, too. `name` is that of the job that does it, on one gateway at a time. A new subscription begins with the
    /// events that are published from then on.
    ///
    /// The handler gets up to 500 events, and says in the transaction of what it makes of them that they are done. When it fails,
    /// or the process dies before the commit, it gets them again. Events that a reorganisation has retracted are left out; who had
    /// them hears of it by `chain.retracted`.
    ///
    /// ```
    /// use plugin_api::{Definition, HostError, Plugin, PluginContext, Query as _, handles::LogEvents, sql};
    ///
    /// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.on_events("count_threads", &["thread.create"], count_threads)
    /// }
    ///
    /// async fn count_threads<P: Plugin>(cx: PluginContext<P>, events: LogEvents) -> Result<(), HostError> {
    ///     cx.write(async move |tx| {
    ///         for event in events.iter() {
    ///             let count = sql("UPDATE notes_counts SET threads = threads + 1 WHERE day = $1");
    ///             tx.execute(count.bind(event.ts / 86_400)).await?;
    ///         }
    ///         events.mark_done(tx).await
    ///     })
    ///     .await
    /// }
    /// ```
    pub fn on_events<F, Fut>(self, name: &'static str, types: &'static [&'static str], handle: F) -> Self
    where
        F: Fn(PluginContext<P>, LogEvents) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        self.jobs([log_events::job(name, types, handle)])
    }

    /// Handles the tasks of a durable queue, on all gateways that share the database: [`crate::queue`] has an example. `settings` is
    /// asked once, when the plugin starts.
    pub fn on_queue<T, F, Fut>(
        mut self,
        queue: Queue<T>,
        settings: impl Fn(&P) -> QueueSettings + Send + Sync + 'static,
        handle: F,
    ) -> Self
    where
        T: DeserializeOwned + Send + 'static,
        F: Fn(PluginContext<P>, Task<T>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        self.manifest.queues.push(QueueSpec { table: queue.table().to_owned() });
        self.queues.push(queue_fn(queue, settings, handle));
        self
    }

    /// Renders rows of the activity log as the frames of a topic, which [`super::Topic`] sends to clients. The gateway calls
    /// `render` once for new rows, while somebody reads.
    pub fn topic<F, Fut>(mut self, name: &str, render: F) -> Self
    where
        F: Fn(PluginContext<P>, Vec<TopicRow>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<Frame>, HostError>> + Send + 'static,
    {
        self.topics.push((name.to_owned(), stream::render_fn(render)));
        self
    }

    /// Derives rows from chain events, inside the index's transaction. `Args` are the arguments, by name.
    ///
    /// The gateway calls the handlers of a plugin in chain order, once per event. A handler writes `derived_tables` only,
    /// and only handlers write these, so that the gateway can undo the rows of blocks that a reorganisation removes. Their
    /// rows have a primary key that follows from the events (no `{{id}}`) and no foreign keys. Events that a handler
    /// publishes become public when its block is `confirmations` deep. The gateway retries a handler that fails, and the
    /// index waits for it. Many events share one call of the gateway; [`super::Tx::defer`] lets them share the calls of the
    /// database, too.
    pub fn on_chain_event<Args, F, Fut>(
        self,
        contract: &'static str,
        event: &str,
        derived_tables: &[&str],
        handle: F,
    ) -> Self
    where
        Args: DeserializeOwned + Send + 'static,
        F: Fn(PluginContext<P>, super::Tx, ChainEvent<Args>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        self.on_subscription(SubscriptionSpec::new(contract, event).deriving(derived_tables), handle)
    }

    /// The same for events of another chain than the main one, or with certain values of indexed arguments only. Each chain has
    /// an index of its own: handlers of different chains run at the same time, and a derived table belongs to one chain.
    ///
    /// ```
    /// # use plugin_api::{Definition, Plugin, PluginContext, Tx, abi::HostError, manifest::{ChainEvent, SubscriptionSpec}};
    /// #[derive(serde::Deserialize)]
    /// struct Transfer {
    ///     from: plugin_api::Address,
    ///     value: String,
    /// }
    ///
    /// fn with_transfers<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     let received = SubscriptionSpec::new("usdc", "Transfer(address indexed from, address indexed to, uint256 value)")
    ///         .on_chain("base")
    ///         .any_contract_of("to", &["treasury"])
    ///         .deriving(&["shop_transfers"]);
    ///     definition.on_subscription(received, store_transfer)
    /// }
    ///
    /// async fn store_transfer<P>(_: PluginContext<P>, tx: Tx, event: ChainEvent<Transfer>) -> Result<(), HostError> {
    ///     # let _ = (tx, event.args.from, event.args.value);
    ///     Ok(())
    /// }
    /// ```
    pub fn on_subscription<Args, F, Fut>(mut self, subscription: SubscriptionSpec, handle: F) -> Self
    where
        Args: DeserializeOwned + Send + 'static,
        F: Fn(PluginContext<P>, super::Tx, ChainEvent<Args>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        let handler = move |cx: &PluginContext<P>, tx: super::Tx, source: &EventSource, event: &SubscribedEvent| {
            let future: ChainEventFuture = match ChainEvent::decode(source, event) {
                Ok(event) => Box::pin(handle(cx.clone(), tx, event)),
                Err(error) => Box::pin(ready(Err(error))),
            };
            future
        };
        self.subscriptions.push((subscription, Box::new(handler)));
        self
    }

    /// Derives rows from a contract's event by the rules of [`Self::on_chain_event`]. The handler's parameter says which event:
    /// see [`ContractEvent`].
    pub fn on_contract_event<E, F, Fut>(self, derived_tables: &[&str], handle: F) -> Self
    where
        E: ContractEvent,
        F: Fn(PluginContext<P>, super::Tx, ChainEvent<E>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        self.on_chain_event(E::CONTRACT, E::SIGNATURE, derived_tables, handle)
    }

    /// The same for an event that is one statement, which waits for no other: see [`super::Tx::defer`].
    ///
    /// ```
    /// use plugin_api::{Definition, Plugin, Sql, contracts::{ChainEvent, registry::OwnershipTransferred}, sql};
    ///
    /// fn set_owner(event: &ChainEvent<OwnershipTransferred>) -> Sql {
    ///     sql("UPDATE notes_agents SET owner = $2 WHERE id = $1").bind((event.args.id, event.args.to))
    /// }
    ///
    /// fn subscribe<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.derive_row("notes_agents", set_owner)
    /// }
    /// ```
    pub fn derive_row<E: ContractEvent>(
        self,
        table: &str,
        statement: impl Fn(&ChainEvent<E>) -> Sql + Send + Sync + 'static,
    ) -> Self {
        self.on_contract_event(&[table], move |_, tx, event| ready(tx.defer(statement(&event))))
    }

    /// Derives which agents there are, and who owns them when an event comes: rows of a table with the columns `id`, `owner` and `name`.
    /// The views of other plugins do not say it, because each plugin's index is as far as it is.
    pub fn derive_agents(self, table: &'static str) -> Self {
        self.derive_row(table, move |event| registry::insert_agent(table, event))
            .derive_row(table, move |event| registry::set_owner(table, event))
    }

    /// Raise it when the handlers of chain events derive other rows than before: the gateway then empties the derived
    /// tables and indexes the chain again. A migration that names a derived table has the same effect.
    pub fn index_version(mut self, version: u32) -> Self {
        self.manifest.index_version = version;
        self
    }

    /// Splits the definition into the manifest for the gateway and the functions behind it.
    pub(crate) fn build(self) -> (Manifest, Handlers<P>) {
        let mut manifest = self.manifest;
        let mut schemas = schema_settings().into_generator();
        let mut handlers = Handlers {
            routes: Vec::new(),
            prices: Vec::new(),
            jobs: Vec::new(),
            queues: self.queues,
            contributions: Vec::new(),
            services: self.services,
            topics: Vec::new(),
            subscriptions: Arc::new([]),
        };
        let mut examples = Vec::new();
        for mut route in self.routes {
            route.spec.tag.clone_from(&self.tag);
            examples.append(&mut route.examples);
            let mut describe = RouteDescription { spec: &mut route.spec, schemas: &mut schemas };
            route.describe.iter().for_each(|part| part(&mut describe));
            manifest.routes.push(route.spec);
            handlers.routes.push(route.call);
            handlers.prices.push(route.price);
        }
        let skills = self.skills.into_iter().map(|skill| skill.into_spec(P::NAME, &self.tag, &examples));
        manifest.skills = skills.collect();
        for job in self.jobs {
            manifest.jobs.push(job.spec);
            handlers.jobs.push(job.run);
        }
        for (spec, contribute) in self.contributions {
            manifest.contributions.push(spec);
            handlers.contributions.push(contribute);
        }
        (manifest.topics, handlers.topics) = self.topics.into_iter().unzip();
        let (specs, subscriptions): (Vec<_>, Vec<_>) = self.subscriptions.into_iter().unzip();
        manifest.subscriptions = specs;
        handlers.subscriptions = subscriptions.into();
        manifest.schemas = schemas.take_definitions(true);
        manifest.config_schema =
            schemars::generate::SchemaGenerator::default().into_root_schema_for::<P::Config>().to_value();
        prefix_schemas(&mut manifest);
        (manifest, handlers)
    }
}
