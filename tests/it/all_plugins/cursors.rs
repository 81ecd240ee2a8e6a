//! Pages of every list by the links from one to the next, on both databases.
//!
//! The rule: the pages have the rows of the list, each once and in its order; and a cursor works in the list and order that handed it
//! out, in no other.

use super::{assert_no_faults, chain, setup, start_with_content};
use crate::{e2e::Site, openapi::operations};
use alloy_primitives::hex;
use gateway_tests::postgres;
use plugin_testing::{TestResponse, Value};

async fn read(site: &Site, path: &str) -> TestResponse {
    let response = site.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response
}

fn items(response: &TestResponse) -> Vec<Value> {
    response.json()["items"].as_array().unwrap().clone()
}

/// The paths of lists that take a cursor, with each of their orders and states.
fn lists(document: &Value) -> Vec<String> {
    let mut lists = Vec::new();
    for (method, path, operation) in operations(document) {
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let named = |name: &str| parameters.iter().find(|parameter| parameter["name"] == name);
        let is_signed = operation["security"].as_array().is_some_and(|schemes| !schemes.is_empty());
        if method != "GET" || named("cursor").is_none() || is_signed || path == "/api/work" {
            continue;
        }
        let path = path.replace("{id}", "2").replace("{agentId}", "2");
        lists.push(format!("{path}?"));
        for name in ["sort", "status", "kind"] {
            let schema = named(name).map(|parameter| resolved(document, &parameter["schema"]));
            for value in schema.iter().flat_map(|schema| values(document, schema)) {
                lists.push(format!("{path}?{name}={value}&"));
            }
        }
    }
    lists
}

fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let name = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    name.and_then(|pointer| document.pointer(pointer)).unwrap_or(schema)
}

/// The values of an enumeration, also where each has a description.
fn values(document: &Value, schema: &Value) -> Vec<String> {
    let parts = ["oneOf", "anyOf"].iter().flat_map(|name| schema[*name].as_array().into_iter().flatten());
    let of_parts = parts.flat_map(|part| values(document, resolved(document, part)));
    let own = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    own.filter_map(|value| value.as_str().map(str::to_owned)).chain(of_parts).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_every_list_are_the_list() {
    let chain = chain().await;
    for url in [None, Some(postgres::fresh_database().await.unwrap())] {
        let setup = setup(&chain);
        let gateway = start_with_content(&url.iter().fold(setup, |setup, url| setup.set("database.url", url))).await;
        let site = Site::of(&gateway);
        let lists = lists(&site.get("/api/openapi.json").await.json());
        assert!(lists.len() > 30, "{lists:?}");
        let mut cursors: Vec<(String, String)> = Vec::new();
        for list in &lists {
            let all = items(&read(&site, &format!("{list}limit=100")).await);
            let mut page = read(&site, &format!("{list}limit=1")).await;
            let mut walked = items(&page);
            while let Some(cursor) = page.next_cursor() {
                cursors.push((list.clone(), cursor.clone()));
                page = read(&site, &format!("{list}limit=1&cursor={cursor}")).await;
                walked.extend(items(&page));
                assert!(walked.len() <= all.len(), "{list}");
            }
            assert_eq!(walked, all, "{list}");
        }
        refuses_what_it_did_not_hand_out(&site, &lists, &cursors).await;
        assert_no_faults(&gateway).await;
    }
}

async fn refuses_what_it_did_not_hand_out(site: &Site, lists: &[String], cursors: &[(String, String)]) {
    for (of, cursor) in cursors.iter().take(6) {
        for list in lists.iter().filter(|list| list.contains("threads") || list.contains("agents?")) {
            let path = |list: &str| list.split('?').next().unwrap_or_default().to_owned();
            let response = site.get(&format!("{list}cursor={cursor}")).await;
            assert!(path(of) == path(list) || response.status == 400, "{list}: a cursor of {of}: {}", response.status);
        }
        // Keys of another type are no crash of the database.
        let made_up = String::from_utf8(hex::decode(cursor).unwrap()).unwrap();
        let (order, _) = made_up.split_once(",[").unwrap();
        let keys = vec!["\"x\""; made_up.split(',').count() - 1].join(",");
        let response = site.get(&format!("{of}cursor={}", hex::encode(format!("{order},[{keys}]]")))).await;
        assert!([200, 400].contains(&response.status), "{of}: {}", response.text());
    }
    for list in lists {
        for refused in ["cursor=x", "cursor=00", "offset=10001"] {
            let response = site.get(&format!("{list}{refused}")).await;
            assert_eq!((response.status, response.code().as_str()), (400, "bad_request"), "{list}{refused}");
        }
        assert_eq!(site.get(&format!("{list}offset=10000")).await.status, 200, "{list}");
    }
}
