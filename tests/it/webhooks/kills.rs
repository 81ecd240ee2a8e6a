//! Gateways that are killed while they deliver: every delivery at least once, with the same id and data, and none twice in the list.

use super::{message, recipient, register, setup, suspended::holder};
use crate::{e2e::Site, storage::Engine};
use gateway_tests::process::{GatewayProcess, LIMIT, Setup};
use plugin_testing::{TestGateway, Value, Wallet};
use rstest::rstest;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::{Duration, Instant},
};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers::any};

const WEBHOOKS: usize = 4;
const MESSAGES_PER_KILL: usize = 20;

/// After a kill: the lease of an endpoint that was being called, 30 s, and before that the lease of the job that follows the log.
const AFTER_KILL: Duration = Duration::from_secs(50);
/// The longer one of the leases of the job that follows the log, 2.5 s, and of the sequencer. That of other jobs is 10 s, renewed every 3.
const FOLLOWED_AGAIN: Duration = Duration::from_secs(6);
const KILLS_MAX: usize = 20;

fn kills() -> usize {
    std::env::var("KILLS").map_or(1, |kills| kills.parse::<usize>().unwrap().min(KILLS_MAX))
}

/// Every third call fails.
struct Unreliable(AtomicUsize);

impl Respond for Unreliable {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        let status = if self.0.fetch_add(1, SeqCst).is_multiple_of(3) { 500 } else { 200 };
        ResponseTemplate::new(status)
    }
}

/// By `webhook-id`: all bodies that came with it.
pub async fn heard(endpoint: &MockServer) -> BTreeMap<String, Vec<Value>> {
    let mut heard: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for call in endpoint.received_requests().await.unwrap() {
        let id = call.headers["webhook-id"].to_str().unwrap().to_owned();
        heard.entry(id).or_default().push(call.body_json().unwrap());
    }
    heard
}

/// Webhook and text of what arrived.
fn arrived(heard: &BTreeMap<String, Vec<Value>>) -> BTreeSet<(i64, String)> {
    let of = |body: &Value| (body["webhookId"].as_i64().unwrap(), body["data"]["body"].as_str().unwrap().to_owned());
    heard.values().map(|bodies| of(&bodies[0])).collect()
}

async fn start(setups: &[Setup]) -> Vec<GatewayProcess> {
    let mut gateways = Vec::new();
    for setup in setups {
        gateways.push(setup.start().await.unwrap());
    }
    gateways
}

#[rstest]
#[case::one_gateway(Engine::Sqlite, 1)]
#[case::two_gateways(Engine::Postgres, 2)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_and_ids_and_data_stay(#[case] engine: Engine, #[case] count: usize) {
    let first = setup(engine).await;
    let mut setups = vec![first];
    for _ in 1..count {
        let other = setup(Engine::Sqlite).await;
        setups.push(other.set("database.url", setups[0].get("database.url").unwrap()));
    }
    let mut gateways = start(&setups).await;
    let endpoint = MockServer::start().await;
    Mock::given(any()).respond_with(Unreliable(AtomicUsize::new(0))).mount(&endpoint).await;
    let site = Site::of(&gateways[0]);
    for number in 0..WEBHOOKS {
        register(&site, &format!("{}/{number}", endpoint.uri()), "a secret of some length").await;
    }
    let mut acknowledged = BTreeSet::new();
    let messages = kills() * MESSAGES_PER_KILL;
    for number in 0..messages {
        let text = format!("message {number}");
        let site = Site::of(&gateways[number % count]);
        let sent = message(&site, &Wallet::new(10 + u64::try_from(number).unwrap()), &text).await;
        assert_eq!(sent.status, 201, "{}", sent.text());
        acknowledged.insert(text);
        if number % MESSAGES_PER_KILL == MESSAGES_PER_KILL / 2 {
            let killed = number % count;
            gateways[killed].kill().await.unwrap();
            gateways[killed] = setups[killed].start().await.unwrap();
        }
    }
    let all = WEBHOOKS * messages;
    let is_complete = async || arrived(&heard(&endpoint).await).len() == all;
    let limit = AFTER_KILL * u32::try_from(kills()).unwrap();
    let sent = Instant::now();
    TestGateway::eventually(limit, "everything is delivered", is_complete).await;
    eprintln!("the last delivery arrived {:?} after the last message", sent.elapsed());
    let heard = heard(&endpoint).await;
    assert_eq!(heard.len(), all, "one id for each event and webhook");
    for bodies in heard.values() {
        for body in bodies {
            assert_eq!((&body["id"], &body["data"]), (&bodies[0]["id"], &bodies[0]["data"]));
        }
    }
    let texts: BTreeSet<String> = arrived(&heard).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, acknowledged);
    assert_all_ok(&Site::of(&gateways[0]), all).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_gateway_goes_on_soon_with_what_a_killed_one_followed() {
    let first = setup(Engine::Postgres).await;
    let second = setup(Engine::Sqlite).await.set("database.url", first.get("database.url").unwrap());
    let mut killed = first.start().await.unwrap();
    let endpoint = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(200)).mount(&endpoint).await;
    register(&Site::of(&killed), &endpoint.uri(), "a secret of some length").await;
    TestGateway::eventually(LIMIT, "it follows the log", async || holder(&first).await.is_some()).await;
    let mut other = second.start().await.unwrap();
    killed.kill().await.unwrap();
    let died = Instant::now();
    assert_eq!(message(&Site::of(&other), &Wallet::new(10), "meanwhile").await.status, 201);
    let is_delivered = async || heard(&endpoint).await.len() == 1;
    TestGateway::eventually(LIMIT, "the other one delivers it", is_delivered).await;
    assert!(died.elapsed() < FOLLOWED_AGAIN, "{:?}", died.elapsed());
    assert!(other.terminate(LIMIT).await.unwrap().success());
}

/// The owner sees each delivery once, as delivered.
async fn assert_all_ok(site: &Site, all: usize) {
    let counts = async || {
        let now_s = gateway_clock::Clock::System.now_s();
        let mut request = site.request(reqwest::Method::GET, "/api/webhooks/mine");
        for (name, value) in recipient().signed_headers("webhook.set", now_s, "") {
            request = request.header(name, value);
        }
        let mine = crate::e2e::answer(request).await.json();
        let sum = |status: &str| -> i64 {
            mine["items"].as_array().unwrap().iter().map(|item| item["deliveries"][status].as_i64().unwrap()).sum()
        };
        (sum("pending"), sum("ok"), sum("failed"))
    };
    let expected = (0, i64::try_from(all).unwrap(), 0);
    TestGateway::eventually(2 * LIMIT, "all deliveries are ok", async || counts().await == expected).await;
}
