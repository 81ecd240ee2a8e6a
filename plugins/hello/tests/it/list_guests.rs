//! `GET /api/hello/guests`.

use crate::{close, gateways, sign};
use plugin_testing::{Value, Wallet, json};

fn messages(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|guest| guest["message"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_empty_book_is_a_page_without_items() {
    for gateway in gateways().await {
        let response = gateway.get("/api/hello/guests").await;
        assert_eq!((response.status, response.json()), (200, json!({ "items": [], "total": 0 })));
        close(gateway).await;
    }
}

#[tokio::test]
async fn pages_show_the_newest_first() {
    for gateway in gateways().await {
        for (number, message) in [(1, "first"), (2, "second"), (3, "third")] {
            assert_eq!(sign(&gateway, &Wallet::new(number), message).await.status, 201);
        }
        let page = gateway.get("/api/hello/guests?limit=2").await.json();
        assert_eq!((messages(&page), &page["total"]), (vec!["third", "second"], &json!(3)));
        let page = gateway.get("/api/hello/guests?limit=2&offset=2").await.json();
        assert_eq!((messages(&page), &page["total"]), (vec!["first"], &json!(3)));
        close(gateway).await;
    }
}

#[tokio::test]
async fn what_is_no_number_never_fails() {
    for gateway in gateways().await {
        for query in ["limit=0", "limit=x", "limit=100000", "offset=-1", "offset=10000", "limit=%00"] {
            let response = gateway.get(&format!("/api/hello/guests?{query}")).await;
            assert_eq!(response.status, 200, "{query}: {}", response.text());
        }
        close(gateway).await;
    }
}
