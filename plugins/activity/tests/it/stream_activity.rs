//! `GET /api/stream`

use super::{NAMED, finish, houses, ping, publish, publish_as, read, wait};
use http_body_util::BodyExt;
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::{fmt::Debug, time::Duration};

const LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug, PartialEq)]
struct Received {
    id: i64,
    event: String,
    data: Value,
}

/// The events of an open stream, as a client cuts them.
struct Reader<B> {
    body: B,
    text: String,
}

impl<B> Reader<B>
where
    B: BodyExt + Unpin,
    B::Data: AsRef<[u8]>,
    B::Error: Debug,
{
    async fn next(&mut self) -> Received {
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
            self.text.push_str(std::str::from_utf8(data.as_ref()).expect("UTF-8"));
        }
    }

    async fn take(&mut self, count: usize) -> Vec<Received> {
        let mut events = Vec::new();
        while events.len() < count {
            events.push(self.next().await);
        }
        events
    }
}

/// A block without data is no event.
fn received(block: &str) -> Option<Received> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let data = serde_json::from_str(field("data")?).expect("data is one line of JSON");
    let id = field("id").and_then(|id| id.parse().ok()).expect("an event has an id");
    Some(Received { id, event: field("event").expect("an event has a name").to_owned(), data })
}

macro_rules! follow {
    ($house:expr, $query:expr) => {
        follow!($house, $query, &[])
    };
    ($house:expr, $query:expr, $headers:expr) => {{
        let response = $house.open_stream("GET", &format!("/api/stream{}", $query), $headers, "").await;
        assert_eq!(response.status(), 200);
        Reader { body: response.into_body(), text: String::new() }
    }};
}

/// Events as the list tells them, oldest first.
async fn listed(house: &TestGateway) -> Vec<Value> {
    let mut items = read(house, "/api/activity").await["items"].as_array().expect("items").clone();
    items.reverse();
    items
}

async fn listed_ids(house: &TestGateway) -> Vec<i64> {
    listed(house).await.iter().map(|event| event["id"].as_i64().expect("id")).collect()
}

#[tokio::test]
async fn the_headers_keep_proxies_from_holding_events_back() {
    for house in houses().await {
        let response = house.open_stream("GET", "/api/stream", &[], "").await;
        let header =
            |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert_eq!(header("content-type"), "text/event-stream; charset=utf-8");
        assert_eq!(header("cache-control"), "no-cache, no-transform");
        assert_eq!(header("x-accel-buffering"), "no");
        drop(response);
        finish(house).await;
    }
}

#[tokio::test]
async fn what_happens_now_arrives_as_it_is_listed() {
    for house in houses().await {
        publish(&house, "before.it").await;
        let mut stream = follow!(house, "");
        let data = json!({ "owner": NAMED, "text": "one\ntwo" });
        publish_as(&house, json!({ "type": "now.first", "actor": NAMED, "about": ["job", "3"], "data": data })).await;
        ping(&house, &Wallet::new(3), json!({})).await;
        publish(&house, "now.second").await;
        let events = stream.take(2).await;
        let data: Vec<Value> = events.iter().map(|event| event.data.clone()).collect();
        assert_eq!(data, listed(&house).await[1..]);
        for event in &events {
            let told = (event.data["id"].as_i64(), event.data["type"].as_str());
            assert_eq!(told, (Some(event.id), Some(event.event.as_str())));
        }
        drop(stream);
        finish(house).await;
    }
}

#[tokio::test]
async fn a_position_replays_and_goes_on_live() {
    for house in houses().await {
        let start = house.now_s();
        publish(&house, "a.b").await;
        wait(&house, 2).await;
        publish(&house, "a.b").await;
        publish(&house, "a.b").await;
        let ids = listed_ids(&house).await;
        let mut streams = Vec::new();
        for (query, header, replayed) in [
            ("?sinceId=0".to_owned(), None, &ids[..]),
            (format!("?sinceId={}", ids[0]), None, &ids[1..]),
            (format!("?since={start}"), None, &ids[1..]),
            // The header beats the id beats the time.
            (format!("?since=0&sinceId={}", ids[1]), None, &ids[2..]),
            ("?sinceId=0".to_owned(), Some(ids[1]), &ids[2..]),
            (String::new(), Some(ids[2]), &ids[3..]),
        ] {
            let header = header.map(|id| id.to_string());
            let headers: Vec<(&str, &str)> = header.iter().map(|id| ("last-event-id", id.as_str())).collect();
            streams.push((follow!(house, query, &headers), query, replayed));
        }
        wait(&house, 2).await;
        publish(&house, "a.b").await;
        let live = listed_ids(&house).await[3];
        for (stream, query, replayed) in &mut streams {
            let received: Vec<i64> = stream.take(replayed.len() + 1).await.iter().map(|event| event.id).collect();
            assert_eq!(received, [replayed, [live].as_slice()].concat(), "{query}");
        }
        drop(streams);
        finish(house).await;
    }
}

#[tokio::test]
async fn a_position_that_is_no_number_is_not_there() {
    for house in houses().await {
        publish(&house, "a.first").await;
        let mut live = follow!(house, "?sinceId=abc&since=x", &[("last-event-id", "-1")]);
        let mut resumed = follow!(house, "?sinceId=0", &[("last-event-id", "abc")]);
        publish(&house, "a.second").await;
        assert_eq!(live.next().await.event, "a.second");
        assert_eq!(resumed.next().await.event, "a.first");
        drop((live, resumed));
        finish(house).await;
    }
}

#[tokio::test]
async fn only_the_types_that_were_asked_for() {
    for house in houses().await {
        publish(&house, "job.a").await;
        publish(&house, "kb.write").await;
        let mut exact = follow!(house, "?sinceId=0&type=kb.write");
        let mut prefix = follow!(house, "?sinceId=0&type=job.");
        publish(&house, "jobs.a").await;
        publish(&house, "job.b").await;
        publish(&house, "kb.write").await;
        let kinds = |events: Vec<Received>| events.into_iter().map(|event| event.event).collect::<Vec<_>>();
        assert_eq!(kinds(exact.take(2).await), ["kb.write", "kb.write"]);
        assert_eq!(kinds(prefix.take(2).await), ["job.a", "job.b"]);
        drop((exact, prefix));
        finish(house).await;
    }
}

#[tokio::test]
async fn what_was_committed_before_does_not_come_again() {
    for house in houses().await {
        for number in 0..20 {
            // Opened right behind a write, when its frame may not be rendered yet.
            publish(&house, "a.before").await;
            let last = listed_ids(&house).await.pop().unwrap();
            let mut live = follow!(house, "");
            let mut resumed = follow!(house, "", &[("last-event-id", last.to_string().as_str())]);
            publish(&house, "a.after").await;
            assert_eq!(live.next().await.event, "a.after", "{number}");
            assert_eq!(resumed.next().await.event, "a.after", "{number}");
        }
        finish(house).await;
    }
}
