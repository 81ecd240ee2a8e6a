//! The contents page of a plugin.

use super::{
    Describe, Gateway, HostHandle, Job, Route,
    job::{self, RunJob},
    route::CallHandler,
};
use crate::{
    abi::{EventSource, Fault, FfiBytes, HostError, HostErrorCode, SubscribedEvent},
    manifest::{ChainEvent, ContributionSpec, Grants, Manifest, MigrationSpec, SubscriptionSpec},
};
use abi_stable::std_types::RResult;
use async_ffi::FfiFuture;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{future::Future, pin::Pin, sync::Arc};

/// Who the plugin is; [`crate::export_plugin!`] takes it from the package.
pub trait Identity {
    const NAME: &'static str;
    const VERSION: &'static str;
    const SUMMARY: &'static str;
}

/// A plugin: its configuration, its contents page, its state.
pub trait Plugin: Identity + Send + Sync + Sized + 'static {
    /// The members of `[plugins.<name>]`. Use `#[serde(deny_unknown_fields)]`, or [`NoConfig`].
    type Config: DeserializeOwned + JsonSchema;

    /// Routes, jobs, migrations, views, contributions.
    fn define() -> Definition<Self>;

    /// Makes the plugin's state; runs before its migrations, so it must not touch the database.
    fn new(config: Self::Config, host: &HostHandle) -> Result<Self, Refusal>;

    /// The last call.
    fn stop(&self) {}
}

/// For plugins without configuration.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}

/// Why a plugin does not start: a sentence that the operator can act on.
#[derive(Clone, Debug)]
pub struct Refusal(pub String);

/// A step of the plugin's schema; see [`MigrationSpec`].
pub struct Migration(MigrationSpec);

impl Migration {
    /// SQL that both databases understand, with `{{id}}` and `{{blob}}`.
    pub fn new(version: u32, name: &str, sql: &str) -> Self {
        Self(MigrationSpec { version, name: name.to_owned(), sql: sql.to_owned(), postgres: None })
    }

    /// SQL that differs.
    pub fn per_dialect(version: u32, name: &str, sqlite: &str, postgres: &str) -> Self {
        Self(MigrationSpec {
            version,
            name: name.to_owned(),
            sql: sqlite.to_owned(),
            postgres: Some(postgres.to_owned()),
        })
    }
}

