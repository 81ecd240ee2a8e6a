//! `GET /api/kb/{slug}/history`

use super::{PAGES, create, finish, gateways, next, nobody, read, write};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn every_write_adds_a_permanent_revision() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let begun = gateway.now_s();
        for (number, body) in [(1, "one"), (2, "twö"), (3, "")] {
            let payload =
                json!({ "title": format!("T{number}"), "body": format!("{body}!"), "summary": format!("S{number}") });
            write(&gateway, &alice, "page", payload).await;
            next(&gateway).await;
        }
        create(&gateway, &Wallet::new(2), "other", "text").await;

        let history = read(&gateway, "/api/kb/page/history").await;
        assert_eq!((&history["slug"], &history["title"], &history["rev"]), (&json!("page"), &json!("T3"), &json!(3)));
        let items = history["items"].as_array().unwrap();
        assert_eq!(items.iter().map(|item| item["rev"].as_i64().unwrap()).collect::<Vec<_>>(), [3, 2, 1]);
        let second = &items[1];
        let mut expected = json!({
            "id": second["id"], "slug": "page", "title": "T2", "summary": "S2", "rev": 2, "author": nobody(&alice),
            "createdAt": begun + 2, "bytes": 5
        });
        assert_eq!(*second, expected);
        expected["body"] = json!("twö!");
        assert_eq!(read(&gateway, "/api/kb/page/history?rev=2").await, expected);
        let gateway = gateway.restart().await;
        assert_eq!(read(&gateway, "/api/kb/page/history").await, history);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_unknown_page_or_revision_is_not_found() {
    for gateway in gateways().await {
        create(&gateway, &Wallet::new(1), "page", "text").await;
        for path in
            ["other/history", "other/history?rev=1", "page/history?rev=2", "page/history?rev=0", "page/history?rev=-1"]
        {
            let response = gateway.get(&format!("{PAGES}/{path}")).await;
            assert_eq!((response.status, response.code()), (404, "not_found".to_owned()), "{path}");
        }
        let response = gateway.get(&format!("{PAGES}/page/history?rev=one")).await;
        assert_eq!((response.status, response.code()), (400, "bad_query".to_owned()));
        let response = gateway.get(&format!("{PAGES}/p/history")).await;
        assert_eq!((response.status, response.code()), (400, "bad_slug".to_owned()));
        finish(gateway).await;
    }
}
