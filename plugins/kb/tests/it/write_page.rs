//! `PUT /api/kb/{slug}`

use super::{PAGES, create, finish, houses, next, nobody, put, read, write};
use plugin_testing::{TestGateway, Value, Wallet, json};

async fn refused(house: &TestGateway, slug: &str, payload: Value) -> (u16, String) {
    let answer = put(house, &Wallet::new(1), slug, payload).await;
    assert!(!answer.json()["error"].as_str().expect("an error has a text").is_empty());
    (answer.status, answer.code())
}

#[tokio::test]
async fn the_first_write_creates_and_every_other_revises() {
    for house in houses().await {
        let (alice, begun) = (Wallet::new(1), house.now_s());
        let payload = json!({ "title": " T ", "body": " b\n", "summary": " s " });
        let answer = put(&house, &alice, "Page", payload).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        let mut expected = json!({
            "slug": "page", "title": "T", "summary": "s", "rev": 1, "createdAt": begun, "updatedAt": begun, "bytes": 3,
            "createdBy": nobody(&alice), "updatedBy": nobody(&alice), "body": " b\n"
        });
        assert_eq!(answer.json(), expected);
        next(&house).await;
        let answer = put(&house, &alice, "page", json!({ "title": "T", "body": "c" })).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        for (name, value) in [("summary", json!("")), ("rev", json!(2)), ("updatedAt", json!(begun + 2))] {
            expected[name] = value;
        }
        (expected["bytes"], expected["body"]) = (json!(1), json!("c"));
        assert_eq!(answer.json(), expected);
        finish(house).await;
    }
}

#[tokio::test]
async fn the_event_says_what_is_public() {
    for house in houses().await {
        let alice = Wallet::new(1);
        write(&house, &alice, "page", json!({ "title": "T", "body": "b", "summary": "S" })).await;
        next(&house).await;
        write(&house, &alice, "page", json!({ "title": "U", "body": "b" })).await;
        let events = house.events().await;
        let data: Vec<&Value> = events.iter().map(|event| &event.data).collect();
        let first = json!({ "slug": "page", "title": "T", "rev": 1, "created": true, "summary": "S" });
        let second = json!({ "slug": "page", "title": "U", "rev": 2, "created": false, "summary": "" });
        assert_eq!(data, [&first, &second]);
        for event in &events {
            let about = event.about.as_ref().unwrap();
            assert_eq!((event.kind.as_str(), about.kind.as_str(), about.id.as_str()), ("kb.write", "kb", "page"));
            assert_eq!(event.actor.as_deref(), Some(alice.address()));
        }
        finish(house).await;
    }
}

#[tokio::test]
async fn what_breaks_a_rule_is_refused_and_leaves_nothing() {
    for house in houses().await {
        for payload in [
            json!({}),
            json!({ "title": "t" }),
            json!({ "body": "b" }),
            json!({ "title": "", "body": "b" }),
            json!({ "title": 1, "body": "b" }),
            json!({ "title": "x".repeat(201), "body": "b" }),
            json!({ "title": "t", "body": " \n" }),
            json!({ "title": "t", "body": "b", "summary": "x".repeat(301) }),
            json!({ "title": "t", "body": "b", "summary": ["s"] }),
            json!({ "title": "t", "body": "\u{0}" }),
        ] {
            assert_eq!(refused(&house, "page", payload.clone()).await, (400, "bad_request".to_owned()), "{payload}");
        }
        let payload = json!({ "title": "t", "body": "b" });
        for slug in ["a", "a_b", "%C3%A4%C3%A4", "a%00b"] {
            assert_eq!(refused(&house, slug, payload.clone()).await, (400, "bad_slug".to_owned()), "{slug}");
        }
        let large = json!({ "title": "t", "body": "x".repeat(65_536) });
        assert_eq!(refused(&house, "page", large).await, (413, "too_large".to_owned()));
        assert_eq!(read(&house, PAGES).await["total"], 0);
        assert!(house.events().await.is_empty());
        // None of them used up the wallet's slot.
        create(&house, &Wallet::new(1), "page", "text").await;
        finish(house).await;
    }
}

#[tokio::test]
async fn the_largest_page_in_any_script_is_stored_as_it_is() {
    // Letters, letters of two to four bytes, the most words, one word for ever, no word at all.
    let characters = ["a", "é", "€", "😀", "a ", "日", "\n", "\u{301}"];
    for house in houses().await {
        for (number, character) in (1..).zip(characters) {
            let slug = format!("page-{number}");
            let filled = format!("x{}", character.repeat((65_536 - 2) / character.len()));
            let body = format!("{filled}{}", "!".repeat(65_535 - filled.len()));
            write(&house, &Wallet::new(number), &slug, json!({ "title": "t", "body": body })).await;
            let page = read(&house, &format!("{PAGES}/{slug}")).await;
            assert!(page["body"] == body.as_str() && page["bytes"] == 65_535, "{character:?}");
        }
        finish(house).await;
    }
}

