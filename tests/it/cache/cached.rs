//! What is cached, for how long, and how much of it.

use super::{NOTES, add_note, builder, call, count, test_gateway};
use crate::storage::Engine;
use gateway::lifecycle::OperatorAction;
use plugin_testing::{TestGateway, TestResponse, json};
use rstest::rstest;
use std::io::Read as _;

pub const CALLS: &str = "/api/notebook/calls";

/// The second response to the same request: it comes from the cache, if the route allows that.
pub async fn again(gateway: &TestGateway, path: &str) -> TestResponse {
    gateway.get(path).await;
    gateway.get(path).await
}

#[rstest]
#[tokio::test]
async fn a_response_that_is_requested_again_is_made_once_until_its_data_changes(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let gateway = test_gateway(engine).await;
    let once = gateway.get(CALLS).await;
    let cached = gateway.get(CALLS).await;
    assert_ne!(call(&cached), call(&once), "the first request is not admitted to the cache");
    let hit = gateway.get(CALLS).await;
    assert_eq!((&hit.body, &hit.headers), (&cached.body, &cached.headers));
    assert_ne!(call(&again(&gateway, "/api/notebook/calls?bytes=1").await), call(&cached));
    add_note(&gateway, "a change of its data").await;
    let changed = gateway.get(CALLS).await;
    assert_ne!(call(&changed), call(&cached));
    assert_eq!(call(&gateway.get(CALLS).await), call(&changed), "it is admitted already");
    gateway.stop().await;
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).unwrap();
    text
}

