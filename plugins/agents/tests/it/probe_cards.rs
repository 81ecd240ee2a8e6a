//! The job that fetches agents' cards: the card, and the online status.

use super::{
    Site,
    script::{PAUSED, registered, status, updated},
    sites_with,
};
use plugin_testing::{Builder, ScriptedLog, TestGateway, Value, json};
use std::time::{Duration, Instant};
use wiremock::{
    Mock, MockServer, Request, ResponseTemplate,
    matchers::{method, path},
};

const CARD: &str = "/.well-known/service-agent.json";
const LIMIT: Duration = Duration::from_secs(60);

fn card() -> Value {
    json!({
        "service": 1, "agentId": 1, "name": "n", "description": "Digs\u{0}data", "capabilities": ["dig", "sort"],
        "model": "m-1", "pricePerCall": "12", "image": "https://i.example/x.png", "inputSchema": { "type": "object" },
        "more": { "b": 1, "a": [1.50] },
    })
}

fn lets_out(builder: Builder) -> Builder {
    builder.configure(|config| config.egress.allow_hosts = vec!["127.0.0.1".to_owned()])
}

async fn sites(blocks: Vec<Vec<ScriptedLog>>) -> Vec<Site> {
    sites_with(blocks, lets_out).await
}

async fn serve(server: &MockServer, response: ResponseTemplate) {
    server.reset().await;
    Mock::given(method("GET")).and(path(CARD)).respond_with(response).mount(server).await;
}

async fn agent(site: &Site, id: u64) -> Value {
    site.read(&format!("/api/agents/{id}")).await
}

/// Lets probes become due until the agent's record is as expected.
async fn probed(site: &Site, id: u64, is_expected: impl Fn(&Value) -> bool) -> Value {
    site.gateway.clock().advance(Duration::from_secs(301)).await;
    TestGateway::eventually(LIMIT, "the agent is probed", || async {
        let is_there = is_expected(&agent(site, id).await);
        if !is_there {
            site.gateway.clock().advance(Duration::from_secs(1)).await;
        }
        is_there
    })
    .await;
    agent(site, id).await
}

fn is_online(agent: &Value) -> bool {
    agent["online"] == true
}

