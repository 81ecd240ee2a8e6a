//! The main cases against the real gateway, with the plugin loaded from its shared library.

use crate::e2e::{Site, setup};
use gateway_tests::{
    fixtures,
    plugins::plugin_file,
    process::{GatewayProcess, LIMIT, Setup},
};
use reqwest::Method;
use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

pub(super) async fn start(adjust: impl FnOnce(Setup) -> Setup) -> GatewayProcess {
    adjust(prepared().await).start().await.unwrap()
}

/// A folder with the hostile plugin and a good one.
pub(super) async fn prepared() -> Setup {
    let hostile = tokio::task::spawn_blocking(fixtures::hostile).await.unwrap().unwrap();
    let setup = setup();
    let folder = setup.folder().join("plugins");
    fs::create_dir(&folder).unwrap();
    for file in [hostile, plugin_file("hello").unwrap()] {
        fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    setup
        .set("plugins.dir", folder.display())
        .set("plugins.fence_faults", 100_000)
        .set("plugins.hostile.grants", "egress")
}

async fn assert_others_serve(site: &Site) {
    assert_eq!(site.get("/api/hello/world").await.status, 200);
    assert_eq!(site.get("/api/hello/guests").await.status, 200);
}

#[tokio::test]
async fn nothing_that_a_handler_does_ends_the_process() {
    let mut gateway = start(|setup| setup).await;
    let site = Site::of(&gateway);
    let broken = [
        "panic_at_once",
        "panic_after_await",
        "panic_in_extractor",
        "panic_in_serializer",
        "panic_with_evil_payload",
        "panic_in_blocking",
        "panic_in_drop",
        "stream_panics_first",
        "header_name",
        "header_value",
        "header_length",
        "header_many",
        "status_99",
        "status_101",
    ];
    for operation in broken {
        let answer = site.get(&format!("/api/hostile/{operation}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (500, "internal"), "{operation}: {}", answer.text());
        assert_others_serve(&site).await;
    }
    for operation in ["hang", "panic_in_cancelled_drop", "stream_hangs_first"] {
        let answer = site.get(&format!("/api/hostile/{operation}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (503, "timeout"), "{operation}: {}", answer.text());
        assert_others_serve(&site).await;
    }
    for operation in ["panic_in_thread", "panic_in_task"] {
        assert_eq!(site.get(&format!("/api/hostile/{operation}")).await.status, 200);
    }
    assert_others_serve(&site).await;
    assert!(gateway.is_running());
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}

/// tokio may have put one more connection behind the handler on its thread, where no other thread can take it.
#[tokio::test]
async fn a_blocked_thread_leaves_the_others_served() {
    let gateway = start(|setup| setup).await;
    let is_over = AtomicBool::new(false);
    let others = (0..8).map(|_| async {
        let site = Site::of(&gateway);
        let mut served = 0;
        while !is_over.load(Relaxed) {
            assert_others_serve(&site).await;
            served += 1;
        }
        served
    });
    let blocking = async {
        let answer = Site::of(&gateway).get("/api/hostile/block").await;
        is_over.store(true, Relaxed);
        answer
    };
    let (blocked, served) = tokio::join!(blocking, futures_util::future::join_all(others));
    assert_eq!(blocked.status, 200);
    // A connection on the blocked thread waits with its first request.
    let waited = served.iter().filter(|served| **served <= 1).count();
    assert!(waited <= 1, "{served:?}");
}

#[tokio::test]
async fn a_giant_stream_needs_little_memory() {
    let gateway = start(|setup| setup).await;
    let site = Site::of(&gateway);
    let (before_kib, _) = gateway.memory_kib().unwrap();
    let mut response = site.request(Method::GET, "/api/hostile/giant_stream").send().await.unwrap();
    let mut bytes = 0;
    while let Some(chunk) = response.chunk().await.unwrap() {
        bytes += chunk.len();
    }
    assert_eq!(bytes, 64 << 20);
    let (_, most_kib) = gateway.memory_kib().unwrap();
    let grown_kib = most_kib.saturating_sub(before_kib);
    assert!(grown_kib < 24 * 1024, "{grown_kib} KiB more for a stream of 64 MiB");
    assert_others_serve(&site).await;
}

#[tokio::test]
async fn a_stream_that_breaks_ends_its_own_connection_only() {
    let gateway = start(|setup| setup).await;
    let site = Site::of(&gateway);
    let response = site.request(Method::GET, "/api/hostile/stream_panics_later").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.bytes().await.is_err(), "a body that is cut must not look whole");
    assert_others_serve(&site).await;
    assert!(gateway.setup().log().contains("in a stream"));
}

/// A constructor, a `stop` and a drop that block for an hour keep neither the start nor the end of the process waiting.
#[tokio::test]
async fn a_plugin_that_hangs_for_ever_does_not_hold_the_process() {
    for act in ["constructor", "stop", "drop"] {
        let hang = |setup: Setup| {
            setup
                .set(&format!("plugins.hostile.{act}"), "hang")
                .set("plugins.hostile.hang_ms", 3_600_000)
                .set("plugins.constructor_timeout_ms", 300)
                .set("http.drain_timeout_ms", 500)
        };
        let mut gateway = start(hang).await;
        assert_others_serve(&Site::of(&gateway)).await;
        assert!(gateway.terminate(LIMIT).await.unwrap().success(), "{act}");
    }
}
