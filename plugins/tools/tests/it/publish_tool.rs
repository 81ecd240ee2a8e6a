//! `POST /api/tools`

use super::{NOWHERE, TOOLS, compute, finish, houses, next, post, publish, read, tool, with};
use plugin_testing::{TestGateway, Value, Wallet, json};

async fn refused(house: &TestGateway, payload: Value) -> (u16, String) {
    let answer = post(house, &Wallet::new(1), payload).await;
    assert!(!answer.json()["error"].as_str().expect("an error has a text").is_empty());
    (answer.status, answer.code())
}

#[tokio::test]
async fn a_tool_is_answered_as_it_was_sent() {
    for house in houses().await {
        let (alice, now) = (Wallet::new(1), house.now_s());
        let payload =
            json!({ "name": "My.tool_1", "kind": "mcp", "url": format!(" {NOWHERE} "), "description": "✓ a\nb" });
        let answer = post(&house, &alice, payload).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        let published = answer.json();
        assert_eq!(
            published,
            json!({
                "id": published["id"], "owner": { "address": alice.address(), "name": null, "agentId": null },
                "name": "My.tool_1", "kind": "mcp", "url": NOWHERE, "description": "✓ a\nb", "schema": null,
                "compute": null, "online": false, "lastSeen": null, "lastProbeAt": null, "createdAt": now,
                "updatedAt": now
            })
        );
        finish(house).await;
    }
}

