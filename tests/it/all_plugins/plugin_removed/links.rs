//! No answer names a route that no enabled plugin serves: not with all plugins, and not with any one switched off.

use super::{act, full_gateway, modules, pages::Pages, with_dependents};
use crate::all_plugins::chain;
use gateway::{lifecycle::OperatorAction, routes::RouteLookup};
use http::Method;
use plugin_testing::{TestGateway, Value};
use std::collections::BTreeSet;

/// Every text of the document that is a URL of this gateway, or the path of a record.
fn links(value: &Value, base_url: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let path = text.strip_prefix(base_url).or_else(|| text.strip_prefix("fmx:")).unwrap_or(text);
            let is_link = text.starts_with(base_url) || text.starts_with("/api/") || text.starts_with("/a/");
            let end = path.find(['?', '#', ' ', '`']).unwrap_or(path.len());
            if is_link && path.starts_with('/') {
                found.insert(path[..end].to_owned());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| links(item, base_url, found)),
        Value::Object(members) => members.values().for_each(|member| links(member, base_url, found)),
        _ => {}
    }
}

async fn assert_served(gateway: &TestGateway, when: &str) {
    let base_url = gateway.gateway().environment.base_url.clone();
    let pages = Pages::read(gateway).await;
    let mut found = BTreeSet::new();
    let documents = [&pages.card, &pages.manifest, &pages.work, &pages.leaderboard];
    documents.into_iter().chain(pages.records.values()).for_each(|page| links(page, &base_url, &mut found));
    // Not among the pages, since it hashes what it says.
    let credential = gateway.get("/api/cv/1/credential.json").await;
    if credential.is_success() {
        links(&credential.json(), &base_url, &mut found);
    }
    assert!(found.len() > 10, "{when}: {found:?}");
    let routes = &gateway.gateway().dispatcher.routes;
    // What clients of the transparency log put before their paths: it is served while the checkpoint is.
    if found.remove("/api/log") {
        found.insert("/api/log/checkpoint".to_owned());
    }
    let is_dead =
        |path: &&String| matches!(routes.find(&Method::GET, &path.replace(['{', '}'], "")), RouteLookup::NotFound);
    let dead: Vec<&String> = found.iter().filter(is_dead).collect();
    assert!(dead.is_empty(), "{when}: {dead:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_names_a_route_that_nobody_serves() {
    let chain = chain().await;
    // On SQLite only: which routes there are does not depend on the database.
    let gateway = full_gateway(TestGateway::builder(), &chain).await;
    assert_served(&gateway, "all are on").await;
    for module in modules() {
        let name = plugin_testing::manifest(module).name;
        let gone = with_dependents(&name);
        for other in &gone {
            assert!(act(&gateway, OperatorAction::Disable, other).await.is_reached);
        }
        assert_served(&gateway, &format!("without {name}")).await;
        for other in gone.iter().rev() {
            assert!(act(&gateway, OperatorAction::Enable, other).await.is_reached);
        }
    }
    gateway.stop().await;
}
