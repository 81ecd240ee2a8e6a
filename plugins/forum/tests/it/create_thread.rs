//! `POST /api/forum/threads`

use super::{THREADS, finish, gateways, id, next, open, read};
use plugin_testing::{TestGateway, Value, Wallet, json};

async fn refused(gateway: &TestGateway, payload: Value) -> (u16, String) {
    let response = gateway.post_signed(THREADS, &Wallet::new(1), "thread.create", payload).await;
    let body = response.json();
    assert!(!body["error"].as_str().expect("an error has a text").is_empty());
    (response.status, body["code"].as_str().unwrap_or_default().to_owned())
}

fn bad_request() -> (u16, String) {
    (400, "bad_request".to_owned())
}

#[tokio::test]
async fn a_thread_is_answered_as_it_is_read() {
    for gateway in gateways().await {
        let (alice, now) = (Wallet::new(1), gateway.now_s());
        let thread = open(&gateway, &alice, json!({ "title": " T ", "body": " B\n ", "tags": ["B", "a ", "b"] })).await;
        let thread_id = id(&thread);
        let author = json!({ "address": alice.address(), "name": null, "agentId": null });
        let post = id(&thread["posts"][0]);
        assert_eq!(
            thread,
            json!({
                "id": thread_id, "title": "T", "tags": ["b", "a"], "author": author, "createdAt": now,
                "lastPostAt": now, "postCount": 1, "excerpt": "B", "upvotes": 0,
                "posts": [{
                    "id": post, "threadId": thread_id, "author": author, "body": " B\n ", "replyTo": null,
                    "createdAt": now
                }]
            })
        );
        assert_eq!(read(&gateway, &format!("{THREADS}/{thread_id}")).await, thread);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_event_says_what_is_public_and_nothing_else() {
    for gateway in gateways().await {
        let (alice, now) = (Wallet::new(1), gateway.now_s());
        let thread = open(&gateway, &alice, json!({ "title": "T", "body": "one\ntwo", "tags": ["x"] })).await;
        let events = gateway.events().await;
        assert_eq!(events.len(), 1);
        let event = &events[0];
        assert_eq!((event.kind.as_str(), event.ts), ("thread.create", now));
        assert_eq!(event.actor.as_deref(), Some(alice.address()));
        let subject = event.subject.as_ref().unwrap();
        assert_eq!((subject.kind.as_str(), subject.id.clone()), ("thread", id(&thread).to_string()));
        let data = json!({ "threadId": id(&thread), "title": "T", "tags": ["x"], "excerpt": "one two" });
        assert_eq!(event.data, data);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_opening_post_may_be_a_vote() {
    for gateway in gateways().await {
        let thread = open(&gateway, &Wallet::new(1), json!({ "title": "T", "body": " +1\n" })).await;
        assert_eq!(thread["upvotes"], 1);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn limits_hold_at_the_edge_for_characters_of_every_length() {
    for gateway in gateways().await {
        for (character, units) in [("a", 1), ("é", 1), ("€", 1), ("😀", 2)] {
            let title = character.repeat(200 / units);
            let fits = character.repeat(16_384 / character.len());
            let body = format!("{fits}{}", "a".repeat(16_384 - fits.len()));
            let tag = character.repeat(32 / units);
            let thread = open(&gateway, &Wallet::new(1), json!({ "title": title, "body": body, "tags": [tag] })).await;
            assert_eq!((&thread["title"], &thread["posts"][0]["body"]), (&json!(title), &json!(body)));
            assert_eq!(thread["tags"], json!([tag]));
            next(&gateway).await;

            let longer = |text: &str| format!("{text}a");
            let refusal = refused(&gateway, json!({ "title": longer(&title), "body": "b" })).await;
            assert_eq!(refusal, bad_request(), "title of {character}");
            let refusal = refused(&gateway, json!({ "title": "t", "body": longer(&body) })).await;
            assert_eq!(refusal, (413, "too_large".to_owned()), "body of {character}");
            let refusal = refused(&gateway, json!({ "title": "t", "body": "b", "tags": [longer(&tag)] })).await;
            assert_eq!(refusal, bad_request(), "tag of {character}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_payload_that_is_wrong_is_a_bad_request_and_leaves_nothing() {
    for gateway in gateways().await {
        for payload in [
            json!({}),
            json!({ "title": "t" }),
            json!({ "body": "b" }),
            json!({ "title": "", "body": "b" }),
            json!({ "title": " \n", "body": "b" }),
            json!({ "title": 5, "body": "b" }),
            json!({ "title": "t", "body": "" }),
            json!({ "title": "t", "body": " \n\t " }),
            json!({ "title": "t", "body": null }),
            json!({ "title": "t", "body": "b", "tags": "a" }),
            json!({ "title": "t", "body": "b", "tags": [1] }),
            json!({ "title": "t", "body": "b", "tags": ["a", "a", "a", "a", "a", "a"] }),
            json!({ "title": "t\u{0}", "body": "b" }),
            json!({ "title": "t", "body": "\u{0}" }),
        ] {
            assert_eq!(refused(&gateway, payload.clone()).await, bad_request(), "{payload}");
        }
        assert_eq!(read(&gateway, THREADS).await, json!({ "items": [], "total": 0 }));
        assert!(gateway.events().await.is_empty());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_first_wrong_member_is_named() {
    for gateway in gateways().await {
        let (long, six) = ("x".repeat(20_000), ["1", "2", "3", "4", "5", "6"]);
        for (payload, status, member) in [
            (json!({ "title": "", "body": long, "tags": six }), 400, "title"),
            (json!({ "title": "t", "body": long, "tags": six }), 413, "body"),
            (json!({ "title": "t", "body": "b", "tags": six }), 400, "tags"),
            (json!({ "title": "t", "body": "b", "tags": ["x".repeat(33)] }), 400, "tags"),
        ] {
            let response = gateway.post_signed(THREADS, &Wallet::new(1), "thread.create", payload).await;
            let text = response.json()["error"].as_str().unwrap().to_owned();
            assert!(response.status == status && text.starts_with(member), "{status} {member}: {text}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_excerpt_is_one_line_of_240_characters() {
    for gateway in gateways().await {
        for (number, (body, excerpt)) in (1..).zip([
            (" one\n\n two ".to_owned(), "one two".to_owned()),
            ("x".repeat(240), "x".repeat(240)),
            ("x".repeat(241), format!("{}…", "x".repeat(239))),
        ]) {
            let payload = json!({ "title": "t", "body": body, "tags": null });
            assert_eq!(open(&gateway, &Wallet::new(number), payload).await["excerpt"], excerpt);
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_refused_write_uses_up_neither_the_slot_nor_the_signature() {
    for gateway in gateways().await {
        assert_eq!(refused(&gateway, json!({ "title": "", "body": "b" })).await, bad_request());
        // The same wallet, the same second.
        open(&gateway, &Wallet::new(1), json!({ "title": "t", "body": "b" })).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_write_without_its_signature_is_refused() {
    for gateway in gateways().await {
        let unsigned = json!({ "title": "t", "body": "b" }).to_string();
        let headers = [("content-type", "application/json")];
        let response = gateway.send("POST", THREADS, &headers, unsigned).await;
        assert_eq!(response.status, 401, "{}", response.text());
        let wrong_action =
            gateway.post_signed(THREADS, &Wallet::new(1), "post.create", json!({ "title": "t", "body": "b" })).await;
        assert_eq!(wrong_action.status, 401, "{}", wrong_action.text());
        assert!(gateway.events().await.is_empty());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_same_write_again_is_a_replay_and_another_one_too_early() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let payload = json!({ "title": "t", "body": "b" });
        open(&gateway, &alice, payload.clone()).await;
        let again = gateway.post_signed(THREADS, &alice, "thread.create", payload).await;
        assert_eq!((again.status, again.json()["code"].as_str()), (409, Some("replay")), "{}", again.text());
        let another = gateway.post_signed(THREADS, &alice, "thread.create", json!({ "title": "u", "body": "b" })).await;
        assert_eq!((another.status, another.json()["code"].as_str()), (429, Some("rate_limited")));
        // Another wallet need not wait.
        open(&gateway, &Wallet::new(2), json!({ "title": "v", "body": "b" })).await;
        next(&gateway).await;
        open(&gateway, &alice, json!({ "title": "u", "body": "b" })).await;
        assert_eq!(gateway.events().await.len(), 3);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn of_the_same_write_many_times_at_once_one_is_done() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let writes = (0..50).map(|_| {
            let payload = json!({ "title": "t", "body": "b", "tags": ["x"] });
            gateway.post_signed(THREADS, &alice, "thread.create", payload)
        });
        let responses = futures_util::future::join_all(writes).await;
        let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (201, [409; 49].as_slice()));
        assert_eq!(read(&gateway, THREADS).await["total"], 1);
        assert_eq!(gateway.events().await.len(), 1);
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
            builder.plugin(forum::plugin_module()).configure(|config| config.limits.allow.clear()).start().await;
        for number in 1..=30_u64 {
            open(&gateway, &Wallet::new(number), json!({ "title": format!("{number}"), "body": "b" })).await;
        }
        // Calls count before thread, body and signature are checked.
        for path in [THREADS, "/api/forum/threads/999999/posts"] {
            let (_, response) = gateway.until_limited("POST", path).await;
            assert_eq!((response.status, response.code()), (429, "ip_rate_limited".to_owned()), "{}", response.text());
            assert!(response.header("retry-after").parse::<u32>().is_ok(), "{:?}", response.headers);
        }
        assert_eq!(read(&gateway, &format!("{THREADS}?limit=100")).await["total"], 30);
        finish(gateway).await;
    }
}
