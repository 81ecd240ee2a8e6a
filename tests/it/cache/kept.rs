//! What is kept, for how long, and how much of it.

use super::{NOTES, add_note, call, count, hasty, house, notebook};
use gateway::lifecycle::Action;
use plugin_testing::{TestGateway, TestResponse, json};

const CALLS: &str = "/api/notebook/calls";

/// The answer to whoever asks for it again: from now on, if it may be kept, it is.
async fn again(house: &TestGateway, path: &str) -> TestResponse {
    house.get(path).await;
    house.get(path).await
}

#[tokio::test]
async fn an_unchanged_answer_that_is_wanted_again_is_made_once_for_each_path_and_query() {
    let house = house().await;
    let once = house.get(CALLS).await;
    let kept = house.get(CALLS).await;
    assert_ne!(call(&kept), call(&once), "nobody had asked for it twice");
    assert_eq!(house.get(CALLS).await.body, kept.body);
    assert_eq!(house.get(CALLS).await.headers, kept.headers);
    assert_ne!(call(&again(&house, "/api/notebook/calls?bytes=1").await), call(&kept));
    add_note(&house, "a change of its data").await;
    let changed = house.get(CALLS).await;
    assert_ne!(call(&changed), call(&kept));
    assert_eq!(call(&house.get(CALLS).await), call(&changed), "it is known to be wanted");
    house.stop().await;
}

#[tokio::test]
async fn a_write_of_another_plugin_changes_nothing() {
    let builder = TestGateway::builder().plugin(notebook::plugin_module()).plugin(hello::plugin_module());
    let house = builder.configure(hasty).start().await;
    let first = call(&again(&house, CALLS).await);
    let wallet = plugin_testing::Wallet::new(1);
    let signed = house.post_signed("/api/hello/guests", &wallet, "hello.sign", json!({ "message": "x" })).await;
    assert_eq!(signed.status, 201, "{}", signed.text());
    assert_eq!(call(&house.get(CALLS).await), first);
    house.stop().await;
}

#[tokio::test]
async fn what_follows_from_anything_but_stored_data_is_made_anew() {
    let house = house().await;
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
        let (first, second) = (again(&house, &path).await, house.get(&path).await);
        assert_ne!(call(&first), call(&second), "{how}");
        assert!(first.headers.contains_key("etag"), "{how}");
    }
    house.stop().await;
}

#[tokio::test]
async fn contributions_are_as_good_as_what_they_are_made_from() {
    let house = house().await;
    let collected = async |point: &str| call(&house.get(&format!("/api/notebook/collected/{point}")).await);
    for point in ["stats", "discovery", "nobody"] {
        collected(point).await;
    }
    assert_ne!(collected("stats").await, collected("stats").await, "a contribution that promises nothing");
    let promised = collected("discovery").await;
    assert_eq!(collected("discovery").await, promised);
    add_note(&house, "the contribution counts it").await;
    assert_ne!(collected("discovery").await, promised);
    assert_eq!(collected("nobody").await, collected("nobody").await, "nobody contributes");
    house.stop().await;
}

#[tokio::test]
async fn a_contribution_is_made_once_for_many_answers_and_is_never_old() {
    let house = house().await;
    // None of these answers is asked for twice.
    let ask = async |view: String| {
        let answer = house.get(&format!("/api/notebook/collected/discovery?view={view}")).await;
        answer.json()["found"][0]["limits"].clone()
    };
    for number in 1..=200 {
        add_note(&house, "one more").await;
        assert_eq!(ask(format!("{number}a")).await["notes"], number);
        let kept = ask(format!("{number}b")).await;
        assert_eq!(kept["notes"], number);
        assert_eq!(ask(format!("{number}c")).await, kept);
    }
    house.stop().await;
}

#[tokio::test]
async fn errors_are_never_kept() {
    let house = house().await;
    let path = "/api/notebook/notes/1";
    for _ in 0..3 {
        let missing = house.get(path).await;
        assert_eq!((missing.status, missing.header("etag")), (404, ""));
    }
    add_note(&house, "now it is there").await;
    assert_eq!(house.get(path).await.status, 200);
    house.stop().await;
}

#[tokio::test]
async fn a_write_that_is_rolled_back_is_never_seen() {
    let house = house().await;
    add_note(&house, "one").await;
    for _ in 0..3 {
        let failed = house.send("POST", NOTES, &[], json!({ "body": "two", "fail": true }).to_string()).await;
        assert_eq!(failed.status, 409);
        assert_eq!(count(&house.get(NOTES).await), 1);
    }
    house.stop().await;
}

#[tokio::test]
async fn a_plugin_that_is_off_answers_nothing_and_begins_anew() {
    let house = house().await;
    let gateway = house.gateway();
    for _ in 0..3 {
        add_note(&house, "before").await;
        let first = call(&again(&house, CALLS).await);
        assert_eq!(call(&house.get(CALLS).await), first);
        gateway.plugins.operate(Action::Disable, "notebook", "test").await.unwrap();
        assert!([404, 503].contains(&house.get(CALLS).await.status));
        gateway.plugins.operate(Action::Enable, "notebook", "test").await.unwrap();
        // The new one counts from zero: an old answer would show another number.
        assert_eq!(call(&house.get(CALLS).await), 0);
        assert_eq!(call(&house.get("/api/notebook/calls?again").await), 1);
    }
    house.stop().await;
}

#[tokio::test]
async fn a_request_with_a_body_passes_the_cache_by() {
    let house = house().await;
    let ask = async |body: &str| call(&house.send("GET", CALLS, &[], body.to_owned()).await);
    ask("").await;
    let first = ask("").await;
    assert_ne!(ask("a body").await, first);
    assert_eq!(ask("").await, first);
    house.stop().await;
}

#[tokio::test]
async fn memory_is_bounded_and_large_answers_are_not_kept() {
    const BYTES_MAX: usize = 256 * 1024;
    let builder = TestGateway::builder().plugin(notebook::plugin_module());
    let house = builder.configure(|config| config.http.cache_bytes_max = BYTES_MAX).start().await;
    for number in 0..1000 {
        house.get(&format!("/api/notebook/calls?bytes=4000&n={number}")).await;
    }
    assert_eq!(house.gateway().dispatcher.responses.byte_count(), 0, "nobody wants any of them again");
    for number in 0..1000 {
        again(&house, &format!("/api/notebook/calls?bytes=4000&m={number}")).await;
    }
    let kept = house.gateway().dispatcher.responses.byte_count();
    assert!((1..=BYTES_MAX as u64).contains(&kept), "{kept}");
    let large = format!("/api/notebook/calls?bytes={}", BYTES_MAX / 16);
    assert_ne!(call(&again(&house, &large).await), call(&house.get(&large).await));
    house.stop().await;
}

#[tokio::test]
async fn nothing_is_kept_where_the_operator_wants_it_so() {
    let builder = TestGateway::builder().plugin(notebook::plugin_module());
    let house = builder.configure(|config| config.http.cache_bytes_max = 0).start().await;
    let (first, second) = (again(&house, CALLS).await, house.get(CALLS).await);
    assert_ne!(call(&first), call(&second));
    house.stop().await;
}
