//! Spans at a collector that decodes what arrives, and `traceparent` on its way through the gateway.

use super::{Site, THREADS, sent_requests::SentRequests, setup, setup_with_all_plugins, signed};
use crate::storage::Engine;
use gateway_tests::{
    postgres,
    process::{LIMIT, Setup},
};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value as Attribute},
};
use plugin_testing::{ScriptedChain, TestGateway, Value, Wallet, json};
use prost::Message as _;
use reqwest::Method;
use rstest::rstest;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN: &str = "00f067aa0ba902b7";
const EVERY: u32 = 1_000_000;

/// Stands in for a collector of OpenTelemetry.
struct Collector(MockServer);

#[derive(Debug)]
struct ReceivedSpan {
    name: String,
    trace: String,
    id: String,
    parent: String,
    attributes: BTreeMap<String, String>,
    service: BTreeMap<String, String>,
}

impl Collector {
    async fn answering(answer: ResponseTemplate) -> Self {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(answer).mount(&server).await;
        Self(server)
    }

    async fn start() -> Self {
        Self::answering(ResponseTemplate::new(200)).await
    }

    fn of(&self, setup: Setup, sampled_per_million: u32) -> Setup {
        setup.set("traces.endpoint", self.0.uri()).set("traces.sampled_per_million", sampled_per_million)
    }

    /// What it got, undecoded.
    async fn bodies(&self) -> Vec<Vec<u8>> {
        let received = self.0.received_requests().await.unwrap();
        for request in &received {
            assert_eq!(request.url.path(), "/v1/traces");
            assert_eq!(request.headers["content-type"], "application/x-protobuf");
        }
        received.into_iter().map(|request| request.body).collect()
    }

    async fn spans(&self) -> Vec<ReceivedSpan> {
        let mut spans = Vec::new();
        for body in self.bodies().await {
            let request = ExportTraceServiceRequest::decode(&*body).unwrap();
            for resource in request.resource_spans {
                let service = attributes(&resource.resource.unwrap().attributes);
                for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                    assert!(span.end_time_unix_nano >= span.start_time_unix_nano && span.start_time_unix_nano > 0);
                    spans.push(ReceivedSpan {
                        name: span.name,
                        trace: hex::encode(span.trace_id),
                        id: hex::encode(span.span_id),
                        parent: hex::encode(span.parent_span_id),
                        attributes: attributes(&span.attributes),
                        service: service.clone(),
                    });
                }
            }
        }
        spans
    }

    /// The spans of this trace, when the one with this name has arrived.
    async fn trace(&self, trace: &str, root: &str) -> Vec<ReceivedSpan> {
        let has_arrived =
            async || self.spans().await.iter().any(|span| span.trace == trace && span.name.starts_with(root));
        TestGateway::eventually(LIMIT, &format!("a span {root} of {trace}"), has_arrived).await;
        self.spans().await.into_iter().filter(|span| span.trace == trace).collect()
    }
}

fn attributes(pairs: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |pair: &KeyValue| match pair.value.clone().unwrap().value.unwrap() {
        Attribute::StringValue(text) => text,
        Attribute::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    pairs.iter().map(|pair| (pair.key.clone(), text(pair))).collect()
}

#[track_caller]
fn named<'a>(spans: &'a [ReceivedSpan], name: &str) -> &'a ReceivedSpan {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {spans:#?}"))
}

fn parent_of(span: &ReceivedSpan) -> String {
    format!("00-{}-{}-01", span.trace, span.id)
}

#[rstest]
#[case::sqlite(Engine::Sqlite, "sqlite")]
#[case::postgres(Engine::Postgres, "postgresql")]
#[tokio::test]
async fn a_request_is_a_tree_in_the_trace_of_its_client_without_what_was_sent(
    #[case] engine: Engine,
    #[case] system: &str,
) {
    let collector = Collector::start().await;
    let setup = collector.of(setup(), EVERY);
    let setup = match engine {
        Engine::Sqlite => setup,
        Engine::Postgres => setup.set("database.url", postgres::fresh_database().await.unwrap()),
    };
    let mut gateway = setup.start().await.unwrap();
    let (site, wallet) = (Site::of(&gateway), Wallet::new(1));
    let body = signed(&wallet, "thread.create", &json!({ "title": "Hunter2Title", "body": "Hunter2Body" }));
    let write = site
        .request(Method::POST, &format!("{THREADS}?Hunter2Name=Hunter2Query"))
        .header("traceparent", format!("00-{TRACE}-{CLIENT_SPAN}-00"))
        .header("x-request-id", "of-this-write")
        .header("authorization", "Bearer Hunter2Token")
        .header("content-type", "application/json")
        .body(body.to_string());
    assert_eq!(write.send().await.unwrap().status(), 201);

    let spans = collector.trace(TRACE, "POST ").await;
    let request = named(&spans, "POST /api/forum/threads");
    assert_eq!(request.parent, CLIENT_SPAN);
    for (key, value) in [
        ("http.request.method", "POST"),
        ("http.route", THREADS),
        ("http.response.status_code", "201"),
        ("gateway.plugin", "forum"),
        ("gateway.operation", "create_thread"),
        ("gateway.request_id", "of-this-write"),
    ] {
        assert_eq!(request.attributes[key], value, "{key}: {request:#?}");
    }
    assert_eq!((&*request.service["service.name"], &*request.service["service.version"]), ("gateway", "0.6.0"));
    let plugin = named(&spans, "plugin");
    assert_eq!((&plugin.parent, &*plugin.attributes["gateway.plugin"]), (&request.id, "forum"));
    let commit = named(&spans, "database commit");
    assert!([&plugin.id, &request.id].contains(&&commit.parent), "{spans:#?}");
    assert_eq!((&*commit.attributes["db.system.name"], &*commit.attributes["gateway.plugin"]), (system, "forum"));

    // The last spans are sent before the gateway ends.
    assert_eq!(site.get(&format!("{THREADS}?q=Hunter2Query")).await.status, 200);
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    let spans = collector.spans().await;
    let list = named(&spans, "GET /api/forum/threads");
    assert_eq!((list.parent.as_str(), list.trace == TRACE), ("", false), "a trace of its own");
    assert!(spans.iter().any(|span| span.name == "database read" && span.trace == list.trace), "{spans:#?}");
    let all = String::from_utf8_lossy(&collector.bodies().await.concat()).to_lowercase();
    let signature = body["sig"].as_str().unwrap();
    for secret in ["hunter2", wallet.address().trim_start_matches("0x"), &signature[2..]] {
        assert!(!all.contains(&secret.to_lowercase()), "{secret} is in a span");
    }
}

