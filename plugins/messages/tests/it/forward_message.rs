//! Copies for agents: forwarded after the commit, once, without delaying the write.

use super::{
    LIMIT, Site,
    script::{PAUSED, registered_by, status},
    sites, sites_reaching,
};
use plugin_testing::{PRIVATE_URLS, TestGateway, Value, Wallet, json};
use std::time::Duration;
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers::any};

/// An agent that sends this response to every request.
async fn agent(response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(response).mount(&server).await;
    server
}

/// Waits until `/inbox` has received `count` requests, while the clock advances; returns them.
async fn received(site: &Site, server: &MockServer, count: usize) -> Vec<Request> {
    let inbox = || async {
        let mut requests = server.received_requests().await.unwrap();
        requests.retain(|request| request.url.path().ends_with("/inbox"));
        requests
    };
    TestGateway::eventually(LIMIT, "the agent gets its copy", || async {
        site.wait(1).await;
        inbox().await.len() >= count
    })
    .await;
    inbox().await
}

/// Waits until no copy waits any more.
async fn all_taken(site: &Site) {
    TestGateway::eventually(LIMIT, "no copy waits", || async {
        site.wait(1).await;
        site.gateway.rows("SELECT id FROM messages_queue").await.is_empty()
    })
    .await;
}

#[tokio::test]
async fn an_agent_gets_what_its_owner_reads() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(Vec::new()).await {
        let server = agent(ResponseTemplate::new(204)).await;
        let endpoint = format!("{}/me//", server.uri());
        site.mine(registered_by(7, bob.address(), "seven", &endpoint)).await;
        let message = site.send(&alice, json!({ "to": 7, "body": "Grüße 👋", "subject": "S" })).await;
        let copies = received(&site, &server, 1).await;
        assert_eq!((copies[0].method.as_str(), copies[0].url.path()), ("POST", "/me/inbox"));
        assert_eq!(copies[0].headers["content-type"], "application/json");
        assert_eq!(copies[0].body_json::<Value>().unwrap(), message);
        all_taken(&site).await;
        assert_eq!(received(&site, &server, 1).await.len(), 1, "once");
        site.close().await;
    }
}

#[tokio::test]
async fn the_named_agent_then_an_active_one_then_the_oldest() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(Vec::new()).await {
        let server = agent(ResponseTemplate::new(200)).await;
        let at = |path: &str| format!("{}/{path}", server.uri());
        for (id, endpoint) in
            [(1, at("one")), (2, at("two")), (3, at("three")), (4, String::new()), (5, "ftp://x".into())]
        {
            site.mine(registered_by(id, bob.address(), "agent", &endpoint)).await;
        }
        site.mine(vec![status(1, PAUSED)]).await;
        for (to, path) in [
            (json!(3), "/three/inbox"),
            (json!(1), "/one/inbox"),
            (json!(bob.address()), "/two/inbox"),
            (json!(4), "/two/inbox"),
            (json!(5), "/two/inbox"),
        ] {
            let seen = server.received_requests().await.unwrap().iter().filter(|r| r.url.path() == path).count();
            site.send(&alice, json!({ "to": to, "body": "b" })).await;
            TestGateway::eventually(LIMIT, "the right agent is called", || async {
                site.wait(1).await;
                server.received_requests().await.unwrap().iter().filter(|r| r.url.path() == path).count() > seen
            })
            .await;
        }
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_cannot_delay_or_fail_the_write() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(Vec::new()).await {
        let slow = agent(ResponseTemplate::new(200).set_delay(Duration::from_secs(600))).await;
        let wrong = agent(ResponseTemplate::new(500)).await;
        let endpoints = [
            wrong.uri(),
            "http://127.0.0.1:1".to_owned(),
            "http://10.0.0.1".to_owned(),
            "http://[".to_owned(),
            "https://nowhere.invalid".to_owned(),
            slow.uri(),
        ];
        for (id, endpoint) in (1..).zip(&endpoints) {
            site.mine(registered_by(id, bob.address(), "agent", endpoint)).await;
        }
        for id in 1..=endpoints.len() {
            // The response arrives while the clock is stopped.
            site.send(&alice, json!({ "to": id, "body": "b" })).await;
            if id < endpoints.len() {
                all_taken(&site).await;
            }
            site.wait(1).await;
        }
        assert_eq!(site.inbox(&bob, "").await["items"].as_array().unwrap().len(), endpoints.len());
        site.close().await;
    }
}

