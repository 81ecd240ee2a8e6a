//! A streaming standby answers reads, and only when it has what they need; whatever happens to it, the primary answers instead.

use super::{NOTES, count, notebook, without_sync};
use gateway_telemetry::MetricsRecorder;
use gateway_tests::{postgres::PrivatePostgres, process::LIMIT};
use plugin_testing::{TestGateway, TestResponse, json};
use sqlx::{Connection as _, Executor as _, PgConnection};
use std::time::{Duration, Instant};

/// How long a standby is behind.
const BEHIND: Duration = Duration::from_millis(640);

struct Fixture {
    metrics: MetricsRecorder,
    _primary: PrivatePostgres,
    standby: PrivatePostgres,
    standby_url: String,
    /// On one database; both read from the standby.
    gateways: [TestGateway; 2],
}

impl Fixture {
    async fn start(staleness_ms: u64) -> Self {
        let metrics = MetricsRecorder::install().expect("each test has a process of its own");
        let primary = PrivatePostgres::start().unwrap();
        let url = primary.create_database().await.unwrap();
        let standby = primary.start_standby().unwrap();
        let standby_url = standby.url(database_of(&url));
        let start = async || {
            let gateway = TestGateway::builder().plugin(notebook::plugin_module()).configure(without_sync);
            let (url, standby_url) = (url.clone(), standby_url.clone());
            let configure = move |config: &mut gateway_config::Config| {
                config.database.url = Some(url.into());
                config.database.read_urls = vec![standby_url.into()];
                config.database.staleness_ms = staleness_ms;
            };
            gateway.configure(configure).start().await
        };
        let gateways = [start().await, start().await];
        Self { metrics, _primary: primary, standby, standby_url, gateways }
    }

    /// How many reads ended so: at the `replica`, or at the primary, and why.
    fn reads(&self, result: &str) -> u64 {
        let line = format!("gateway_read_replica_reads_total{{result=\"{result}\"}} ");
        let text = self.metrics.render();
        text.lines().find_map(|text| text.strip_prefix(&line)).map_or(0, |count| count.parse().unwrap())
    }

    /// Writes at one gateway; returns the position.
    async fn add(&self, number: usize) -> String {
        let added = self.gateways[number % 2].send("POST", NOTES, &[], json!({ "body": "x" }).to_string()).await;
        assert_eq!(added.status, 204, "{}", added.text());
        let position = added.header("x-service-position");
        assert!(!position.is_empty(), "a client needs it");
        position.to_owned()
    }

    /// Reads at the other gateway with this position.
    async fn get(&self, number: usize, position: &str) -> TestResponse {
        self.gateways[(number + 1) % 2].send("GET", NOTES, &[("x-service-position", position)], "").await
    }

    /// How many notes the handler finds: with another query each time, no cached answer does.
    async fn read(&self, position: &str) -> i64 {
        let path = format!("{NOTES}?{}", uuid::Uuid::now_v7());
        count(&self.gateways[0].send("GET", &path, &[("x-service-position", position)], "").await)
    }

    /// Until reads have this result, each answer has that many notes.
    async fn reads_become(&self, result: &str, position: &str, notes: i64) {
        let before = self.reads(result);
        let becomes = async || {
            assert_eq!(self.read(position).await, notes, "while waiting for {result}");
            self.reads(result) > before
        };
        TestGateway::eventually(LIMIT, result, becomes).await;
    }

    async fn on_standby(&self, sql: &'static str) {
        let mut connection = PgConnection::connect(&self.standby_url).await.unwrap();
        connection.execute(sql).await.unwrap();
        connection.close().await.unwrap();
    }

    async fn stop(self) {
        for gateway in self.gateways {
            gateway.stop().await;
        }
    }
}

