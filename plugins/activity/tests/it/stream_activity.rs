//! `GET /api/stream`

use super::{NAMED, finish, gateways, ping, publish, publish_as, read, wait};
use http_body_util::BodyExt;
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::{fmt::Debug, time::Duration};

const LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug, PartialEq)]
struct StreamEvent {
    id: i64,
    event: String,
    data: Value,
}

/// Parses the events of an open stream.
struct Reader<B> {
    body: B,
    text: String,
    /// Everything that was received.
    all: String,
}

impl<B> Reader<B>
where
    B: BodyExt + Unpin,
    B::Data: AsRef<[u8]>,
    B::Error: Debug,
{
    async fn next(&mut self) -> StreamEvent {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let event = received(block);
                self.text = rest.to_owned();
                if let Some(event) = event {
                    return event;
                }
            }
            let frame = tokio::time::timeout(LIMIT, self.body.frame()).await.expect("an event comes in time");
            let frame = frame.expect("the stream goes on").expect("the stream does not fail");
            let data = frame.into_data().unwrap_or_else(|_| panic!("a stream has no trailers"));
            let text = std::str::from_utf8(data.as_ref()).expect("UTF-8");
            self.text.push_str(text);
            self.all.push_str(text);
        }
    }

    fn comments(&self) -> impl Iterator<Item = &str> {
        self.all.lines().filter_map(|line| line.strip_prefix(": "))
    }

    async fn take(&mut self, count: usize) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        while events.len() < count {
            events.push(self.next().await);
        }
        events
    }
}

/// `None` for a block without data, which is no event.
fn received(block: &str) -> Option<StreamEvent> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let data = serde_json::from_str(field("data")?).expect("data is one line of JSON");
    let id = field("id").and_then(|id| id.parse().ok()).expect("an event has an id");
    Some(StreamEvent { id, event: field("event").expect("an event has a name").to_owned(), data })
}

macro_rules! follow {
    ($gateway:expr, $query:expr) => {
        follow!($gateway, $query, &[])
    };
    ($gateway:expr, $query:expr, $headers:expr) => {{
        let response = $gateway.open_stream("GET", &format!("/api/stream{}", $query), $headers, "").await;
        assert_eq!(response.status(), 200);
        Reader { body: response.into_body(), text: String::new(), all: String::new() }
    }};
}

/// Events of the list, oldest first.
async fn listed(gateway: &TestGateway) -> Vec<Value> {
    let mut items = read(gateway, "/api/activity").await["items"].as_array().expect("items").clone();
    items.reverse();
    items
}

async fn listed_ids(gateway: &TestGateway) -> Vec<i64> {
    listed(gateway).await.iter().map(|event| event["id"].as_i64().expect("id")).collect()
}

