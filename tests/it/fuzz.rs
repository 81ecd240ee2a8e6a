//! Random paths, queries and headers against the routes of every plugin, in this process: never a 5xx but the 503 of what needs a
//! chain, never a fault.
//! The other fuzz targets are in the crates below host/, each in src/fuzz.

use crate::all_plugins::modules;
use plugin_testing::{Builder, TestGateway, Wallet, json};
use std::{collections::BTreeSet, panic::AssertUnwindSafe};

/// What paths and queries are made of beside the words of the routes themselves.
const WORDS: &[&str] = &[
    "/",
    "//",
    "/..",
    "/.",
    "?",
    "&",
    "=",
    "since=",
    "sinceId=",
    "address=",
    "ts=",
    "sig=",
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

struct RandomRequest {
    method: &'static str,
    target: String,
    last_event_id: &'static str,
}

/// A path of each route, the segments of all, and the names of their parameters.
struct Vocabulary {
    paths: Vec<String>,
    words: Vec<String>,
}

impl Vocabulary {
    fn of_every_plugin() -> Self {
        let routes = modules().into_iter().flat_map(|module| plugin_testing::manifest(module).routes);
        let (mut paths, mut words) = (BTreeSet::new(), BTreeSet::new());
        for route in routes {
            words.extend(route.path.split('/').filter(|part| !part.is_empty()).map(|part| format!("/{part}")));
            words.extend(route.parameters.iter().map(|parameter| format!("{}=", parameter.name)));
            let segments = route.path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
            paths.insert(segments.collect::<Vec<_>>().join("/"));
        }
        words.extend(WORDS.iter().map(|word| (*word).to_owned()));
        Self { paths: paths.into_iter().collect(), words: words.into_iter().collect() }
    }

    /// Begins with the path of a route; every two bytes behind that are a word.
    fn request(&self, input: &[u8]) -> Option<RandomRequest> {
        let [method, id, rest @ ..] = input else { return None };
        let (numbers, _) = rest.as_chunks();
        let mut numbers = numbers.iter().map(|number| usize::from(u16::from_le_bytes(*number)));
        let path = pick(&self.paths, numbers.next()?);
        let target = path.chars().chain(numbers.take(24).flat_map(|number| pick(&self.words, number).chars()));
        let target: String = target.collect();
        // An invalid target is refused before it reaches the router.
        target.parse::<http::Uri>().ok()?;
        Some(RandomRequest {
            method: METHODS[usize::from(*method) % METHODS.len()],
            target,
            last_event_id: IDS[usize::from(*id) % IDS.len()],
        })
    }
}

fn pick(list: &[String], number: usize) -> &str {
    &list[number % list.len()]
}

/// What needs a chain, or a source of prices, answers 503 here.
const OFF: [&str; 4] = ["/api/supply", "/api/market", "/api/cv", "/api/payin/market"];

#[test]
fn requests() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let gateway = runtime.block_on(async {
        let builder = modules().into_iter().fold(TestGateway::builder(), Builder::plugin);
        // Without operators what is theirs is a 503.
        let operators = json!({ "operators": [Wallet::new(1).address()] });
        let builder = ["loadtest", "payin", "referrals", "validators"]
            .into_iter()
            .fold(builder, |builder, plugin| builder.config(plugin, operators.clone()));
        builder.configure(|config| config.limits.allow = vec!["127.0.0.1/32".parse().unwrap()]).start().await
    });
    assert_eq!(runtime.block_on(gateway.reports()).len(), crate::coverage::plugins().len(), "every plugin is loaded");
    let vocabulary = Vocabulary::of_every_plugin();
    let state = AssertUnwindSafe((runtime, gateway));
    bolero::check!(name = "requests").for_each(|input: &[u8]| {
        let Some(RandomRequest { method, target, last_event_id }) = vocabulary.request(input) else { return };
        let (runtime, gateway) = &*state;
        let headers = [("last-event-id", last_event_id)];
        // With the body unread: a stream has no end.
        let answer = runtime.block_on(gateway.open_stream(method, &target, &headers, ""));
        let is_off = answer.status().as_u16() == 503 && OFF.iter().any(|path| target.starts_with(path));
        assert!(answer.status().as_u16() < 500 || is_off, "{method} {target}, {last_event_id:?}: {}", answer.status());
    });
    let AssertUnwindSafe((runtime, gateway)) = state;
    assert_eq!(runtime.block_on(gateway.faults()), Vec::<String>::new());
    runtime.block_on(gateway.stop());
}
