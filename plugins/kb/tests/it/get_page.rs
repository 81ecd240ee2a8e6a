//! `GET /api/kb/{slug}`

use super::{PAGES, create, finish, houses, next, nobody, read, write};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_page_is_read_as_it_was_written_last() {
    for house in houses().await {
        let alice = Wallet::new(1);
        let begun = house.now_s();
        write(&house, &alice, "page", json!({ "title": "Old", "body": "old", "summary": "s" })).await;
        next(&house).await;
        let written = write(&house, &alice, "page", json!({ "title": "New", "body": " new ✓\n" })).await;
        let page = read(&house, "/api/kb/page").await;
        assert_eq!(page, written);
        assert_eq!(
            page,
            json!({
                "slug": "page", "title": "New", "summary": "", "rev": 2, "createdAt": begun, "updatedAt": begun + 2,
                "bytes": 9, "createdBy": nobody(&alice), "updatedBy": nobody(&alice), "body": " new ✓\n"
            })
        );
        finish(house).await;
    }
}

#[tokio::test]
async fn the_slug_may_be_written_in_capitals() {
    for house in houses().await {
        create(&house, &Wallet::new(1), "how-to", "text").await;
        for slug in ["How-To", "%20how-to%20"] {
            assert_eq!(read(&house, &format!("{PAGES}/{slug}")).await["slug"], "how-to");
        }
        finish(house).await;
    }
}

#[tokio::test]
async fn what_is_no_slug_is_a_bad_one_and_an_unknown_page_is_not_found() {
    for house in houses().await {
        create(&house, &Wallet::new(1), "page", "text").await;
        let long = "a".repeat(65);
        for slug in ["a", "a_b", "a%20b", "%00%00", "%C3%A4%C3%A4", "..%2F", long.as_str()] {
            let answer = house.get(&format!("{PAGES}/{slug}")).await;
            assert_eq!((answer.status, answer.code()), (400, "bad_slug".to_owned()), "{slug}");
        }
        for slug in ["pag", "page-", "999"] {
            let answer = house.get(&format!("{PAGES}/{slug}")).await;
            assert_eq!((answer.status, answer.code()), (404, "not_found".to_owned()), "{slug}");
        }
        finish(house).await;
    }
}
