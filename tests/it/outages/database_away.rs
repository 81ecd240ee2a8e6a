//! PostgreSQL is away for half a minute: stopped, which refuses connections, and frozen, which keeps them open in silence.

use super::Views;
use crate::{
    crash::{Write, send, small_setup},
    e2e::THREADS,
};
use gateway_tests::{postgres::PrivatePostgres, process::LIMIT};
use plugin_testing::{TestGateway, Value, Wallet};
use rstest::rstest;
use std::time::{Duration, Instant};

const AWAY: Duration = Duration::from_secs(30);
/// At once, with a margin for slow machines. Nobody waits for the five seconds of a statement.
const AT_ONCE: Duration = Duration::from_secs(4);

#[rstest]
#[case::stopped(PrivatePostgres::stop, PrivatePostgres::start_again, "no connection to the server")]
#[case::frozen(PrivatePostgres::freeze, PrivatePostgres::thaw, "the server does not answer")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgres_is_away_everybody_is_told_at_once(
    #[case] leave: fn(&mut PrivatePostgres) -> anyhow::Result<()>,
    #[case] come_back: fn(&mut PrivatePostgres) -> anyhow::Result<()>,
    #[case] reason: &str,
) {
    let mut server = PrivatePostgres::start().unwrap();
    let setup = small_setup().set("database.url", server.create_database().await.unwrap());
    let gateway = setup.start().await.unwrap();
    let views = Views::of(&gateway);
    views.becomes_ready(true).await;
    let wallet = Wallet::new(1);
    assert_eq!(send(&views.public, &Write::thread(&wallet, "before")).await.unwrap().0, 201);

    leave(&mut server).unwrap();
    let left = Instant::now();
    views.becomes_ready(false).await;
    // A server that is stopped says so first, and refuses connections a moment later.
    let told = async || views.operator.get("/ready").await.text().contains(reason);
    TestGateway::eventually(LIMIT, reason, told).await;
    assert!(left.elapsed() < Duration::from_secs(15), "noticed after {:?}", left.elapsed());
    while left.elapsed() < AWAY {
        is_told(&views, &wallet, reason).await;
    }
    views.is_alive().await;

    come_back(&mut server).unwrap();
    views.becomes_ready(true).await;
    assert_eq!(send(&views.public, &Write::thread(&wallet, "after")).await.unwrap().0, 201);
    assert_eq!(views.public.get(THREADS).await.json()["total"], 2);
    let page = views.page().await;
    assert!(page.contains("badge good\">ready</span>"), "{page}");
    // Until a gateway gives positions to events again, the status calls the database degraded.
    let is_well = async || !views.degraded().await.contains(&"db".to_owned());
    TestGateway::eventually(LIMIT, "the status is well again", is_well).await;
}

/// A read, a write, the status and the operator's page, each with the reason and without a wait.
async fn is_told(views: &Views, wallet: &Wallet, reason: &str) {
    let asked = Instant::now();
    let read = views.public.get(THREADS).await;
    assert_eq!((read.status, read.code().as_str()), (503, "unavailable"), "{}", read.text());
    assert!(read.text().contains(reason), "{}", read.text());
    assert!(asked.elapsed() < AT_ONCE, "a read after {:?}", asked.elapsed());

    let asked = Instant::now();
    let (status, code, body): (u16, String, Value) =
        send(&views.public, &Write::thread(wallet, "nobody hears this")).await.unwrap();
    assert_eq!((status, code.as_str()), (503, "unavailable"), "{body}");
    assert!(body["error"].as_str().unwrap().contains(reason), "{body}");
    assert!(asked.elapsed() < AT_ONCE, "a write after {:?}", asked.elapsed());

    let asked = Instant::now();
    let page = views.page().await;
    assert!(page.contains(reason) && page.contains("data-action=\"disable\""), "{page}");
    assert!(asked.elapsed() < AT_ONCE, "the page after {:?}", asked.elapsed());

    let asked = Instant::now();
    assert!(views.degraded().await.contains(&"db".to_owned()));
    assert!(asked.elapsed() < AT_ONCE, "the status after {:?}", asked.elapsed());
}
