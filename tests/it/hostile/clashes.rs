//! A plugin whose name comes first takes nothing from those that are there.

use super::report;
use crate::storage::Engine;
use gateway_plugins::PluginState;
use plugin_api::{
    ConfigError, Definition, HandlerError, HostHandle, Json, NoConfig, Plugin, RequestContext, Route,
    abi::{PluginModule, PluginModule_Ref},
    abi_stable::prefix_type::PrefixTypeTrait as _,
    host::Identity,
};
use plugin_testing::TestGateway;
use rstest::rstest;

struct Aardvark;

impl Identity for Aardvark {
    const NAME: &'static str = "aardvark";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Wants greetings of hello by paths that no route of it has";
}

impl Plugin for Aardvark {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new().routes([
            Route::get("/api/hello/world", greet_instead).public().operation("greet_world"),
            Route::get("/api/hello/{*rest}", greet_instead).public().operation("greet_all"),
        ])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn greet_instead(_: RequestContext<Aardvark>) -> Result<Json<i64>, HandlerError> {
    Ok(Json(0))
}

fn aardvark() -> PluginModule_Ref {
    let module = PluginModule {
        manifest: plugin_api::host::object_manifest::<Aardvark>,
        construct: plugin_api::host::object_new::<Aardvark>,
    };
    module.leak_into_prefix()
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn the_owner_of_a_prefix_keeps_its_routes(#[case] engine: Engine) {
    let builder = match engine {
        Engine::Sqlite => TestGateway::builder(),
        Engine::Postgres => TestGateway::postgres_builder().await.expect("tests have a PostgreSQL server"),
    };
    let gateway = builder.foreign_plugin(aardvark()).plugin(hello::plugin_module()).open().await;
    assert_eq!(report(&gateway, "hello").await.state, PluginState::Serving);
    let refused = report(&gateway, "aardvark").await;
    let reason = "GET /api/hello/world, which overlaps /api/hello/{name}, is already one of hello; \
                  GET /api/hello/{*rest}, which overlaps /api/hello/{name}, is already one of hello";
    assert_eq!((refused.state, refused.reason.as_str()), (PluginState::Failed, reason));
    assert!(gateway.get("/api/hello/world").await.text().contains("world"));
    gateway.stop().await;
}
