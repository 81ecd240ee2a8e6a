//! The live stream: resuming, filters, and malformed positions.

use super::{
    setup, setup_on, setup_with_all_plugins,
    site::{Site, answer, posts_of, signed},
    stream_reader::Part,
};
use crate::storage::Engine;
use futures_util::future::join_all;
use gateway_clock::Clock;
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{Wallet, json};
use reqwest::Method;
use rstest::rstest;

const WRITERS: usize = 12;
const REPLIES: usize = 16;
/// As many as one page of `/api/activity` shows.
const EVENTS: usize = 1 + WRITERS * REPLIES;

/// Many wallets that reply to one thread at the same time.
async fn write_much(site: &Site, thread: i64) {
    let one = async |number: u64| {
        let wallet = Wallet::new(number);
        for reply in 0..REPLIES {
            site.reply(&wallet, thread, &format!("reply {reply} of {number}")).await;
        }
    };
    join_all((1..).take(WRITERS).map(one)).await;
}

/// All ids of the log, oldest first.
async fn logged_ids(site: &Site) -> Vec<i64> {
    let items = site.get("/api/activity?limit=200").await.json()["items"].as_array().unwrap().clone();
    items.iter().rev().map(|item| item["id"].as_i64().unwrap()).collect()
}

/// Again and again opens the stream where it left off, reads a few events and disconnects.
async fn come_and_go(site: &Site, resume_by_header: bool) -> Vec<i64> {
    let mut seen: Vec<i64> = Vec::new();
    for visit in 0.. {
        let last = seen.last().copied().unwrap_or_default().to_string();
        let mut stream = if resume_by_header {
            site.follow("/api/stream", Some(last.as_bytes())).await
        } else {
            site.follow(&format!("/api/stream?sinceId={last}"), None).await
        };
        // From one to seventeen: sometimes within what is replayed, sometimes far into what is live.
        let wanted = (visit * 7 % 17 + 1).min(EVENTS - seen.len());
        seen.extend(stream.events(wanted).await.iter().map(|event| event.id));
        if seen.len() == EVENTS {
            break;
        }
    }
    seen
}

/// Events could get lost between replay and live delivery. Here clients cross that boundary while others write, and the
/// ring of the topic is so small that some have to read the database.
#[rstest]
#[tokio::test]
async fn who_comes_and_goes_misses_nothing_and_hears_nothing_twice(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let setup = setup_on(engine).await;
    let setup = setup.set("limits.write_interval_ms", 0).set("activity.ring_events", 8);
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    let thread = site.open_thread(&Wallet::new(100), "Much to say").await;
    let mut steady = site.follow("/api/stream?sinceId=0", None).await;

    let ((), by_header, by_query, stayed) = tokio::join!(
        write_much(&site, thread),
        come_and_go(&site, true),
        come_and_go(&site, false),
        steady.events(EVENTS)
    );

    let expected = logged_ids(&site).await;
    assert_eq!(expected.len(), EVENTS);
    assert_eq!(by_header, expected, "resumed by Last-Event-ID");
    assert_eq!(by_query, expected, "resumed by sinceId");
    assert_eq!(stayed.iter().map(|event| event.id).collect::<Vec<_>>(), expected, "never gone");
}

/// Two threads and a reply to each: `thread.create`, `post.create`, `thread.create`, `post.create`.
async fn two_threads(site: &Site) {
    for number in [1, 2] {
        let thread = site.open_thread(&Wallet::new(number), "A thread").await;
        site.reply(&Wallet::new(10 + number), thread, "A reply").await;
    }
}

async fn gateway_with_pings() -> GatewayProcess {
    setup().set("activity.heartbeat_s", 1).start().await.unwrap()
}

#[tokio::test]
async fn the_type_filter_takes_a_name_or_a_prefix() {
    let gateway = gateway_with_pings().await;
    let site = Site::of(&gateway);
    two_threads(&site).await;
    let (threads, posts) = (["thread.create"; 2].as_slice(), ["post.create"; 2].as_slice());
    for (filter, expected) in [
        ("thread.create", threads),
        ("thread.", threads),
        ("post.create", posts),
        ("post.", posts),
        ("post", &[]),
        ("pos.", &[]),
        ("", &["thread.create", "post.create", "thread.create", "post.create"]),
    ] {
        let mut stream = site.follow(&format!("/api/stream?sinceId=0&type={filter}"), None).await;
        let mut names = Vec::new();
        // The first ping comes when there are no more events.
        loop {
            match stream.next().await.unwrap() {
                Part::Event(event) => names.push(event.name),
                Part::Comment(text) if text.starts_with("ping") => break,
                Part::Comment(_) => {}
            }
        }
        assert_eq!(names, expected, "type={filter}");
    }
}