/// Here without the layer that compresses what does not come from the cache.
#[rstest]
#[tokio::test]
async fn a_cached_response_is_compressed_once_for_all_who_accept_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    const LONG: &str = "/api/notebook/calls?bytes=5000";
    let gateway = test_gateway(engine).await;
    let plain = again(&gateway, LONG).await;
    let cached_bytes = || gateway.gateway().dispatcher.responses.byte_count();
    let before = cached_bytes();
    for _ in 0..3 {
        let packed = gateway.send("GET", LONG, &[("accept-encoding", "gzip, deflate")], "").await;
        assert_eq!(["content-encoding", "vary"].map(|name| packed.header(name)), ["gzip", "accept-encoding"]);
        assert_eq!(packed.header("etag"), format!("W/{}", plain.header("etag")));
        assert_eq!(packed.header("content-type"), plain.header("content-type"));
        assert_eq!(gunzip(&packed.body), plain.body);
        assert_eq!(cached_bytes(), before + packed.body.len() as u64, "kept once, and counted");
        let known = [("accept-encoding", "gzip, deflate"), ("if-none-match", packed.header("etag"))];
        assert_eq!(gateway.send("GET", LONG, &known, "").await.status, 304);
    }
    let others: [&[(&str, &str)]; 3] =
        [&[], &[("accept-encoding", "identity")], &[("accept-encoding", "identity"), ("accept-encoding", "gzip")]];
    for headers in others {
        let response = gateway.send("GET", LONG, headers, "").await;
        assert_eq!((response.header("content-encoding"), &response.body), ("", &plain.body), "{headers:?}");
    }
    let mut kept = cached_bytes();
    for weight in 1..=8 {
        let codings = format!("gzip;q=0.{weight}");
        gateway.send("GET", LONG, &[("accept-encoding", &codings)], "").await;
        assert!(weight < 4 || cached_bytes() == kept, "as many ways to write a header as one likes");
        kept = cached_bytes();
    }
    add_note(&gateway, "a change of its data").await;
    let changed = gateway.send("GET", LONG, &[("accept-encoding", "gzip, deflate")], "").await;
    assert_ne!(call(&changed), call(&plain), "compressed or not, never older than a write");
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn a_write_of_another_plugin_changes_nothing(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = builder(engine).await.plugin(hello::plugin_module()).start().await;
    let first = call(&again(&gateway, CALLS).await);
    let wallet = plugin_testing::Wallet::new(1);
    let signed = gateway.post_signed("/api/hello/guests", &wallet, "hello.sign", json!({ "message": "x" })).await;
    assert_eq!(signed.status, 201, "{}", signed.text());
    assert_eq!(call(&gateway.get(CALLS).await), first);
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn what_follows_from_anything_but_stored_data_is_made_anew(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let gateway = test_gateway(engine).await;
    for how in [
        "header",
        "clock",
        "caller",
        "request_id",
        "transaction",
        "own_transaction",
        "sleep",
        "task",
        "blocking",
        "chance",
        "failed_read",
    ] {
        let path = format!("/api/notebook/spoiled/{how}");
        let (first, second) = (again(&gateway, &path).await, gateway.get(&path).await);
        assert_ne!(call(&first), call(&second), "{how}");
        assert!(first.headers.contains_key("etag"), "{how}");
    }
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn contributions_are_as_good_as_what_they_are_made_from(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let gateway = test_gateway(engine).await;
    let collected = async |point: &str| call(&gateway.get(&format!("/api/notebook/collected/{point}")).await);
    for point in ["stats", "discovery", "nobody"] {
        collected(point).await;
    }
    assert_ne!(collected("stats").await, collected("stats").await, "a contribution that promises nothing");
    let promised = collected("discovery").await;
    assert_eq!(collected("discovery").await, promised);
    add_note(&gateway, "the contribution counts it").await;
    assert_ne!(collected("discovery").await, promised);
    assert_eq!(collected("nobody").await, collected("nobody").await, "nobody contributes");
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn a_contribution_is_made_once_for_many_answers_and_is_never_old(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let gateway = test_gateway(engine).await;
    // No view is requested twice, so none of these responses comes from the cache.
    let ask = async |view: String| {
        let answer = gateway.get(&format!("/api/notebook/collected/discovery?view={view}")).await;
        answer.json()["found"][0]["limits"].clone()
    };
    for number in 1..=200 {
        add_note(&gateway, "one more").await;
        assert_eq!(ask(format!("{number}a")).await["notes"], number);
        let kept = ask(format!("{number}b")).await;
        assert_eq!(kept["notes"], number);
        assert_eq!(ask(format!("{number}c")).await, kept);
    }
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn errors_are_never_kept(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = test_gateway(engine).await;
    let path = "/api/notebook/notes/1";
    for _ in 0..3 {
        let missing = gateway.get(path).await;
        assert_eq!((missing.status, missing.header("etag")), (404, ""));
    }
    add_note(&gateway, "now it is there").await;
    assert_eq!(gateway.get(path).await.status, 200);
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn a_write_that_is_rolled_back_is_never_seen(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = test_gateway(engine).await;
    add_note(&gateway, "one").await;
    for _ in 0..3 {
        let failed = gateway.send("POST", NOTES, &[], json!({ "body": "two", "fail": true }).to_string()).await;
        assert_eq!(failed.status, 409);
        assert_eq!(count(&gateway.get(NOTES).await), 1);
    }
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn a_plugin_that_is_off_answers_nothing_and_begins_anew(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let gateway = test_gateway(engine).await;
    for _ in 0..3 {
        add_note(&gateway, "before").await;
        let first = call(&again(&gateway, CALLS).await);
        assert_eq!(call(&gateway.get(CALLS).await), first);
        gateway.gateway().plugins.operate(OperatorAction::Disable, "notebook", "test").await.unwrap();
        assert!([404, 503].contains(&gateway.get(CALLS).await.status));
        gateway.gateway().plugins.operate(OperatorAction::Enable, "notebook", "test").await.unwrap();
        // The new one counts from zero: an old answer would show another number.
        assert_eq!(call(&gateway.get(CALLS).await), 0);
        assert_eq!(call(&gateway.get("/api/notebook/calls?again").await), 1);
    }
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn a_request_with_a_body_passes_the_cache_by(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = test_gateway(engine).await;
    let ask = async |body: &str| call(&gateway.send("GET", CALLS, &[], body.to_owned()).await);
    ask("").await;
    let first = ask("").await;
    assert_ne!(ask("a body").await, first);
    assert_eq!(ask("").await, first);
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn memory_is_bounded_and_large_responses_are_not_cached(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    const BYTES_MAX: usize = 256 * 1024;
    let builder = builder(engine).await;
    let gateway = builder.configure(|config| config.http.cache_bytes_max = BYTES_MAX).start().await;
    for number in 0..1000 {
        gateway.get(&format!("/api/notebook/calls?bytes=4000&n={number}")).await;
    }
    let cached = gateway.gateway().dispatcher.responses.byte_count();
    assert_eq!(cached, 0, "responses to requests that came once");
    let popular = "/api/notebook/calls?bytes=4000&popular";
    let first = call(&again(&gateway, popular).await);
    for number in 0..1000 {
        again(&gateway, &format!("/api/notebook/calls?bytes=4000&m={number}")).await;
        assert_eq!(call(&gateway.get(popular).await), first, "evicted by response {number}, which came twice");
    }
    let cached = gateway.gateway().dispatcher.responses.byte_count();
    assert!((1..=BYTES_MAX as u64).contains(&cached), "{cached}");
    let large = format!("/api/notebook/calls?bytes={}", BYTES_MAX / 16);
    assert_ne!(call(&again(&gateway, &large).await), call(&gateway.get(&large).await));
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn a_cached_response_stays_when_another_request_takes_its_slot_of_the_doorkeeper(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let gateway = test_gateway(engine).await;
    let first = call(&again(&gateway, CALLS).await);
    let doorkeeper = &gateway.gateway().dispatcher.responses.doorkeeper;
    for number in 0..500_000_u32 {
        doorkeeper.has_seen(&number.to_le_bytes());
    }
    assert_eq!(call(&gateway.get(CALLS).await), first);
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn nothing_is_kept_where_the_operator_wants_it_so(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = builder(engine).await.configure(|config| config.http.cache_bytes_max = 0).start().await;
    let (first, second) = (again(&gateway, CALLS).await, gateway.get(CALLS).await);
    assert_ne!(call(&first), call(&second));
    gateway.stop().await;
}
