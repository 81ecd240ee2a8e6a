//! `POST /api/tools`

use super::{NOWHERE, TOOLS, compute, finish, gateways, next, post, publish, read, tool, with};
use plugin_testing::{PRIVATE_URLS, TestGateway, Value, Wallet, json};

async fn refused(gateway: &TestGateway, payload: Value) -> (u16, String) {
    let response = post(gateway, &Wallet::new(1), payload).await;
    assert!(!response.json()["error"].as_str().expect("an error has a text").is_empty());
    (response.status, response.code())
}

#[tokio::test]
async fn a_tool_is_answered_as_it_was_sent() {
    for gateway in gateways().await {
        let (alice, now) = (Wallet::new(1), gateway.now_s());
        let payload =
            json!({ "name": "My.tool_1", "kind": "mcp", "url": format!(" {NOWHERE} "), "description": "✓ a\nb" });
        let response = post(&gateway, &alice, payload).await;
        assert_eq!(response.status, 201, "{}", response.text());
        let published = response.json();
        assert_eq!(
            published,
            json!({
                "id": published["id"], "owner": { "address": alice.address(), "name": null, "agentId": null },
                "name": "My.tool_1", "kind": "mcp", "url": NOWHERE, "description": "✓ a\nb", "schema": null,
                "compute": null, "online": false, "lastSeen": null, "lastProbeAt": null, "createdAt": now,
                "updatedAt": now
            })
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn publishing_again_updates_the_tool_of_this_owner_and_name() {
    for gateway in gateways().await {
        let (alice, begun) = (Wallet::new(1), gateway.now_s());
        let first = publish(&gateway, &alice, tool("one")).await;
        next(&gateway).await;
        let response = post(&gateway, &alice, compute("one")).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let second = response.json();
        assert_eq!((&second["id"], &second["kind"]), (&first["id"], &json!("compute")));
        assert_eq!((&second["createdAt"], &second["updatedAt"]), (&json!(begun), &json!(begun + 2)));
        next(&gateway).await;
        // Names are case-sensitive, addresses of owners are not.
        assert_eq!(post(&gateway, &alice, tool("ONE")).await.status, 201);
        assert_eq!(post(&gateway, &Wallet::new(2), tool("one")).await.status, 201);
        assert_eq!(read(&gateway, TOOLS).await["total"], 3);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_event_says_what_is_public() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let description = "long ".repeat(100);
        let published = publish(&gateway, &alice, with(tool("one"), json!({ "description": description }))).await;
        next(&gateway).await;
        publish(&gateway, &alice, tool("one")).await;
        let events = gateway.events().await;
        assert_eq!(events.len(), 2);
        let id = published["id"].as_i64().unwrap();
        for (event, updated) in events.iter().zip([false, true]) {
            let subject = event.subject.as_ref().unwrap();
            assert_eq!((event.kind.as_str(), subject.kind.as_str()), ("tool.publish", "tool"));
            assert_eq!((subject.id.clone(), event.actor.as_deref()), (id.to_string(), Some(alice.address())));
            let excerpt = event.data["description"].as_str().unwrap();
            let data = json!({
                "toolId": id, "name": "one", "kind": "http", "url": NOWHERE, "updated": updated, "description": excerpt
            });
            assert_eq!(event.data, data);
            assert_eq!(excerpt.chars().count(), if updated { 0 } else { 160 });
        }
        finish(gateway).await;
    }
}

/// `{"a":"…"}` of this size.
fn schema(bytes: usize) -> Value {
    json!({ "a": "x".repeat(bytes - 8) })
}

#[tokio::test]
async fn an_invalid_write_is_refused_with_the_wrong_member_and_not_stored() {
    for gateway in gateways().await {
        let long = |chars: usize| "x".repeat(chars);
        // The text of the error names the member, unless the payload cannot be read at all.
        for (member, members) in [
            ("", json!({ "name": null })),
            ("name", json!({ "name": "" })),
            ("name", json!({ "name": ".a" })),
            ("name", json!({ "name": "-a" })),
            ("name", json!({ "name": "_a" })),
            ("name", json!({ "name": "a b" })),
            ("name", json!({ "name": "ä" })),
            ("name", json!({ "name": "a/b" })),
            ("name", json!({ "name": "a\n" })),
            ("name", json!({ "name": long(65) })),
            ("", json!({ "kind": "rest" })),
            ("", json!({ "kind": null })),
            ("url", json!({ "url": null })),
            ("url", json!({ "url": " " })),
            ("url", json!({ "url": "tool.example" })),
            ("url", json!({ "url": format!("https://a.example/{}", long(512)) })),
            ("description", json!({ "description": long(2001) })),
            ("", json!({ "description": "\u{0}" })),
            ("", json!({ "schema": [] })),
            ("", json!({ "schema": "{}" })),
            ("", json!({ "schema": 1 })),
            ("url", with(compute("one"), json!({ "url": null, "endpoint": " " }))),
            ("gpu", json!({ "kind": "compute" })),
            ("gpu", with(compute("one"), json!({ "gpu": " " }))),
            ("gpu", with(compute("one"), json!({ "gpu": long(65) }))),
            ("", with(compute("one"), json!({ "vramGb": "80" }))),
            ("vramGb", with(compute("one"), json!({ "vramGb": -1 }))),
            ("vramGb", with(compute("one"), json!({ "vramGb": 100_000.5 }))),
            ("vramGb", with(compute("one"), json!({ "vramGb": null }))),
            ("", with(compute("one"), json!({ "pricePerSecond": "-1" }))),
            ("pricePerSecond", with(compute("one"), json!({ "pricePerSecond": null }))),
            ("region", with(compute("one"), json!({ "region": long(65) }))),
        ] {
            let response = post(&gateway, &Wallet::new(1), with(tool("one"), members.clone())).await;
            assert_eq!((response.status, response.code()), (400, "bad_request".to_owned()), "{members}");
            let text = response.json()["error"].as_str().unwrap().to_owned();
            assert!(text.contains(member), "{members}: {text}");
        }
        let members = json!({ "schema": schema(32_769) });
        assert_eq!(refused(&gateway, with(tool("one"), members)).await, (413, "too_large".to_owned()));
        assert_eq!(read(&gateway, TOOLS).await["total"], 0);
        assert!(gateway.events().await.is_empty());
        // None of them used the wallet's write interval.
        publish(&gateway, &Wallet::new(1), tool("one")).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn members_may_be_as_large_as_documented() {
    for gateway in gateways().await {
        let long = |chars: usize| "x".repeat(chars);
        let largest = json!({
            "name": long(64), "description": long(2000), "schema": schema(32_768), "gpu": long(64), "vramGb": 100_000,
            "region": long(64)
        });
        publish(&gateway, &Wallet::new(1), with(compute(""), largest)).await;
        publish(&gateway, &Wallet::new(2), with(compute("a"), json!({ "vramGb": 0.5 }))).await;
        publish(&gateway, &Wallet::new(3), tool("0")).await;
        publish(&gateway, &Wallet::new(4), tool("A.b_c-d")).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn compute_may_stand_in_an_object_or_at_the_top_and_url_and_endpoint_for_each_other() {
    for gateway in gateways().await {
        let nested = |endpoint: Value, url: Value| {
            let spec = json!({
                "gpu": "NVIDIA H100", "vramGb": 80, "pricePerSecond": "1000", "region": "EU-West", "endpoint": endpoint
            });
            json!({ "name": "gpu", "kind": "compute", "url": url, "compute": spec })
        };
        let expected = nested(json!(NOWHERE), json!(NOWHERE));
        for (number, payload) in (1..).zip([
            compute("gpu"),
            nested(json!(format!(" {NOWHERE} ")), Value::Null),
            nested(json!(""), json!(NOWHERE)),
        ]) {
            let published = publish(&gateway, &Wallet::new(number), payload).await;
            assert_eq!((&published["compute"], &published["url"]), (&expected["compute"], &expected["url"]));
        }
        let other = with(compute("other"), json!({ "kind": "http", "url": NOWHERE }));
        assert_eq!(publish(&gateway, &Wallet::new(9), other).await["compute"], Value::Null);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_address_that_is_not_public_is_refused() {
    for gateway in gateways().await {
        for url in PRIVATE_URLS.into_iter().chain(["ftp://a.example", "http://user:secret@a.example"]) {
            let refusal = (400, "private_url".to_owned());
            assert_eq!(refused(&gateway, with(tool("one"), json!({ "url": url }))).await, refusal, "{url}");
            let endpoint = with(compute("one"), json!({ "url": NOWHERE, "endpoint": url }));
            assert_eq!(refused(&gateway, endpoint).await, refusal, "{url}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_write_without_its_signature_is_refused() {
    for gateway in gateways().await {
        let unsigned = tool("one").to_string();
        let response = gateway.send("POST", TOOLS, &[("content-type", "application/json")], unsigned).await;
        assert_eq!(response.status, 401, "{}", response.text());
        let response = gateway.post_signed(TOOLS, &Wallet::new(1), "artifact.publish", tool("one")).await;
        assert_eq!(response.status, 401, "{}", response.text());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn of_the_same_write_many_times_at_once_one_is_done() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        for expected in [201, 200] {
            let writes = (0..50).map(|_| post(&gateway, &alice, tool("one")));
            let responses = futures_util::future::join_all(writes).await;
            let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
            statuses.sort_unstable();
            assert_eq!((statuses[0], &statuses[1..]), (expected, [409; 49].as_slice()));
            next(&gateway).await;
        }
        assert_eq!(read(&gateway, TOOLS).await["total"], 1);
        assert_eq!(gateway.events().await.len(), 2);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn many_owners_at_once_publish_a_tool_each() {
    for gateway in gateways().await {
        let wallets: Vec<Wallet> = (1..=30).map(Wallet::new).collect();
        let writes = wallets.iter().map(|wallet| post(&gateway, wallet, tool("one")));
        for response in futures_util::future::join_all(writes).await {
            assert_eq!(response.status, 201, "{}", response.text());
        }
        assert_eq!(read(&gateway, TOOLS).await["total"], 30);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn one_client_writes_thirty_times_a_minute() {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        // No address is exempt from limits.
        let gateway =
            builder.plugin(tools::plugin_module()).configure(|config| config.limits.allow.clear()).start().await;
        publish(&gateway, &Wallet::new(1), tool("one")).await;
        // Calls count before body and signature are checked.
        let (taken, response) = gateway.until_limited("POST", TOOLS).await;
        assert_eq!(taken, 29);
        assert_eq!((response.status, response.code()), (429, "ip_rate_limited".to_owned()), "{}", response.text());
        assert!(response.header("retry-after").parse::<u32>().is_ok(), "{:?}", response.headers);
        // Reads have a limit of their own.
        assert_eq!(read(&gateway, TOOLS).await["total"], 1);
        finish(gateway).await;
    }
}