#[tokio::test]
async fn the_type_filter_holds_for_what_is_live() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    let mut posts = site.follow("/api/stream?type=post.create", None).await;
    let mut threads = site.follow("/api/stream?type=thread.", None).await;
    two_threads(&site).await;
    for (stream, name) in [(&mut posts, "post.create"), (&mut threads, "thread.create")] {
        let names: Vec<String> = stream.events(2).await.into_iter().map(|event| event.name).collect();
        assert_eq!(names, [name, name]);
    }
}

/// An EventSource that gets an error on a reconnect never tries again, so a malformed position must not be an error.
#[tokio::test]
async fn a_last_event_id_that_is_nonsense_means_now() {
    let gateway = setup().set("limits.streams_per_ip_max", 100).start().await.unwrap();
    let site = Site::of(&gateway);
    site.open_thread(&Wallet::new(1), "Before").await;
    let nonsense: [&[u8]; 9] =
        [b"", b"abc", b"-1", b"1.5", b"0x1", b"18446744073709551616", b"99999999999999999999", b"1;2", b"\xff"];
    let mut streams = Vec::new();
    for id in nonsense {
        streams.push((id, site.follow("/api/stream", Some(id)).await));
    }
    let now = site.open_thread(&Wallet::new(2), "Now").await;
    for (id, mut stream) in streams {
        let event = stream.event().await;
        assert_eq!(event.data["data"]["threadId"], now, "{:?}", String::from_utf8_lossy(id));
    }
}

#[tokio::test]
async fn the_header_beats_the_query() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    two_threads(&site).await;
    let ids = logged_ids(&site).await;
    let path = format!("/api/stream?sinceId={}&since=0", ids[0]);
    assert_eq!(site.follow(&path, None).await.event().await.id, ids[1], "sinceId beats since");
    let header = ids[2].to_string();
    assert_eq!(site.follow(&path, Some(header.as_bytes())).await.event().await.id, ids[3], "the header beats both");
}

#[tokio::test]
async fn a_silent_stream_is_kept_open() {
    let gateway = gateway_with_pings().await;
    let mut stream = Site::of(&gateway).follow("/api/stream", None).await;
    assert_eq!(stream.comment().await, "stream open");
    for _ in 0..2 {
        let ping = stream.comment().await;
        let second: i64 = ping.strip_prefix("ping ").unwrap().parse().unwrap();
        assert!((Clock::System.now_s() - second).abs() <= 30, "{ping}");
    }
}

#[tokio::test]
async fn one_client_has_so_many_streams_and_no_more() {
    let gateway = setup_with_all_plugins().set("limits.streams_per_ip_max", 2).start().await.unwrap();
    let site = Site::of(&gateway);
    let first = site.follow("/api/stream", None).await;
    let _second = site.follow("/api/stream", None).await;
    let refused = site.get("/api/stream").await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "sse_capacity"), "{}", refused.text());
    assert!(!refused.header("retry-after").is_empty());
    // A client that resumes is told to retry later: after an error it would never try again.
    let resuming = answer(site.request(Method::GET, "/api/stream").header("last-event-id", "1")).await;
    assert_eq!((resuming.status, resuming.text().as_str()), (200, "retry: 30000\n\n"));
    // A new client that starts at a position hears why; and the other stream has places of its own.
    assert_eq!(site.get("/api/stream?sinceId=1").await.status, 503);
    let _feed = site.follow("/api/work/feed", None).await;
    drop(first);
    plugin_testing::TestGateway::eventually(LIMIT, "a place becomes free", async || {
        let request = site.request(Method::GET, "/api/stream").send().await;
        request.is_ok_and(|response| response.status() == 200)
    })
    .await;
}

/// A write that is refused is no event.
#[tokio::test]
async fn only_what_happened_is_heard() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    let thread = site.open_thread(&Wallet::new(1), "A thread").await;
    let mut stream = site.follow("/api/stream", None).await;
    let reply = signed(&Wallet::new(2), "post.create", &json!({ "body": "once" }));
    assert_eq!(site.post(&posts_of(thread), &reply).await.status, 201);
    assert_eq!(site.post(&posts_of(thread), &reply).await.status, 409);
    let blank = site.write(&posts_of(thread), &Wallet::new(3), "post.create", json!({ "body": " " })).await;
    assert_eq!(blank.status, 400);
    site.reply(&Wallet::new(4), thread, "last").await;
    let excerpts: Vec<_> =
        stream.events(2).await.into_iter().map(|event| event.data["data"]["excerpt"].clone()).collect();
    assert_eq!(excerpts, ["once", "last"]);
}