#[tokio::test]
async fn a_bad_traceparent_is_no_parent() {
    let collector = Collector::start().await;
    let gateway = collector.of(setup(), EVERY).start().await.unwrap();
    let site = Site::of(&gateway);
    let bad = [
        format!("00-{TRACE}-{CLIENT_SPAN}"),
        format!("ff-{TRACE}-{CLIENT_SPAN}-01"),
        format!("00-{}-{CLIENT_SPAN}-01", "0".repeat(32)),
        format!("00-{}-{CLIENT_SPAN}-01", TRACE.to_uppercase()),
        "x".repeat(5000),
    ];
    for value in &bad {
        let request = site.request(Method::GET, "/api/hello/world").header("traceparent", value);
        assert_eq!(request.send().await.unwrap().status(), 200, "{value}");
    }
    let of_hello = async || {
        let spans = collector.spans().await;
        spans.into_iter().filter(|span| span.name.starts_with("GET /api/hello")).collect::<Vec<_>>()
    };
    TestGateway::eventually(LIMIT, "all have arrived", async || of_hello().await.len() == bad.len()).await;
    for span in of_hello().await {
        assert!(span.parent.is_empty() && span.trace != TRACE, "{span:?}");
    }
}

/// A gateway whose only RPC server is behind `requests`.
fn with_rpc(setup: Setup, requests: &SentRequests) -> Setup {
    let setup = setup.unset("plugins.hello.enabled").unset("plugins.kb.network_pages");
    setup.with_only(&["rpc"]).unwrap().set("chains.main.rpc", &requests.base_url).set("chains.main.poll_ms", 50)
}

