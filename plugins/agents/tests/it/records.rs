//! A test plugin that serves what other plugins serve about agents.

use plugin_api::{
    ConfigError, Definition, HandlerError, HostHandle, Json, NoConfig, Plugin, RequestContext, Route,
    abi::PluginModule_Ref, host::Identity,
};

const PATHS: [(&str, &str); 10] = [
    ("/a/{agent}/.well-known/agent.json", "card"),
    ("/a/{agent}/invoke", "invoke"),
    ("/api/x402/supported", "terms"),
    ("/api/agents/{agent}/audit.jsonl", "audit"),
    ("/api/cv/{agent}/credential.json", "credential"),
    ("/api/cv/{agent}/verify", "verify"),
    ("/api/cv/{agent}/badge.svg", "badge"),
    ("/api/memory/anchors", "anchors"),
    ("/api/network", "network"),
    ("/api/network/similar/{agent}", "similar"),
];

struct Records;

impl Identity for Records {
    const NAME: &'static str = "records";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Serves records of agents";
}

impl Plugin for Records {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let route = |(path, name): (&'static str, &'static str)| {
            Route::get(path, record).public().operation(&format!("get_{name}"))
        };
        let document = Route::get("/api/cv/{agent}", record).public().operation("get_cv");
        Definition::new().routes(PATHS.map(route)).routes([document])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn record(_: RequestContext<Records>) -> Result<Json<String>, HandlerError> {
    Ok(Json("a record".to_owned()))
}

pub fn plugin_module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Records>()
}
