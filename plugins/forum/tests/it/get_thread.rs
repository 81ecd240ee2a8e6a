//! `GET /api/forum/threads/{id}`

use super::{THREADS, finish, houses, id, next, open_titled, read, reply};
use plugin_testing::{TestGateway, Wallet, json};

#[tokio::test]
async fn all_posts_come_in_the_order_of_their_ids() {
    for house in houses().await {
        let thread = open_titled(&house, &Wallet::new(1), "T").await;
        let mut expected = vec!["text".to_owned()];
        for number in 2..8_u64 {
            let body = format!("post {number}");
            reply(&house, &Wallet::new(number), thread, json!({ "body": body })).await;
            expected.push(body);
        }
        let detail = read(&house, &format!("{THREADS}/{thread}")).await;
        let posts = detail["posts"].as_array().unwrap();
        assert_eq!(posts.iter().map(|post| post["body"].as_str().unwrap()).collect::<Vec<_>>(), expected);
        assert!(posts.iter().map(id).is_sorted());
        assert!(posts.iter().all(|post| post["threadId"] == thread));
        finish(house).await;
    }
}

#[tokio::test]
async fn only_its_own_posts() {
    for house in houses().await {
        let alice = Wallet::new(1);
        let one = open_titled(&house, &alice, "one").await;
        next(&house).await;
        let other = open_titled(&house, &alice, "other").await;
        reply(&house, &Wallet::new(2), other, json!({ "body": "there" })).await;
        assert_eq!(read(&house, &format!("{THREADS}/{one}")).await["posts"].as_array().unwrap().len(), 1);
        assert_eq!(read(&house, &format!("{THREADS}/{other}")).await["posts"].as_array().unwrap().len(), 2);
        finish(house).await;
    }
}

#[tokio::test]
async fn what_names_no_thread_is_not_found() {
    for house in houses().await {
        open_titled(&house, &Wallet::new(1), "T").await;
        for unknown in ["999999", "0", "-1", "abc", "1.5", "99999999999999999999", "%00", "1%20OR%201"] {
            let answer = house.get(&format!("{THREADS}/{unknown}")).await;
            assert_eq!((answer.status, answer.json()["code"].as_str()), (404, Some("not_found")), "{unknown}");
        }
        finish(house).await;
    }
}

async fn numbered_reply(house: &TestGateway, number: u64, thread: i64) {
    reply(house, &Wallet::new(number), thread, json!({ "body": format!("{number}") })).await;
}

#[tokio::test]
async fn a_thread_longer_than_one_read_is_whole() {
    for house in houses().await {
        let thread = open_titled(&house, &Wallet::new(0), "long").await;
        // With the opening post exactly one read, then one more.
        for (wallets, posts) in [(1..250_u64, 250), (250..251, 251)] {
            for some in wallets.collect::<Vec<_>>().chunks(20) {
                let replies = some.iter().map(|number| numbered_reply(&house, *number, thread));
                futures_util::future::join_all(replies).await;
            }
            let detail = read(&house, &format!("{THREADS}/{thread}")).await;
            let ids: Vec<i64> = detail["posts"].as_array().unwrap().iter().map(id).collect();
            assert_eq!((ids.len(), &detail["postCount"]), (posts, &json!(posts)));
            assert!(ids.is_sorted_by(|left, right| left < right));
        }
        finish(house).await;
    }
}
