//! A durable queue: what it promises the handler of its tasks.

use crate::postman::{CLOSURES, PUSH, WRITES, plugin_module};
use plugin_testing::TestGateway;
use serde_json::{Value, json};
use std::{sync::atomic::Ordering::Relaxed, time::Duration};

const LIMIT: Duration = Duration::from_secs(20);

async fn gateways(config: Value) -> Vec<TestGateway> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut gateways = Vec::new();
    for builder in builders {
        gateways.push(
            builder.plugin(plugin_module()).config("postman", config.clone()).configure(briefly_drained).start().await,
        );
    }
    gateways
}

/// A stop waits for half a second.
fn briefly_drained(config: &mut gateway_config::Config) {
    config.http.drain_timeout_ms = 500;
}

async fn push(gateway: &TestGateway, letters: Value) -> i64 {
    let answer = gateway.send("POST", PUSH, &[("content-type", "application/json")], letters.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json().as_i64().unwrap()
}

/// The attempts so far: name, attempt, outcome.
async fn runs(gateway: &TestGateway) -> Vec<String> {
    let rows = gateway.rows("SELECT name, attempt, coalesce(outcome, 'running') FROM postman_runs ORDER BY id").await;
    rows.into_iter().map(|row| row.replace("Text(", "").replace("Int(", "").replace([')', '"'], "")).collect()
}

async fn ended(gateway: &TestGateway, count: usize) {
    let all_ended = async || {
        let runs = runs(gateway).await;
        runs.len() == count && runs.iter().all(|run| !run.ends_with("running"))
    };
    TestGateway::eventually(LIMIT, &format!("{count} attempts end"), all_ended).await;
}

/// No task is left, waiting or running.
async fn empty(gateway: &TestGateway) {
    let is_empty = async || gateway.rows("SELECT id FROM postman_letters").await.is_empty();
    TestGateway::eventually(LIMIT, "the queue is empty", is_empty).await;
}

#[tokio::test]
async fn a_task_is_handled_as_soon_as_it_is_pushed() {
    for gateway in gateways(json!({})).await {
        assert_eq!(push(&gateway, json!([{ "key": "a", "name": "first", "renews": true }])).await, 1);
        ended(&gateway, 1).await;
        assert_eq!(runs(&gateway).await, ["first 1 done"]);
        empty(&gateway).await;
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_failed_task_is_tried_again_by_backoff_and_is_dead_in_the_end() {
    for gateway in gateways(json!({})).await {
        push(&gateway, json!([{ "key": "a", "name": "x", "fails": 9 }])).await;
        ended(&gateway, 1).await;
        gateway.clock().advance(Duration::from_millis(9_500)).await;
        assert_eq!(runs(&gateway).await, ["x 1 again in 10 s"]);
        gateway.clock().advance(Duration::from_secs(1)).await;
        ended(&gateway, 2).await;
        gateway.clock().advance(Duration::from_secs(61)).await;
        ended(&gateway, 3).await;
        assert_eq!(runs(&gateway).await, ["x 1 again in 10 s", "x 2 again in 60 s", "x 3 dead after its last attempt"]);
        empty(&gateway).await;
        let dead = gateway.rows("SELECT key, attempt, error FROM postman_letters_dead").await;
        assert_eq!(dead, [r#"Text("a") Int(3) Text("nobody is at home")"#]);
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

/// An attempt in real time.
struct Span {
    gateway: String,
    key: String,
    begun_ms: i64,
    ended_ms: i64,
}

async fn spans(gateway: &TestGateway) -> Vec<Span> {
    let select = "SELECT gateway, key, begun_ms, ended_ms FROM postman_runs WHERE ended_ms IS NOT NULL ORDER BY id";
    let rows = gateway.rows(select).await;
    let span = |row: &String| {
        let plain = row.replace("Text(\"", "").replace("\")", "").replace("Int(", "").replace(')', "");
        let mut cells = plain.split(' ');
        let mut next = || cells.next().unwrap().to_owned();
        Span { gateway: next(), key: next(), begun_ms: next().parse().unwrap(), ended_ms: next().parse().unwrap() }
    };
    rows.iter().map(span).collect()
}

/// How many of them were running at the same time.
fn at_once<'a>(spans: impl Iterator<Item = &'a Span> + Clone) -> usize {
    let running = |at_ms: i64| spans.clone().filter(|span| span.begun_ms <= at_ms && at_ms < span.ended_ms).count();
    spans.clone().map(|span| running(span.begun_ms)).max().unwrap_or(0)
}

#[tokio::test]
async fn tasks_of_a_key_start_one_at_a_time_in_the_order_of_their_push() {
    for gateway in gateways(json!({})).await {
        let letter = |name: usize| json!({ "key": "a", "name": name.to_string(), "takes_ms": 10 });
        push(&gateway, (0..4).map(letter).collect()).await;
        push(&gateway, (4..8).map(letter).collect()).await;
        ended(&gateway, 8).await;
        assert_eq!(runs(&gateway).await, (0..8).map(|name| format!("{name} 1 done")).collect::<Vec<_>>());
        assert_eq!(at_once(spans(&gateway).await.iter()), 1);
        empty(&gateway).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_task_that_waits_for_its_retry_holds_up_none_behind_it() {
    for gateway in gateways(json!({})).await {
        let letters =
            json!([{ "key": "a", "name": "x", "fails": 1 }, { "key": "a", "name": "y" }, { "key": "a", "name": "z" }]);
        push(&gateway, letters).await;
        ended(&gateway, 3).await;
        gateway.clock().advance(Duration::from_secs(11)).await;
        ended(&gateway, 4).await;
        assert_eq!(runs(&gateway).await, ["x 1 again in 10 s", "y 1 done", "z 1 done", "x 2 done"]);
        empty(&gateway).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_group_has_its_places_and_the_others_do_not_wait_for_it() {
    for gateway in gateways(json!({ "concurrency_per_group": 2 })).await {
        let crowd = |number: usize| json!({ "key": format!("crowd{number}"), "group": "crowd", "takes_ms": 60 });
        push(&gateway, (0..8).map(crowd).collect()).await;
        push(&gateway, json!([{ "key": "alone", "name": "alone" }])).await;
        ended(&gateway, 9).await;
        let spans = spans(&gateway).await;
        let crowd = spans.iter().filter(|span| span.key.starts_with("crowd"));
        assert_eq!(at_once(crowd.clone()), 2);
        let alone = spans.iter().find(|span| span.key == "alone").unwrap();
        assert!(crowd.filter(|span| span.begun_ms < alone.begun_ms).count() <= 4);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn slow_keys_share_a_quarter_of_the_places() {
    for gateway in gateways(json!({ "concurrency": 8, "slow_after_ms": 20 })).await {
        let slow = |takes_ms: u64| move |number: usize| json!({ "key": format!("slow{number}"), "takes_ms": takes_ms });
        push(&gateway, (0..6).map(slow(40)).collect()).await;
        ended(&gateway, 6).await;
        empty(&gateway).await;
        push(&gateway, (0..6).map(slow(150)).collect()).await;
        push(&gateway, (0..6).map(|number| json!({ "key": format!("fast{number}") })).collect()).await;
        ended(&gateway, 18).await;
        let spans = spans(&gateway).await;
        assert_eq!(at_once(spans[6..].iter().filter(|span| span.key.starts_with("slow"))), 2);
        let last_slow = spans.iter().filter(|span| span.key.starts_with("slow")).map(|span| span.begun_ms).max();
        assert!(spans.iter().filter(|span| span.key.starts_with("fast")).all(|fast| Some(fast.begun_ms) < last_slow));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_unique_task_is_there_once_until_it_has_ended() {
    for gateway in gateways(json!({})).await {
        let due_ms = gateway.clock().now_ms() + 60_000;
        let letter = json!([{ "key": "a", "name": "x", "unique": "x", "due_ms": due_ms }]);
        assert_eq!(push(&gateway, letter.clone()).await, 1);
        assert_eq!(push(&gateway, letter.clone()).await, 0);
        gateway.clock().advance(Duration::from_secs(61)).await;
        ended(&gateway, 1).await;
        empty(&gateway).await;
        assert_eq!(push(&gateway, letter).await, 1);
        ended(&gateway, 2).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_handler_that_fails_panics_or_hangs_is_a_fault_and_its_task_is_tried_again() {
    for gateway in gateways(json!({ "timeout_ms": 150 })).await {
        let letter = |failure: &str| json!({ "key": failure, "name": failure, "fails": 1, "failure": failure });
        push(&gateway, ["error", "panic", "hang"].map(letter).into_iter().collect()).await;
        let errors =
            async || gateway.rows("SELECT error FROM postman_letters WHERE error IS NOT NULL ORDER BY key").await;
        TestGateway::eventually(LIMIT, "all three have failed", async || errors().await.len() == 3).await;
        let texts = errors().await;
        for (text, expected) in texts.iter().zip(["the letter is wet", "it took longer than 150ms", "the letter burns"])
        {
            assert!(text.contains(expected), "{texts:?}");
        }
        assert!(gateway.faults().await[0].contains("queue postman_letters"), "{:?}", gateway.faults().await);
        gateway.clock().advance(Duration::from_secs(11)).await;
        empty(&gateway).await;
        let mut again: Vec<_> = runs(&gateway).await.into_iter().filter(|run| run.ends_with("done")).collect();
        again.sort();
        assert_eq!(again, ["error 2 done", "hang 2 done", "panic 2 done"]);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_task_may_end_for_good_or_say_when_it_is_tried_again() {
    for gateway in gateways(json!({})).await {
        let letter = |failure: &str| json!({ "key": failure, "name": failure, "fails": 1, "failure": failure });
        push(&gateway, ["dead", "retry_after_an_hour"].map(letter).into_iter().collect()).await;
        ended(&gateway, 2).await;
        let mut first = runs(&gateway).await;
        first.sort();
        assert_eq!(first, ["dead 1 dead", "retry_after_an_hour 1 again in 3600 s"]);
        gateway.clock().advance(Duration::from_secs(3_601)).await;
        empty(&gateway).await;
        assert_eq!(gateway.rows("SELECT attempt FROM postman_letters_dead").await, ["Int(1)"]);
        gateway.stop().await;
    }
}

/// As when this process was stopped for longer than the lease, and another gateway has taken the key.
#[tokio::test]
async fn an_outcome_is_refused_after_the_lease_was_lost() {
    for gateway in gateways(json!({})).await {
        let letters = json!([
            { "key": "a", "name": "ends", "takes_ms": 300 },
            { "key": "b", "name": "asks", "takes_ms": 300, "renews": true },
        ]);
        push(&gateway, letters).await;
        TestGateway::eventually(LIMIT, "both run", async || runs(&gateway).await.len() == 2).await;
        gateway.execute("UPDATE postman_letters_keys SET token = CASE WHEN token > 1 THEN token - 1 ELSE 2 END").await;
        let has_asked = async || runs(&gateway).await.contains(&"asks 1 lost before the end".to_owned());
        TestGateway::eventually(LIMIT, "the lease is lost", has_asked).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(
            runs(&gateway).await.contains(&"ends 1 running".to_owned()),
            "the write of the outcome was rolled back"
        );
        assert_eq!(gateway.rows("SELECT id FROM postman_letters").await.len(), 2);
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        // The other gateway dies.
        gateway.execute("UPDATE postman_letters_keys SET lease_until_ms = 1").await;
        empty(&gateway).await;
        gateway.stop().await;
    }
}

/// Both tasks begin at once, so under leases of the same moment.
#[tokio::test]
async fn a_renewal_extends_the_lease() {
    for gateway in gateways(json!({})).await {
        let letters = json!([
            { "key": "keeps", "name": "keeps", "takes_ms": 3_000 },
            { "key": "renews", "name": "renews", "takes_ms": 1_000, "renews": true, "then_takes_ms": 2_000 },
        ]);
        push(&gateway, letters).await;
        let ahead_ms = "SELECT (SELECT lease_until_ms FROM postman_letters_keys WHERE key = 'renews') - \
            (SELECT lease_until_ms FROM postman_letters_keys WHERE key = 'keeps')";
        let is_extended = async || {
            let ahead = gateway.rows(ahead_ms).await.pop().unwrap_or_default();
            let digits = ahead.trim_start_matches("Int(").trim_end_matches(')');
            digits.parse::<i64>().is_ok_and(|ahead_ms| (900..10_000).contains(&ahead_ms))
        };
        TestGateway::eventually(LIMIT, "the lease is extended", is_extended).await;
        ended(&gateway, 2).await;
        empty(&gateway).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_task_whose_gateway_died_is_handled_again_and_the_third_loss_is_a_failure() {
    for gateway in gateways(json!({})).await {
        let die = "UPDATE postman_letters_keys SET token = 7, lease_until_ms = 1,
            task_id = (SELECT id FROM postman_letters), due_ms = 9223372036854775807";
        let letter = |name: &str| json!([{ "key": "a", "name": name, "due_ms": gateway.clock().now_ms() + 1_000 }]);
        push(&gateway, letter("once")).await;
        let is_known = async || {
            !gateway.rows("SELECT key FROM postman_letters_keys WHERE due_ms < 9223372036854775807").await.is_empty()
        };
        TestGateway::eventually(LIMIT, "the push is taken in", is_known).await;
        gateway.execute(die).await;
        gateway.clock().advance(Duration::from_secs(1)).await;
        ended(&gateway, 1).await;
        assert_eq!(runs(&gateway).await, ["once 1 done"], "a loss is no attempt");
        empty(&gateway).await;

        push(&gateway, letter("thrice")).await;
        gateway.execute("UPDATE postman_letters SET lost = 2").await;
        TestGateway::eventually(LIMIT, "the push is taken in", is_known).await;
        gateway.execute(die).await;
        let has_failed = async || gateway.rows("SELECT attempt FROM postman_letters").await == ["Int(1)"];
        TestGateway::eventually(LIMIT, "the loss counts", has_failed).await;
        let slow = gateway.rows("SELECT is_slow FROM postman_letters_keys").await;
        assert_eq!(slow, ["Int(1)"], "a task that ends gateways may not have a fast slot");
        gateway.clock().advance(Duration::from_secs(11)).await;
        ended(&gateway, 2).await;
        assert_eq!(runs(&gateway).await, ["once 1 done", "thrice 2 done"]);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_runs_at_the_stop_gets_a_moment_and_the_rest_comes_back_after_the_lease() {
    for gateway in gateways(json!({})).await {
        push(&gateway, json!([{ "key": "a", "name": "quick", "takes_ms": 200 }, { "key": "b", "name": "long", "takes_ms": 15_000 }])).await;
        TestGateway::eventually(LIMIT, "both run", async || runs(&gateway).await.len() == 2).await;
        let gateway = gateway.restart_after(|_| {}).await;
        let mut runs_then = runs(&gateway).await;
        runs_then.sort();
        assert_eq!(runs_then, ["long 1 running", "quick 1 done"]);
        // Its lease is respected.
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        assert_eq!(runs(&gateway).await.len(), 2);
        gateway.execute("UPDATE postman_letters_keys SET lease_until_ms = 1").await;
        TestGateway::eventually(LIMIT, "it runs again", async || runs(&gateway).await.len() == 3).await;
        assert_eq!(runs(&gateway).await[2], "long 1 running");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn of_ten_thousand_keys_those_that_are_due_are_handled() {
    for gateway in gateways(json!({})).await {
        let later_ms = gateway.clock().now_ms() + 3_600_000;
        for thousand in 0..10 {
            let letter = |number: usize| json!({ "key": format!("{thousand}-{number}"), "due_ms": later_ms });
            assert_eq!(push(&gateway, (0..1_000).map(letter).collect()).await, 1_000);
        }
        push(&gateway, (0..100).map(|number| json!({ "key": format!("due{number}"), "name": "due" })).collect()).await;
        ended(&gateway, 100).await;
        let waiting = async || gateway.rows("SELECT id FROM postman_letters").await.len() == 10_000;
        TestGateway::eventually(LIMIT, "the others wait", waiting).await;
        gateway.stop().await;
    }
}

/// 2,500 rows of each table, where one batch deletes 1,000.
#[tokio::test]
async fn a_gateway_prunes_soon_after_its_start_until_nothing_is_left() {
    for gateway in gateways(json!({})).await {
        let numbers = "WITH RECURSIVE numbers(number) AS \
            (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 2500) INSERT INTO postman_letters";
        let keys = "_keys (key, group_key, due_ms) SELECT 'key' || number, 'group', 9223372036854775807 FROM numbers";
        let dead = "_dead (id, key, group_key, payload, pushed_ms, attempt, error, dead_ms) \
            SELECT number, 'a', 'a', '1', 1, 1, 'nobody lives there', 1 FROM numbers";
        for rows in [keys, dead] {
            gateway.execute(&format!("{numbers}{rows}")).await;
        }
        let gateway = gateway.restart_after(|_| {}).await;
        let select = "SELECT (SELECT count(*) FROM postman_letters_keys) + (SELECT count(*) FROM postman_letters_dead)";
        let are_gone = async || gateway.rows(select).await == ["Int(0)"];
        TestGateway::eventually(LIMIT, "idle keys and old dead tasks are deleted", are_gone).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_plugin_whose_queue_cannot_run_by_its_limits_does_not_serve() {
    let config = json!({ "concurrency": 2_000, "backoff_ms": [1_000, 31_536_000_001_u64] });
    let gateway = TestGateway::builder().plugin(plugin_module()).config("postman", config).open().await;
    let reports = gateway.reports().await;
    let report = reports.iter().find(|report| report.name == "postman").unwrap();
    assert!(report.is_failure(), "{report:?}");
    assert_eq!(
        report.reason,
        "the queue postman_letters: `backoff[1]` is 31536000001 ms: expected a year at most; `concurrency` is 2000: expected 1 to 1024"
    );
    gateway.stop().await;
}

async fn two_gateways(config: impl Fn(&str) -> Value) -> Option<(plugin_test_kit::Database, [TestGateway; 2])> {
    let database = plugin_test_kit::Database::create().await?;
    let start = async |name: &str| {
        let url = database.url.clone();
        let builder = TestGateway::builder().configure(|settings| settings.database.url = Some(url.into()));
        builder.plugin(plugin_module()).config("postman", config(name)).start().await
    };
    let gateways = [start("one").await, start("two").await];
    Some((database, gateways))
}

#[tokio::test]
async fn two_gateways_share_the_work_and_never_a_key() {
    let config = |name: &str| json!({ "gateway": name, "concurrency": 8 });
    let Some((database, [one, two])) = two_gateways(config).await else { return };
    let letter = |number: usize| {
        let (key, group) = (format!("key{}", number % 40), format!("group{}", number % 5));
        json!({ "key": key, "group": group, "name": number.to_string(), "takes_ms": 15 })
    };
    for hundred in 0..2 {
        push(&one, (hundred * 100..hundred * 100 + 50).map(letter).collect()).await;
        push(&two, (hundred * 100 + 50..hundred * 100 + 100).map(letter).collect()).await;
    }
    ended(&one, 200).await;
    empty(&one).await;
    let mut done = runs(&one).await;
    done.sort();
    done.dedup();
    assert_eq!(done.len(), 200, "each of them once");
    let spans = spans(&one).await;
    for number in 0..40 {
        let key = format!("key{number}");
        assert_eq!(at_once(spans.iter().filter(|span| span.key == key)), 1, "{key}");
    }
    for group in 0..5_usize {
        let is_of = |span: &&Span| span.key[3..].parse::<usize>().unwrap() % 5 == group;
        assert!(at_once(spans.iter().filter(is_of)) <= 4, "group{group}");
    }
    for name in ["one", "two"] {
        let share = spans.iter().filter(|span| span.gateway == name).count();
        assert!(share >= 20, "{name} did {share} of 200");
    }
    let (writes, closures) = (WRITES.load(Relaxed), CLOSURES.load(Relaxed));
    assert_eq!(writes, 404);
    assert!(closures <= writes + writes / 10, "{closures} runs of {writes} writes: the queue makes them conflict");
    assert_eq!(one.faults().await, Vec::<String>::new());
    one.stop().await;
    two.stop().await;
    database.remove().await;
}
