//! `POST /a/{slug}/invoke`

use super::{Site, agent_server, calls, is, lets_out, refusal, script::registered, serve, sites, sites_with};
use plugin_testing::{Builder, PRIVATE_URLS, TestGateway, Value, json};
use std::time::Duration;
use wiremock::{MockServer, ResponseTemplate};

const LIMIT: Duration = Duration::from_secs(60);

async fn site_of(server: &MockServer) -> Vec<Site> {
    sites(registered(1, 7, "Miner", &format!("{}/", server.uri()))).await
}

#[tokio::test]
async fn the_body_goes_to_the_agent_as_it_is_and_the_answer_comes_back_as_it_is() {
    let answer: Vec<u8> = (0..=255).rev().collect();
    let server =
        agent_server(ResponseTemplate::new(200).set_body_raw(answer.clone(), "application/json; charset=utf-8")).await;
    for site in site_of(&server).await {
        let body: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let response = site.invoke("miner", &[("content-type", "image/png")], body.clone()).await;
        assert_eq!((response.status, &response.body[..]), (200, &answer[..]));
        assert_eq!(response.headers["content-type"], "application/json; charset=utf-8");
        let call = calls(&server).await.pop().unwrap();
        assert_eq!((call.body, call.headers["content-type"].to_str().unwrap()), (body, "image/png"));
        // Without a type it is JSON; an empty body is one, too.
        assert_eq!(site.invoke("1", &[], "").await.status, 200);
        let call = calls(&server).await.pop().unwrap();
        assert_eq!((call.body.len(), call.headers["content-type"].to_str().unwrap()), (0, "application/json"));
        site.close().await;
    }
}

#[tokio::test]
async fn nothing_else_of_the_request_goes_on() {
    let server =
        agent_server(ResponseTemplate::new(200).insert_header("set-cookie", "a=b").insert_header("x-own", "1")).await;
    for site in site_of(&server).await {
        let sent = [
            ("authorization", "Bearer secret"),
            ("cookie", "session=secret"),
            ("payment", "e30="),
            ("x-payment", "e30="),
            ("payment-signature", "e30="),
            ("user-agent", "curl"),
            ("x-service-payer", "0x0"),
            ("x-service-gateway-secret", "guess"),
            ("x-forwarded-for", "10.0.0.1"),
            ("accept-encoding", "gzip"),
        ];
        let response = site.invoke("1", &sent, "{}").await;
        assert_eq!(response.status, 200, "{}", response.text());
        assert!(!response.headers.contains_key("set-cookie") && !response.headers.contains_key("x-own"));
        let call = calls(&server).await.pop().unwrap();
        let mut names: Vec<&str> = call.headers.keys().map(|name| name.as_str()).collect();
        names.sort_unstable();
        let transport = ["accept", "connection", "content-length", "host"];
        names.retain(|name| !transport.contains(name));
        assert_eq!(names, ["content-type", "user-agent", "x-service-agent-id", "x-service-hop"]);
        assert_eq!(call.headers["user-agent"], "service-gateway/invoke");
        assert_eq!(
            (&call.headers["x-service-agent-id"], &call.headers["x-service-hop"]),
            (&"1".parse().unwrap(), &"1".parse().unwrap())
        );
        site.close().await;
    }
}

#[tokio::test]
async fn headers_have_the_prefix_of_the_deployment() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    let branded = |builder: Builder| {
        lets_out(builder).configure(|config| {
            (config.brand.header_prefix, config.brand.marker) = ("X-Ferminux".to_owned(), "ferminux".to_owned());
        })
    };
    for site in sites_with(registered(1, 7, "Miner", &server.uri()), branded).await {
        assert_eq!(site.invoke("1", &[("x-service-hop", "1")], "{}").await.status, 200, "another network's header");
        let call = calls(&server).await.pop().unwrap();
        assert_eq!(call.headers["x-ferminux-agent-id"], "1");
        assert_eq!(call.headers["user-agent"], "ferminux-gateway/invoke");
        assert_eq!(refusal(&site.invoke("1", &[("X-Ferminux-Hop", "1")], "{}").await), is(508, "loop"));
        site.close().await;
    }
}