async fn balance(site: &Site, traceparent: &str) -> Value {
    let params = json!(["0x00000000000000000000000000000000000000aa", "latest"]);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": params });
    let request = site.request(Method::POST, "/rpc").header("content-type", "application/json");
    let response = request.header("traceparent", traceparent).body(call.to_string()).send().await.unwrap();
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

async fn until_balance(site: &Site, traceparent: &str) {
    let answers = async || balance(site, traceparent).await["result"].is_string();
    TestGateway::eventually(LIMIT, "the chain answers", answers).await;
}

#[tokio::test]
async fn an_rpc_server_gets_the_span_that_called_it() {
    let (collector, chain) = (Collector::start().await, ScriptedChain::start().await);
    let requests = SentRequests::forwarded_to(chain.url().trim_start_matches("http://")).await;
    let gateway = with_rpc(collector.of(setup_with_all_plugins(), EVERY), &requests).start().await.unwrap();
    until_balance(&Site::of(&gateway), &format!("00-{TRACE}-{CLIENT_SPAN}-01")).await;
    let spans = collector.trace(TRACE, "rpc").await;
    let call = named(&spans, "rpc");
    assert_eq!((&*call.attributes["rpc.method"], &*call.attributes["server.address"]), ("eth_getBalance", "127.0.0.1"));
    let sent = requests.header_values("traceparent");
    assert!(sent.contains(&parent_of(call)), "{sent:?} {spans:#?}");
}

#[tokio::test]
async fn what_is_not_sampled_is_passed_on_and_not_exported() {
    let (collector, chain) = (Collector::start().await, ScriptedChain::start().await);
    let requests = SentRequests::forwarded_to(chain.url().trim_start_matches("http://")).await;
    let mut gateway = with_rpc(collector.of(setup_with_all_plugins(), 0), &requests).start().await.unwrap();
    // The client's wish to be recorded decides nothing.
    until_balance(&Site::of(&gateway), &format!("00-{TRACE}-{CLIENT_SPAN}-01")).await;
    let sent = requests.header_values("traceparent");
    assert!(!sent.is_empty() && sent.iter().all(|value| value.starts_with(&format!("00-{TRACE}-"))), "{sent:?}");
    assert!(sent.iter().all(|value| value.ends_with("-00") && !value.contains(CLIENT_SPAN)), "{sent:?}");
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    assert_eq!(collector.bodies().await, Vec::<Vec<u8>>::new());
}

#[tokio::test]
async fn without_an_endpoint_nothing_is_passed_on() {
    let chain = ScriptedChain::start().await;
    let requests = SentRequests::forwarded_to(chain.url().trim_start_matches("http://")).await;
    let gateway = with_rpc(setup_with_all_plugins(), &requests).start().await.unwrap();
    until_balance(&Site::of(&gateway), &format!("00-{TRACE}-{CLIENT_SPAN}-01")).await;
    assert_eq!(requests.header_values("traceparent"), Vec::<String>::new());
    assert!(!requests.header_values("content-type").is_empty(), "requests are seen");
}

#[tokio::test]
async fn a_webhook_gets_the_span_of_its_task_and_jobs_are_roots() {
    let (collector, endpoint) = (Collector::start().await, MockServer::start().await);
    Mock::given(any()).respond_with(ResponseTemplate::new(200)).mount(&endpoint).await;
    let setup = setup_with_all_plugins().unset("plugins.hello.enabled").unset("plugins.kb.network_pages");
    let setup = setup.with_only(&["agents", "messages", "webhooks"]).unwrap();
    let setup = setup.set("egress.allow_hosts", "127.0.0.1").set("limits.write_interval_ms", 0);
    let gateway = collector.of(setup, EVERY).start().await.unwrap();
    let (site, recipient) = (Site::of(&gateway), Wallet::new(1));
    let hook = json!({ "url": format!("{}/hunter2", endpoint.uri()), "secret": "a secret of some length", "events": ["dm.received"] });
    assert_eq!(site.write("/api/webhooks", &recipient, "webhook.set", hook).await.status, 201);
    let message = json!({ "to": recipient.address(), "body": "hunter2" });
    assert_eq!(site.write("/api/messages", &Wallet::new(2), "message.send", message).await.status, 201);
    let heard = async || endpoint.received_requests().await.unwrap();
    TestGateway::eventually(LIMIT, "it is delivered", async || heard().await.len() == 1).await;
    let header = heard().await[0].headers["traceparent"].to_str().unwrap().to_owned();

    let trace = header.split('-').nth(1).unwrap();
    let spans = collector.trace(trace, "task webhooks.").await;
    let fetch = named(&spans, "fetch");
    assert_eq!(parent_of(fetch), header);
    assert_eq!(
        (&*fetch.attributes["http.response.status_code"], &*fetch.attributes["gateway.plugin"]),
        ("200", "webhooks")
    );
    let root = spans.iter().find(|span| span.name.starts_with("task ")).unwrap();
    assert!(root.parent.is_empty() && fetch.parent == root.id, "{spans:#?}");
    let has_job = async || {
        let spans = collector.spans().await;
        spans.iter().any(|span| span.name.starts_with("job ") && span.parent.is_empty())
    };
    TestGateway::eventually(LIMIT, "a run of a job arrives", has_job).await;
    let all = String::from_utf8_lossy(&collector.bodies().await.concat()).into_owned();
    assert!(!all.contains("hunter2"), "neither paths nor bodies");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_never_answers_delays_no_request() {
    let silent = ResponseTemplate::new(200).set_delay(Duration::from_secs(3600));
    let collector = Collector::answering(silent).await;
    let mut gateway = collector.of(setup(), EVERY).start().await.unwrap();
    let (site, operator) = (Site::of(&gateway), Site::at(gateway.admin_url()));
    let count = async |outcome: &str| {
        let text = operator.get("/metrics").await.text();
        let sample = format!("gateway_spans_total{{outcome=\"{outcome}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&*sample)?.parse::<f64>().ok()).unwrap_or_default()
    };
    let longest_us = AtomicU64::new(0);
    let full = async || {
        for _ in 0..100 {
            let started = Instant::now();
            assert_eq!(site.get("/api/hello/world").await.status, 200);
            longest_us.fetch_max(u64::try_from(started.elapsed().as_micros()).unwrap(), Relaxed);
        }
        count("dropped").await > 0.0
    };
    TestGateway::eventually(LIMIT, "the queue is full", full).await;
    // The exporter itself waits for five seconds.
    assert!(longest_us.load(Relaxed) < 4_000_000, "{longest_us:?} µs");
    TestGateway::eventually(LIMIT, "the failure is counted", async || count("failed").await > 0.0).await;
    assert_eq!(count("exported").await, 0.0);
    assert!(gateway.setup().log().contains("the collector does not take spans"));
    let stopping = Instant::now();
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    assert!(stopping.elapsed() < Duration::from_secs(15), "{:?}", stopping.elapsed());
}
