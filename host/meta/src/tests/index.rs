//! `GET /api`: the index names each route of the enabled plugins.

use super::fixture::GatewayFixture;
use crate::index::index;
use crate::{MetaPage, docs, meta_routes};
use plugin_api::manifest::{Brand, Environment};

#[test]
fn names_every_route_and_where_to_begin() {
    insta::assert_json_snapshot!(GatewayFixture::with_two_plugins().with_context(index));
}

#[test]
fn without_plugins_it_leads_to_the_gateway_itself() {
    let index = GatewayFixture::without_plugins().with_context(index);
    assert_eq!(index.start.work, None);
    assert_eq!(index.start.status, "https://gateway.test/api/status");
    assert!(index.routes.iter().all(|route| route.method == "GET"));
    let page = meta_routes(&Environment::default());
    assert_eq!(index.routes.len(), page.pages.len());
}

#[test]
fn own_routes_and_pages_go_together_and_follow_the_brand() {
    let brand = Brand { marker: "acme".into(), ..Default::default() };
    let routes = meta_routes(&Environment { brand, ..Default::default() });
    assert_eq!(routes.pages.len(), routes.manifest.routes.len());
    let page_of = |path: &str| {
        let position = routes.manifest.routes.iter().position(|route| route.path == path);
        position.map(|position| routes.pages[position])
    };
    assert_eq!(page_of("/.well-known/acme.json"), Some(MetaPage::Manifest));
    assert_eq!(page_of("/api/discovery/acme.json"), Some(MetaPage::Manifest));
    assert_eq!(page_of("/.well-known/service.json"), None);
    assert_eq!(page_of("/llms.txt"), Some(MetaPage::Llms));
    assert_eq!(page_of("/api/health"), Some(MetaPage::Health));
    assert_eq!(page_of("/docs"), Some(MetaPage::Docs));
    assert!(docs::asset("/docs", true).is_some());
}
