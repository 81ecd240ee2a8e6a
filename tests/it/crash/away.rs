//! PostgreSQL goes away and comes back: stopped, which refuses connections, and frozen, which keeps them open in silence.

use super::{Dice, Ledger, Load, Outcome, StoredRows, Write, send, sequenced, small_setup};
use crate::e2e::{Site, StreamReader, in_time};
use futures_util::future::join_all;
use gateway_tests::{
    postgres::PrivatePostgres,
    process::{GatewayProcess, LIMIT},
};
use plugin_testing::{TestGateway, Value, Wallet};
use rstest::rstest;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
enum Absence {
    Stopped,
    Frozen,
}

impl Absence {
    fn begin(self, server: &mut PrivatePostgres) {
        match self {
            Self::Stopped => server.stop().unwrap(),
            Self::Frozen => server.freeze().unwrap(),
        }
    }

    fn end(self, server: &mut PrivatePostgres) {
        match self {
            Self::Stopped => server.start_again().unwrap(),
            Self::Frozen => server.thaw().unwrap(),
        }
    }
}

const STATEMENT_MS: u64 = 1000;
/// `plugins.fence_faults`.
const FENCE_FAULTS: usize = 20;
/// The time limit of a statement, the wait before it, and a margin for slow machines.
const ANSWER: Duration = Duration::from_secs(20);

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgres_is_away_writes_are_refused_and_all_recovers(
    #[values(Absence::Stopped, Absence::Frozen)] absence: Absence,
) {
    let mut server = PrivatePostgres::start().unwrap();
    let setup = small_setup()
        .set("database.url", server.create_database().await.unwrap())
        .set("database.statement_timeout_ms", STATEMENT_MS)
        .set("database.transaction_timeout_ms", 2 * STATEMENT_MS)
        .set("activity.heartbeat_s", 1);
    let mut gateway = setup.start().await.unwrap();
    let sites = [Site::of(&gateway)];
    let wallets: Vec<Wallet> = (0..6).map(Wallet::new).collect();
    let dice = Dice::new();
    let stream = sites[0].follow("/api/stream?sinceId=0", None).await;
    let (mut ledger, load) = (Ledger::default(), Load::new(&sites, "before"));

    // It goes in the middle of writes.
    let going = async {
        load.reached(60).await;
        absence.begin(&mut server);
        load.end();
    };
    let (written, ()) = tokio::join!(load.run(&wallets, &dice, Vec::new()), going);
    ledger.writes.extend(written);
    while_away(&mut gateway, &sites[0], &mut ledger, &wallets).await;
    absence.end(&mut server);

    let back = Instant::now();
    let probe = async || sites[0].get("/api/health").await.json()["ok"] == true;
    TestGateway::eventually(LIMIT, "it serves again", probe).await;
    eprintln!("{absence:?}: healthy {:?} after the server came back", back.elapsed());
    assert!(gateway.is_running());
    let load = Load::new(&sites, "after");
    let end = async {
        load.reached(60).await;
        load.end();
    };
    let retries = ledger.take_unknown();
    let (written, ()) = tokio::join!(load.run(&wallets, &dice, retries), end);
    ledger.writes.extend(written);
    assert_eq!(ledger.count(Outcome::Unknown), 0, "all are answered now");

    sequenced(&setup).await;
    let stored = StoredRows::read(&setup).await;
    ledger.compare(&stored);
    assert_eq!(follow_to(stream, &sites[0], *stored.event_ids.last().unwrap()).await, stored.event_ids);
    ledger.replay(&sites[0], &stored).await;
}

/// Writes, reads and the health page while the database does not respond.
async fn while_away(gateway: &mut GatewayProcess, site: &Site, ledger: &mut Ledger, wallets: &[Wallet]) {
    let asked = Instant::now();
    let mut writes: Vec<Write> = wallets.iter().map(|wallet| Write::thread(wallet, "nobody hears this")).collect();
    let refuse = async |write: &mut Write| {
        let answer = site.post(&write.path, &write.body).await;
        assert_eq!((answer.status, answer.code().as_str()), (503, "unavailable"), "{}", answer.text());
        assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
        assert!(answer.json()["hint"].as_str().unwrap().contains("repeat the same request"), "{}", answer.text());
    };
    join_all(writes.iter_mut().map(refuse)).await;
    let answer = site.get("/api/forum/threads").await;
    assert_eq!((answer.status, answer.code().as_str()), (503, "unavailable"), "{}", answer.text());
    assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
    // Plugins contribute to these pages and fail, more often than the fence allows for faults of their own.
    let pages = join_all((0..FENCE_FAULTS + 5).map(|_| site.get("/api/stats"))).await;
    assert!(
        pages.iter().all(|page| page.status < 500),
        "{:?}",
        pages.iter().map(|page| page.status).collect::<Vec<_>>()
    );
    let health = site.get("/api/health").await;
    assert_eq!(health.json()["ok"], false, "{}", health.text());
    assert!(asked.elapsed() < 3 * ANSWER, "{:?}", asked.elapsed());
    assert!(gateway.is_running());
    ledger.writes.append(&mut writes);
}

/// Ids from an open stream and, should it end, from the next one, as a browser does it.
async fn follow_to(stream: StreamReader, site: &Site, last: i64) -> Vec<i64> {
    let (mut stream, mut ids) = (stream, Vec::new());
    in_time(async {
        while ids.last() != Some(&last) {
            match stream.next().await {
                Some(crate::e2e::Part::Event(event)) => ids.push(event.id),
                Some(crate::e2e::Part::Comment(_)) => {}
                None => {
                    let position = ids.last().copied().unwrap_or_default().to_string();
                    stream = site.follow("/api/stream", Some(position.as_bytes())).await;
                }
            }
        }
    })
    .await;
    ids
}

/// A database that is unavailable at the start is reported in one line, and no process is left running.
#[tokio::test]
async fn a_gateway_does_not_start_without_its_database() {
    let mut server = PrivatePostgres::start().unwrap();
    let url = server.create_database().await.unwrap();
    server.stop().unwrap();
    let setup = small_setup().set("database.url", url).set("database.statement_timeout_ms", STATEMENT_MS);
    let ended = in_time(tokio::task::spawn_blocking({
        let setup = setup.clone();
        move || setup.run(&["run"]).unwrap()
    }));
    let ended = ended.await.unwrap();
    assert!(ended.code.is_some_and(|code| code != 0), "{ended:?}");
    assert!(ended.stderr.contains("database"), "{ended:?}");
    server.start_again().unwrap();
    let gateway = setup.start().await.unwrap();
    let write = Write::thread(&Wallet::new(1), "now it hears");
    let answer: Option<(u16, String, Value)> = send(&Site::of(&gateway), &write).await;
    assert_eq!(answer.unwrap().0, 201);
}
