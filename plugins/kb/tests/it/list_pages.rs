//! `GET /api/kb` without a search.

use super::{PAGES, finish, gateways, next, nobody, read, slugs, write};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn an_item_is_the_page_without_its_body() {
    for gateway in gateways().await {
        let (alice, now) = (Wallet::new(1), gateway.now_s());
        write(&gateway, &alice, "page", json!({ "title": "T", "body": "body", "summary": "S" })).await;
        let list = read(&gateway, PAGES).await;
        let item = json!({
            "slug": "page", "title": "T", "summary": "S", "rev": 1, "createdAt": now, "updatedAt": now, "bytes": 4,
            "createdBy": nobody(&alice), "updatedBy": nobody(&alice)
        });
        assert_eq!(list, json!({ "items": [item], "total": 1, "q": null, "fts": false }));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn pages_are_sorted_by_age_or_title() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        for (slug, title) in [("first", "b"), ("second", "a"), ("third", "Z"), ("fourth", "ä"), ("fifth", "a")] {
            write(&gateway, &alice, slug, json!({ "title": title, "body": "text" })).await;
            next(&gateway).await;
        }
        write(&gateway, &alice, "second", json!({ "title": "a", "body": "more" })).await;
        let by_age = ["second", "fifth", "fourth", "third", "first"];
        for query in ["", "?sort=updated", "?sort=nonsense", "?q=", "?q=%20"] {
            assert_eq!(slugs(&gateway, query).await, by_age, "{query}");
        }
        // By code point; of equal titles the newer page first.
        assert_eq!(slugs(&gateway, "?sort=title").await, ["third", "fifth", "second", "first", "fourth"]);
        assert_eq!(slugs(&gateway, "?sort=title&limit=2&offset=1").await, ["fifth", "second"]);
        assert_eq!(slugs(&gateway, "?limit=1&offset=4").await, ["first"]);
        assert_eq!(read(&gateway, &format!("{PAGES}?limit=1&offset=9")).await["total"], 5);
        finish(gateway).await;
    }
}