#[tokio::test]
async fn a_card_is_shown_as_it_was_served() {
    let server = MockServer::start().await;
    serve(&server, ResponseTemplate::new(200).set_body_json(card())).await;
    for site in sites(vec![registered(1, 1, "a", &server.uri())]).await {
        assert_eq!((&agent(&site, 1).await["online"], &agent(&site, 1).await["card"]), (&json!(false), &Value::Null));
        let agent = probed(&site, 1, is_online).await;
        assert_eq!(agent["card"], card());
        assert_eq!(agent["description"], "Digs\u{fffd}data", "not every database stores U+0000");
        assert_eq!((&agent["capabilities"], &agent["model"]), (&json!(["dig", "sort"]), &json!("m-1")));
        assert_eq!(agent["pricePerCall"], "12");
        assert!(agent["lastSeen"].as_i64().is_some_and(|at| at > 1_767_225_600_000), "milliseconds: {agent}");
        let file = site.read("/api/agents/1/erc8004.json").await;
        assert_eq!((&file["image"], &file["x402Support"]), (&json!("https://i.example/x.png"), &json!(true)));
        let own = file["x-service"]["services"].as_array().unwrap();
        assert_eq!(own.iter().map(|service| &service["name"]).collect::<Vec<_>>(), ["service", "gateway"]);
        assert!(own[0]["card"].as_str().is_some_and(|card| card.starts_with(&server.uri())), "{file}");
        assert_eq!(file["x-service"]["model"], "m-1");
        let requests: Vec<Request> = server.received_requests().await.unwrap();
        assert_eq!(requests[0].headers["user-agent"], "service-gateway/health");
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_that_stops_answering_is_offline_and_its_last_card_stays() {
    let server = MockServer::start().await;
    for site in sites(vec![registered(1, 1, "a", &server.uri())]).await {
        serve(&server, ResponseTemplate::new(200).set_body_json(card())).await;
        let before = probed(&site, 1, is_online).await;
        serve(&server, ResponseTemplate::new(503)).await;
        let after = probed(&site, 1, |agent| !is_online(agent)).await;
        assert_eq!((&after["card"], &after["lastSeen"]), (&before["card"], &before["lastSeen"]));
        let days = site.gateway.rows("SELECT cast(sum(ok) AS BIGINT), min(failed) FROM agents_probe_days").await;
        assert!(days[0].starts_with("Int(") && days[0] != "Int(0) Int(0)", "{days:?}");
        let uptime = &site.read("/api/agents/1").await["uptime"];
        let count = |member: &str| uptime[member].as_i64().unwrap_or_default();
        assert!(count("ok") > 0 && count("fail") > 0 && count("ok") + count("fail") == count("probes"), "{uptime}");
        assert_eq!((&uptime["windowDays"], &uptime["uptimePct"]), (&json!(30), &json!(null)), "{uptime}");
        serve(&server, ResponseTemplate::new(200).set_body_json(card())).await;
        assert!(is_online(&probed(&site, 1, is_online).await));
        site.close().await;
    }
}

#[tokio::test]
async fn an_invalid_card_leaves_an_agent_offline() {
    let too_large = format!("{{\"service\":1,\"x\":\"{}\"}}", "x".repeat(64 * 1024));
    let responses = [
        ResponseTemplate::new(200).set_body_string("<html>"),
        ResponseTemplate::new(200).set_body_json(json!({ "service": 2 })),
        ResponseTemplate::new(200).set_body_json(json!([1])),
        ResponseTemplate::new(404).set_body_json(card()),
        ResponseTemplate::new(200).set_body_string(too_large),
        ResponseTemplate::new(200).set_body_bytes(b"{\"service\":1,\"a\":\"\xff\"}"),
    ];
    for response in responses {
        let server = MockServer::start().await;
        serve(&server, response).await;
        let site = sites(vec![registered(1, 1, "a", &server.uri())]).await.remove(0);
        site.gateway.clock().advance(Duration::from_secs(301)).await;
        TestGateway::eventually(LIMIT, "the agent is asked", || async {
            site.gateway.clock().advance(Duration::from_secs(1)).await;
            !site.gateway.rows("SELECT 1 FROM agents_cards").await.is_empty()
        })
        .await;
        let agent = agent(&site, 1).await;
        assert_eq!((&agent["online"], &agent["card"], &agent["lastSeen"]), (&json!(false), &Value::Null, &Value::Null));
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_with_a_new_endpoint_does_not_show_the_old_card() {
    let (old, new) = (MockServer::start().await, MockServer::start().await);
    serve(&old, ResponseTemplate::new(200).set_body_json(card())).await;
    serve(&new, ResponseTemplate::new(404)).await;
    for site in sites(vec![registered(1, 1, "a", &old.uri())]).await {
        probed(&site, 1, is_online).await;
        site.mine(vec![updated(1, &new.uri(), "", "1")]).await;
        let moved = agent(&site, 1).await;
        assert_eq!((&moved["card"], &moved["online"]), (&Value::Null, &json!(false)));
        // Probed in the next round, without waiting for the interval.
        TestGateway::eventually(LIMIT, "the new place is asked", || async {
            site.gateway.clock().advance(Duration::from_secs(1)).await;
            !new.received_requests().await.unwrap().is_empty()
        })
        .await;
        site.close().await;
    }
}

#[tokio::test]
async fn only_active_agents_with_an_endpoint_are_probed_or_online() {
    let server = MockServer::start().await;
    serve(&server, ResponseTemplate::new(200).set_body_json(card())).await;
    let paused = format!("{}/paused", server.uri());
    let blocks = vec![
        registered(1, 1, "active", &server.uri()),
        [registered(2, 2, "paused", &paused), vec![status(2, PAUSED)], registered(3, 3, "nowhere", "")].concat(),
    ];
    for site in sites(blocks).await {
        probed(&site, 1, is_online).await;
        assert!(!is_online(&agent(&site, 2).await) && !is_online(&agent(&site, 3).await));
        let asked = server.received_requests().await.unwrap();
        assert!(asked.iter().all(|request| request.url.path() == CARD), "{asked:?}");
        // A paused agent is not online, whatever the last probe found.
        site.mine(vec![status(1, PAUSED)]).await;
        assert!(!is_online(&agent(&site, 1).await));
        site.close().await;
    }
}

#[tokio::test]
async fn a_private_endpoint_is_never_reached() {
    let server = MockServer::start().await;
    serve(&server, ResponseTemplate::new(200).set_body_json(card())).await;
    let endpoints = [server.uri(), "ftp://a.example".to_owned(), "not a url".to_owned(), "http://[::1]:1".to_owned()];
    let blocks = (1u64..).zip(&endpoints).map(|(id, endpoint)| registered(id, id, "a", endpoint)).collect();
    for site in super::sites(blocks).await {
        site.gateway.clock().advance(Duration::from_secs(301)).await;
        TestGateway::eventually(LIMIT, "all were tried", || async {
            site.gateway.clock().advance(Duration::from_secs(1)).await;
            site.gateway.rows("SELECT 1 FROM agents_cards").await.len() == endpoints.len()
        })
        .await;
        assert!(server.received_requests().await.unwrap().is_empty());
        assert!(site.read("/api/agents").await["items"].as_array().unwrap().iter().all(|agent| !is_online(agent)));
        site.close().await;
    }
}

/// A round probes some eight agents here, and goes on behind them in the next one.
#[tokio::test]
async fn more_agents_than_one_round_probes_are_all_probed_and_counted() {
    let server = MockServer::start().await;
    Mock::given(method("GET")).respond_with(ResponseTemplate::new(200).set_body_json(card())).mount(&server).await;
    let blocks = (1..=20).map(|id| registered(id, id, "a", &format!("{}/{id}", server.uri()))).collect();
    for site in sites(blocks).await {
        site.gateway.clock().advance(Duration::from_secs(301)).await;
        TestGateway::eventually(LIMIT, "all are probed", || async {
            site.gateway.clock().advance(Duration::from_secs(5)).await;
            site.gateway.rows("SELECT agents, probed, online FROM agents_probe_progress").await
                == ["Int(20) Int(20) Int(20)"]
        })
        .await;
        site.close().await;
    }
}

/// The name `localhost` is allowed and has no limit, its address has the one of every destination.
#[tokio::test]
async fn an_agent_that_does_not_answer_holds_up_no_other_one() {
    let (slow, fast) = (MockServer::start().await, MockServer::start().await);
    serve(&slow, ResponseTemplate::new(200).set_delay(LIMIT)).await;
    serve(&fast, ResponseTemplate::new(200).set_body_json(card())).await;
    // As many as one round probes at a time.
    let endpoint = |id: u64| if id == 1 { slow.uri() } else { fast.uri() };
    let blocks = (1..=8).map(|id| registered(id, 1, "a", &endpoint(id))).collect();
    for site in sites(blocks).await {
        site.gateway.clock().advance(Duration::from_secs(301)).await;
        let is_called = async || {
            let is_called = !slow.received_requests().await.unwrap().is_empty();
            if !is_called {
                site.gateway.clock().advance(Duration::from_secs(1)).await;
            }
            is_called
        };
        TestGateway::eventually(LIMIT, "the slow one is called", is_called).await;
        let called = Instant::now();
        let are_online =
            async || site.gateway.rows("SELECT agent_id FROM agents_cards WHERE online = 1").await.len() == 7;
        TestGateway::eventually(LIMIT, "the others are online", are_online).await;
        assert!(called.elapsed() < Duration::from_secs(4), "after {:?}", called.elapsed());
        site.close().await;
        // Forgets the call.
        serve(&slow, ResponseTemplate::new(200).set_delay(LIMIT)).await;
    }
}

#[tokio::test]
async fn agents_of_a_host_that_never_answers_well_wait_and_hold_up_nobody() {
    let wrong = MockServer::start().await;
    serve(&wrong, ResponseTemplate::new(404)).await;
    let well = MockServer::builder().listener(std::net::TcpListener::bind("127.0.0.2:0").unwrap()).start().await;
    serve(&well, ResponseTemplate::new(200).set_body_json(card())).await;
    let endpoint = wrong.uri().replace("127.0.0.1", "localhost");
    let mut blocks: Vec<_> = (1..=20).map(|id| registered(id, id, "wrong", &format!("{endpoint}/{id}"))).collect();
    blocks.push(registered(21, 21, "well", &well.uri()));
    let reaches = |builder: Builder| {
        let hosts = vec!["localhost".to_owned(), "127.0.0.2".to_owned()];
        builder.configure(|config| config.egress.allow_hosts = hosts)
    };
    let sites = sites_with(blocks, reaches).await;
    let gateways = sites.len();
    for site in sites {
        probed(&site, 21, is_online).await;
        TestGateway::eventually(LIMIT, "each had its turn", || async {
            site.gateway.clock().advance(Duration::from_secs(1)).await;
            site.gateway.rows("SELECT 1 FROM agents_cards").await.len() == 21
        })
        .await;
        let failed = site.gateway.rows("SELECT agent_id FROM agents_probe_days WHERE failed > 0").await;
        assert_eq!(failed.len(), 1, "of the others nothing is known");
        site.close().await;
    }
    assert_eq!(wrong.received_requests().await.unwrap().len(), gateways, "each gateway has limits of its own");
}