type Contribute<P> = Box<dyn Fn(&Gateway<P>, FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> + Send + Sync>;
pub(crate) type OnChainEvent<P> =
    Box<dyn Fn(&Gateway<P>, super::Tx, &EventSource, &SubscribedEvent) -> Applied + Send + Sync>;
pub(crate) type Applied = Pin<Box<dyn Future<Output = Result<(), HostError>> + Send>>;

/// Everything a plugin offers; built by [`Plugin::define`].
pub struct Definition<P> {
    tag: String,
    routes: Vec<Route<P>>,
    jobs: Vec<Job<P>>,
    contributions: Vec<(ContributionSpec, Contribute<P>)>,
    subscriptions: Vec<(SubscriptionSpec, OnChainEvent<P>)>,
    manifest: Manifest,
}

/// The functions behind a manifest, in the order of its lists.
pub(crate) struct Handlers<P> {
    pub(crate) routes: Vec<CallHandler<P>>,
    pub(crate) jobs: Vec<RunJob<P>>,
    pub(crate) contributions: Vec<Contribute<P>>,
    pub(crate) subscriptions: Arc<[OnChainEvent<P>]>,
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
            contributions: Vec::new(),
            subscriptions: Vec::new(),
            manifest,
        }
    }

    /// Heading of the routes in the documentation; the plugin's name unless said.
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

    pub fn jobs(mut self, jobs: impl IntoIterator<Item = Job<P>>) -> Self {
        self.jobs.extend(jobs);
        self
    }

    /// Plugins that must run for this one to make sense.
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

    /// Contributes to an extension point; see [`super::point`] for the types.
    pub fn contributes<I, O, F, Fut>(self, point: &'static str, answer: F) -> Self
    where
        I: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
        F: Fn(Gateway<P>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        self.contributes_as(point, "", answer)
    }

    /// Contributes to an extension point what follows from the question and stored data alone, by the rules of
    /// [`Route::cached`]: answers of cached routes that collect it can be kept.
    pub fn contributes_cached<I, O, F, Fut>(self, point: &'static str, answer: F) -> Self
    where
        I: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
        F: Fn(Gateway<P>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        let mut definition = self.contributes_as(point, "", answer);
        if let Some((spec, _)) = definition.contributions.last_mut() {
            spec.cached = true;
        }
        definition
    }

    /// Contributes under a name of its own, for example a topic of [`super::point::STREAM`].
    pub fn contributes_as<I, O, F, Fut>(mut self, point: &'static str, name: &str, answer: F) -> Self
    where
        I: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
        F: Fn(Gateway<P>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        let answer = std::sync::Arc::new(answer);
        let contribute = move |gateway: &Gateway<P>, input: FfiBytes| {
            let (answer, gateway_of_call) = (answer.clone(), gateway.clone());
            job::contained(gateway, point, move || async move {
                let input = serde_json::from_slice(&input).map_err(invalid)?;
                let output = answer(gateway_of_call, input).await?;
                serde_json::to_vec(&output).map(FfiBytes::from).map_err(invalid)
            })
        };
        self.contributions.push((
            ContributionSpec { point: point.to_owned(), name: name.to_owned(), cached: false },
            Box::new(contribute),
        ));
        self
    }

    /// Derives rows from chain events, inside the index's transaction. `Args` are the arguments, by name.
    ///
    /// A handler sees the events of its plugin in the order of the chain, each once. It writes `derived_tables` only, and
    /// only handlers write these: so the gateway can take back what a reorganisation makes untrue. Their rows have a primary
    /// key that follows from the events (no `{{id}}`) and no foreign keys. What a handler publishes becomes public when its block is
    /// `confirmations` deep. A handler that fails is called again later, and the index waits for it. Many events share one
    /// call of the gateway; [`super::Tx::defer`] lets them share the calls of the database, too.
    pub fn on_chain_event<Args, F, Fut>(
        mut self,
        contract: &'static str,
        event: &str,
        derived_tables: &[&str],
        apply: F,
    ) -> Self
    where
        Args: DeserializeOwned + Send + 'static,
        F: Fn(Gateway<P>, super::Tx, ChainEvent<Args>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        let handler = move |gateway: &Gateway<P>, tx: super::Tx, source: &EventSource, event: &SubscribedEvent| {
            let applied: Applied = match ChainEvent::read(source, event) {
                Ok(event) => Box::pin(apply(gateway.clone(), tx, event)),
                Err(error) => Box::pin(std::future::ready(Err(error))),
            };
            applied
        };
        let derived_tables = derived_tables.iter().map(ToString::to_string).collect();
        let spec = SubscriptionSpec { contract: contract.to_owned(), event: event.to_owned(), derived_tables };
        self.subscriptions.push((spec, Box::new(handler)));
        self
    }

    /// To be raised when the handlers of chain events derive other rows than before: the gateway then empties the derived
    /// tables and derives them anew. A migration that names a derived table has the same effect by itself.
    pub fn index_version(mut self, version: u32) -> Self {
        self.manifest.index_version = version;
        self
    }

    /// Splits the contents page into the document for the gateway and the functions behind it.
    pub(crate) fn build(self) -> (Manifest, Handlers<P>) {
        let mut manifest = self.manifest;
        let mut schemas = schema_settings(P::NAME).into_generator();
        let mut handlers =
            Handlers { routes: Vec::new(), jobs: Vec::new(), contributions: Vec::new(), subscriptions: Arc::new([]) };
        for mut route in self.routes {
            route.spec.tag.clone_from(&self.tag);
            let mut describe = Describe { spec: &mut route.spec, schemas: &mut schemas };
            route.describe.iter().for_each(|part| part(&mut describe));
            manifest.routes.push(route.spec);
            handlers.routes.push(route.call);
        }
        for job in self.jobs {
            manifest.jobs.push(job.spec);
            handlers.jobs.push(job.run);
        }
        for (spec, contribute) in self.contributions {
            manifest.contributions.push(spec);
            handlers.contributions.push(contribute);
        }
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

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}

const SCHEMAS: &str = "#/components/schemas/";

fn schema_settings(_: &str) -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    })
}

/// Two plugins may both have a `ThreadView`: in the gateway's document it is `forum.ThreadView`.
fn prefix_schemas(manifest: &mut Manifest) {
    let prefix = format!("{SCHEMAS}{}.", manifest.name);
    let schemas = std::mem::take(&mut manifest.schemas);
    for (name, mut schema) in schemas {
        prefix_refs(&mut schema, &prefix);
        manifest.schemas.insert(format!("{}.{name}", manifest.name), schema);
    }
    for route in &mut manifest.routes {
        let answers = route.answers.iter_mut().filter_map(|answer| answer.schema.as_mut());
        let parameters = route.parameters.iter_mut().map(|parameter| &mut parameter.schema);
        route.body.iter_mut().chain(answers).chain(parameters).for_each(|schema| prefix_refs(schema, &prefix));
    }
}

fn prefix_refs(schema: &mut Value, prefix: &str) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(target) if name == "$ref" => {
                        if let Some(rest) = target.strip_prefix(SCHEMAS) {
                            *target = format!("{prefix}{rest}");
                        }
                    }
                    member => prefix_refs(member, prefix),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| prefix_refs(item, prefix)),
        _ => {}
    }
}
