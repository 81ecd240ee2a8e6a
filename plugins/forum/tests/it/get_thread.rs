//! `GET /api/forum/threads/{id}`

use super::{THREADS, finish, gateways, id, next, open_titled, read, reply};
use plugin_testing::{TestGateway, Wallet, json};

#[tokio::test]
async fn all_posts_come_in_the_order_of_their_ids() {
    for gateway in gateways().await {
        let thread = open_titled(&gateway, &Wallet::new(1), "T").await;
        let mut expected = vec!["text".to_owned()];
        for number in 2..8_u64 {
            let body = format!("post {number}");
            reply(&gateway, &Wallet::new(number), thread, json!({ "body": body })).await;
            expected.push(body);
        }
        let detail = read(&gateway, &format!("{THREADS}/{thread}")).await;
        let posts = detail["posts"].as_array().unwrap();
        assert_eq!(posts.iter().map(|post| post["body"].as_str().unwrap()).collect::<Vec<_>>(), expected);
        assert!(posts.iter().map(id).is_sorted());
        assert!(posts.iter().all(|post| post["threadId"] == thread));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_thread_has_only_its_own_posts() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let one = open_titled(&gateway, &alice, "one").await;
        next(&gateway).await;
        let other = open_titled(&gateway, &alice, "other").await;
        reply(&gateway, &Wallet::new(2), other, json!({ "body": "there" })).await;
        assert_eq!(read(&gateway, &format!("{THREADS}/{one}")).await["posts"].as_array().unwrap().len(), 1);
        assert_eq!(read(&gateway, &format!("{THREADS}/{other}")).await["posts"].as_array().unwrap().len(), 2);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_unknown_thread_is_not_found() {
    for gateway in gateways().await {
        open_titled(&gateway, &Wallet::new(1), "T").await;
        for unknown in ["999999", "0", "-1", "abc", "1.5", "99999999999999999999", "%00", "1%20OR%201"] {
            let response = gateway.get(&format!("{THREADS}/{unknown}")).await;
            assert_eq!((response.status, response.json()["code"].as_str()), (404, Some("not_found")), "{unknown}");
        }
        finish(gateway).await;
    }
}

async fn numbered_reply(gateway: &TestGateway, number: u64, thread: i64) {
    reply(gateway, &Wallet::new(number), thread, json!({ "body": format!("{number}") })).await;
}

#[tokio::test]
async fn a_thread_longer_than_one_statement_is_complete() {
    for gateway in gateways().await {
        let thread = open_titled(&gateway, &Wallet::new(0), "long").await;
        // With the opening post exactly one read, then one post more.
        for (wallets, posts) in [(1..250_u64, 250), (250..251, 251)] {
            for some in wallets.collect::<Vec<_>>().chunks(20) {
                let replies = some.iter().map(|number| numbered_reply(&gateway, *number, thread));
                futures_util::future::join_all(replies).await;
            }
            let detail = read(&gateway, &format!("{THREADS}/{thread}")).await;
            let ids: Vec<i64> = detail["posts"].as_array().unwrap().iter().map(id).collect();
            assert_eq!((ids.len(), &detail["postCount"]), (posts, &json!(posts)));
            assert!(ids.is_sorted_by(|left, right| left < right));
        }
        finish(gateway).await;
    }
}
