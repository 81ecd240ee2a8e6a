//! `POST /api/artifacts`

use super::{ARTIFACTS, author, finish, gateways, id, next, path_of, publish, read, store};
use plugin_testing::{TestGateway, Value, Wallet, json};

async fn refused(gateway: &TestGateway, payload: Value) -> (u16, String) {
    let response = gateway.post_signed(ARTIFACTS, &Wallet::new(1), "artifact.publish", payload).await;
    assert!(!response.json()["error"].as_str().expect("an error has a text").is_empty());
    (response.status, response.code())
}

fn bad_request() -> (u16, String) {
    (400, "bad_request".to_owned())
}

#[tokio::test]
async fn an_artifact_is_answered_as_it_is_read() {
    for gateway in gateways().await {
        let (alice, now) = (Wallet::new(1), gateway.now_s());
        let hash = store(&gateway, "a,b\n1,2\n").await;
        let artifact = publish(
            &gateway,
            &alice,
            json!({
                "name": " Zahlen ✓ ", "kind": "dataset", "description": " two\nlines ", "license": " CC0 ",
                "tags": ["CSV", "csv "], "payloadHash": hash.to_uppercase().replace('X', "x"),
                "url": " https://example.org/a.csv "
            }),
        )
        .await;
        assert_eq!(
            artifact,
            json!({
                "id": id(&artifact), "owner": author(&alice), "name": "Zahlen ✓", "description": " two\nlines ",
                "license": "CC0", "kind": "dataset", "payloadHash": hash, "payloadURI": format!("fmx://payload/{hash}"),
                "payloadSize": 8, "payloadContentType": "text/csv", "url": "https://example.org/a.csv", "tags": ["csv"],
                "stars": 0, "createdAt": now
            })
        );
        let mut detail = read(&gateway, &path_of(id(&artifact))).await;
        assert_eq!(detail.as_object_mut().unwrap().remove("stargazers"), Some(json!([])));
        assert_eq!(detail, artifact);
        assert_eq!(read(&gateway, ARTIFACTS).await, json!({ "items": [artifact], "total": 1 }));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_payload_or_an_address_is_enough() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let hash = store(&gateway, "x").await;
        let payload = json!({
            "name": "n", "kind": "prompt", "description": null, "license": null, "tags": null, "payloadHash": hash
        });
        let stored = publish(&gateway, &alice, payload).await;
        assert_eq!((&stored["url"], &stored["payloadSize"]), (&json!(null), &json!(1)));
        assert_eq!((&stored["description"], &stored["license"], &stored["tags"]), (&json!(""), &json!(""), &json!([])));
        next(&gateway).await;
        let url = "https://example.org/model";
        let linked =
            publish(&gateway, &alice, json!({ "name": "n", "kind": "model", "payloadHash": null, "url": url })).await;
        assert_eq!(linked["url"], url);
        for member in ["payloadHash", "payloadURI", "payloadSize", "payloadContentType"] {
            assert_eq!(linked[member], json!(null), "{member}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_event_says_what_is_public() {
    for gateway in gateways().await {
        let (alice, now) = (Wallet::new(1), gateway.now_s());
        let long = "word ".repeat(100);
        let payload = json!({
            "name": "n", "kind": "code", "license": "MIT", "tags": ["x"], "description": long, "url": "https://a.example"
        });
        let artifact = publish(&gateway, &alice, payload).await;
        let events = gateway.events().await;
        assert_eq!(events.len(), 1);
        let event = &events[0];
        assert_eq!(
            (event.kind.as_str(), event.ts, event.actor.as_deref()),
            ("artifact.publish", now, Some(alice.address()))
        );
        let subject = event.subject.as_ref().unwrap();
        assert_eq!((subject.kind.as_str(), subject.id.clone()), ("artifact", id(&artifact).to_string()));
        let excerpt = event.data["description"].as_str().unwrap();
        assert!(excerpt.chars().count() == 160 && excerpt.ends_with('…'), "{excerpt}");
        let data = json!({
            "artifactId": id(&artifact), "name": "n", "kind": "code", "license": "MIT", "tags": ["x"],
            "description": excerpt
        });
        assert_eq!(event.data, data);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_payload_that_is_not_stored_is_400() {
    for gateway in gateways().await {
        let unknown = format!("0x{}", "ab".repeat(32));
        let payload = json!({ "name": "n", "kind": "code", "payloadHash": unknown, "url": "https://a.example" });
        assert_eq!(refused(&gateway, payload.clone()).await, (400, "unknown_payload".to_owned()));
        assert_eq!(read(&gateway, ARTIFACTS).await["total"], 0);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_address_that_nobody_can_reach_is_400() {
    for gateway in gateways().await {
        for url in [
            "https://localhost/a",
            "https://127.0.0.1",
            "https://0x7f.1/",
            "https://10.0.0.1:8443/a",
            "https://[::1]/",
            "https://printer.local/",
            "https://metadata.google.internal/",
            "https://user:secret@example.org/",
        ] {
            let payload = json!({ "name": "n", "kind": "code", "url": url });
            assert_eq!(refused(&gateway, payload).await, (400, "private_url".to_owned()), "{url}");
        }
        for url in ["http://example.org", "ftp://example.org", "example.org", "https://", "https://a b", "javascript:1"]
        {
            let payload = json!({ "name": "n", "kind": "code", "url": url });
            let (status, _) = refused(&gateway, payload).await;
            assert_eq!(status, 400, "{url}");
        }
        let long = format!("https://example.org/{}", "a".repeat(493));
        assert_eq!(refused(&gateway, json!({ "name": "n", "kind": "code", "url": long })).await, bad_request());
        let longest = &long[..512];
        publish(&gateway, &Wallet::new(1), json!({ "name": "n", "kind": "code", "url": longest })).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_payload_that_is_wrong_is_a_bad_request_and_leaves_nothing() {
    for gateway in gateways().await {
        let url = "https://a.example";
        for payload in [
            json!({}),
            json!({ "name": "n", "kind": "code" }),
            json!({ "name": "n", "kind": "code", "url": "", "payloadHash": null }),
            json!({ "name": "n", "kind": "code", "payloadHash": "0x12" }),
            json!({ "name": "n", "kind": "code", "payloadHash": 12 }),
            json!({ "kind": "code", "url": url }),
            json!({ "name": " ", "kind": "code", "url": url }),
            json!({ "name": 5, "kind": "code", "url": url }),
            json!({ "name": "n", "url": url }),
            json!({ "name": "n", "kind": "binary", "url": url }),
            json!({ "name": "n", "kind": "Code", "url": url }),
            json!({ "name": "n", "kind": "code", "url": url, "tags": "a" }),
            json!({ "name": "n", "kind": "code", "url": url, "tags": ["1", "2", "3", "4", "5", "6"] }),
            json!({ "name": "n", "kind": "code", "url": url, "tags": ["x".repeat(33)] }),
            json!({ "name": "x".repeat(121), "kind": "code", "url": url }),
            json!({ "name": "😀".repeat(61), "kind": "code", "url": url }),
            json!({ "name": "n", "kind": "code", "url": url, "description": "x".repeat(4001) }),
            json!({ "name": "n", "kind": "code", "url": url, "license": "x".repeat(65) }),
            json!({ "name": "n\u{0}", "kind": "code", "url": url }),
        ] {
            assert_eq!(refused(&gateway, payload.clone()).await, bad_request(), "{payload}");
        }
        assert_eq!(read(&gateway, ARTIFACTS).await, json!({ "items": [], "total": 0 }));
        assert!(gateway.events().await.is_empty());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn limits_hold_at_the_edge() {
    for gateway in gateways().await {
        let (name, text, license) = ("😀".repeat(60), "é".repeat(4000), "€".repeat(64));
        let tags: Vec<String> = (0..5).map(|number| format!("{number}{}", "ß".repeat(31))).collect();
        let payload = json!({
            "name": name, "kind": "other", "description": text, "license": license, "tags": tags, "url": "https://a.example"
        });
        let artifact = publish(&gateway, &Wallet::new(1), payload).await;
        assert_eq!((&artifact["name"], &artifact["description"]), (&json!(name), &json!(text)));
        assert_eq!((&artifact["license"], &artifact["tags"]), (&json!(license), &json!(tags)));
        // Lengths count UTF-16 units, of which an emoji has two. The error names the member.
        for (member, units) in [("name", 120), ("description", 4000), ("license", 64)] {
            next(&gateway).await;
            let mut payload = json!({ "name": "n", "kind": "model", "url": "https://a.example" });
            payload[member] = "😀".repeat(units / 2).into();
            publish(&gateway, &Wallet::new(1), payload.clone()).await;
            payload[member] = format!("{}a", "😀".repeat(units / 2)).into();
            let response = gateway.post_signed(ARTIFACTS, &Wallet::new(2), "artifact.publish", payload).await;
            assert_eq!(response.status, 400, "{}", response.text());
            assert!(response.json()["error"].as_str().unwrap().starts_with(member), "{}", response.text());
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_write_without_its_signature_is_refused() {
    for gateway in gateways().await {
        let payload = json!({ "name": "n", "kind": "code", "url": "https://a.example" });
        let headers = [("content-type", "application/json")];
        let response = gateway.send("POST", ARTIFACTS, &headers, payload.to_string()).await;
        assert_eq!(response.status, 401, "{}", response.text());
        let response = gateway.post_signed(ARTIFACTS, &Wallet::new(1), "artifact.star", payload).await;
        assert_eq!(response.status, 401, "{}", response.text());
        assert!(gateway.events().await.is_empty());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn of_the_same_write_many_times_at_once_one_is_done() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let payload = json!({ "name": "n", "kind": "code", "url": "https://a.example", "tags": ["x"] });
        let writes = (0..50).map(|_| gateway.post_signed(ARTIFACTS, &alice, "artifact.publish", payload.clone()));
        let mut statuses: Vec<u16> =
            futures_util::future::join_all(writes).await.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (201, [409; 49].as_slice()));
        assert_eq!(read(&gateway, ARTIFACTS).await["total"], 1);
        assert_eq!(gateway.events().await.len(), 1);
        // Also after a restart.
        let now = gateway.now_s();
        let body = alice.signed_body("artifact.publish", now, &payload).to_string();
        let gateway = gateway.restart().await;
        let again = gateway.send("POST", ARTIFACTS, &[("content-type", "application/json")], body).await;
        assert_eq!((again.status, again.code()), (409, "replay".to_owned()));
        assert_eq!(read(&gateway, ARTIFACTS).await["total"], 1);
        finish(gateway).await;
    }
}
