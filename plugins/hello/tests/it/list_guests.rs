//! `GET /api/hello/guests`.

use crate::{close, houses, sign};
use plugin_testing::{Value, Wallet, json};

fn messages(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|guest| guest["message"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_empty_book_is_a_page_without_items() {
    for house in houses().await {
        let answer = house.get("/api/hello/guests").await;
        assert_eq!((answer.status, answer.json()), (200, json!({ "items": [], "total": 0 })));
        close(house).await;
    }
}

#[tokio::test]
async fn pages_show_the_newest_first() {
    for house in houses().await {
        for (number, message) in [(1, "first"), (2, "second"), (3, "third")] {
            assert_eq!(sign(&house, &Wallet::new(number), message).await.status, 201);
        }
        let page = house.get("/api/hello/guests?limit=2").await.json();
        assert_eq!((messages(&page), &page["total"]), (vec!["third", "second"], &json!(3)));
        let page = house.get("/api/hello/guests?limit=2&offset=2").await.json();
        assert_eq!((messages(&page), &page["total"]), (vec!["first"], &json!(3)));
        close(house).await;
    }
}

#[tokio::test]
async fn a_page_never_fails() {
    for house in houses().await {
        for query in ["limit=0", "limit=x", "limit=100000", "offset=-1", "offset=1e30", "limit=%00"] {
            let answer = house.get(&format!("/api/hello/guests?{query}")).await;
            assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        }
        close(house).await;
    }
}

#[tokio::test]
async fn the_book_counts_in_the_statistics() {
    for house in houses().await {
        assert_eq!(sign(&house, &Wallet::new(1), "Nice house!").await.status, 201);
        let stats = house.get("/api/stats").await;
        assert_eq!(stats.json()["guests"], 1, "{}", stats.text());
        close(house).await;
    }
}
