//! Searches that take long: they leave room for other requests.

use plugin_api::{
    ConfigError, Definition, HandlerError, HostHandle, JsonSchema, NoConfig, Plugin, QueryString, RequestContext,
    Route, abi::PluginModule_Ref, host::Identity, response::NoContent,
};
use plugin_testing::TestGateway;
use serde::Deserialize;
use std::{num::NonZeroUsize, thread, time::Duration};

const BOOKS: &str = "/api/library/books";

struct Library;

impl Identity for Library {
    const NAME: &'static str = "library";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Searches without end";
}

impl Plugin for Library {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new().routes([Route::get(BOOKS, list_books).public().timeout_ms(500)])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Filter {
    q: Option<String>,
}

async fn list_books(
    cx: RequestContext<Library>,
    QueryString(Filter { q }): QueryString<Filter>,
) -> Result<NoContent, HandlerError> {
    if q.is_some_and(|q| !q.is_empty()) {
        // The clock of the test stands still.
        cx.sleep(Duration::from_secs(60)).await;
    }
    Ok(NoContent)
}

fn plugin_module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Library>()
}

/// As many run as keep a processor free, some of those that wait get the places of these when their time is over, and the
/// last waits in vain.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_without_a_place_is_refused_and_other_requests_go_on() {
    let gateway = TestGateway::builder().plugin(plugin_module()).start().await;
    let places = thread::available_parallelism().map_or(1, NonZeroUsize::get).saturating_sub(1).max(1);
    let endless = format!("{BOOKS}?q=endless");
    let searches = (0..=2 * places).map(|_| gateway.get(&endless));
    let others = async {
        for path in [BOOKS, &format!("{BOOKS}?q=")] {
            assert_eq!(gateway.get(path).await.status, 204, "{path}");
        }
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(searches), others);
    let count = |code: &str| answers.iter().filter(|answer| answer.json()["code"] == code).count();
    assert!(count("timeout") >= places && count("busy") >= 1, "{answers:?}");
    assert_eq!(count("timeout") + count("busy"), answers.len(), "{answers:?}");
    let mut busy = answers.iter().filter(|answer| answer.json()["code"] == "busy");
    assert!(busy.all(|answer| answer.status == 503 && answer.header("retry-after") == "1"));
    gateway.stop().await;
}
