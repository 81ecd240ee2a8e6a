//! `GET /api/forum/threads?q=`: searches titles and all posts, with equal results on both databases.

use super::{THREADS, finish, gateways, open, open_titled, reply, titles};
use plugin_testing::{TestGateway, Wallet, json};

async fn found(gateway: &TestGateway, query: &str) -> (Vec<String>, i64) {
    let (mut titles, total) = titles(gateway, query).await;
    titles.sort_unstable();
    (titles, total)
}

fn exactly(titles: &[&str]) -> (Vec<String>, i64) {
    (titles.iter().map(ToString::to_string).collect(), i64::try_from(titles.len()).unwrap())
}

#[tokio::test]
async fn title_opening_post_and_replies_are_searched() {
    for gateway in gateways().await {
        let written = async |number: u64, title: &str, body: &str| {
            super::id(&open(&gateway, &Wallet::new(number), json!({ "title": title, "body": body })).await)
        };
        written(1, "needle here", "text").await;
        written(2, "opening", "a needle in text").await;
        let replied = written(3, "replied", "text").await;
        written(4, "nothing", "text").await;
        reply(&gateway, &Wallet::new(5), replied, json!({ "body": "no" })).await;
        reply(&gateway, &Wallet::new(6), replied, json!({ "body": "the needle" })).await;
        reply(&gateway, &Wallet::new(7), replied, json!({ "body": "another needle: still one thread" })).await;

        assert_eq!(found(&gateway, "?q=needle").await, exactly(&["needle here", "opening", "replied"]));
        assert_eq!(found(&gateway, "?q=NEEDLE&sort=top").await, exactly(&["needle here", "opening", "replied"]));
        assert_eq!(found(&gateway, "?q=eed").await.1, 3);
        assert_eq!(found(&gateway, "?q=needles").await, exactly(&[]));
        assert_eq!(found(&gateway, "?q=").await.1, 4);
        // Pages of a search have the total, also one past the end.
        assert_eq!(titles(&gateway, "?q=needle&limit=2").await.0.len(), 2);
        assert_eq!(titles(&gateway, "?q=needle&limit=2&offset=2").await.0.len(), 1);
        assert_eq!(titles(&gateway, "?q=needle&offset=3").await, (Vec::new(), 3));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn wildcards_and_quotes_are_ordinary_characters() {
    for gateway in gateways().await {
        for (number, title) in
            ["100%", "100 percent", "a_b", "aXb", r"back\slash", "it's", r#"say "x""#].iter().enumerate()
        {
            open_titled(&gateway, &Wallet::new(number as u64 + 1), title).await;
        }
        for (q, titles) in [
            ("%25", ["100%"].as_slice()),
            ("0%25", &["100%"]),
            ("_", &["a_b"]),
            ("a_b", &["a_b"]),
            ("%5C", &[r"back\slash"]),
            ("'", &["it's"]),
            ("%22x", &[r#"say "x""#]),
            ("100", &["100 percent", "100%"]),
            ("*", &[]),
        ] {
            assert_eq!(found(&gateway, &format!("?q={q}")).await, exactly(titles), "{q}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn ascii_matches_in_either_case_and_other_characters_only_themselves() {
    for gateway in gateways().await {
        open(&gateway, &Wallet::new(1), json!({ "title": "Größe", "body": "ÄRGER Straße 😀 İstanbul" })).await;
        for (q, matches) in [
            ("GRößE", true),
            ("GRÖßE", false),
            ("Ärger", true),
            ("ärger", false),
            ("STRAßE", true),
            ("strasse", false),
            ("😀", true),
            ("İSTANBUL", true),
            ("istanbul", false),
        ] {
            let encoded: String = q.bytes().map(|byte| format!("%{byte:02X}")).collect();
            assert_eq!(found(&gateway, &format!("?q={encoded}")).await.1, i64::from(matches), "{q}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_search_within_a_tag() {
    for gateway in gateways().await {
        let written = async |number: u64, title: &str, tag: &str| {
            let payload = json!({ "title": title, "body": "needle", "tags": [tag] });
            open(&gateway, &Wallet::new(number), payload).await
        };
        written(1, "one", "a").await;
        written(2, "two", "b").await;
        let replied = open(&gateway, &Wallet::new(3), json!({ "title": "three", "body": "x", "tags": ["a"] })).await;
        reply(&gateway, &Wallet::new(4), super::id(&replied), json!({ "body": "Needle" })).await;
        assert_eq!(found(&gateway, "?q=needle&tag=A").await, exactly(&["one", "three"]));
        assert_eq!(found(&gateway, "?q=needle&tag=b").await, exactly(&["two"]));
        assert_eq!(found(&gateway, "?q=two&tag=a").await, exactly(&[]));
        assert_eq!(titles(&gateway, "?q=needle&tag=a&offset=9").await, (Vec::new(), 2));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_unsearchable_text_is_a_bad_query() {
    for gateway in gateways().await {
        let response = gateway.get(&format!("{THREADS}?q=a%00b")).await;
        assert_eq!(
            (response.status, response.json()["code"].as_str()),
            (400, Some("bad_query")),
            "{}",
            response.text()
        );
        finish(gateway).await;
    }
}