/// Who registers an agent writes its endpoint into the chain. Those on this machine would reach the server.
#[tokio::test]
async fn no_copy_goes_to_a_private_address() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    let server = agent(ResponseTemplate::new(204)).await;
    let with_port = |url: &str| format!("{}:{}/", url.trim_end_matches('/'), server.address().port());
    let endpoints: Vec<String> = PRIVATE_URLS.iter().map(|url| with_port(url)).collect();
    let logs = (1..).zip(&endpoints).flat_map(|(id, endpoint)| registered_by(id, bob.address(), "agent", endpoint));
    let logs: Vec<_> = logs.collect();
    for site in sites_reaching(&[], 16, logs.chunks(12).map(<[_]>::to_vec).collect()).await {
        for id in 1..=endpoints.len() {
            site.send(&alice, json!({ "to": id, "body": "b" })).await;
            site.wait(1).await;
        }
        all_taken(&site).await;
        assert!(server.received_requests().await.unwrap().is_empty());
        assert_eq!(site.gateway.faults().await, Vec::<String>::new());
        site.close().await;
    }
}

#[tokio::test]
async fn a_write_that_fails_forwards_nothing() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(Vec::new()).await {
        let server = agent(ResponseTemplate::new(200)).await;
        site.mine(registered_by(7, bob.address(), "seven", &server.uri())).await;
        let body =
            alice.signed_body("message.send", site.gateway.now_s(), &json!({ "to": 7, "body": "b" })).to_string();
        let writes = (0..50).map(|_| site.gateway.send("POST", super::MESSAGES, &[], body.clone()));
        let responses = futures_util::future::join_all(writes).await;
        assert_eq!(responses.iter().filter(|response| response.status == 201).count(), 1);
        all_taken(&site).await;
        site.wait(30).await;
        assert_eq!(received(&site, &server, 1).await.len(), 1);
        site.close().await;
    }
}

/// One of three places stays for others.
#[tokio::test]
async fn a_slow_host_holds_up_nobody_and_loses_nothing() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in super::sites_with(3, Vec::new()).await {
        let slow = agent(ResponseTemplate::new(200).set_delay(Duration::from_secs(2))).await;
        let quick = agent(ResponseTemplate::new(200)).await;
        let other_host = quick.uri().replace("127.0.0.1", "localhost");
        site.mine(registered_by(1, bob.address(), "slow", &slow.uri())).await;
        site.mine(registered_by(2, bob.address(), "quick", &other_host)).await;
        for _ in 0..3 {
            site.send(&alice, json!({ "to": 1, "body": "b" })).await;
            site.wait(1).await;
        }
        site.send(&alice, json!({ "to": 2, "body": "b" })).await;
        received(&site, &quick, 1).await;
        assert!(slow.received_requests().await.unwrap().len() < 3, "before those of the slow host");
        assert_eq!(received(&site, &slow, 3).await.len(), 3);
        all_taken(&site).await;
        site.close().await;
    }
}

/// The request waits for its place as long as for a response; then the copy is put back, and a restart of the gateway does not lose it.
#[tokio::test]
async fn a_message_that_finds_no_place_is_sent_later() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in super::sites_with(1, Vec::new()).await {
        let server = agent(ResponseTemplate::new(200).set_body_string("ok")).await;
        site.mine(registered_by(7, bob.address(), "seven", &server.uri())).await;
        let only_place = site.gateway.take_outbound_place("messages", &server.uri()).await;
        let message = site.send(&alice, json!({ "to": 7, "body": "b" })).await;
        // The clock is stopped, so that nothing takes it again.
        TestGateway::eventually(LIMIT, "the copy is put back", || async {
            site.gateway.rows("SELECT id FROM messages_queue WHERE attempt = 1").await.len() == 1
        })
        .await;
        drop(only_place);
        let site = Site { gateway: site.gateway.restart().await, chain: site.chain };
        assert_eq!(received(&site, &server, 1).await[0].body_json::<Value>().unwrap(), message);
        all_taken(&site).await;
        assert_eq!(received(&site, &server, 1).await.len(), 1, "once");
        site.close().await;
    }
}

/// The name `localhost` is allowed and has no limit, its address has the one of every destination.
#[tokio::test]
async fn an_agent_that_never_answers_well_gets_one_request_a_minute_and_holds_up_nobody() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in super::sites_reaching(&["localhost", "127.0.0.2"], 16, Vec::new()).await {
        let wrong = agent(ResponseTemplate::new(404)).await;
        let listener = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
        let quick = MockServer::builder().listener(listener).start().await;
        Mock::given(any()).respond_with(ResponseTemplate::new(200)).mount(&quick).await;
        let endpoint = wrong.uri().replace("127.0.0.1", "localhost");
        site.mine(registered_by(1, bob.address(), "wrong", &endpoint)).await;
        site.mine(registered_by(2, bob.address(), "quick", &quick.uri())).await;
        for _ in 0..5 {
            site.send(&alice, json!({ "to": 1, "body": "b" })).await;
            site.wait(1).await;
        }
        site.send(&alice, json!({ "to": 2, "body": "b" })).await;
        received(&site, &quick, 1).await;
        // Those of the first agent wait, until they are too old. Its first request may have been the probe of its card, and the second
        // one came a minute later.
        all_taken(&site).await;
        assert!((1..=2).contains(&wrong.received_requests().await.unwrap().len()));
        assert_eq!(received(&site, &quick, 1).await.len(), 1);
        site.close().await;
    }
}
