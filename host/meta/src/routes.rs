//! The gateway's own routes, as the same data that plugins declare, so that index, OpenAPI and router treat all routes alike.

use crate::{
    agent_card::NetworkAgentCard,
    changelog::{self, Changelog},
    docs,
    health::Health,
    index::RouteIndex,
    paths,
    service_manifest::ServiceManifest,
    stats::Stats,
    status::Status,
    transaction::TransactionStatus,
};
use plugin_api::manifest::{Answer, Environment, Manifest, Parameter, ParameterIn, RateLimit, RouteSpec};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

/// The document that a route responds with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaPage {
    Front,
    Index,
    OpenApi,
    Llms,
    AgentCard,
    Manifest,
    Health,
    Stats,
    Status,
    Transaction,
    Changelog,
    Docs,
    DocsAsset,
}

/// The routes to mount; `manifest.routes[n]` responds with `pages[n]`.
pub struct MetaRoutes {
    pub pages: Vec<MetaPage>,
    pub manifest: Manifest,
}

const TAG: &str = "meta";
const DISCOVERY_CACHE: &str = "public, max-age=300";

/// The routes of every gateway. Their paths depend on the brand.
pub fn meta_routes(environment: &Environment) -> MetaRoutes {
    let mut builder = RoutesBuilder { pages: Vec::new(), routes: Vec::new(), schemas: schemas() };
    discovery_routes(&mut builder, &environment.brand.marker);
    state_routes(&mut builder);
    docs_routes(&mut builder);
    let manifest = Manifest {
        name: TAG.into(),
        version: environment.gateway_version.clone(),
        summary: "The gateway about itself: interface, state, releases".into(),
        routes: builder.routes,
        schemas: builder.schemas.take_definitions(true),
        ..Default::default()
    };
    MetaRoutes { pages: builder.pages, manifest }
}

struct RoutesBuilder {
    pages: Vec<MetaPage>,
    routes: Vec<RouteSpec>,
    schemas: SchemaGenerator,
}

impl RoutesBuilder {
    /// Adds a public `GET` route and returns it for further settings.
    fn get(&mut self, page: MetaPage, path: &str, operation: &str, summary: &str) -> &mut RouteSpec {
        let mut route = RouteSpec::new("GET", path, operation);
        (route.tag, route.summary) = (TAG.into(), summary.to_owned());
        self.pages.push(page);
        self.routes.push(route);
        let last = self.routes.len() - 1;
        &mut self.routes[last]
    }

    fn json<T: JsonSchema>(&mut self, page: MetaPage, path: &str, operation: &str, summary: &str) -> &mut RouteSpec {
        let schema = self.schemas.subschema_for::<T>().to_value();
        let route = self.get(page, path, operation, summary);
        route.answers.push(ok_answer("application/json", summary, schema));
        route
    }
}

fn schemas() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

fn ok_answer(content_type: &str, description: &str, schema: Value) -> Answer {
    Answer {
        status: 200,
        description: description.to_owned(),
        content_type: content_type.to_owned(),
        schema: Some(schema),
        codes: Vec::new(),
    }
}

fn discovery_routes(builder: &mut RoutesBuilder, marker: &str) {
    use MetaPage::{AgentCard, Front, Index, Llms, Manifest, OpenApi};
    let summary = "For programs the route index, for browsers a page that says what this is";
    let route = builder.json::<RouteIndex>(Front, "/", "get_front_page", summary);
    route.answers.push(ok_answer("text/html", "The page, for clients that accept HTML", json!({ "type": "string" })));
    builder.json::<RouteIndex>(Index, "/api", "get_index", "Where everything is: links, chain and every route");
    let summary = "This interface as OpenAPI 3.1";
    let route = builder.get(OpenApi, paths::OPENAPI, "get_openapi", summary);
    route.answers.push(ok_answer("application/json", summary, json!({ "type": "object" })));
    route.cache_control = Some(DISCOVERY_CACHE.into());

    for (path, operation) in [("/api/discovery/llms.txt", "get_llms_txt"), (paths::LLMS, "get_llms_txt_at_root")] {
        let summary = "Briefing for language models (llms.txt)";
        let route = builder.get(Llms, path, operation, summary);
        route.answers.push(ok_answer("text/markdown", summary, json!({ "type": "string" })));
        route.cache_control = Some(DISCOVERY_CACHE.into());
    }
    for (path, operation) in
        [("/api/discovery/agent.json", "get_agent_card"), (paths::AGENT_CARD, "get_well_known_agent_card")]
    {
        let route = builder.json::<NetworkAgentCard>(AgentCard, path, operation, "Agent card of the network");
        route.cache_control = Some(DISCOVERY_CACHE.into());
    }
    let aliases = [
        (format!("/api/discovery/{marker}.json"), "get_manifest"),
        (paths::manifest(marker), "get_well_known_manifest"),
    ];
    for (path, operation) in aliases {
        let summary = "Manifest: chain, contracts, endpoints, signing, limits, counters";
        builder.json::<ServiceManifest>(Manifest, &path, operation, summary).cache_control =
            Some(DISCOVERY_CACHE.into());
    }
}

