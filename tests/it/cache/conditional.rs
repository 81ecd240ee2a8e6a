//! `ETag`, `If-None-Match` and 304, as RFC 9110 has them.

use super::{NOTES, add_note, count, test_gateway};
use crate::{
    e2e::{Site, THREADS},
    storage::Engine,
};
use gateway_tests::postgres;
use plugin_testing::{TestGateway, TestResponse, Wallet, json};
use reqwest::Method;
use rstest::rstest;

async fn ask(gateway: &TestGateway, path: &str, tags: &[&str]) -> TestResponse {
    let headers: Vec<_> = tags.iter().map(|tags| ("if-none-match", *tags)).collect();
    gateway.send("GET", path, &headers, "").await
}

#[rstest]
#[tokio::test]
async fn who_has_the_answer_gets_its_head_alone(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = test_gateway(engine).await;
    add_note(&gateway, "a note").await;
    let whole = gateway.get("/api/notebook/notes/1").await;
    let tag = whole.header("etag").to_owned();
    assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 16, "{tag}");
    // The first from the plugin, the others from the cache: they are alike.
    for known in [&tag, "*", &format!("\"x\", {tag}")] {
        let answer = ask(&gateway, "/api/notebook/notes/1", &[known]).await;
        assert_eq!((answer.status, answer.body.len()), (304, 0), "{known}");
        assert_eq!(answer.header("etag"), tag);
        assert_eq!(answer.header("cache-control"), "public, max-age=1");
        assert_eq!(answer.header("vary"), "accept-encoding");
        assert_eq!(answer.header("content-type"), "", "there is no content");
    }
    // A tag that the client sends in the weak form, as of a compressed response, is returned in that form.
    let weak = format!("W/{tag}");
    assert_eq!(ask(&gateway, "/api/notebook/notes/1", &[&weak]).await.header("etag"), weak);
    for unknown in ["\"x\"", "", &tag[1..], "W/\"x\", \"y\""] {
        let answer = ask(&gateway, "/api/notebook/notes/1", &[unknown]).await;
        assert_eq!((answer.status, &answer.body), (200, &whole.body), "{unknown}");
    }
    assert_eq!(ask(&gateway, "/api/notebook/notes/1", &["\"x\"", &tag]).await.status, 304, "two lines");
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn a_condition_helps_nobody_to_what_is_not_there(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = test_gateway(engine).await;
    let missing = ask(&gateway, "/api/notebook/notes/7", &["*"]).await;
    assert_eq!(missing.status, 404);
    gateway.stop().await;
}

#[rstest]
#[tokio::test]
async fn a_tag_is_of_the_bytes_on_every_gateway(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let (one, other) = (test_gateway(engine).await, test_gateway(engine).await);
    let mut tags = Vec::new();
    for _ in 0..3 {
        let lists = [one.get(NOTES).await, other.get(NOTES).await];
        assert_eq!(lists[0].header("etag"), lists[1].header("etag"));
        assert_eq!(lists[0].header("cache-control"), "no-cache");
        tags.push(lists[0].header("etag").to_owned());
        add_note(&one, "one").await;
        add_note(&other, "other").await;
    }
    tags.dedup();
    assert_eq!(tags.len(), 3);
    assert_eq!(count(&one.get(NOTES).await), 3);
    one.stop().await;
    other.stop().await;
}

async fn threads(site: &Site, method: Method, headers: &[(&str, &str)]) -> reqwest::Response {
    let request =
        headers.iter().fold(site.request(method, THREADS), |request, (name, value)| request.header(*name, *value));
    request.send().await.unwrap()
}

#[rstest]
#[tokio::test]
async fn head_and_compression_keep_to_the_rules_on_the_wire(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let setup = crate::crash::small_setup();
    let setup = match engine {
        Engine::Sqlite => setup,
        Engine::Postgres => setup.set("database.url", postgres::fresh_database().await.unwrap()),
    };
    let process = setup.start().await.unwrap();
    let site = Site::of(&process);
    let payload = json!({ "title": "Tagged", "body": "A text of some length. ".repeat(60), "tags": ["etag"] });
    for number in 0..8 {
        let thread = site.write(THREADS, &Wallet::new(number), "thread.create", payload.clone()).await;
        assert_eq!(thread.status, 201, "{}", thread.text());
    }
    let header = |answer: &reqwest::Response, name: &str| {
        answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    let get = threads(&site, Method::GET, &[]).await;
    let (tag, length) = (header(&get, "etag"), header(&get, "content-length"));
    assert_eq!(header(&get, "vary"), "accept-encoding");
    let head = threads(&site, Method::HEAD, &[]).await;
    assert_eq!((header(&head, "etag"), header(&head, "content-length")), (tag.clone(), length));
    assert_eq!(threads(&site, Method::HEAD, &[("if-none-match", &tag)]).await.status(), 304);

    let packed = threads(&site, Method::GET, &[("accept-encoding", "gzip")]).await;
    assert_eq!(header(&packed, "content-encoding"), "gzip");
    let weak = header(&packed, "etag");
    assert_eq!(weak, format!("W/{tag}"));
    let known = threads(&site, Method::GET, &[("accept-encoding", "gzip"), ("if-none-match", &weak)]).await;
    assert_eq!(
        (known.status().as_u16(), header(&known, "etag"), header(&known, "vary")),
        (304, weak, "accept-encoding".into())
    );
    assert_eq!(header(&known, "x-content-type-options"), "nosniff");
    assert!(!header(&known, "x-request-id").is_empty());
}
