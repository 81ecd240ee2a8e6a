//! The job that probes tools.

use super::{
    TOOLS, exactly, finish, gateways, gateways_reaching, gateways_reaching_localhost, names, next, publish, read, tool,
    with,
};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{any, method},
};

const LIMIT: Duration = Duration::from_secs(60);

async fn serve(server: &MockServer, head: u16, get: u16) {
    server.reset().await;
    Mock::given(method("HEAD")).respond_with(ResponseTemplate::new(head)).mount(server).await;
    Mock::given(method("GET")).respond_with(ResponseTemplate::new(get)).mount(server).await;
}

async fn methods(server: &MockServer) -> Vec<String> {
    server.received_requests().await.unwrap().iter().map(|request| request.method.to_string()).collect()
}

fn at(name: &str, server: &MockServer) -> Value {
    with(tool(name), json!({ "url": format!("{}/tool", server.uri()) }))
}

/// Advances the clock until the tool was probed again; returns it.
async fn asked(gateway: &TestGateway, id: &Value) -> Value {
    let since = gateway.now_s();
    gateway.clock().advance(Duration::from_secs(601)).await;
    asked_since(gateway, id, since, Duration::ZERO).await
}

/// Advances the clock a second at a time, with a pause, until the tool was probed after `since`; returns it.
async fn asked_since(gateway: &TestGateway, id: &Value, since: i64, pause: Duration) -> Value {
    let path = format!("{TOOLS}/{id}");
    TestGateway::eventually(LIMIT, "the tool is asked", || async {
        gateway.clock().advance(Duration::from_secs(1)).await;
        tokio::time::sleep(pause).await;
        read(gateway, &path).await["lastProbeAt"].as_i64().is_some_and(|at| at > since)
    })
    .await;
    read(gateway, &path).await
}

