//! `GET /api/network/graph.svg`.

use super::{LIMIT, Site, account_created, agent, each, job, named, settled};
use plugin_testing::TestResponse;
use std::time::Duration;

const PICTURE: &str = "/api/network/graph.svg";

/// Lets time pass until the picture has this text.
async fn drawn(site: &Site, text: &str) -> TestResponse {
    let waits = async {
        loop {
            let picture = site.gateway.get(PICTURE).await;
            assert_eq!(picture.status, 200, "{}", picture.text());
            if picture.text().contains(text) {
                return picture;
            }
            site.gateway.clock().advance(Duration::from_secs(20)).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, waits).await.unwrap_or_else(|_| panic!("no {text} within {LIMIT:?}"))
}

#[tokio::test]
async fn the_picture_has_the_headers_of_an_image_that_does_nothing() {
    each(agent(1, 11), async |site| {
        let picture = drawn(site, "Nobody has hired or paid an agent yet").await;
        let headers = ["content-type", "content-security-policy", "cache-control"];
        let expected = ["image/svg+xml", "default-src 'none'; sandbox", "public, max-age=300"];
        assert_eq!(headers.map(|name| picture.header(name).to_owned()), expected);
        assert!(picture.text().starts_with("<svg ") && picture.text().ends_with("</svg>\n"), "{}", picture.text());
        // It has no parameters.
        let other = site.gateway.get(&format!("{PICTURE}?theme=dark&limit=1")).await;
        assert_eq!((other.status, other.text()), (200, picture.text()));
    })
    .await;
}

#[tokio::test]
async fn it_is_drawn_again_when_the_graph_has_changed() {
    let name = "</title><script>alert(1)</script> \u{202e}evil\u{0} ä😀'\"&";
    let logs = [named(1, 11, name), agent(2, 12), vec![account_created(12, 60)], job(1, 1, 60, "5", 0)];
    each(logs.concat(), async |site| {
        let picture = drawn(site, "2 agents, 0 other clients, 1 edge of 1 by volume").await;
        let text = picture.text();
        assert!(text.contains("&lt;/title&gt;&lt;script&gt;") && text.contains(">Agent 2<"), "{text}");
        for part in ["<script", "\u{202e}", "\u{0}"] {
            assert!(!text.contains(part), "{part:?}: {text}");
        }
        let tag = picture.header("etag").to_owned();
        // What is not drawn, changes nothing; neither does time.
        site.mine(vec![super::priced(2, "77")]).await;
        for _ in 0..5 {
            site.gateway.clock().advance(Duration::from_secs(61)).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let again = site.gateway.send("GET", PICTURE, &[("if-none-match", &tag)], Vec::<u8>::new()).await;
        assert_eq!(again.status, 304);
        site.mine(vec![settled(50, 12, "1", 1)]).await;
        let changed = drawn(site, "2 agents, 1 other client, 2 edges of 2 by volume").await;
        assert_ne!(changed.header("etag"), tag);
        // A block that is gone is no longer drawn.
        site.chain.reorg(1);
        site.chain.mine_empty(2);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(drawn(site, "1 edge of 1 by volume").await.text(), text);
    })
    .await;
}