#[tokio::test]
async fn the_headers_keep_proxies_from_holding_events_back() {
    for gateway in gateways().await {
        let response = gateway.open_stream("GET", "/api/stream", &[], "").await;
        let header =
            |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert_eq!(header("content-type"), "text/event-stream; charset=utf-8");
        assert_eq!(header("cache-control"), "no-cache, no-transform");
        assert_eq!(header("x-accel-buffering"), "no");
        drop(response);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn new_events_arrive_as_they_are_listed() {
    for gateway in gateways().await {
        publish(&gateway, "before.it").await;
        let mut stream = follow!(gateway, "");
        let data = json!({ "owner": NAMED, "text": "one\ntwo" });
        publish_as(&gateway, json!({ "type": "now.first", "actor": NAMED, "about": ["job", "3"], "data": data })).await;
        ping(&gateway, &Wallet::new(3), json!({})).await;
        publish(&gateway, "now.second").await;
        let events = stream.take(2).await;
        let data: Vec<Value> = events.iter().map(|event| event.data.clone()).collect();
        assert_eq!(data, listed(&gateway).await[1..]);
        for event in &events {
            let told = (event.data["id"].as_i64(), event.data["type"].as_str());
            assert_eq!(told, (Some(event.id), Some(event.event.as_str())));
        }
        drop(stream);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_position_replays_and_goes_on_live() {
    for gateway in gateways().await {
        let start = gateway.now_s();
        publish(&gateway, "a.b").await;
        wait(&gateway, 2).await;
        publish(&gateway, "a.b").await;
        publish(&gateway, "a.b").await;
        let ids = listed_ids(&gateway).await;
        let mut streams = Vec::new();
        for (query, header, replayed) in [
            ("?sinceId=0".to_owned(), None, &ids[..]),
            (format!("?sinceId={}", ids[0]), None, &ids[1..]),
            (format!("?since={start}"), None, &ids[1..]),
            // The header takes precedence over the id, the id over the time.
            (format!("?since=0&sinceId={}", ids[1]), None, &ids[2..]),
            ("?sinceId=0".to_owned(), Some(ids[1]), &ids[2..]),
            (String::new(), Some(ids[2]), &ids[3..]),
        ] {
            let header = header.map(|id| id.to_string());
            let headers: Vec<(&str, &str)> = header.iter().map(|id| ("last-event-id", id.as_str())).collect();
            streams.push((follow!(gateway, query, &headers), query, replayed));
        }
        wait(&gateway, 2).await;
        publish(&gateway, "a.b").await;
        let live = listed_ids(&gateway).await[3];
        for (stream, query, replayed) in &mut streams {
            let received: Vec<i64> = stream.take(replayed.len() + 1).await.iter().map(|event| event.id).collect();
            assert_eq!(received, [replayed, [live].as_slice()].concat(), "{query}");
        }
        drop(streams);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_position_that_is_not_a_number_is_ignored() {
    for gateway in gateways().await {
        publish(&gateway, "a.first").await;
        let mut live = follow!(gateway, "?sinceId=abc&since=x", &[("last-event-id", "-1")]);
        let mut resumed = follow!(gateway, "?sinceId=0", &[("last-event-id", "abc")]);
        publish(&gateway, "a.second").await;
        assert_eq!(live.next().await.event, "a.second");
        assert_eq!(resumed.next().await.event, "a.first");
        drop((live, resumed));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_type_filter_applies_to_the_stream() {
    for gateway in gateways().await {
        publish(&gateway, "job.a").await;
        publish(&gateway, "kb.write").await;
        let mut exact = follow!(gateway, "?sinceId=0&type=kb.write");
        let mut prefix = follow!(gateway, "?sinceId=0&type=job.");
        publish(&gateway, "jobs.a").await;
        publish(&gateway, "job.b").await;
        publish(&gateway, "kb.write").await;
        let kinds = |events: Vec<StreamEvent>| events.into_iter().map(|event| event.event).collect::<Vec<_>>();
        assert_eq!(kinds(exact.take(2).await), ["kb.write", "kb.write"]);
        assert_eq!(kinds(prefix.take(2).await), ["job.a", "job.b"]);
        drop((exact, prefix));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn earlier_events_are_not_sent_again() {
    for gateway in gateways().await {
        for number in 0..20 {
            // Opened directly after a write, when its frame may not be rendered yet.
            publish(&gateway, "a.before").await;
            let last = listed_ids(&gateway).await.pop().unwrap();
            let mut live = follow!(gateway, "");
            let mut resumed = follow!(gateway, "", &[("last-event-id", last.to_string().as_str())]);
            publish(&gateway, "a.after").await;
            assert_eq!(live.next().await.event, "a.after", "{number}");
            assert_eq!(resumed.next().await.event, "a.after", "{number}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_replay_by_id_has_no_limit_and_one_by_time_is_cut_at_the_newest_500() {
    for gateway in gateways().await {
        let start = gateway.now_s() - 1;
        let types = ["a.b", "c.d"];
        for number in 0..1_100 {
            publish(&gateway, types[number % 2]).await;
        }
        let mut all: Vec<i64> = Vec::new();
        loop {
            let page = gateway.gateway().activity.rows_after(all.last().copied().unwrap_or(0)).await.unwrap();
            if page.is_empty() {
                break;
            }
            all.extend(page.into_iter().map(|event| event.id));
        }
        assert_eq!(all.len(), 1_100);
        let mut by_id = follow!(gateway, "?sinceId=0");
        let received: Vec<i64> = by_id.take(1_100).await.iter().map(|event| event.id).collect();
        assert_eq!(received, all, "by id");
        for (query, newest) in [("", all.clone()), ("&type=c.", all.iter().copied().skip(1).step_by(2).collect())] {
            let mut by_time = follow!(gateway, format!("?since={start}{query}"));
            assert_eq!(by_time.next().await.id, newest[newest.len() - 500], "{query}");
            let comment = by_time.comments().find(|comment| comment.contains("newest 500"));
            assert!(comment.is_some(), "{query}");
            assert_eq!(by_time.take(499).await.last().unwrap().id, newest[newest.len() - 1]);
        }
        finish(gateway).await;
    }
}
