//! Services that are called within the caller's transaction.

use plugin_api::host::object_module as module;
use plugin_api::{
    ConfigError, Definition, HandlerError, HostError, HostErrorCode, HostHandle, Json, Migration, NoConfig, Path,
    Plugin, PluginContext, Query as _, RequestContext, Route, Tx, host::Identity, point::Service, sql,
    stream::EventBuilder,
};
use plugin_testing::{TestGateway, Value, json};
use std::{sync::Mutex, time::Duration};

/// Takes points from the one account; the answer is whether there were enough.
const SPEND: Service<i64, bool> = Service::new("points.spend");
const BALANCE: Service<(), i64> = Service::new("points.balance");

struct Points;
struct Game;

macro_rules! identity {
    ($($plugin:ident $name:literal)*) => {$(
        impl Identity for $plugin {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "1.0.0";
            const SUMMARY: &'static str = "A plugin of this test";
        }
    )*};
}
identity! { Points "points" Game "game" }

/// A transaction that the provider did not let go.
static HELD: Mutex<Option<Tx>> = Mutex::new(None);

impl Plugin for Points {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(
                1,
                "create",
                "CREATE TABLE points_account (id BIGINT NOT NULL PRIMARY KEY, points BIGINT NOT NULL);
                 INSERT INTO points_account VALUES (1, 10)",
            )])
            .publishes(&["points.spend"])
            .provides_in_write(SPEND, spend)
            .provides(BALANCE, async |cx: PluginContext<Points>, ()| {
                cx.db().one(sql("SELECT points FROM points_account")).await
            })
            .routes([Route::get("/api/points", async |cx: RequestContext<Points>| {
                Ok::<_, HandlerError>(Json(cx.db().one::<i64>(sql("SELECT points FROM points_account")).await?))
            })
            .public()
            .cached()
            .operation("get_points")])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn spend(cx: PluginContext<Points>, tx: Tx, points: i64) -> Result<bool, HostError> {
    match points {
        -4 => drop(cx.serves(["/api/points"]).await?),
        -1 => {
            tx.execute(sql("DELETE FROM game_moves")).await?;
        }
        -2 => *HELD.lock().unwrap() = Some(tx.clone()),
        -3 => EventBuilder::new("game.move", &json!({})).publish(&tx)?,
        _ => {}
    }
    let spend = sql("UPDATE points_account SET points = points - $1 WHERE points >= $1 AND $1 > 0");
    let is_spent = tx.execute(spend.bind(points)).await? == 1;
    if is_spent {
        EventBuilder::new("points.spend", &json!({ "points": points })).publish(&tx)?;
    }
    Ok(is_spent)
}

impl Plugin for Game {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(1, "create", "CREATE TABLE game_moves (id {{id}}, points BIGINT NOT NULL)")])
            .publishes(&["game.move"])
            .uses(SPEND)
            .uses(BALANCE)
            .routes([
                Route::post("/api/game/{points}/{what}", make_move).public(),
                Route::post("/api/spend/{points}", spend_alone).public(),
            ])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn make_move(
    cx: RequestContext<Game>,
    Path((points, what)): Path<(i64, String)>,
) -> Result<Json<Value>, HandlerError> {
    let is_spent = cx
        .write(async move |tx| {
            tx.execute(sql("INSERT INTO game_moves (points) VALUES ($1)").bind(points)).await?;
            EventBuilder::new("game.move", &json!({ "points": points })).publish(tx)?;
            let is_spent = match what.as_str() {
                "balance" => tx.call(BALANCE, &()).await? > 0,
                _ => tx.call(SPEND, &points).await?,
            };
            let held = HELD.lock().unwrap().take();
            if let Some(held) = held {
                held.execute(sql("UPDATE points_account SET points = 1000000")).await?;
            }
            if what == "fail" {
                return Err(HostError::new(HostErrorCode::Busy, "the move is taken back").into());
            }
            Ok::<_, HandlerError>(is_spent)
        })
        .await?;
    Ok(Json(json!(is_spent)))
}

async fn spend_alone(cx: RequestContext<Game>, Path(points): Path<i64>) -> Result<Json<bool>, HandlerError> {
    Ok(Json(cx.call(SPEND, &points).await?))
}

async fn gateways() -> Vec<TestGateway> {
    TestGateway::each_database(&[module::<Points>(), module::<Game>()]).await
}

async fn state(gateway: &TestGateway) -> (String, usize) {
    let points = gateway.get("/api/points").await.text();
    (points, gateway.rows("SELECT points FROM game_moves").await.len())
}

async fn post(gateway: &TestGateway, path: &str) -> (u16, Value) {
    let answer = gateway.send("POST", path, &[], "").await;
    (answer.status, answer.json())
}

async fn events(gateway: &TestGateway) -> Vec<String> {
    gateway.events().await.into_iter().map(|event| event.kind).collect()
}

#[tokio::test]
async fn both_plugins_write_or_none_does() {
    for gateway in gateways().await {
        assert_eq!(state(&gateway).await, ("10".to_owned(), 0));
        assert_eq!(post(&gateway, "/api/game/3/keep").await, (200, json!(true)));
        // The cached answer of the provider is not used any more.
        assert_eq!(state(&gateway).await, ("7".to_owned(), 1));
        assert_eq!(events(&gateway).await, ["game.move", "points.spend"]);

        assert_eq!(post(&gateway, "/api/game/3/fail").await.0, 503);
        assert_eq!(state(&gateway).await, ("7".to_owned(), 1));
        assert_eq!(post(&gateway, "/api/game/8/keep").await, (200, json!(false)));
        assert_eq!(state(&gateway).await, ("7".to_owned(), 2));
        assert_eq!(events(&gateway).await.len(), 3);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn outside_of_a_write_it_has_a_transaction_of_its_own() {
    for gateway in gateways().await {
        assert_eq!(post(&gateway, "/api/spend/4").await, (200, json!(true)));
        assert_eq!(post(&gateway, "/api/spend/7").await, (200, json!(false)));
        assert_eq!(state(&gateway).await, ("6".to_owned(), 0));
        let spends = (0..20).map(|_| post(&gateway, "/api/spend/1"));
        let spent = futures_util::future::join_all(spends).await;
        assert_eq!(spent.iter().filter(|(_, is_spent)| *is_spent == json!(true)).count(), 6, "{spent:?}");
        assert_eq!(state(&gateway).await, ("0".to_owned(), 0));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_a_provider_may_not_do_undoes_the_write() {
    for gateway in gateways().await {
        for (path, fault) in [
            ("/api/game/-1/keep", "points: error in service points.spend: "),
            ("/api/game/-2/keep", "game: error in make_move: "),
            ("/api/game/-3/keep", "points: error in service points.spend: "),
            ("/api/game/1/balance", "game: error in make_move: "),
            ("/api/spend/-4", "points: error in service points.spend: routes within a write"),
        ] {
            let (status, answer) = post(&gateway, path).await;
            assert!(status >= 500, "{path}: {answer}");
            let faults = gateway.faults().await;
            assert!(faults.iter().any(|text| text.starts_with(fault)), "{path}: {faults:?}");
            assert_eq!(state(&gateway).await, ("10".to_owned(), 0), "{path}");
        }
        TestGateway::eventually(Duration::from_secs(5), "it serves on", async || {
            post(&gateway, "/api/game/1/keep").await == (200, json!(true))
        })
        .await;
        gateway.stop().await;
    }
}
