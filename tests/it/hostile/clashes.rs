//! A plugin whose name comes first takes nothing from those that are there.

use super::{builder, report, variants};
use crate::storage::Engine;
use gateway::{lifecycle::OperatorAction, operators::PluginHistory};
use gateway_config::Config;
use gateway_plugins::{LoadedPlugin, PluginState};
use plugin_api::{
    ConfigError, Definition, HandlerError, HostHandle, Json, NoConfig, Plugin, RequestContext, Route,
    abi::PluginModule_Ref, host::Identity,
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
    plugin_api::host::object_module::<Aardvark>()
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn the_owner_of_a_prefix_keeps_its_routes(#[case] engine: Engine) {
    let gateway = builder(engine).await.foreign_plugin(aardvark()).plugin(hello::plugin_module()).open().await;
    assert_eq!(report(&gateway, "hello").await.state, PluginState::Serving);
    let refused = report(&gateway, "aardvark").await;
    let reason = "GET /api/hello/world, which overlaps /api/hello/{name}, is already one of hello; \
                  GET /api/hello/{*rest}, which overlaps /api/hello/{name}, is already one of hello";
    assert_eq!((refused.state, refused.reason.as_str()), (PluginState::Failed, reason));
    assert!(gateway.get("/api/hello/world").await.text().contains("world"));
    gateway.stop().await;
}

/// The newcomers are refused, not those whose views and tables they would take.
#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn the_owner_of_views_and_tables_keeps_them(#[case] engine: Engine) {
    let newcomers = [variants::EarlyView::module(), variants::SharesTables::module()];
    let owners = [forum::plugin_module(), hello::plugin_module()];
    let plugins = newcomers.into_iter().chain(owners);
    let gateway = plugins.fold(builder(engine).await, plugin_testing::Builder::plugin).open().await;
    for owner in ["forum", "hello"] {
        let serves = report(&gateway, owner).await;
        assert_eq!(serves.state, PluginState::Serving, "{owner}: {}", serves.reason);
    }
    let view = "the view forum_threads_v1 is named like one of forum";
    let tables = "its tables could not be told from those of hello: rename one of the two";
    for (newcomer, reason) in [("early_view", view), ("hello_x", tables)] {
        let refused = report(&gateway, newcomer).await;
        assert_eq!((refused.state, refused.reason.as_str()), (PluginState::Failed, reason));
    }
    assert_eq!(gateway.get("/api/forum/threads").await.status, 200);
    gateway.stop().await;
}

const OF_TAKES_ROUTE: &str = "GET /api/hello/{name} is already one of takes_route; \
     GET /api/hello/guests, which overlaps /api/hello/{who}, is already one of takes_route; \
     POST /api/hello/guests, which overlaps /api/hello/{who}, is already one of takes_route";
const OF_HELLO: &str = "GET /api/hello/{who} is already one of hello";

/// Two plugins that claim a route; none came with the gateway. On a new database hello would get it, whose prefix it has.
async fn strangers(engine: Engine, change: impl FnOnce(&mut Config)) -> TestGateway {
    let builder = builder(engine).await.foreign_plugin(hello::plugin_module());
    builder.foreign_plugin(variants::TakesRoute::module()).configure(change).start().await
}

fn set_enabled(config: &mut Config, plugin: &str, is_enabled: bool) {
    config.plugins.sections.entry(plugin.to_owned()).or_default().enabled = Some(is_enabled);
}

/// By more than the second that dates of migrations tell.
async fn let_takes_route_be_earlier(gateway: &TestGateway) {
    let earlier = "UPDATE _migrations SET applied_at = applied_at - 60 WHERE plugin = 'takes_route'";
    gateway.gateway().database.execute_batch(earlier).await.unwrap();
}

async fn assert_loses(gateway: &TestGateway, loser: &str, reason: &str) {
    let (winner, greeting) = if loser == "hello" { ("takes_route", "1") } else { ("hello", "world") };
    let serves = report(gateway, winner).await;
    assert_eq!((serves.state, serves.reason.as_str()), (PluginState::Serving, ""), "{winner}");
    let refused = report(gateway, loser).await;
    assert_eq!((refused.state, refused.reason.as_str()), (PluginState::Failed, reason), "{loser}");
    let answer = gateway.get("/api/hello/world").await;
    assert!(answer.status == 200 && answer.text().contains(greeting), "{}", answer.text());
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_start_asks_who_came_earlier_and_who_is_pinned(#[case] engine: Engine) {
    let gateway = strangers(engine, |config| set_enabled(config, "hello", false)).await;
    let gateway = gateway.restart_after(|config| set_enabled(config, "hello", true)).await;
    assert_loses(&gateway, "hello", OF_TAKES_ROUTE).await;
    let pin = Some("0".repeat(64));
    let gateway = gateway
        .restart_after(|config| config.plugins.sections.entry("hello".into()).or_default().sha256.clone_from(&pin))
        .await;
    assert_loses(&gateway, "takes_route", OF_HELLO).await;

    // Both have tables now: the first migration of each decides.
    let_takes_route_be_earlier(&gateway).await;
    let gateway =
        gateway.restart_after(|config| config.plugins.sections.entry("hello".into()).or_default().sha256 = None).await;
    assert_loses(&gateway, "hello", OF_TAKES_ROUTE).await;
    gateway.stop().await;
}

/// Not even an earlier one takes a route from a plugin that serves: not by SIGHUP, and not by an operator's word.
#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn who_serves_keeps_its_routes(#[case] engine: Engine) {
    let gateway = strangers(engine, |config| set_enabled(config, "hello", false)).await;
    let_takes_route_be_earlier(&gateway).await;
    let swap = |config: &mut Config| {
        set_enabled(config, "hello", true);
        set_enabled(config, "takes_route", false);
    };
    let gateway = gateway.restart_after(swap).await;
    assert_eq!(report(&gateway, "takes_route").await.state, PluginState::Disabled);
    let mut both = Config::clone(&gateway.gateway().config);
    set_enabled(&mut both, "takes_route", true);
    gateway.gateway().reload(both).await;
    assert_loses(&gateway, "takes_route", OF_HELLO).await;
    let outcome = gateway.gateway().plugins.operate(OperatorAction::Enable, "takes_route", "the test").await.unwrap();
    assert_eq!((outcome.is_reached, outcome.report.reason.as_str()), (false, OF_HELLO));
    assert_loses(&gateway, "takes_route", OF_HELLO).await;
    gateway.stop().await;
}

/// `gateway check` tries plugins on an empty database: who came first, the configured one says.
#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_dry_run_knows_who_came_first(#[case] engine: Engine) {
    let earlier = builder(engine).await.plugin(variants::TakesRoute::module()).start().await;
    let mut config = Config::clone(&earlier.gateway().config);
    config.plugins.sections.entry("hello".into()).or_default().enabled = Some(true);
    let history = PluginHistory::peek(&config).await;
    for (history, late, early) in
        [(history, "hello", "takes_route"), (PluginHistory::default(), "takes_route", "hello")]
    {
        let modules = [hello::plugin_module(), variants::TakesRoute::module()];
        let loaded = modules.map(|module| LoadedPlugin::linked(module).unwrap());
        let report = gateway::dry_run_start(config.clone(), loaded.into(), history).await;
        let failed: Vec<&str> = report.failed.iter().map(|failed| failed.report.name.as_str()).collect();
        assert_eq!(failed, [late], "{report:?}");
        let reason = &report.failed[0].reasons[0];
        assert!(reason.ends_with(&format!(" is already one of {early}")), "{reason}");
    }
    earlier.stop().await;
}