#[tokio::test]
async fn a_write_without_its_signature_is_refused() {
    for house in houses().await {
        let unsigned = json!({ "title": "t", "body": "b" }).to_string();
        let answer = house.send("PUT", "/api/kb/page", &[("content-type", "application/json")], unsigned).await;
        assert_eq!(answer.status, 401, "{}", answer.text());
        let payload = json!({ "title": "t", "body": "b" });
        let answer = house.send_signed("PUT", "/api/kb/page", &Wallet::new(1), "kb.read", payload).await;
        assert_eq!(answer.status, 401, "{}", answer.text());
        assert_eq!(read(&house, PAGES).await["total"], 0);
        finish(house).await;
    }
}

#[tokio::test]
async fn of_the_same_write_many_times_at_once_one_is_done() {
    for house in houses().await {
        let alice = Wallet::new(1);
        for slug in ["page", "page", "other"] {
            let writes = (0..50).map(|_| put(&house, &alice, slug, json!({ "title": "t", "body": slug })));
            let answers = futures_util::future::join_all(writes).await;
            let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            statuses.sort_unstable();
            assert!(statuses[0] < 300, "{statuses:?}");
            assert_eq!(&statuses[1..], [409; 49].as_slice());
            next(&house).await;
        }
        assert_eq!(house.rows("SELECT rev FROM kb_revisions ORDER BY id").await, ["Int(1)", "Int(2)", "Int(1)"]);
        assert_eq!(house.rows("SELECT pages FROM kb_totals").await, ["Int(2)"]);
        assert_eq!(house.events().await.len(), 3);
        finish(house).await;
    }
}

#[tokio::test]
async fn of_many_wallets_that_create_a_page_at_once_it_is_the_firsts() {
    for house in houses().await {
        let wallets: Vec<Wallet> = (1..=20).map(Wallet::new).collect();
        let writes = wallets.iter().map(|wallet| put(&house, wallet, "page", json!({ "title": "t", "body": "b" })));
        let answers = futures_util::future::join_all(writes).await;
        let created: Vec<usize> =
            answers.iter().enumerate().filter(|(_, answer)| answer.status == 201).map(|(index, _)| index).collect();
        assert_eq!(created.len(), 1);
        for answer in answers.iter().filter(|answer| answer.status != 201) {
            // Who looked before it was there hears of a conflict, who came later that it is not theirs.
            let seen = (answer.status, answer.code());
            assert!([(409, "conflict".to_owned()), (403, "kb_protected".to_owned())].contains(&seen), "{seen:?}");
        }
        let page = read(&house, "/api/kb/page").await;
        assert_eq!((&page["rev"], &page["createdBy"]), (&json!(1), &nobody(&wallets[created[0]])));
        finish(house).await;
    }
}

#[tokio::test]
async fn revisions_at_once_are_numbered_without_a_gap() {
    let operators: Vec<Wallet> = (1..=20).map(Wallet::new).collect();
    let addresses: Vec<&str> = operators.iter().map(Wallet::address).collect();
    for house in super::houses_with(json!({ "network_pages": false, "operators": addresses })).await {
        create(&house, &Wallet::new(99), "page", "text").await;
        let writes = operators.iter().map(|wallet| put(&house, wallet, "page", json!({ "title": "t", "body": "b" })));
        let mut revs: Vec<i64> = Vec::new();
        for answer in futures_util::future::join_all(writes).await {
            assert_eq!(answer.status, 200, "{}", answer.text());
            revs.push(answer.json()["rev"].as_i64().unwrap());
        }
        revs.sort_unstable();
        assert_eq!(revs, (2..=21).collect::<Vec<i64>>());
        let house = house.restart().await;
        assert_eq!(read(&house, "/api/kb/page").await["rev"], 21);
        finish(house).await;
    }
}

#[tokio::test]
async fn one_client_writes_thirty_times_a_minute() {
    for builder in super::builders().await {
        // No address is free of limits.
        let house = builder.config("kb", json!({ "network_pages": false }));
        let house = house.configure(|config| config.limits.allow.clear()).start().await;
        create(&house, &Wallet::new(1), "page", "text").await;
        // Counted before anything else is looked at: slug, body and signature are not.
        let (taken, answer) = house.until_limited("PUT", "/api/kb/another").await;
        assert!((29..60).contains(&taken), "{taken}");
        assert_eq!((answer.status, answer.code()), (429, "ip_rate_limited".to_owned()), "{}", answer.text());
        assert!(answer.header("retry-after").parse::<u32>().is_ok(), "{:?}", answer.headers);
        // Reading is counted apart.
        assert_eq!(read(&house, PAGES).await["total"], 1);
        finish(house).await;
    }
}
