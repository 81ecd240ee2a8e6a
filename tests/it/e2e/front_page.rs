//! What a person and a program see at `/`, and at addresses that do not exist; entity tags of the documents.

use super::{
    answer, setup_with_all_plugins,
    site::{Site, THREADS},
};
use plugin_testing::{TestResponse, Wallet};
use reqwest::Method;

/// As Chromium and Firefox send it.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

async fn get(site: &Site, path: &str, header: &str, value: &str) -> TestResponse {
    answer(site.request(Method::GET, path).header(header, value)).await
}

#[tokio::test]
async fn the_root_answers_people_and_programs() {
    let gateway = setup_with_all_plugins().set("web.base_url", "https://network.example/").start().await.unwrap();
    let site = Site::of(&gateway);
    let page = get(&site, "/", "accept", BROWSER).await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"), "{}", page.text());
    assert!(
        page.header("vary").contains("accept") && page.header("content-security-policy").contains("default-src 'none'")
    );
    for link in ["/docs", "/api/stream", "/api/status", "/api", "/llms.txt", "/api/work", "https://network.example/"] {
        assert!(page.text().contains(&format!("<a href=\"{link}\">")), "{link}: {}", page.text());
    }
    let index = site.get("/api").await;
    for accept in ["*/*", "application/json", "application/json, text/html;q=0.5"] {
        let root = get(&site, "/", "accept", accept).await;
        assert_eq!((root.status, root.header("content-type")), (200, "application/json"), "{accept}");
        assert_eq!(root.json(), index.json(), "{accept}");
    }
    assert_eq!(index.json()["web"], "https://network.example");
    let manifest = site.get("/.well-known/service.json").await.json();
    assert_eq!(manifest["web"], "https://network.example", "{manifest}");
}

#[tokio::test]
async fn without_a_web_site_nothing_links_to_one() {
    let gateway = setup_with_all_plugins().set("plugins.activity.enabled", false).start().await.unwrap();
    let site = Site::of(&gateway);
    let page = get(&site, "/", "accept", BROWSER).await.text();
    assert!(!page.contains("Web site") && !page.contains("/api/stream"), "{page}");
    assert_eq!(site.get("/api").await.json()["web"], plugin_testing::Value::Null);
    site.open_thread(&Wallet::new(1), "What is the answer?").await;
    let work = site.get("/api/work").await.json();
    assert_eq!(
        (&work["items"][0]["kind"], &work["items"][0]["url"]),
        (&"question".into(), &plugin_testing::Value::Null)
    );
    drop(gateway);

    let gateway = setup_with_all_plugins().set("web.base_url", "https://network.example").start().await.unwrap();
    let site = Site::of(&gateway);
    let thread = site.open_thread(&Wallet::new(1), "What is the answer?").await;
    let work = site.get("/api/work").await.json();
    assert_eq!(work["items"][0]["url"], format!("https://network.example/forum/{thread}"));
    assert_eq!(site.get("/api/validators/waitlist/count").await.json()["page"], "https://network.example/validators");
}

#[tokio::test]
async fn an_address_that_does_not_exist_is_readable() {
    let gateway = setup_with_all_plugins().start().await.unwrap();
    let site = Site::of(&gateway);
    let page = get(&site, "/no/such/%3Cscript%3E", "accept", BROWSER).await;
    assert_eq!((page.status, page.header("content-type")), (404, "text/html; charset=utf-8"), "{}", page.text());
    assert!(page.text().contains("<h1>No such page</h1>") && !page.text().contains("<script"), "{}", page.text());
    let program = site.get("/no/such").await;
    assert_eq!((program.status, program.code().as_str()), (404, "not_found"), "{}", program.text());
    let record = get(&site, &format!("{THREADS}/999999"), "accept", BROWSER).await;
    assert_eq!((record.status, record.header("content-type")), (404, "application/json"), "a record is for programs");
}

/// The answer, and the one for its entity tag. Soon after the start a job of a plugin may change the document between the two
/// (the transparency log makes its key): then they are asked for again.
async fn asked_twice(site: &Site, path: &str) -> (TestResponse, TestResponse) {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let first = site.get(path).await;
        let again = get(site, path, "if-none-match", first.header("etag")).await;
        if again.status == 304 || attempts == 10 {
            return (first, again);
        }
    }
}

#[tokio::test]
async fn documents_have_an_entity_tag() {
    let gateway = setup_with_all_plugins().start().await.unwrap();
    let site = Site::of(&gateway);
    for path in [
        "/",
        "/api",
        "/api/openapi.json",
        "/llms.txt",
        "/api/discovery/llms.txt",
        "/.well-known/agent.json",
        "/api/discovery/agent.json",
        "/.well-known/service.json",
        "/api/discovery/service.json",
    ] {
        let (first, again) = asked_twice(&site, path).await;
        let tag = first.header("etag").to_owned();
        assert!(first.status == 200 && tag.ends_with('"'), "{path}: {tag:?}");
        assert_eq!((again.status, again.header("etag"), again.body.len()), (304, tag.as_str(), 0), "{path}");
        assert_eq!(again.header("cache-control"), first.header("cache-control"), "{path}");
        assert_eq!(get(&site, path, "if-none-match", "\"another\"").await.status, 200, "{path}");
    }
    // It changes with what the document says.
    let tag = site.get("/.well-known/service.json").await.header("etag").to_owned();
    site.open_thread(&Wallet::new(1), "One more thread").await;
    assert_eq!(get(&site, "/.well-known/service.json", "if-none-match", &tag).await.status, 200);
}
