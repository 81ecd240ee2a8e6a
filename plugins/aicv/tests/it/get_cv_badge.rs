//! `GET /api/cv/{agent}/badge.svg`

use super::{SIGNER, prepared, refusal, script, sites};
use plugin_testing::{ScriptedChain, TestGateway};
use script::registered;

/// Names that would be markup, turn the text around them, or are no text at all.
const HOSTILE: [&str; 7] = [
    "</text><script>alert(1)</script>",
    "\"><image href=\"https://evil.example/x\"/>",
    "a\u{202e}gnp.exe\u{202c}",
    "bell\u{7}\u{1b}[31m",
    "&lt;entity&#x0;&unknown;",
    "]]><![CDATA[<x>",
    "\u{fffe}\u{ffff}\u{200b}",
];

#[tokio::test]
async fn every_variant_is_xml_without_anything_active() {
    for site in sites().await {
        for (query, headline) in [
            ("", "1 paid job"),
            ("?theme=dark", "1 paid job"),
            ("?style=card", "1 paid job"),
            ("?style=card&theme=dark&metric=earned", "1 FMX net"),
            ("?metric=rating", "5.0★ (1)"),
            ("?theme=pink&style=round", "1 paid job"),
        ] {
            let response = site.get(&format!("/api/cv/1/badge.svg{query}")).await;
            assert_eq!((response.status, response.header("content-type")), (200, "image/svg+xml"), "{query}");
            assert_eq!(response.header("cache-control"), "public, max-age=300");
            assert_eq!(response.header("x-content-type-options"), "nosniff");
            assert!(response.header("content-security-policy").contains("default-src 'none'"));
            let svg = response.text();
            let texts = check(&svg);
            assert!(texts.contains(headline), "{query}: {svg}");
        }
        let refused = site.get("/api/cv/1/badge.svg?metric=fame").await;
        assert_eq!(refusal(&refused), (400, "bad_request".to_owned()));
        assert_eq!(refusal(&site.get("/api/cv/9/badge.svg").await), (404, "not_found".to_owned()));
        site.close().await;
    }
}

/// The texts of a badge, which has no other elements than those that draw, and no references.
fn check(svg: &str) -> String {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    for element in document.descendants().filter(roxmltree::Node::is_element) {
        let name = element.tag_name().name();
        assert!(["svg", "title", "rect", "g", "text"].contains(&name), "{name}: {svg}");
        for attribute in element.attributes() {
            assert!(!attribute.name().starts_with("on") && !attribute.name().contains("href"), "{svg}");
        }
    }
    let texts = document
        .descendants()
        .filter(roxmltree::Node::is_element)
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    texts.filter_map(|node| node.text().map(str::to_owned)).collect::<Vec<_>>().join("|")
}

#[tokio::test]
async fn hostile_names_are_harmless_text() {
    let chain = ScriptedChain::start().await;
    super::set_state(&chain, "", script::RETIRED);
    let long = "x".repeat(300);
    let names: Vec<&str> = HOSTILE.into_iter().chain([long.as_str()]).collect();
    for (id, name) in (1..).zip(&names) {
        chain.mine(registered(id, id, name, ""));
    }
    let builder = prepared(TestGateway::builder(), &chain, super::modules()).signer("gateway", SIGNER);
    let gateway = builder.start().await;
    gateway.indexed(&chain).await;
    for (id, name) in (1..).zip(&names) {
        for query in ["", "?style=card&theme=dark"] {
            let svg = gateway.get(&format!("/api/cv/{id}/badge.svg{query}")).await;
            assert_eq!(svg.status, 200, "{}", svg.text());
            let (svg, texts) = (svg.text(), check(&svg.text()));
            assert!(!svg.contains("<script") && !svg.contains("<image"), "{name:?}: {svg}");
            let is_hidden = |letter: char| letter.is_control() || ('\u{202a}'..='\u{202e}').contains(&letter);
            assert!(!svg.chars().any(is_hidden), "{name:?}: {svg}");
            assert!(texts.to_lowercase().contains("retired"), "{name:?}: {texts}");
            assert!(texts.chars().count() < 200, "{name:?}: {texts}");
        }
    }
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
