//! `PUT /api/kb/{slug}`

use super::{PAGES, create, finish, gateways, next, nobody, put, read, write};
use plugin_testing::{TestGateway, Value, Wallet, json};

async fn refused(gateway: &TestGateway, slug: &str, payload: Value) -> (u16, String) {
    let response = put(gateway, &Wallet::new(1), slug, payload).await;
    assert!(!response.json()["error"].as_str().expect("an error has a text").is_empty());
    (response.status, response.code())
}

#[tokio::test]
async fn the_first_write_creates_and_every_other_revises() {
    for gateway in gateways().await {
        let (alice, begun) = (Wallet::new(1), gateway.now_s());
        let payload = json!({ "title": " T ", "body": " b\n", "summary": " s " });
        let response = put(&gateway, &alice, "Page", payload).await;
        assert_eq!(response.status, 201, "{}", response.text());
        let mut expected = json!({
            "slug": "page", "title": "T", "summary": "s", "rev": 1, "createdAt": begun, "updatedAt": begun, "bytes": 3,
            "createdBy": nobody(&alice), "updatedBy": nobody(&alice), "body": " b\n"
        });
        assert_eq!(response.json(), expected);
        next(&gateway).await;
        let response = put(&gateway, &alice, "page", json!({ "title": "T", "body": "c" })).await;
        assert_eq!(response.status, 200, "{}", response.text());
        for (name, value) in [("summary", json!("")), ("rev", json!(2)), ("updatedAt", json!(begun + 2))] {
            expected[name] = value;
        }
        (expected["bytes"], expected["body"]) = (json!(1), json!("c"));
        assert_eq!(response.json(), expected);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_event_says_what_is_public() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        write(&gateway, &alice, "page", json!({ "title": "T", "body": "b", "summary": "S" })).await;
        next(&gateway).await;
        write(&gateway, &alice, "page", json!({ "title": "U", "body": "b" })).await;
        let events = gateway.events().await;
        let data: Vec<&Value> = events.iter().map(|event| &event.data).collect();
        let first = json!({ "slug": "page", "title": "T", "rev": 1, "created": true, "summary": "S" });
        let second = json!({ "slug": "page", "title": "U", "rev": 2, "created": false, "summary": "" });
        assert_eq!(data, [&first, &second]);
        for event in &events {
            let subject = event.subject.as_ref().unwrap();
            assert_eq!((event.kind.as_str(), subject.kind.as_str(), subject.id.as_str()), ("kb.write", "kb", "page"));
            assert_eq!(event.actor.as_deref(), Some(alice.address()));
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_invalid_write_is_refused_and_not_stored() {
    for gateway in gateways().await {
        for payload in [
            json!({}),
            json!({ "title": "t" }),
            json!({ "body": "b" }),
            json!({ "title": "", "body": "b" }),
            json!({ "title": " \u{3000}\n", "body": "b" }),
            json!({ "title": 1, "body": "b" }),
            json!({ "title": "x".repeat(201), "body": "b" }),
            json!({ "title": format!("{}x", "😀".repeat(100)), "body": "b" }),
            json!({ "title": "t", "body": " \n" }),
            json!({ "title": "t", "body": "b", "summary": "x".repeat(301) }),
            json!({ "title": "t", "body": "b", "summary": format!("{}x", "😀".repeat(150)) }),
            json!({ "title": "t", "body": "b", "summary": ["s"] }),
            json!({ "title": "t", "body": "\u{0}" }),
        ] {
            assert_eq!(refused(&gateway, "page", payload.clone()).await, (400, "bad_request".to_owned()), "{payload}");
        }
        let payload = json!({ "title": "t", "body": "b" });
        for slug in ["a", "a_b", "%C3%A4%C3%A4", "a%00b"] {
            assert_eq!(refused(&gateway, slug, payload.clone()).await, (400, "bad_slug".to_owned()), "{slug}");
        }
        for (title, bytes) in [("t", 65_536), ("é", 65_535)] {
            let large = json!({ "title": title, "body": "x".repeat(bytes) });
            assert_eq!(refused(&gateway, "page", large).await, (413, "too_large".to_owned()));
        }
        assert_eq!(read(&gateway, PAGES).await["total"], 0);
        assert!(gateway.events().await.is_empty());
        // None of them used the wallet's write interval.
        create(&gateway, &Wallet::new(1), "page", "text").await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_largest_page_in_any_script_is_stored_as_it_is() {
    // Letters of one to four bytes, the maximum number of words, one word throughout, no word at all.
    let characters = ["a", "é", "€", "😀", "a ", "日", "\n", "\u{301}"];
    for gateway in gateways().await {
        for (number, character) in (1..).zip(characters) {
            let slug = format!("page-{number}");
            let filled = format!("x{}", character.repeat((65_536 - 2) / character.len()));
            let body = format!("{filled}{}", "!".repeat(65_535 - filled.len()));
            write(&gateway, &Wallet::new(number), &slug, json!({ "title": "t", "body": body })).await;
            let page = read(&gateway, &format!("{PAGES}/{slug}")).await;
            assert!(page["body"] == body.as_str() && page["bytes"] == 65_535, "{character:?}");
        }
        finish(gateway).await;
    }
}

/// An emoji is two UTF-16 units.
#[tokio::test]
async fn title_and_summary_are_counted_in_utf16_units_and_a_summary_may_be_null() {
    for gateway in gateways().await {
        let (title, summary) = ("😀".repeat(100), "😀".repeat(150));
        for (number, summary) in (1..).zip([json!(summary), json!(null)]) {
            let payload = json!({ "title": title, "body": "b", "summary": summary });
            let page = write(&gateway, &Wallet::new(number), &format!("page-{number}"), payload).await;
            assert_eq!((&page["title"], &page["summary"].as_str()), (&json!(title), &summary.as_str().or(Some(""))));
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_write_without_its_signature_is_refused() {
    for gateway in gateways().await {
        let unsigned = json!({ "title": "t", "body": "b" }).to_string();
        let response = gateway.send("PUT", "/api/kb/page", &[("content-type", "application/json")], unsigned).await;
        assert_eq!(response.status, 401, "{}", response.text());
        let payload = json!({ "title": "t", "body": "b" });
        let response = gateway.send_signed("PUT", "/api/kb/page", &Wallet::new(1), "kb.read", payload).await;
        assert_eq!(response.status, 401, "{}", response.text());
        assert_eq!(read(&gateway, PAGES).await["total"], 0);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn of_the_same_write_many_times_at_once_one_is_done() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        for slug in ["page", "page", "other"] {
            let writes = (0..50).map(|_| put(&gateway, &alice, slug, json!({ "title": "t", "body": slug })));
            let responses = futures_util::future::join_all(writes).await;
            let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
            statuses.sort_unstable();
            assert!(statuses[0] < 300, "{statuses:?}");
            assert_eq!(&statuses[1..], [409; 49].as_slice());
            next(&gateway).await;
        }
        assert_eq!(gateway.rows("SELECT rev FROM kb_revisions ORDER BY id").await, ["Int(1)", "Int(2)", "Int(1)"]);
        assert_eq!(gateway.rows("SELECT pages FROM kb_totals").await, ["Int(2)"]);
        assert_eq!(gateway.events().await.len(), 3);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn of_concurrent_creates_the_first_one_wins() {
    for gateway in gateways().await {
        let wallets: Vec<Wallet> = (1..=20).map(Wallet::new).collect();
        let writes = wallets.iter().map(|wallet| put(&gateway, wallet, "page", json!({ "title": "t", "body": "b" })));
        let responses = futures_util::future::join_all(writes).await;
        let created: Vec<usize> = responses
            .iter()
            .enumerate()
            .filter(|(_, response)| response.status == 201)
            .map(|(index, _)| index)
            .collect();
        assert_eq!(created.len(), 1);
        for response in responses.iter().filter(|response| response.status != 201) {
            // A write that read before the page existed is a conflict; a later one is refused as another wallet's page.
            let seen = (response.status, response.code());
            assert!([(409, "conflict".to_owned()), (403, "kb_protected".to_owned())].contains(&seen), "{seen:?}");
        }
        let page = read(&gateway, "/api/kb/page").await;
        assert_eq!((&page["rev"], &page["createdBy"]), (&json!(1), &nobody(&wallets[created[0]])));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn revisions_at_once_are_numbered_without_a_gap() {
    let operators: Vec<Wallet> = (1..=20).map(Wallet::new).collect();
    let addresses: Vec<&str> = operators.iter().map(Wallet::address).collect();
    for gateway in super::gateways_with(json!({ "network_pages": false, "operators": addresses })).await {
        create(&gateway, &Wallet::new(99), "page", "text").await;
        let writes = operators.iter().map(|wallet| put(&gateway, wallet, "page", json!({ "title": "t", "body": "b" })));
        let mut revs: Vec<i64> = Vec::new();
        for response in futures_util::future::join_all(writes).await {
            assert_eq!(response.status, 200, "{}", response.text());
            revs.push(response.json()["rev"].as_i64().unwrap());
        }
        revs.sort_unstable();
        assert_eq!(revs, (2..=21).collect::<Vec<i64>>());
        let gateway = gateway.restart().await;
        assert_eq!(read(&gateway, "/api/kb/page").await["rev"], 21);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn one_client_writes_thirty_times_a_minute() {
    for builder in super::builders().await {
        // No address is exempt from limits.
        let gateway = builder.config("kb", json!({ "network_pages": false }));
        let gateway = gateway.configure(|config| config.limits.allow.clear()).start().await;
        create(&gateway, &Wallet::new(1), "page", "text").await;
        // Calls count before slug, body and signature are checked.
        let (taken, response) = gateway.until_limited("PUT", "/api/kb/another").await;
        assert_eq!(taken, 29);
        assert_eq!((response.status, response.code()), (429, "ip_rate_limited".to_owned()), "{}", response.text());
        assert!(response.header("retry-after").parse::<u32>().is_ok(), "{:?}", response.headers);
        // Reads have a limit of their own.
        assert_eq!(read(&gateway, PAGES).await["total"], 1);
        finish(gateway).await;
    }
}
