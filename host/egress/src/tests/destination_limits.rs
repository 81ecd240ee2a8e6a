//! A destination gets a bounded number of calls, whoever makes them. The fixture's address is allowed, and so not counted; its
//! name is.

use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use super::fixture::*;
use crate::{DestinationLimit, Egress, EgressError, FetchRequest, StreamTimeouts};

const NAME: &str = "fixture.test";

fn counting(fixture: &Fixture) -> Egress {
    egress_with(settings(&[fixture.allow_entry()]), &ScriptedResolver::new(&[(NAME, &[&["127.0.0.1"]])]))
}

fn background(url: &str) -> FetchRequest {
    FetchRequest { is_background: true, ..get(url) }
}

async fn code(egress: &Egress, request: FetchRequest) -> Result<u16, &'static str> {
    egress.fetch("hello", request).await.map(|response| response.status).map_err(|error| error.code())
}

#[tokio::test]
async fn the_ninth_call_of_all_plugins_is_refused_at_once() {
    let gate = Arc::new(Semaphore::new(0));
    let opening = Arc::clone(&gate);
    let fixture = Fixture::start(move |_| ServerScript::Gate(Arc::clone(&gate))).await;
    let egress = counting(&fixture);
    let spawn = |owner: &'static str, number: usize| {
        let (egress, url) = (egress.clone(), fixture.url_by_name(NAME, &format!("/{number}")));
        tokio::spawn(async move { egress.fetch(owner, get(&url)).await.map(|response| response.status) })
    };
    let fetches: Vec<_> = (0..8).map(|number| spawn(["forum", "arena"][number % 2], number)).collect();
    eventually("eight are under way", || fixture.connections() == 8).await;

    let error = egress.fetch("tools", get(&fixture.url_by_name(NAME, "/other?path"))).await.unwrap_err();
    assert_eq!((error.code(), error.status(), error.retry_after_s()), ("destination_busy", 503, Some(1)));
    assert_eq!(error.to_string(), "no further request is sent to \"fixture.test\" now: 8 are in progress");
    assert_eq!(fixture.connections(), 8);

    opening.add_permits(9);
    for fetch in fetches {
        assert_eq!(fetch.await.unwrap().unwrap(), 200);
    }
    assert_eq!(code(&egress, get(&fixture.url_by_name(NAME, "/"))).await, Ok(200));
}

/// A body that is read while it arrives is a call in progress.
#[tokio::test]
async fn a_stream_counts_until_it_is_dropped() {
    let fixture = Fixture::start(|_| ServerScript::Hang(b"HTTP/1.1 404 Not Found\r\n\r\nfirst".to_vec())).await;
    let mut settings = settings(&[fixture.allow_entry()]);
    settings.per_destination_concurrency = 1;
    let egress = egress_with(settings, &ScriptedResolver::new(&[(NAME, &[&["127.0.0.1"]])]));
    let url = fixture.url_by_name(NAME, "/");
    let stream = async || egress.stream("hello", get(&url), StreamTimeouts::default()).await;
    let first = stream().await.unwrap();
    assert_eq!(stream().await.unwrap_err().code(), "destination_busy");
    drop(first);
    assert_eq!(stream().await.unwrap().status, 404);
}

#[tokio::test]
async fn the_calls_of_a_second_are_counted_and_a_success_allows_more() {
    let fixture = Fixture::start(|request| kept_open(if request.path() == "/well" { 204 } else { 404 })).await;
    let mut settings = settings(&[fixture.allow_entry()]);
    (settings.per_destination_per_second, settings.per_answering_destination_per_second) = (3, 5);
    let egress = egress_with(settings, &ScriptedResolver::new(&[(NAME, &[&["127.0.0.1"]])]));
    let fetch = async |path: &str| code(&egress, get(&fixture.url_by_name(NAME, path))).await;
    for (path, expected) in [("/", 3), ("/well", 5), ("/", 3)] {
        let (mut passed, started) = (0, std::time::Instant::now());
        while fetch(path).await.is_ok() {
            passed += 1;
        }
        // More begin when the machine is too slow for them to be within a second.
        let is_slow = started.elapsed() > Duration::from_secs(1);
        assert!(passed == expected || is_slow && passed > expected, "{path}: {passed}");
        egress.advance_clock(Duration::from_secs(61));
    }
}

#[tokio::test]
async fn a_host_that_never_answered_gets_a_webhook_a_minute() {
    let fixture = Fixture::start(|request| kept_open(if request.path() == "/well" { 204 } else { 404 })).await;
    let egress = counting(&fixture);
    let url = |path: &str| fixture.url_by_name(NAME, path);
    assert_eq!(code(&egress, background(&url("/one"))).await, Ok(404));
    let error = egress.fetch("tools", background(&url("/two"))).await.unwrap_err();
    assert!(matches!(error, EgressError::DestinationBusy { limit: DestinationLimit::Unanswered(_), .. }), "{error}");
    assert!((1..=60).contains(&error.retry_after_s().unwrap()), "{error:?}");
    assert_eq!(code(&egress, get(&url("/asked"))).await, Ok(404), "a caller waits for this one");
    egress.advance_clock(Duration::from_secs(60));
    assert_eq!(code(&egress, background(&url("/three"))).await, Ok(404));
    assert_eq!(code(&egress, background(&url("/four"))).await, Err("destination_busy"));
    assert_eq!(fixture.request_lines(), ["GET /one", "GET /asked", "GET /three"]);
    assert_eq!(code(&egress, get(&url("/well"))).await, Ok(204));
    for _ in 0..2 {
        assert_eq!(code(&egress, background(&url("/five"))).await, Ok(404), "it answered once");
    }
}

#[tokio::test]
async fn a_redirect_on_the_way_is_no_second_probe() {
    let fixture = Fixture::start(|request| match request.path() {
        "/" => redirect(307, "/there"),
        _ => kept_open(404),
    })
    .await;
    let egress = counting(&fixture);
    let url = fixture.url_by_name(NAME, "/");
    let request = || FetchRequest { redirects_max: 1, ..background(&url) };
    assert_eq!(code(&egress, request()).await, Ok(404));
    assert_eq!(code(&egress, request()).await, Err("destination_busy"));
}

/// Here the names are allowed, and so not counted; their address is.
#[tokio::test]
async fn other_names_of_an_address_are_no_other_destination() {
    let fixture = Fixture::start(|_| kept_open(404)).await;
    let names = ["a.test", "b.test"];
    let resolver = ScriptedResolver::new(&names.map(|name| (name, &[&["127.0.0.1"] as &[&str]] as &[&[&str]])));
    let allowed = names.map(|name| format!("{name}:{}", fixture.port));
    let egress = egress_with(settings(&allowed), &resolver);
    assert_eq!(code(&egress, background(&fixture.url_by_name("a.test", "/"))).await, Ok(404));
    let error = egress.fetch("hello", background(&fixture.url_by_name("b.test", "/"))).await.unwrap_err();
    assert_eq!(error.code(), "destination_busy");
    assert!(!error.to_string().contains("127.0.0.1"), "an address leaked: {error}");
}

#[tokio::test]
async fn an_allowed_address_is_not_counted() {
    let fixture = Fixture::start(|_| kept_open(404)).await;
    let egress = egress(&[fixture.allow_entry()]);
    for _ in 0..50 {
        assert_eq!(code(&egress, background(&fixture.url("/"))).await, Ok(404));
    }
}