fn state_routes(builder: &mut RoutesBuilder) {
    builder.json::<Health>(
        MetaPage::Health,
        "/api/health",
        "get_health",
        "Whether the gateway lives, and its place on the chain",
    );
    builder.json::<Stats>(MetaPage::Stats, "/api/stats", "get_stats", "Counters of the network");

    let route =
        builder.json::<Status>(MetaPage::Status, paths::STATUS, "get_status", "State of every service, with numbers");
    route.description =
        "`degraded` names the services that are not ok; the answer is 200 then, too, and a header repeats \
                         the names."
            .into();
    route.cache_control = Some("public, max-age=5".into());
    route.rate_limits = vec![RateLimit {
        bucket: "get_status".into(),
        calls: 120,
        window_s: 60,
        code: "rate_limited".into(),
        additional: false,
    }];

    transaction_route(builder);

    let route = builder.json::<Changelog>(
        MetaPage::Changelog,
        paths::CHANGELOG,
        "list_releases",
        "What changed, release by release",
    );
    route.description =
        "Ask with `since`, the version you integrated against: newer releases are answered, and what is \
                         not released yet."
            .into();
    route.cache_control = Some("public, max-age=60".into());
    route.parameters = changelog_parameters();
    route.answers.push(ok_answer(
        "text/markdown",
        "the whole file, with `format=markdown`",
        json!({ "type": "string" }),
    ));
    route.answers.push(Answer {
        status: 400,
        description: String::new(),
        content_type: String::new(),
        schema: None,
        codes: vec!["bad_since".into(), "bad_format".into()],
    });
}

fn transaction_route(builder: &mut RoutesBuilder) {
    let (page, path) = (MetaPage::Transaction, "/api/tx/{hash}");
    let summary = "What became of a transaction that this gateway sent, by any hash that it had";
    let route = builder.json::<TransactionStatus>(page, path, "get_transaction", summary);
    route.parameters.push(Parameter {
        name: "hash".into(),
        place: ParameterIn::Path,
        required: true,
        description: String::new(),
        schema: json!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{64}$" }),
    });
    let refusals = [(400, "bad_hash"), (404, "not_found")].map(|(status, code)| Answer {
        status,
        description: String::new(),
        content_type: String::new(),
        schema: None,
        codes: vec![code.into()],
    });
    route.answers.extend(refusals);
}

fn changelog_parameters() -> Vec<Parameter> {
    let query = |name: &str, description: &str, schema| Parameter {
        name: name.to_owned(),
        place: ParameterIn::Query,
        required: false,
        description: description.to_owned(),
        schema,
    };
    vec![
        query(
            "since",
            "A version or a day (`YYYY-MM-DD`); itself excluded",
            json!({ "type": "string", "pattern": changelog::SINCE_PATTERN, "examples": ["0.5.0"] }),
        ),
        query(
            "limit",
            "Releases in the answer",
            json!({ "type": "integer", "minimum": 1, "maximum": changelog::LIMIT_MAX, "default": changelog::LIMIT_DEFAULT }),
        ),
        query(
            "format",
            "`markdown` answers the file itself",
            json!({ "type": "string", "enum": ["json", "markdown"], "default": "json" }),
        ),
    ]
}

fn docs_routes(builder: &mut RoutesBuilder) {
    let text = || json!({ "type": "string" });
    let summary = "This interface as a page to read and to try";
    builder.get(MetaPage::Docs, paths::DOCS, "get_docs", summary).answers.push(ok_answer("text/html", summary, text()));

    let names = docs::asset_names();
    let route = builder.get(MetaPage::DocsAsset, "/docs/{file}", "get_docs_asset", "A part of the docs page");
    route.cache_control = Some(DISCOVERY_CACHE.into());
    route.parameters.push(Parameter {
        name: "file".into(),
        place: ParameterIn::Path,
        required: true,
        description: String::new(),
        schema: json!({ "type": "string", "enum": names }),
    });
    for content_type in ["text/css", "text/javascript", "image/svg+xml"] {
        route.answers.push(ok_answer(content_type, "The file", text()));
    }
}
