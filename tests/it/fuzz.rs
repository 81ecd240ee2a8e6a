//! Paths, queries and headers of strangers against the routes of every plugin, in this process: never a 5xx, never a fault.
//! The other fuzz targets are in the crates below host/, each in src/fuzz.

use plugin_testing::TestGateway;
use std::panic::AssertUnwindSafe;

/// What paths and queries are made of.
const WORDS: &[&str] = &[
    "/api",
    "/forum",
    "/threads",
    "/1",
    "/posts",
    "/stream",
    "/activity",
    "/presence",
    "/hello",
    "/changelog",
    "/docs",
    "/",
    "//",
    "/..",
    "/.",
    "?",
    "&",
    "=",
    "limit=",
    "cursor=",
    "offset=",
    "sort=",
    "q=",
    "tag=",
    "author=",
    "type=",
    "since=",
    "sinceId=",
    "address=",
    "ts=",
    "sig=",
    "before=",
    "after=",
    "order=",
    "0",
    "1",
    "-1",
    "99999999999999999999",
    "1e9",
    "1.5",
    "thread.create",
    "post.*",
    "*",
    ",",
    "%2f",
    "%2F",
    "%00",
    "%",
    "%zz",
    "%e2%82",
    "%c0%af",
    "%ff",
    "%F0%9F%98%80",
    "+",
    "%20",
    "%22",
    "%27%20OR%201=1--",
    "0x0000000000000000000000000000000000000001",
    "[]",
    "{}",
    "\u{e9}",
    ";",
    ":",
    "@",
    "!",
    "~",
];
const METHODS: [&str; 6] = ["GET", "HEAD", "OPTIONS", "POST", "DELETE", "PUT"];
const IDS: [&str; 8] = ["", "0", "5", "-1", "9223372036854775808", " 7 ", "0x10", "\u{e9}"];

struct Request {
    method: &'static str,
    target: String,
    last_event_id: &'static str,
}

/// Every byte is a word.
fn request(input: &[u8]) -> Option<Request> {
    let [method, id, words @ ..] = input else { return None };
    let words = words.iter().take(24).map(|byte| WORDS[usize::from(*byte) % WORDS.len()]);
    let target = format!("/api{}", words.collect::<String>());
    // What is no target is refused before it comes this far.
    target.parse::<http::Uri>().ok()?;
    let method = METHODS[usize::from(*method) % METHODS.len()];
    Some(Request { method, target, last_event_id: IDS[usize::from(*id) % IDS.len()] })
}

#[test]
fn requests() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let gateway = runtime.block_on(async {
        let builder = TestGateway::builder().plugin(activity::plugin_module()).plugin(forum::plugin_module());
        let builder = builder.plugin(hello::plugin_module());
        builder.configure(|config| config.limits.allow = vec!["127.0.0.1/32".parse().unwrap()]).start().await
    });
    let state = AssertUnwindSafe((runtime, gateway));
    bolero::check!(name = "requests").for_each(|input: &[u8]| {
        let Some(Request { method, target, last_event_id }) = request(input) else { return };
        let (runtime, gateway) = &*state;
        let headers = [("last-event-id", last_event_id)];
        // With the body unread: a stream has no end.
        let answer = runtime.block_on(gateway.open_stream(method, &target, &headers, ""));
        assert!(answer.status().as_u16() < 500, "{method} {target}, {last_event_id:?}: {}", answer.status());
    });
    let AssertUnwindSafe((runtime, gateway)) = state;
    assert_eq!(runtime.block_on(gateway.faults()), Vec::<String>::new());
    runtime.block_on(gateway.stop());
}
