//! The OpenAPI document, from which clients generate code: every change to it shows, and every part of it is served.
//!
//! `UPDATE_GOLDEN=1 cargo nextest run -p gateway-tests openapi` writes the committed file anew.

use crate::e2e::{Site, answer, node, run, setup_with_all_plugins};
use gateway_tests::process::Setup;
use plugin_testing::Value;
use std::{collections::BTreeSet, fs};

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
/// The routes of the specification's tables, a method and a path in each line.
const SPECIFIED: &str = include_str!("../documents/routes.txt");

fn document() -> Value {
    document_of(setup_with_all_plugins())
}

fn document_of(setup: Setup) -> Value {
    let printed = setup.run(&["openapi"]).unwrap();
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    printed.json().unwrap()
}

/// Method, path and operation, for each route of the document.
pub fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(|(method, it)| (method.to_uppercase(), path.clone(), it.clone())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

#[test]
fn the_committed_document_is_the_generated_one() {
    let generated = serde_json::to_string_pretty(&document()).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(COMMITTED, &generated).unwrap();
    }
    let committed = fs::read_to_string(COMMITTED).unwrap_or_default();
    let differs = committed.lines().zip(generated.lines()).position(|(one, other)| one != other);
    let line = differs.unwrap_or(committed.lines().count().min(generated.lines().count())) + 1;
    assert!(
        committed == generated,
        "the interface changed (tests/openapi.json, line {line}): if that is meant, run again with UPDATE_GOLDEN=1, \
         look at the difference, and tell it in CHANGELOG.md"
    );
}

/// With the plugins that are off by default.
#[test]
fn every_route_of_the_specification_is_served() {
    let without_names = |path: &str| {
        let parts = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
        parts.collect::<Vec<_>>().join("/")
    };
    let document = document_of(setup_with_all_plugins().set("plugins.payin.enabled", "true"));
    let operations = operations(&document);
    let served: BTreeSet<_> =
        operations.iter().map(|(method, path, _)| format!("{method} {}", without_names(path))).collect();
    let specified: Vec<String> = SPECIFIED.lines().map(without_names).collect();
    let missing: Vec<_> = specified.iter().filter(|route| !served.contains(*route)).collect();
    assert!(missing.is_empty() && specified.len() > 100, "{missing:?}");
}

/// Checks the committed document; the test above checks that it equals the generated one.
#[tokio::test]
async fn the_document_is_clean_under_redocly_and_spectral() {
    let lint = node("openapi-lint/lint-openapi.mjs");
    assert_eq!(run(lint, &[COMMITTED]).await, "redocly: clean\nspectral: clean\n");
}

#[test]
fn every_operation_has_an_id_of_its_own() {
    let mut seen = BTreeSet::new();
    for (method, path, operation) in operations(&document()) {
        let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
        assert!(!id.is_empty(), "{method} {path} has no operation id");
        let is_snake = id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        assert!(is_snake, "{method} {path}: {id}");
        assert!(!operation["summary"].as_str().unwrap_or_default().is_empty(), "{id} has no summary");
        assert!(seen.insert(id.clone()), "{id} stands there twice");
    }
    assert!(seen.len() > 10, "{seen:?}");
}

/// What the index lists, what is documented and what is routed are the same.
#[tokio::test]
async fn what_is_routed_is_what_is_documented() {
    let gateway = setup_with_all_plugins().start().await.unwrap();
    let site = Site::of(&gateway);
    let index = site.get("/api").await.json();
    let line = |line: &Value| (line["method"].as_str().unwrap().to_owned(), line["path"].as_str().unwrap().to_owned());
    let listed: BTreeSet<(String, String)> = index["routes"].as_array().unwrap().iter().map(line).collect();
    let served = site.get("/api/openapi.json").await.json();
    let operations = operations(&served);
    let documented: BTreeSet<_> = operations.iter().map(|(method, path, _)| (method.clone(), path.clone())).collect();
    assert_eq!(listed, documented);

    // A method that no route has gets a 405, which shows that the path has a route.
    for (_, path, _) in &operations {
        let answer = answer(site.request(reqwest::Method::TRACE, &path.replace(['{', '}'], ""))).await;
        assert_eq!(answer.status, 405, "{path}: {}", answer.text());
    }
}

/// Each page of the gateway itself answers as documented.
#[tokio::test]
async fn the_gateways_own_pages_answer() {
    let gateway = setup_with_all_plugins().start().await.unwrap();
    let site = Site::of(&gateway);
    // There are transactions only with a key and a chain: tests/it/tx/transaction_route.rs.
    let is_page = |path: &str, operation: &Value| operation["tags"][0] == "meta" && path != "/api/tx/{hash}";
    let own = operations(&document()).into_iter().filter(|(_, path, operation)| is_page(path, operation));
    let mut pages = 0;
    for (_, path, operation) in own {
        let file = operation["parameters"][0]["schema"]["enum"][0].as_str().unwrap_or_default().to_owned();
        let answer = site.get(&path.replace("{file}", &file)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let documented = operation["responses"]["200"]["content"].as_object().unwrap();
        let content_type = answer.header("content-type").split(';').next().unwrap().to_owned();
        assert!(documented.contains_key(&content_type), "{path} answers {content_type}");
        pages += 1;
    }
    assert!(pages >= 10, "only {pages} pages are the gateway's own");
}
