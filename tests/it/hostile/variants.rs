//! Plugins that are wrong in what they define. They are linked, not loaded: one line each instead of a package each.

use plugin_api::{
    Address, ConfigError, Definition, HandlerError, HostError, HostHandle, Job, Json, Migration, NoConfig, Plugin,
    PluginContext, RequestContext, Route,
    abi::PluginModule_Ref,
    host::Identity,
    point::{self, AuthorName, AuthorsInput, Point},
};
use plugin_testing::{Value, json};
use std::{collections::BTreeMap, time::Duration};

macro_rules! variant {
    ($type:ident, $name:literal, $define:expr) => {
        pub struct $type;

        impl Identity for $type {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "1.0.0";
            const SUMMARY: &'static str = "Wrong in what it defines";
        }

        impl Plugin for $type {
            type Config = NoConfig;

            fn define() -> Definition<Self> {
                $define
            }

            fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
                Ok(Self)
            }
        }

        impl $type {
            pub fn module() -> PluginModule_Ref {
                plugin_api::host::object_module::<Self>()
            }
        }
    };
}

async fn answer<P: Send + Sync + 'static>(_: RequestContext<P>) -> Result<Json<i64>, HandlerError> {
    Ok(Json(1))
}

fn route<P: Plugin>(path: &'static str, operation: &str) -> [Route<P>; 1] {
    [Route::get(path, answer::<P>).public().operation(operation)]
}

/// Contributes a text, which is the shape of no point.
fn misshapes<P: Plugin, I, O>(definition: Definition<P>, point: Point<I, O>) -> Definition<P> {
    let point = Point::<Value, Value>::new(point.name());
    definition.contributes(point, |_, _| async { Ok::<_, HostError>(json!("a text")) })
}

async fn alice<P: Send + Sync + 'static>(
    _: PluginContext<P>,
    input: AuthorsInput,
) -> Result<BTreeMap<Address, AuthorName>, HostError> {
    let alice = AuthorName { name: Some("Alice".to_owned()), ..AuthorName::default() };
    Ok(input.addresses.into_iter().map(|address| (address, alice.clone())).collect())
}

variant!(NamesAuthors, "names_authors", Definition::new().contributes(point::AUTHORS, alice));
variant!(
    Misshapes,
    "misshapes",
    misshapes(misshapes(misshapes(Definition::new(), point::AUTHORS), point::LEADERBOARD), point::WORK)
);
variant!(PanicsInDefine, "undefined", std::panic::panic_any("in define"));
variant!(
    TakesRoute,
    "takes_route",
    Definition::new().routes(route("/api/hello/{who}", "take_route")).migrations([Migration::new(
        1,
        "first",
        "CREATE TABLE takes_route_a (id {{id}})"
    )])
);
variant!(TakesOwnRoute, "takes_own_route", Definition::new().routes(route("/api/status", "take_status")));
variant!(TakesOperation, "takes_operation", Definition::new().routes(route("/api/takes", "get_greeting")));
variant!(
    BadCron,
    "bad_cron",
    Definition::new().jobs([Job::cron("never", "61 * * * *", |_| async { Ok::<_, HostError>(()) })])
);
variant!(
    BadJob,
    "bad_job",
    Definition::new().jobs([Job::every("always", Duration::from_millis(1), |_| async { Ok::<_, HostError>(()) })])
);
variant!(
    FailsToMigrate,
    "fails_to_migrate",
    Definition::new().routes(route("/api/fails", "fail")).migrations([
        Migration::new(1, "first", "CREATE TABLE fails_to_migrate_a (id {{id}})"),
        Migration::new(
            2,
            "second",
            "CREATE TABLE fails_to_migrate_b (id {{id}}); INSERT INTO fails_to_migrate_c VALUES (1)"
        ),
    ])
);
variant!(
    MigratesOthers,
    "migrates_others",
    Definition::new().migrations([
        Migration::new(1, "first", "CREATE TABLE migrates_others_a (id {{id}})"),
        Migration::new(2, "second", "DROP TABLE hello_guests"),
    ])
);
variant!(TakesView, "takes_view", Definition::new().views(&["hello_guests_v1"]));
variant!(EarlyView, "early_view", Definition::new().views(&["forum_threads_v1"]));
variant!(SharesTables, "hello_x", Definition::new());
variant!(NeedsMissing, "needs_missing", Definition::new().requires(&["nobody"]));
variant!(CircleOne, "circle_one", Definition::new().requires(&["circle_two"]));
variant!(CircleTwo, "circle_two", Definition::new().requires(&["circle_one"]));