#[tokio::test]
async fn the_operators_own_agents_know_the_gateway_by_its_secret() {
    let (own, other) = (agent_server(ResponseTemplate::new(200)).await, agent_server(ResponseTemplate::new(200)).await);
    let agents = [("own", &own), ("other", &other), ("of a stranger", &own), ("own elsewhere", &other)];
    let registered = |(id, (name, server)): (u64, (&str, &MockServer))| registered(id, 7, name, &server.uri());
    let logs = (1..).zip(agents).flat_map(registered).collect::<Vec<_>>();
    let secret = "0123456789abcdef";
    let config = json!({ "upstream_agents": [1, 4], "upstreams": [own.uri()], "upstream_secret": secret });
    for site in sites_with(logs, |builder| lets_out(builder).config("a2a", config.clone())).await {
        assert_eq!(site.invoke("1", &[], "{}").await.status, 200);
        assert_eq!(calls(&own).await.pop().unwrap().headers["x-service-gateway-secret"], secret);
        for (agent, server) in [("2", &other), ("3", &own), ("4", &other)] {
            assert_eq!(site.invoke(agent, &[], "{}").await.status, 200);
            let call = calls(server).await.pop().unwrap();
            assert_eq!(call.headers["x-service-agent-id"], agent);
            assert!(!call.headers.contains_key("x-service-gateway-secret"), "{agent}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn the_status_of_the_agent_is_that_of_the_answer() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in site_of(&server).await {
        for status in [200, 201, 202, 204, 400, 401, 402, 404, 409, 418, 429, 500, 503] {
            serve(&server, ResponseTemplate::new(status).set_body_string("says why")).await;
            let response = site.invoke("1", &[], "{}").await;
            assert_eq!(response.status, status);
            assert!(status == 204 || response.text() == "says why", "{status}: {}", response.text());
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_type_that_a_browser_runs_is_not_kept() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in site_of(&server).await {
        for (sent, kept) in [
            ("application/json", "application/json"),
            ("text/plain; charset=utf-8", "text/plain; charset=utf-8"),
            ("application/x-ndjson", "application/x-ndjson"),
            ("text/html", "application/octet-stream"),
            ("image/svg+xml", "application/octet-stream"),
            ("application/json2", "application/octet-stream"),
        ] {
            serve(&server, ResponseTemplate::new(200).set_body_raw("<script>", sent)).await;
            let response = site.invoke("1", &[], "{}").await;
            assert_eq!(
                (response.headers["content-type"].to_str().unwrap(), response.text().as_str()),
                (kept, "<script>")
            );
        }
        let compressed =
            ResponseTemplate::new(200).insert_header("content-encoding", "gzip").set_body_bytes(b"\x1f\x8b\x08");
        serve(&server, compressed).await;
        let response = site.invoke("1", &[], "{}").await;
        assert_eq!(
            (&response.body[..], &response.headers["content-encoding"]),
            (&b"\x1f\x8b\x08"[..], &"gzip".parse().unwrap())
        );
        site.close().await;
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_a_bad_gateway() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    let elsewhere = agent_server(ResponseTemplate::new(200)).await;
    for site in site_of(&server).await {
        serve(&server, ResponseTemplate::new(200).set_body_bytes(vec![b'x'; 1024 * 1024])).await;
        assert_eq!(site.invoke("1", &[], "{}").await.body.len(), 1024 * 1024);
        for (answer, code) in [
            (ResponseTemplate::new(200).set_body_bytes(vec![b'x'; 1024 * 1024 + 1]), "too_large"),
            (ResponseTemplate::new(302).insert_header("location", format!("{}/invoke", elsewhere.uri())), "bad_answer"),
            (ResponseTemplate::new(307).insert_header("location", "http://169.254.169.254/"), "bad_answer"),
            (ResponseTemplate::new(304), "bad_answer"),
            (ResponseTemplate::new(200).insert_header("content-encoding", "aes128gcm"), "bad_answer"),
        ] {
            serve(&server, answer).await;
            assert_eq!(refusal(&site.invoke("1", &[], "{}").await), is(502, code));
        }
        assert!(calls(&elsewhere).await.is_empty(), "no redirect is followed");
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_that_breaks_off_is_a_bad_gateway_and_one_that_is_gone_a_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _read = tokio::io::AsyncReadExt::read(&mut socket, &mut request).await;
            let cut_off = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
            let _written = tokio::io::AsyncWriteExt::write_all(&mut socket, cut_off).await;
        }
    });
    for site in sites(registered(1, 7, "Miner", &format!("http://{address}"))).await {
        assert_eq!(refusal(&site.invoke("1", &[], "{}").await), is(502, "bad_answer"));
        site.close().await;
    }
    server.abort();
    let _ended = server.await;
    for site in sites(registered(1, 7, "Miner", &format!("http://{address}"))).await {
        assert_eq!(refusal(&site.invoke("1", &[], "{}").await), is(504, "unreachable"));
        site.close().await;
    }
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_called_is_told_before_anything_is_sent() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    let endpoints = [
        "",
        "not a url",
        "ftp://a.example",
        "http://",
        "http://127.0.0.1:8080/a/2",
        "http://127.0.0.1:8080",
        "http://user:secret@a.example",
        "http://[::1]:1",
    ];
    let logs = (1..).zip(endpoints).flat_map(|(id, endpoint)| registered(id, id, "x", endpoint)).collect();
    for site in sites(logs).await {
        for (id, endpoint) in (1..).zip(endpoints) {
            let code = if endpoint.starts_with("http://127.0.0.1:8080") { "own_endpoint" } else { "bad_endpoint" };
            assert_eq!(refusal(&site.invoke(&id.to_string(), &[], "{}").await), is(502, code), "{endpoint}");
        }
        assert_eq!(refusal(&site.invoke("99", &[], "{}").await), is(404, "not_found"));
        assert_eq!(refusal(&site.invoke("nobody", &[], "{}").await), is(404, "not_found"));
        site.close().await;
    }
    // The operator allows no private address.
    for site in sites_with(registered(1, 7, "Miner", &server.uri()), |builder| builder).await {
        assert_eq!(refusal(&site.invoke("1", &[], "{}").await), is(502, "bad_endpoint"));
        assert!(calls(&server).await.is_empty());
        site.close().await;
    }
}

/// Who registers an agent writes its endpoint into the chain: nothing was checked there.
#[tokio::test]
async fn no_form_of_a_private_address_is_called() {
    let logs = (1..).zip(PRIVATE_URLS).flat_map(|(id, endpoint)| registered(id, id, "x", endpoint)).collect();
    for site in sites_with(logs, |builder| builder).await {
        for (id, endpoint) in (1..).zip(PRIVATE_URLS) {
            let id: u64 = id;
            let response = site.invoke(&id.to_string(), &[], "{}").await;
            assert_eq!(refusal(&response), is(502, "bad_endpoint"), "{endpoint}: {}", response.text());
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_request_that_came_through_a_gateway_before_is_a_loop() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in site_of(&server).await {
        assert_eq!(refusal(&site.invoke("1", &[("X-Service-Hop", "1")], "{}").await), is(508, "loop"));
        assert!(calls(&server).await.is_empty());
        site.close().await;
    }
}

#[tokio::test]
async fn a_price_needs_somebody_who_takes_it_and_one_that_cannot_be_read_is_not_free() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    let endpoint = server.uri();
    for site in sites(registered(1, 7, "Miner", &endpoint)).await {
        let before = calls(&server).await.len();
        for price in
            [json!("12"), json!("115792089237316195423570985008687907853269984665640564039457584007913129639935")]
        {
            site.store_card(1, &endpoint, &json!({ "service": 1, "pricePerCall": price })).await;
            assert_eq!(refusal(&site.invoke("1", &[], "{}").await), is(503, "disabled"), "{price}");
        }
        for price in [json!("1.5"), json!("-1"), json!(1.5), json!({}), json!(""), json!("0x10"), json!(true)] {
            site.store_card(1, &endpoint, &json!({ "service": 1, "pricePerCall": price })).await;
            assert_eq!(refusal(&site.invoke("1", &[], "{}").await), is(503, "price_unavailable"), "{price}");
        }
        assert_eq!(calls(&server).await.len(), before);
        for price in [json!("0"), Value::Null] {
            site.store_card(1, &endpoint, &json!({ "service": 1, "pricePerCall": price })).await;
            assert_eq!(site.invoke("1", &[], "{}").await.status, 200, "{price}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_slow_agent_costs_others_nothing() {
    let slow = agent_server(ResponseTemplate::new(200).set_delay(Duration::from_secs(3))).await;
    let fast = agent_server(ResponseTemplate::new(200)).await;
    let logs = [registered(1, 7, "slow", &slow.uri()), registered(2, 7, "fast", &fast.uri())].concat();
    let config = json!({ "calls_per_agent_max": 2, "calls_max": 3 });
    for site in sites_with(logs, |builder| lets_out(builder).config("a2a", config.clone())).await {
        let in_flight = async || {
            let status = site.gateway.collect("status", &json!({})).await;
            status["a2a"]["a2a"]["inFlight"].as_i64().unwrap()
        };
        let others = async {
            TestGateway::eventually(LIMIT, "two calls wait", async || in_flight().await == 2).await;
            let refused = site.invoke("1", &[], "{}").await;
            assert_eq!(refusal(&refused), is(503, "provider_busy"));
            assert_eq!(refused.headers["retry-after"], "5");
            assert_eq!(site.invoke("2", &[], "{}").await.status, 200);
        };
        let (first, second, ()) =
            futures_util::future::join3(site.invoke("1", &[], "{}"), site.invoke("1", &[], "{}"), others).await;
        assert_eq!((first.status, second.status), (200, 200));
        assert_eq!(in_flight().await, 0);
        site.close().await;
    }
}

#[tokio::test]
async fn a_body_may_be_as_large_as_the_operator_allows() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in site_of(&server).await {
        assert_eq!(site.invoke("1", &[], vec![b'x'; 262_144]).await.status, 200);
        assert_eq!(site.invoke("1", &[], vec![b'x'; 262_145]).await.status, 413);
        site.close().await;
    }
    let larger = |builder: Builder| lets_out(builder).configure(|config| config.http.body_bytes_max = 4 * 1024 * 1024);
    for site in sites_with(registered(1, 7, "Miner", &server.uri()), larger).await {
        assert_eq!(site.invoke("1", &[], vec![b'x'; 1024 * 1024]).await.status, 200);
        assert_eq!(calls(&server).await.pop().unwrap().body.len(), 1024 * 1024);
        assert_eq!(site.invoke("1", &[], vec![b'x'; 1024 * 1024 + 1]).await.status, 413);
        site.close().await;
    }
}
