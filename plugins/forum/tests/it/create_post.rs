//! `POST /api/forum/threads/{id}/posts`

use super::{THREADS, finish, gateways, id, next, open, open_titled, posts_of, read, reply};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_reply_is_answered_as_it_is_read_and_counts() {
    for gateway in gateways().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let thread = open(&gateway, &alice, json!({ "title": "T", "body": "B" })).await;
        let (thread_id, opening) = (id(&thread), id(&thread["posts"][0]));
        next(&gateway).await;
        let now = gateway.now_s();
        let post = reply(&gateway, &bob, thread_id, json!({ "body": "answer ✓", "replyTo": opening })).await;
        assert_eq!(
            post,
            json!({
                "id": id(&post), "threadId": thread_id,
                "author": { "address": bob.address(), "name": null, "agentId": null },
                "body": "answer ✓", "replyTo": opening, "createdAt": now
            })
        );
        let read_back = read(&gateway, &format!("{THREADS}/{thread_id}")).await;
        assert_eq!(read_back["posts"], json!([thread["posts"][0], post]));
        let listed = &read(&gateway, THREADS).await["items"][0];
        assert_eq!((&listed["postCount"], &listed["lastPostAt"]), (&json!(2), &json!(now)));
        assert_eq!((&listed["createdAt"], &listed["excerpt"]), (&thread["createdAt"], &json!("B")));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_event_names_thread_post_and_vote() {
    for gateway in gateways().await {
        let bob = Wallet::new(2);
        let thread = open_titled(&gateway, &Wallet::new(1), "T").await;
        let vote = reply(&gateway, &bob, thread, json!({ "body": " +1 " })).await;
        next(&gateway).await;
        let words = reply(&gateway, &bob, thread, json!({ "body": "+1, and more" })).await;
        let events = gateway.events().await;
        let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        assert_eq!(kinds, ["thread.create", "post.create", "post.create"]);
        for (event, post, upvote, excerpt) in
            [(&events[1], &vote, true, "+1"), (&events[2], &words, false, "+1, and more")]
        {
            assert_eq!(event.actor.as_deref(), Some(bob.address()));
            let subject = event.subject.as_ref().unwrap();
            assert_eq!((subject.kind.as_str(), subject.id.clone()), ("thread", thread.to_string()));
            let post = id(post);
            assert_eq!(
                event.data,
                json!({ "threadId": thread, "postId": post, "threadTitle": "T", "upvote": upvote, "excerpt": excerpt })
            );
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn only_a_plain_plus_one_is_a_vote() {
    for gateway in gateways().await {
        let thread = open_titled(&gateway, &Wallet::new(1), "T").await;
        for (number, body) in
            ["+1", "\n\t+1 ", "+1!", "+ 1", "＋1", "1", "+10", "+1 +1", "I say +1"].into_iter().enumerate()
        {
            reply(&gateway, &Wallet::new(number as u64 + 2), thread, json!({ "body": body })).await;
        }
        let listed = &read(&gateway, THREADS).await["items"][0];
        assert_eq!((&listed["upvotes"], &listed["postCount"]), (&json!(2), &json!(10)));
        let detail = read(&gateway, &format!("{THREADS}/{thread}")).await;
        assert_eq!((&detail["upvotes"], &detail["postCount"]), (&json!(2), &json!(10)));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_unknown_thread_is_answered_before_body_and_signature() {
    for gateway in gateways().await {
        let thread = open_titled(&gateway, &Wallet::new(1), "T").await;
        for unknown in ["999999", "0", "-1", "abc", "1.5", "99999999999999999999", "%00"] {
            for body in ["", "not json", r#"{"body":"b"}"#] {
                let path = format!("{THREADS}/{unknown}/posts");
                let response = gateway.send("POST", &path, &[("content-type", "application/json")], body).await;
                assert_eq!(response.status, 404, "{path}: {}", response.text());
            }
        }
        // When the thread exists, the signature is checked before the payload.
        let response =
            gateway.send("POST", &posts_of(thread), &[("content-type", "application/json")], r#"{"body":""}"#).await;
        assert_eq!(response.status, 401, "{}", response.text());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_reply_belongs_to_its_thread() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let other = open(&gateway, &alice, json!({ "title": "other", "body": "b" })).await;
        next(&gateway).await;
        let thread = open_titled(&gateway, &alice, "T").await;
        next(&gateway).await;
        let elsewhere = id(&other["posts"][0]);
        for reply_to in
            [json!(elsewhere), json!(999_999), json!(0), json!(-1), json!("x"), json!(1.5), json!(true), json!([1])]
        {
            let payload = json!({ "body": "b", "replyTo": reply_to });
            let response = gateway.post_signed(&posts_of(thread), &alice, "post.create", payload).await;
            assert_eq!((response.status, response.json()["code"].as_str()), (400, Some("bad_request")), "{reply_to}");
        }
        let post = reply(&gateway, &alice, thread, json!({ "body": "b", "replyTo": null })).await;
        assert_eq!(post["replyTo"], json!(null));
        next(&gateway).await;
        let digits = json!({ "body": "b", "replyTo": id(&post).to_string() });
        assert_eq!(reply(&gateway, &alice, thread, digits).await["replyTo"], post["id"]);
        assert_eq!(gateway.events().await.len(), 4);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn blank_is_400_and_too_large_is_413() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let thread = open_titled(&gateway, &Wallet::new(2), "T").await;
        for (body, status) in [
            (json!(""), 400),
            (json!(" \n"), 400),
            (json!("\u{a0}\u{2003}\u{3000}"), 400),
            (json!(7), 400),
            (json!("\u{0}"), 400),
            (json!("a".repeat(16_385)), 413),
            (json!("é".repeat(8_193)), 413),
            (json!("€".repeat(5_462)), 413),
            (json!("😀".repeat(4_097)), 413),
        ] {
            let response = gateway.post_signed(&posts_of(thread), &alice, "post.create", json!({ "body": body })).await;
            assert_eq!(response.status, status, "{}", response.text());
        }
        let detail = read(&gateway, &format!("{THREADS}/{thread}")).await;
        assert_eq!((&detail["postCount"], detail["posts"].as_array().unwrap().len()), (&json!(1), 1));
        let edge = "😀".repeat(4_096);
        assert_eq!(reply(&gateway, &alice, thread, json!({ "body": edge })).await["body"], edge);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_reply_is_not_posted_twice() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let thread = open_titled(&gateway, &Wallet::new(2), "T").await;
        let writes = (0..50).map(|_| {
            let path = posts_of(thread);
            let (gateway, alice) = (&gateway, &alice);
            async move { gateway.post_signed(&path, alice, "post.create", json!({ "body": "+1" })).await.status }
        });
        let mut statuses = futures_util::future::join_all(writes).await;
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (201, [409; 49].as_slice()));
        let listed = &read(&gateway, THREADS).await["items"][0];
        assert_eq!((&listed["upvotes"], &listed["postCount"]), (&json!(1), &json!(2)));
        assert_eq!(gateway.events().await.len(), 2);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn replies_of_many_at_once_are_all_counted() {
    for gateway in gateways().await {
        let thread = open_titled(&gateway, &Wallet::new(1), "T").await;
        let wallets: Vec<Wallet> = (2..22).map(Wallet::new).collect();
        let writes = wallets.iter().map(|wallet| reply(&gateway, wallet, thread, json!({ "body": "+1" })));
        let posts = futures_util::future::join_all(writes).await;
        let listed = read(&gateway, THREADS).await["items"][0].clone();
        assert_eq!((&listed["upvotes"], &listed["postCount"]), (&json!(20), &json!(21)));
        let detail = read(&gateway, &format!("{THREADS}/{thread}")).await;
        let mut ids: Vec<i64> = posts.iter().map(id).collect();
        ids.sort_unstable();
        let read_ids: Vec<i64> = detail["posts"].as_array().unwrap().iter().skip(1).map(id).collect();
        assert_eq!(read_ids, ids);
        finish(gateway).await;
    }
}
