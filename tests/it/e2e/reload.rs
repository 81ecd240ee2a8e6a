//! SIGHUP enables and disables plugins without an effect on the others.

use super::{
    setup,
    site::{Site, THREADS},
};
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{TestGateway, Wallet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

const ON: &str = "[plugins.forum]\nenabled = true\n";
const OFF: &str = "[plugins.forum]\nenabled = false\n";

fn switch(gateway: &GatewayProcess, config: &str) {
    gateway.setup().write_config(config).unwrap();
    gateway.sighup().unwrap();
}

async fn forum_answers(site: &Site, status: u16) {
    let answers = async || site.get(THREADS).await.status == status;
    TestGateway::eventually(LIMIT, &format!("the forum answers {status}"), answers).await;
}

/// Whether each page that lists routes has the forum's.
async fn pages_list_the_forum(site: &Site) -> Vec<(&'static str, bool)> {
    let mut pages = Vec::new();
    for page in ["/api", "/api/openapi.json", "/llms.txt"] {
        let answer = site.get(page).await;
        assert_eq!(answer.status, 200, "{page}: {}", answer.text());
        pages.push((page, answer.text().contains(THREADS)));
    }
    pages
}

#[tokio::test]
async fn a_feature_goes_and_comes_back_with_its_data() {
    let gateway = setup().with_config(ON).unwrap().start().await.unwrap();
    let site = Site::of(&gateway);
    let thread = site.open_thread(&Wallet::new(1), "Kept").await;
    assert!(pages_list_the_forum(&site).await.iter().all(|(_, listed)| *listed));

    switch(&gateway, OFF);
    forum_answers(&site, 404).await;
    assert_eq!(site.get(&format!("{THREADS}/{thread}")).await.status, 404);
    let pages = pages_list_the_forum(&site).await;
    assert!(pages.iter().all(|(_, listed)| !listed), "{pages:?}");
    let status = site.get("/api/status").await;
    let plugins = &status.json()["services"]["plugins"];
    assert_eq!(plugins["ok"], true, "what is switched off is not broken: {}", status.text());

    switch(&gateway, ON);
    forum_answers(&site, 200).await;
    assert_eq!(site.get(&format!("{THREADS}/{thread}")).await.json()["title"], "Kept");
    assert!(pages_list_the_forum(&site).await.iter().all(|(_, listed)| *listed));
    site.reply(&Wallet::new(2), thread, "Still here").await;
}

#[tokio::test]
async fn the_others_do_not_notice() {
    let gateway = setup().with_config(ON).unwrap().start().await.unwrap();
    let site = Site::of(&gateway);
    let mut stream = site.follow("/api/stream", None).await;
    let (is_over, greetings, lists) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let toggle = async {
        for round in 0..5 {
            let before = (greetings.load(SeqCst), lists.load(SeqCst));
            switch(&gateway, OFF);
            forum_answers(&site, 404).await;
            switch(&gateway, ON);
            forum_answers(&site, 200).await;
            site.open_thread(&Wallet::new(round), &format!("round {round}")).await;
            let served = async || greetings.load(SeqCst) > before.0 && lists.load(SeqCst) > before.1;
            TestGateway::eventually(LIMIT, "the others are called in every round", served).await;
        }
        is_over.store(true, SeqCst);
    };
    tokio::join!(
        toggle,
        site.keep_calling("/api/hello/world", &is_over, &greetings),
        site.keep_calling("/api/hello/again", &is_over, &greetings),
        site.keep_calling("/api/activity", &is_over, &lists),
    );
    // The stream belongs to a plugin that stayed: it was open all the time.
    let titles: Vec<_> = stream.events(5).await.into_iter().map(|event| event.data["data"]["title"].clone()).collect();
    assert_eq!(titles, ["round 0", "round 1", "round 2", "round 3", "round 4"]);
}

#[tokio::test]
async fn a_configuration_with_problems_changes_nothing() {
    let gateway = setup().with_config(ON).unwrap().start().await.unwrap();
    let site = Site::of(&gateway);
    switch(&gateway, &format!("{OFF}[http]\nlissen = \"127.0.0.1:0\"\n"));
    let logged = async || gateway.setup().log().contains("http.lissen");
    TestGateway::eventually(LIMIT, "the unknown key is named", logged).await;
    let log = gateway.setup().log();
    assert!(log.contains("did you mean") && log.contains("gateway.toml"), "{log}");
    assert_eq!(site.get(THREADS).await.status, 200, "the forum stays");

    // The next valid configuration is applied.
    switch(&gateway, OFF);
    forum_answers(&site, 404).await;
}

/// The stream ends with its plugin, tells its readers so, and can be opened again.
#[tokio::test]
async fn a_stream_ends_with_its_plugin() {
    const OFF: &str = "[plugins.activity]\nenabled = false\n";
    let gateway = setup().with_config(ON).unwrap().start().await.unwrap();
    let site = Site::of(&gateway);
    let first = site.open_thread(&Wallet::new(1), "Before").await;
    let mut stream = site.follow("/api/stream?sinceId=0", None).await;
    let seen = stream.event().await;
    assert_eq!(seen.data["data"]["threadId"], first);
    switch(&gateway, OFF);
    let parts = stream.rest().await;
    assert!(!parts.is_empty(), "the end is announced by a comment");

    // Events that are published meanwhile are not lost: the log belongs to the gateway, not to the plugin.
    let is_gone = async || site.get("/api/activity").await.status == 404;
    TestGateway::eventually(LIMIT, "activity is gone", is_gone).await;
    let meanwhile = site.open_thread(&Wallet::new(2), "Meanwhile").await;
    switch(&gateway, ON);
    let is_back = async || site.get("/api/activity").await.status == 200;
    TestGateway::eventually(LIMIT, "activity is back", is_back).await;
    let mut stream = site.follow("/api/stream", Some(seen.id.to_string().as_bytes())).await;
    assert_eq!(stream.event().await.data["data"]["threadId"], meanwhile);
}