#[tokio::test]
async fn a_tool_that_answers_is_online() {
    let server = MockServer::start().await;
    for gateway in gateways_reaching_localhost().await {
        for (head, get, online, both) in [
            (200, 500, true, false),
            (405, 200, true, true),
            (404, 402, true, true),
            (500, 401, true, true),
            (404, 404, false, true),
            (200, 200, true, false),
            (503, 503, false, true),
            (204, 500, true, false),
            (400, 400, true, true),
            (403, 403, true, true),
            (405, 405, true, true),
            (410, 410, true, true),
            (429, 499, true, true),
            (499, 500, false, true),
        ] {
            serve(&server, head, get).await;
            let published = publish(&gateway, &Wallet::new(1), at("one", &server)).await;
            let seen = asked(&gateway, &published["id"]).await;
            assert_eq!(seen["online"], online, "{head} {get}: {seen}");
            assert!(seen["lastSeen"].as_i64() == seen["lastProbeAt"].as_i64() || !online, "{seen}");
            let expected: &[&str] = if both { &["HEAD", "GET"] } else { &["HEAD"] };
            assert_eq!(methods(&server).await[..expected.len()], *expected);
            next(&gateway).await;
        }
        let requests = server.received_requests().await.unwrap();
        assert_eq!(requests[0].headers["user-agent"], "service-gateway/tool-probe");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_tool_goes_offline_and_comes_back_and_online_ones_stand_first() {
    let (up, down) = (MockServer::start().await, MockServer::start().await);
    serve(&up, 200, 200).await;
    for gateway in gateways_reaching_localhost().await {
        serve(&down, 200, 200).await;
        publish(&gateway, &Wallet::new(1), at("up", &up)).await;
        next(&gateway).await;
        let id = publish(&gateway, &Wallet::new(2), at("down", &down)).await["id"].clone();
        let before = asked(&gateway, &id).await;
        assert_eq!(names(&gateway, TOOLS).await, exactly(&["down", "up"]));
        serve(&down, 503, 503).await;
        let after = asked(&gateway, &id).await;
        assert_eq!((&after["online"], &after["lastSeen"]), (&json!(false), &before["lastSeen"]));
        assert_eq!(names(&gateway, TOOLS).await, exactly(&["up", "down"]));
        assert_eq!(names(&gateway, &format!("{TOOLS}?online=1")).await, exactly(&["up"]));
        serve(&down, 200, 200).await;
        assert_eq!(asked(&gateway, &id).await["online"], true);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_new_tool_or_url_is_probed_in_the_next_round() {
    let (old, new) = (MockServer::start().await, MockServer::start().await);
    for gateway in gateways_reaching_localhost().await {
        serve(&old, 200, 200).await;
        serve(&new, 200, 200).await;
        let path = format!("{TOOLS}/{}", publish(&gateway, &Wallet::new(1), at("one", &old)).await["id"]);
        let is_online = || async {
            gateway.clock().advance(Duration::from_secs(1)).await;
            read(&gateway, &path).await["online"] == true
        };
        let begun = gateway.now_s();
        TestGateway::eventually(LIMIT, "the tool is asked", is_online).await;
        next(&gateway).await;
        let moved = publish(&gateway, &Wallet::new(1), at("one", &new)).await;
        assert_eq!((&moved["online"], &moved["lastSeen"]), (&json!(false), &Value::Null), "nobody asked there yet");
        TestGateway::eventually(LIMIT, "the new address is asked", is_online).await;
        assert!(gateway.now_s() - begun < 600, "long before the interval is over");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_tool_that_is_published_again_keeps_what_probes_of_its_address_found() {
    let server = MockServer::start().await;
    for gateway in gateways_reaching_localhost().await {
        serve(&server, 200, 200).await;
        let id = publish(&gateway, &Wallet::new(1), at("one", &server)).await["id"].clone();
        let probed = asked(&gateway, &id).await;
        next(&gateway).await;
        let better = with(at("one", &server), json!({ "description": "Better" }));
        let again = publish(&gateway, &Wallet::new(1), better).await;
        for member in ["id", "online", "lastSeen", "lastProbeAt"] {
            assert_eq!(again[member], probed[member], "{member}");
        }
        let kept = read(&gateway, &format!("{TOOLS}/{id}")).await;
        assert_eq!((&kept["description"], &kept["online"]), (&json!("Better"), &json!(true)));
        // It is due, so that another probe may have come already.
        assert!(kept["lastProbeAt"].as_i64() >= probed["lastProbeAt"].as_i64(), "{kept}");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_private_address_is_never_reached() {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(200)).mount(&server).await;
    for gateway in gateways_reaching_localhost().await {
        let id = publish(&gateway, &Wallet::new(1), at("one", &server)).await["id"].clone();
        // The operator forbids private hosts again.
        let gateway = gateway.restart_after(|config| config.egress.allow_hosts.clear()).await;
        server.reset().await;
        assert_eq!(asked(&gateway, &id).await["online"], false);
        assert!(server.received_requests().await.unwrap().is_empty());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn many_tools_are_probed_a_few_at_a_time() {
    for gateway in gateways().await {
        for number in 0..2 {
            let wallets: Vec<Wallet> = (1..=15).map(Wallet::new).collect();
            let writes = wallets.iter().map(|wallet| publish(&gateway, wallet, tool(&format!("tool-{number}"))));
            futures_util::future::join_all(writes).await;
            next(&gateway).await;
        }
        let gateway = gateway.restart().await;
        gateway.clock().advance(Duration::from_secs(3600)).await;
        let since = gateway.now_s();
        let left = format!("SELECT id FROM tools_tools WHERE probed_at < {since}");
        TestGateway::eventually(LIMIT, "all are asked", || async {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows(&left).await.is_empty()
        })
        .await;
        // Thirty tools in ten minutes are less than one per round, which probes at most eight more.
        let most = "SELECT max(n) FROM (SELECT count(*) AS n FROM tools_tools GROUP BY probed_at / 5) AS rounds";
        let most: i64 = gateway.rows(most).await[0].trim_start_matches("Int(").trim_end_matches(')').parse().unwrap();
        assert!((1..=2 * 8).contains(&most), "{most} within five seconds");
        assert!(gateway.now_s() - since >= 15, "{} s", gateway.now_s() - since);
        finish(gateway).await;
    }
}

/// The limit of a probe is one of the test's clock, and its requests take real time.
const PAUSE: Duration = Duration::from_millis(100);

/// The name `localhost` is allowed and has no limit, its address has the one of every destination.
#[tokio::test]
async fn tools_of_a_host_that_never_answers_well_wait_and_hold_up_nobody() {
    for gateway in gateways_reaching(&["localhost", "127.0.0.2"]).await {
        let since = gateway.now_s();
        let wrong = MockServer::start().await;
        serve(&wrong, 500, 500).await;
        let well = MockServer::builder().listener(std::net::TcpListener::bind("127.0.0.2:0").unwrap()).start().await;
        serve(&well, 200, 200).await;
        let wallets: Vec<Wallet> = (1..=20).map(Wallet::new).collect();
        for (number, wallet) in wallets.iter().enumerate() {
            let url = format!("{}/{number}", wrong.uri().replace("127.0.0.1", "localhost"));
            publish(&gateway, wallet, with(tool("wrong"), json!({ "url": url }))).await;
        }
        let id = publish(&gateway, &Wallet::new(21), at("well", &well)).await["id"].clone();
        assert_eq!(asked_since(&gateway, &id, since, PAUSE).await["online"], true);
        let is_due = "SELECT id FROM tools_tools WHERE probed_at = 0";
        TestGateway::eventually(LIMIT, "each had its turn", || async {
            gateway.clock().advance(Duration::from_secs(1)).await;
            tokio::time::sleep(PAUSE).await;
            gateway.rows(is_due).await.is_empty()
        })
        .await;
        // A turn is noted before its requests are answered.
        let probed = "SELECT id FROM tools_tools WHERE last_probe_at > 0 AND online = 0";
        TestGateway::eventually(LIMIT, "the probe is over", async || !gateway.rows(probed).await.is_empty()).await;
        assert_eq!(methods(&wrong).await, ["HEAD", "GET"], "one probe, which consists of two requests");
        assert_eq!(gateway.rows(probed).await.len(), 1, "of the others nothing is known");
        finish(gateway).await;
    }
}
