//! Topics: rendered for readers only, and complete for each of them.

use super::scribe::{ACTION, LINES, RENDERED, STREAM, plugin_module};
use http_body_util::BodyExt as _;
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(10);

async fn write(gateway: &TestGateway, wallets: std::ops::Range<u64>) {
    for wallet in wallets {
        let payload = json!({ "text": "a line", "ending": "good" });
        assert_eq!(gateway.post_signed(LINES, &Wallet::new(wallet), ACTION, payload).await.status, 201);
    }
}

/// Opens the stream after that event, then writes as many lines, and reads until the event of the last of all has come.
/// Returns the ids of the received events.
async fn follow(gateway: &TestGateway, after: i64, wallets: std::ops::Range<u64>) -> Vec<i64> {
    let mut body = gateway.open_stream("GET", &format!("{STREAM}?sinceId={after}"), &[], "").await.into_body();
    write(gateway, wallets).await;
    let last = gateway.events().await.last().unwrap().id;
    let (mut text, mut ids) = (String::new(), Vec::new());
    while ids.last() != Some(&last) {
        let frame = tokio::time::timeout(LIMIT, body.frame()).await.unwrap_or_else(|_| panic!("{last} in {text}"));
        text.push_str(std::str::from_utf8(&frame.unwrap().unwrap().into_data().unwrap()).unwrap());
        ids = text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect();
    }
    ids
}

#[tokio::test]
async fn events_are_rendered_only_while_somebody_reads() {
    for gateway in TestGateway::each_database(&[plugin_module()]).await {
        write(&gateway, 1..4).await;
        assert_eq!(follow(&gateway, 3, 4..5).await, [4]);
        assert_eq!(gateway.get(RENDERED).await.json(), 1, "of four events one was read");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_reader_gets_what_was_published_while_nobody_read() {
    for gateway in TestGateway::each_database(&[plugin_module()]).await {
        write(&gateway, 1..4).await;
        assert_eq!(follow(&gateway, 0, 4..4).await, [1, 2, 3], "without a new event");
        assert_eq!(follow(&gateway, 0, 4..6).await, [1, 2, 3, 4, 5]);
        write(&gateway, 6..8).await;
        assert_eq!(follow(&gateway, 5, 8..9).await, [6, 7, 8]);
        gateway.stop().await;
    }
}
