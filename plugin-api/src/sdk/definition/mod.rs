//! A plugin's definition: routes, jobs, migrations and events here, chain events and extension points in files of their own.

mod chain_events;
mod points;

use super::{
    HostHandle, Job, Migration, PluginContext, Route, RouteDescription, Skill,
    answer::{AnswerFn, ServiceFn},
    config::ConfigError,
    job::JobFn,
    log_events::{self, LogEvents},
    queue::{Queue, QueueFn, QueueSettings, Task, queue_fn},
    route::HandlerFn,
    schemas::{prefix_schemas, schema_settings},
    stream::{self, RenderFn},
};
use crate::{
    abi::{EventSource, Frame, HostError, SubscribedEvent},
    manifest::{ContributionSpec, Grants, Manifest, QueueSpec, SubscriptionSpec, TopicRow},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{future::Future, pin::Pin, sync::Arc};

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
    /// run at the same time, and one that conflicts with another runs again.
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
