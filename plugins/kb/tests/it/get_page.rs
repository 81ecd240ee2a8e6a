//! `GET /api/kb/{slug}`

use super::{PAGES, create, finish, gateways, next, nobody, read, write};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_page_is_read_as_it_was_written_last() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let begun = gateway.now_s();
        write(&gateway, &alice, "page", json!({ "title": "Old", "body": "old", "summary": "s" })).await;
        next(&gateway).await;
        let written = write(&gateway, &alice, "page", json!({ "title": "New", "body": " new ✓\n" })).await;
        let page = read(&gateway, "/api/kb/page").await;
        assert_eq!(page, written);
        assert_eq!(
            page,
            json!({
                "slug": "page", "title": "New", "summary": "", "rev": 2, "createdAt": begun, "updatedAt": begun + 2,
                "bytes": 9, "createdBy": nobody(&alice), "updatedBy": nobody(&alice), "body": " new ✓\n"
            })
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_slug_may_be_written_in_capitals() {
    for gateway in gateways().await {
        create(&gateway, &Wallet::new(1), "how-to", "text").await;
        for slug in ["How-To", "%20how-to%20"] {
            assert_eq!(read(&gateway, &format!("{PAGES}/{slug}")).await["slug"], "how-to");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_malformed_slug_is_400_and_an_unknown_page_404() {
    for gateway in gateways().await {
        create(&gateway, &Wallet::new(1), "page", "text").await;
        let (longest, long) = ("a".repeat(64), "a".repeat(65));
        for slug in ["a", "%20a%20", "a_b", "a.b", "a%20b", "%00%00", "%C3%A4%C3%A4", "%C5%BFs", "..%2F", &long] {
            let response = gateway.get(&format!("{PAGES}/{slug}")).await;
            assert_eq!((response.status, response.code()), (400, "bad_slug".to_owned()), "{slug}");
        }
        for slug in ["pag", "page-", "999", "--", "7z", &longest] {
            let response = gateway.get(&format!("{PAGES}/{slug}")).await;
            assert_eq!((response.status, response.code()), (404, "not_found".to_owned()), "{slug}");
        }
        finish(gateway).await;
    }
}