#[tokio::test]
async fn publishing_again_updates_the_tool_of_this_owner_and_name() {
    for house in houses().await {
        let (alice, begun) = (Wallet::new(1), house.now_s());
        let first = publish(&house, &alice, tool("one")).await;
        next(&house).await;
        let answer = post(&house, &alice, compute("one")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let second = answer.json();
        assert_eq!((&second["id"], &second["kind"]), (&first["id"], &json!("compute")));
        assert_eq!((&second["createdAt"], &second["updatedAt"]), (&json!(begun), &json!(begun + 2)));
        next(&house).await;
        // Names are told apart by case, owners are not told apart by the case of their address.
        assert_eq!(post(&house, &alice, tool("ONE")).await.status, 201);
        assert_eq!(post(&house, &Wallet::new(2), tool("one")).await.status, 201);
        assert_eq!(read(&house, TOOLS).await["total"], 3);
        finish(house).await;
    }
}

#[tokio::test]
async fn the_event_says_what_is_public() {
    for house in houses().await {
        let alice = Wallet::new(1);
        let description = "long ".repeat(100);
        let published = publish(&house, &alice, with(tool("one"), json!({ "description": description }))).await;
        next(&house).await;
        publish(&house, &alice, tool("one")).await;
        let events = house.events().await;
        assert_eq!(events.len(), 2);
        let id = published["id"].as_i64().unwrap();
        for (event, updated) in events.iter().zip([false, true]) {
            let about = event.about.as_ref().unwrap();
            assert_eq!((event.kind.as_str(), about.kind.as_str()), ("tool.publish", "tool"));
            assert_eq!((about.id.clone(), event.actor.as_deref()), (id.to_string(), Some(alice.address())));
            let excerpt = event.data["description"].as_str().unwrap();
            let data = json!({
                "toolId": id, "name": "one", "kind": "http", "url": NOWHERE, "updated": updated, "description": excerpt
            });
            assert_eq!(event.data, data);
            assert_eq!(excerpt.chars().count(), if updated { 0 } else { 160 });
        }
        finish(house).await;
    }
}

#[tokio::test]
async fn what_breaks_a_rule_is_refused_and_leaves_nothing() {
    for house in houses().await {
        let long = |chars: usize| "x".repeat(chars);
        for members in [
            json!({ "name": "a b" }),
            json!({ "name": "" }),
            json!({ "name": null }),
            json!({ "name": long(65) }),
            json!({ "kind": "rest" }),
            json!({ "kind": null }),
            json!({ "url": "" }),
            json!({ "url": "tool.example" }),
            json!({ "url": format!("https://a.example/{}", long(512)) }),
            json!({ "description": long(2001) }),
            json!({ "description": "\u{0}" }),
            json!({ "schema": [] }),
            json!({ "schema": "{}" }),
            json!({ "kind": "compute" }),
            json!({ "kind": "compute", "gpu": "g", "vramGb": "80", "pricePerSecond": "1" }),
            json!({ "kind": "compute", "gpu": "g", "vramGb": 80, "pricePerSecond": "-1" }),
            json!({ "kind": "compute", "gpu": "g", "vramGb": 80, "pricePerSecond": "1", "region": long(65) }),
        ] {
            let payload = with(tool("one"), members.clone());
            assert_eq!(refused(&house, payload).await, (400, "bad_request".to_owned()), "{members}");
        }
        let schema = json!({ "schema": { "a": long(32_768) } });
        assert_eq!(refused(&house, with(tool("one"), schema)).await, (413, "too_large".to_owned()));
        assert_eq!(read(&house, TOOLS).await["total"], 0);
        assert!(house.events().await.is_empty());
        // None of them used up the wallet's slot.
        publish(&house, &Wallet::new(1), tool("one")).await;
        finish(house).await;
    }
}

#[tokio::test]
async fn an_address_that_is_not_public_is_refused() {
    for house in houses().await {
        for url in [
            "http://localhost/",
            "ftp://a.example",
            "http://127.0.0.1:8080",
            "http://10.0.0.1",
            "http://2130706433",
            "http://[::1]/",
            "http://a.internal",
            "http://user:secret@a.example",
            "http://169.254.169.254/latest",
        ] {
            let refusal = (400, "private_url".to_owned());
            assert_eq!(refused(&house, with(tool("one"), json!({ "url": url }))).await, refusal, "{url}");
            let endpoint = with(compute("one"), json!({ "url": NOWHERE, "endpoint": url }));
            assert_eq!(refused(&house, endpoint).await, refusal, "{url}");
        }
        finish(house).await;
    }
}

#[tokio::test]
async fn a_write_without_its_signature_is_refused() {
    for house in houses().await {
        let unsigned = tool("one").to_string();
        let answer = house.send("POST", TOOLS, &[("content-type", "application/json")], unsigned).await;
        assert_eq!(answer.status, 401, "{}", answer.text());
        let answer = house.post_signed(TOOLS, &Wallet::new(1), "artifact.publish", tool("one")).await;
        assert_eq!(answer.status, 401, "{}", answer.text());
        finish(house).await;
    }
}

#[tokio::test]
async fn of_the_same_write_many_times_at_once_one_is_done() {
    for house in houses().await {
        let alice = Wallet::new(1);
        for expected in [201, 200] {
            let writes = (0..50).map(|_| post(&house, &alice, tool("one")));
            let answers = futures_util::future::join_all(writes).await;
            let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            statuses.sort_unstable();
            assert_eq!((statuses[0], &statuses[1..]), (expected, [409; 49].as_slice()));
            next(&house).await;
        }
        assert_eq!(read(&house, TOOLS).await["total"], 1);
        assert_eq!(house.events().await.len(), 2);
        finish(house).await;
    }
}

#[tokio::test]
async fn many_owners_at_once_publish_a_tool_each() {
    for house in houses().await {
        let wallets: Vec<Wallet> = (1..=30).map(Wallet::new).collect();
        let writes = wallets.iter().map(|wallet| post(&house, wallet, tool("one")));
        for answer in futures_util::future::join_all(writes).await {
            assert_eq!(answer.status, 201, "{}", answer.text());
        }
        assert_eq!(read(&house, TOOLS).await["total"], 30);
        finish(house).await;
    }
}

#[tokio::test]
async fn one_client_writes_thirty_times_a_minute() {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        // No address is free of limits.
        let house =
            builder.plugin(tools::plugin_module()).configure(|config| config.limits.allow.clear()).start().await;
        publish(&house, &Wallet::new(1), tool("one")).await;
        // Counted before anything else is looked at: body and signature are not.
        let (taken, answer) = house.until_limited("POST", TOOLS).await;
        assert!((29..60).contains(&taken), "{taken}");
        assert_eq!((answer.status, answer.code()), (429, "ip_rate_limited".to_owned()), "{}", answer.text());
        assert!(answer.header("retry-after").parse::<u32>().is_ok(), "{:?}", answer.headers);
        // Reading is counted apart.
        assert_eq!(read(&house, TOOLS).await["total"], 1);
        finish(house).await;
    }
}
