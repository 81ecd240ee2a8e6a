//! Transactions that cannot run again: for plugins that declare them, which keep the lock of the plugin on PostgreSQL.

use super::post;
use gateway_storage::{Isolation, Scope};
use plugin_api::host::object_module as module;
use plugin_api::{
    Address, ConfigError, Definition, Fetch, HandlerError, HostError, HostErrorCode, HostHandle, Json, Migration,
    NoConfig, Path, Plugin, RequestContext, Route, Tx, host::Identity, response::Problem, sql,
};
use plugin_testing::{TestGateway, TestResponse, json};
use std::collections::BTreeMap;

struct Declares;
struct Conceals;

macro_rules! plugin {
    ($name:ident $text:literal $declare:expr) => {
        impl Identity for $name {
            const NAME: &'static str = $text;
            const VERSION: &'static str = "1.0.0";
            const SUMMARY: &'static str = "Writes in every way";
        }

        impl Plugin for $name {
            type Config = NoConfig;

            fn define() -> Definition<Self> {
                let table = concat!("CREATE TABLE ", $text, "_notes (way TEXT NOT NULL)");
                let definition = Definition::new()
                    .routes([Route::post(concat!("/api/", $text, "/notes/{way}"), write::<Self>)
                        .public()
                        .operation(concat!("write_", $text))])
                    .migrations([Migration::new(1, "create", table)]);
                $declare(definition)
            }

            fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
                Ok(Self)
            }
        }
    };
}

plugin!(Declares "declares" Definition::own_transactions);
plugin!(Conceals "conceals" std::convert::identity);

async fn note<P: Plugin>(tx: &Tx, way: &str) -> Result<u64, HostError> {
    tx.execute(sql(format!("INSERT INTO {}_notes (way) VALUES ($1)", P::NAME)).bind(way)).await
}

/// Writes a row; tells what refused it.
async fn write<P: Plugin>(cx: RequestContext<P>, Path(way): Path<String>) -> Result<Json<String>, HandlerError> {
    let written = match way.as_str() {
        "write" => cx.write(async move |tx| Ok(note::<P>(tx, "write").await?)).await.map_err(|error: HandlerError| {
            let HandlerError::Host(error) = error else { panic!("{error:?}") };
            error
        }),
        "task" => cx.plugin_context().write(async |tx| note::<P>(tx, "task").await).await,
        "begin" => {
            let tx = cx.begin();
            match note::<P>(&tx, "begin").await {
                Ok(changes) => tx.commit().await.map(|()| changes),
                Err(error) => Err(error),
            }
        }
        "transaction" => note::<P>(&cx.transaction(), "transaction").await,
        "fetch" | "capability" | "collect" | "blocking" | "second" | "spawn" | "count" => {
            let host = cx.plugin_context().clone();
            cx.write(async move |tx| {
                note::<P>(tx, &way).await?;
                reach(&host, &way).await.map(|()| 1).map_err(HandlerError::from)
            })
            .await
            .map_err(|error: HandlerError| {
                let HandlerError::Host(error) = error else { panic!("{error:?}") };
                error
            })
        }
        _ => return Err(Problem::new(404, "not_found", "no such way").into()),
    };
    match written {
        Ok(changes) => Ok(Json(format!("{changes} written"))),
        Err(error) if error.is(HostErrorCode::Refused) => Ok(Json(error.message.into_string())),
        Err(error) => Err(error.into()),
    }
}

/// Uses the gateway in a way that the closure of a write may not.
async fn reach(host: &HostHandle, way: &str) -> Result<(), HostError> {
    match way {
        "fetch" => Fetch::get("https://example.com").send(host).await.map(drop).map_err(HostError::from),
        "capability" => host.serves(["/api/health"]).await.map(drop),
        "collect" => host.authors([Address::ZERO]).await.map(drop),
        "blocking" => host.blocking(|| ()).await,
        "second" => host.write(async |_| Ok(())).await,
        "count" => {
            host.count("notes", &BTreeMap::new(), 1);
            Ok(())
        }
        _ => {
            host.spawn("later", async { panic!("it may run twice") });
            Ok(())
        }
    }
}

async fn write_by(gateway: &TestGateway, plugin: &str, way: &str) -> TestResponse {
    post(gateway, &format!("/api/{plugin}/notes/{way}"), json!(null)).await
}

async fn ways(gateway: &TestGateway, plugin: &str) -> Vec<String> {
    gateway.rows(&format!("SELECT way FROM {plugin}_notes ORDER BY way")).await
}

fn isolation(gateway: &TestGateway, plugin: &str) -> Isolation {
    let active = gateway.gateway().active.list();
    let found = active.iter().find(|active| active.name() == plugin).unwrap();
    match &found.scope {
        Scope::Plugin { isolation, .. } => *isolation,
        Scope::Host => panic!("{plugin} has the scope of the gateway"),
    }
}

#[tokio::test]
async fn what_cannot_run_again_is_declared_or_refused() {
    for gateway in TestGateway::each_database(&[module::<Declares>(), module::<Conceals>()]).await {
        for way in ["write", "task", "begin", "transaction"] {
            let answer = write_by(&gateway, "declares", way).await;
            assert_eq!((answer.status, answer.json()), (200, json!("1 written")), "{way}");
        }
        assert_eq!(ways(&gateway, "declares").await.len(), 4);

        for way in ["write", "task"] {
            assert_eq!(write_by(&gateway, "conceals", way).await.json(), json!("1 written"), "{way}");
        }
        for way in ["begin", "transaction"] {
            let answer = write_by(&gateway, "conceals", way).await.json();
            assert!(
                answer.as_str().unwrap().contains("add `.own_transactions()` to its definition"),
                "{way}: {answer}"
            );
        }
        assert_eq!(ways(&gateway, "conceals").await.len(), 2, "nothing is written by what is refused");
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

/// It may run again, and on SQLite all other writers wait for it.
#[tokio::test]
async fn a_write_reaches_nothing_but_its_transaction() {
    for gateway in TestGateway::each_database(&[module::<Conceals>()]).await {
        for way in ["fetch", "capability", "collect", "blocking", "second"] {
            let answer = write_by(&gateway, "conceals", way).await.json();
            assert!(
                answer.as_str().unwrap().contains("within a write, whose closure may run again"),
                "{way}: {answer}"
            );
        }
        assert_eq!(ways(&gateway, "conceals").await, Vec::<String>::new(), "nothing is written by what is refused");
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        // It returns no result: the write goes on, and the fault names the task.
        assert_eq!(write_by(&gateway, "conceals", "spawn").await.json(), json!("1 written"));
        let faults = gateway.faults().await;
        assert!(
            matches!(&*faults, [fault] if fault.contains("later") && fault.contains("within a write")),
            "{faults:?}"
        );
        gateway.stop().await;
    }
}

/// One kind for each plugin: what relies on the lock must not meet a transaction without it.
#[tokio::test]
async fn the_declaration_decides_how_transactions_are_kept_apart() {
    let builder = TestGateway::builder().plugin(module::<Declares>()).plugin(module::<Conceals>());
    let gateway = builder.start().await;
    assert_eq!(isolation(&gateway, "declares"), Isolation::PluginLock);
    assert_eq!(isolation(&gateway, "conceals"), Isolation::Serializable);
    gateway.stop().await;
}