fn database_of(url: &str) -> &str {
    let before_query = url.split_once('?').map_or(url, |(server, _)| server);
    before_query.rsplit_once('/').unwrap().1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nothing_may_be_old_only_who_sends_a_position_reads_from_a_standby_that_has_everything() {
    let mut fixture = Fixture::start(0).await;
    let first = fixture.add(0).await;
    for gateway in &fixture.gateways {
        assert_eq!(count(&gateway.get(NOTES).await), 1);
    }
    assert_eq!(
        fixture.metrics.render().matches("gateway_read_replica_reads_total{").count(),
        0,
        "nobody sent a position"
    );
    fixture.reads_become("replica", &first, 1).await;

    fixture.on_standby("SELECT pg_wal_replay_pause()").await;
    let at_replica = fixture.reads("replica");
    // Also for a client that does not know of it: the write was acknowledged.
    let second = fixture.add(1).await;
    fixture.reads_become("behind", &first, 2).await;
    fixture.reads_become("behind", &second, 2).await;
    assert_eq!(fixture.reads("replica"), at_replica);
    fixture.on_standby("SELECT pg_wal_replay_resume()").await;
    fixture.reads_become("replica", &second, 2).await;

    fixture.standby.crash().unwrap();
    fixture.reads_become("away", &second, 2).await;
    let third = fixture.add(0).await;
    fixture.reads_become("away", &third, 3).await;
    fixture.standby.start_again().unwrap();
    fixture.reads_become("replica", &third, 3).await;

    fixture.on_standby("SELECT pg_promote()").await;
    fixture.on_standby("DELETE FROM notebook_notes").await;
    fixture.reads_become("promoted", &third, 3).await;
    assert_eq!(fixture.reads("failed"), 0, "{}", fixture.metrics.render());
    Box::pin(fixture.stop()).await;
}

/// Each question is a round trip in vain, before the primary is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_stays_behind_is_asked_a_few_times_and_not_by_each_read() {
    let fixture = Fixture::start(0).await;
    let first = fixture.add(0).await;
    fixture.reads_become("replica", &first, 1).await;
    fixture.on_standby("SELECT pg_wal_replay_pause()").await;
    let second = fixture.add(0).await;
    fixture.reads_become("behind", &second, 2).await;
    let before = ["behind", "backoff"].map(|result| fixture.reads(result));
    let (begun, mut reads) = (Instant::now(), 0);
    while begun.elapsed() < BEHIND {
        assert_eq!(fixture.read(&second).await, 2);
        reads += 1;
    }
    let [asked, unasked] = ["behind", "backoff"].map(|result| fixture.reads(result));
    let (asked, unasked) = (asked - before[0], unasked - before[1]);
    assert_eq!(asked + unasked, reads);
    // After 10 ms, and 20, 40, 80, 160 and 320 ms later.
    assert!((2..=6).contains(&asked) && unasked > asked, "{asked} of {reads} reads asked it");

    fixture.on_standby("SELECT pg_wal_replay_resume()").await;
    // Whatever the primary logs meanwhile makes it behind again for a moment.
    let all_go_there = async || {
        let before = fixture.reads("replica");
        for _ in 0..20 {
            assert_eq!(fixture.read(&second).await, 2);
        }
        fixture.reads("replica") == before + 20
    };
    TestGateway::eventually(LIMIT, "all go there again", all_go_there).await;
    Box::pin(fixture.stop()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_answers_may_be_old_a_standby_answers_and_everybody_reads_what_he_wrote() {
    let fixture = Fixture::start(1000).await;
    let mut last = String::new();
    for number in 1..=60_usize {
        last = fixture.add(number).await;
        // Not from the cache, then perhaps from it.
        for gateway in [number, number + 1, number] {
            assert_eq!(usize::try_from(count(&fixture.get(gateway, &last).await)), Ok(number));
        }
    }
    fixture.reads_become("replica", &last, 60).await;
    // Without a position as well; it has the same data.
    let before = fixture.reads("replica");
    let reads = async || {
        let path = format!("{NOTES}?{}", uuid::Uuid::now_v7());
        assert_eq!(count(&fixture.gateways[1].get(&path).await), 60);
        fixture.reads("replica") > before
    };
    TestGateway::eventually(LIMIT, "the standby answers", reads).await;

    fixture.on_standby("SELECT pg_wal_replay_pause()").await;
    let next = fixture.add(0).await;
    assert_eq!(count(&fixture.get(0, &next).await), 61, "its own write");
    // For others the standby's answer is good for a second more, and then not any more.
    let others = async || {
        let path = format!("{NOTES}?{}", uuid::Uuid::now_v7());
        let notes = count(&fixture.gateways[0].get(&path).await);
        assert!((60..=61).contains(&notes));
        notes == 61 && fixture.reads("behind") > 0
    };
    TestGateway::eventually(LIMIT, "the primary answers", others).await;
    // A position that no write ever had is no way to an old answer.
    assert_eq!(count(&fixture.get(0, "999999999999").await), 61);
    Box::pin(fixture.stop()).await;
}
