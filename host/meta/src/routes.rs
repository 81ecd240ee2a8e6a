//! The gateway's own routes, as the same data that plugins declare, so that index, OpenAPI and router treat them alike.

use super::{
    agent_card::NetworkAgentCard, changelog::Changelog, health::Health, index::RouteIndex,
    service_manifest::ServiceManifest, stats::Stats, status::Status,
};
use plugin_api::manifest::{Answer, Environment, Manifest, Parameter, ParameterIn, RateLimit, RouteSpec};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

/// Which document answers a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaPage {
    Index,
    OpenApi,
    Llms,
    AgentCard,
    Manifest,
    Health,
    Stats,
    Status,
    Changelog,
    Docs,
    DocsAsset,
}

/// The routes to mount; `pages[n]` answers `manifest.routes[n]`.
pub struct OwnRoutes {
    pub pages: Vec<MetaPage>,
    pub manifest: Manifest,
}

const TAG: &str = "meta";
const OPENAPI: &str = "/api/openapi.json";
const LLMS: &str = "/llms.txt";
const AGENT_CARD: &str = "/.well-known/agent.json";
pub(super) const STATUS: &str = "/api/status";
pub(super) const CHANGELOG: &str = "/api/changelog";
pub(super) const DOCS: &str = "/docs";
const DISCOVERY_CACHE: &str = "public, max-age=300";

/// The routes of every gateway. Their paths depend on the brand.
pub fn own_routes(environment: &Environment) -> OwnRoutes {
    let mut build = Build { pages: Vec::new(), routes: Vec::new(), schemas: schemas() };
    discovery_routes(&mut build, &environment.brand.marker);
    state_routes(&mut build);
    docs_routes(&mut build);
    let manifest = Manifest {
        name: TAG.into(),
        version: environment.gateway_version.clone(),
        summary: "The gateway about itself: interface, state, releases".into(),
        routes: build.routes,
        schemas: build.schemas.take_definitions(true),
        ..Default::default()
    };
    OwnRoutes { pages: build.pages, manifest }
}

/// The named endpoints that every gateway has, name → path.
pub(super) fn endpoints(marker: &str) -> Vec<(&'static str, String)> {
    let own = |name, path: &str| (name, path.to_owned());
    vec![
        own("index", "/api"),
        own("openapi", OPENAPI),
        own("llms", LLMS),
        own("agentCard", AGENT_CARD),
        ("manifest", manifest_path(marker)),
        own("health", "/api/health"),
        own("stats", "/api/stats"),
        own("status", STATUS),
        own("changelog", CHANGELOG),
        own("docs", DOCS),
    ]
}

fn manifest_path(marker: &str) -> String {
    format!("/.well-known/{marker}.json")
}

struct Build {
    pages: Vec<MetaPage>,
    routes: Vec<RouteSpec>,
    schemas: SchemaGenerator,
}

impl Build {
    /// Adds a `GET` that anyone may call, and lends it to say more.
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
        route.answers.push(answer("application/json", summary, schema));
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

fn answer(content_type: &str, description: &str, schema: Value) -> Answer {
    Answer {
        status: 200,
        description: description.to_owned(),
        content_type: content_type.to_owned(),
        schema: Some(schema),
        codes: Vec::new(),
    }
}

fn discovery_routes(build: &mut Build, marker: &str) {
    use MetaPage::{AgentCard, Index, Llms, Manifest, OpenApi};
    build.json::<RouteIndex>(Index, "/api", "get_index", "Where everything is: links, chain and every route");
    let summary = "This interface as OpenAPI 3.1";
    let route = build.get(OpenApi, OPENAPI, "get_openapi", summary);
    route.answers.push(answer("application/json", summary, json!({ "type": "object" })));
    route.cache_control = Some(DISCOVERY_CACHE.into());

    for (path, operation) in [("/api/discovery/llms.txt", "get_llms_txt"), (LLMS, "get_llms_txt_at_root")] {
        let summary = "Briefing for language models (llms.txt)";
        let route = build.get(Llms, path, operation, summary);
        route.answers.push(answer("text/markdown", summary, json!({ "type": "string" })));
        route.cache_control = Some(DISCOVERY_CACHE.into());
    }
    for (path, operation) in
        [("/api/discovery/agent.json", "get_agent_card"), (AGENT_CARD, "get_well_known_agent_card")]
    {
        let route = build.json::<NetworkAgentCard>(AgentCard, path, operation, "Agent card of the network");
        route.cache_control = Some(DISCOVERY_CACHE.into());
    }
    let aliases =
        [(format!("/api/discovery/{marker}.json"), "get_manifest"), (manifest_path(marker), "get_well_known_manifest")];
    for (path, operation) in aliases {
        let summary = "Manifest: chain, contracts, endpoints, signing, limits, counters";
        build.json::<ServiceManifest>(Manifest, &path, operation, summary).cache_control = Some(DISCOVERY_CACHE.into());
    }
}

fn state_routes(build: &mut Build) {
    build.json::<Health>(
        MetaPage::Health,
        "/api/health",
        "get_health",
        "Whether the gateway lives, and its place on the chain",
    );
    build.json::<Stats>(MetaPage::Stats, "/api/stats", "get_stats", "Counters of the network");

    let route = build.json::<Status>(MetaPage::Status, STATUS, "get_status", "State of every service, with numbers");
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

    let route =
        build.json::<Changelog>(MetaPage::Changelog, CHANGELOG, "list_releases", "What changed, release by release");
    route.description =
        "Ask with `since`, the version you integrated against: newer releases are answered, and what is \
                         not released yet."
            .into();
    route.cache_control = Some("public, max-age=60".into());
    route.parameters = changelog_parameters();
    route.answers.push(answer("text/markdown", "the whole file, with `format=markdown`", json!({ "type": "string" })));
    route.answers.push(Answer {
        status: 400,
        description: String::new(),
        content_type: String::new(),
        schema: None,
        codes: vec!["bad_since".into(), "bad_format".into()],
    });
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
            json!({ "type": "string", "pattern": super::changelog::SINCE_PATTERN, "examples": ["0.5.0"] }),
        ),
        query(
            "limit",
            "Releases in the answer",
            json!({ "type": "integer", "minimum": 1, "maximum": super::changelog::LIMIT_MAX, "default": super::changelog::LIMIT_DEFAULT }),
        ),
        query(
            "format",
            "`markdown` answers the file itself",
            json!({ "type": "string", "enum": ["json", "markdown"], "default": "json" }),
        ),
    ]
}

fn docs_routes(build: &mut Build) {
    let text = || json!({ "type": "string" });
    let summary = "This interface as a page to read and to try";
    build.get(MetaPage::Docs, DOCS, "get_docs", summary).answers.push(answer("text/html", summary, text()));

    let names = super::docs::asset_names();
    let route = build.get(MetaPage::DocsAsset, "/docs/{file}", "get_docs_asset", "A part of the docs page");
    route.cache_control = Some(DISCOVERY_CACHE.into());
    route.parameters.push(Parameter {
        name: "file".into(),
        place: ParameterIn::Path,
        required: true,
        description: String::new(),
        schema: json!({ "type": "string", "enum": names }),
    });
    for content_type in ["text/css", "text/javascript", "image/svg+xml"] {
        route.answers.push(answer(content_type, "The file", text()));
    }
}
