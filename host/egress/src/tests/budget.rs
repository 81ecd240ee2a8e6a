//! Slow peers of one plugin occupy only that plugin's slots.

use std::{io, net::IpAddr, sync::Arc};

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

use super::fixture::*;
use crate::{Egress, resolver::Resolver};

#[tokio::test]
async fn fetches_of_a_plugin_are_limited() {
    let gate = Arc::new(Semaphore::new(0));
    let opening = Arc::clone(&gate);
    let fixture = Fixture::start(move |_| ServerScript::Gate(Arc::clone(&gate))).await;
    let mut settings = settings(&[fixture.allow_entry()]);
    settings.per_plugin_concurrency = 2;
    let egress = egress_with(settings, &ScriptedResolver::new(&[]));
    let spawn = |owner: &'static str| {
        let (egress, url) = (egress.clone(), fixture.url("/"));
        tokio::spawn(async move { egress.fetch(owner, get(&url)).await.map(|response| response.status) })
    };
    let fetches: Vec<_> = (0..5).map(|_| spawn("forum")).collect();
    eventually("two are under way", || fixture.connections() == 2).await;

    // A third fetch would have reached the server before this one, which fails because no slot is free.
    let mut queued = get(&fixture.url("/queued"));
    queued.timeout_ms = Some(100);
    let error = egress.fetch("forum", queued).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("egress_busy", 503));
    assert!(error.to_string().contains("within 50 ms"), "half of the time is left for the request itself: {error}");
    assert_eq!(fixture.connections(), 2);

    let other = spawn("arena");
    eventually("another plugin is not held up", || fixture.connections() == 3).await;
    for done in 1..=6 {
        opening.add_permits(1);
        let expected = (3 + done).min(6);
        eventually("one leaves, the next comes", || fixture.connections() >= expected.min(5)).await;
    }
    for fetch in fetches.into_iter().chain([other]) {
        assert_eq!(fetch.await.unwrap().unwrap(), 200);
    }
    assert_eq!(fixture.connections(), 6);
    assert!(fixture.request_lines().iter().all(|line| line == "GET /"), "the one that gave up never went out");
}

#[tokio::test]
async fn a_failed_fetch_releases_its_slot() {
    let fixture = Fixture::start(|request| match request.path() {
        "/hang" => ServerScript::Hang(Vec::new()),
        "/broken" => ServerScript::Bytes(Vec::new()),
        _ => ok(""),
    })
    .await;
    let mut settings = settings(&[fixture.allow_entry()]);
    settings.per_plugin_concurrency = 1;
    let egress = egress_with(settings, &ScriptedResolver::new(&[]));
    for (url, code) in [
        (fixture.url("/hang"), "timeout"),
        (fixture.url("/broken"), "broken_answer"),
        ("http://gone.test/".to_owned(), "unresolvable_url"),
        ("http://10.0.0.1/".to_owned(), "private_url"),
    ] {
        let mut request = get(&url);
        request.timeout_ms = Some(100);
        assert_eq!(egress.fetch("forum", request).await.unwrap_err().code(), code);
    }
    assert_eq!(egress.fetch("forum", get(&fixture.url("/"))).await.unwrap().status, 200);
}

/// Responds when the gate opens.
struct SlowResolver(Arc<Semaphore>);

impl Resolver for SlowResolver {
    fn resolve(&self, _name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let gate = Arc::clone(&self.0);
        Box::pin(async move {
            gate.acquire().await.map_err(io::Error::other)?.forget();
            Ok(vec![IpAddr::from([10, 0, 0, 1])])
        })
    }
}

/// A look-up cannot be cancelled, so it holds its slot until it ends.
#[tokio::test]
async fn a_slow_look_up_holds_its_slot_beyond_the_deadline() {
    let gate = Arc::new(Semaphore::new(0));
    let mut settings = settings(&[]);
    (settings.per_plugin_concurrency, settings.timeout_ms) = (1, 50);
    let egress = Egress::with_resolver(settings, Arc::new(SlowResolver(Arc::clone(&gate)))).unwrap();
    let code = async |owner: &str| egress.fetch(owner, get("http://slow.test/")).await.unwrap_err().code();
    assert_eq!(code("forum").await, "timeout");
    assert_eq!(code("forum").await, "egress_busy");
    assert_eq!(code("arena").await, "timeout", "the other plugin has its own slot");
    gate.add_permits(100);
    for owner in ["forum", "arena"] {
        let freed = async { while code(owner).await != "private_url" {} };
        tokio::time::timeout(std::time::Duration::from_secs(10), freed).await.expect("the slot comes back");
    }
}
