//! Every badge as a program of its own draws it (resvg): nothing but shapes and texts, and each text within its box.

use super::{CONTRACTS, LIMIT, chain, owner, script::registered_by, setup};
use crate::e2e::{Site, ask, node};
use plugin_testing::{ScriptedChain, TestGateway, Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

const GET_AGENT: &str = "getAgent(uint256) returns ((address,string,string,string,uint256,uint256,uint64,uint64,uint8,uint32,uint32,uint32,uint32))";
/// In the order of the registry's numbers.
const STATUSES: [&str; 4] = ["None", "Active", "Paused", "Retired"];
/// Agents of [`chain`], which come before those with a hostile name.
const AGENTS: u64 = 2;
/// An agent with a job that was paid.
const PAID: u64 = 2;
/// Colours of letters with smooth edges; a badge without letters has two or three.
const COLOURS_MIN: u64 = 12;

/// Names that would be markup, turn the text around them, are no text at all, or are too long. Each has another slug.
fn hostile() -> Vec<String> {
    let mut names: Vec<String> = [
        "</text><script>alert(1)</script>",
        "\"><image href=\"https://evil.example/x\"/>",
        "a\u{202e}gnp.exe\u{202c} \u{5d0}\u{5d1}\u{5d2} \u{645}\u{631}\u{62d}\u{628}\u{627}",
        "bell\u{7}\u{1b}[31m\u{0}",
        "&lt;entity&#x0;&unknown;]]><![CDATA[<x>",
        "\u{1f600}\u{1f468}\u{200d}\u{1f469} smile",
        "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308} stacked",
        "\u{fffe}\u{ffff}\u{200b}",
    ]
    .map(str::to_owned)
    .into();
    names.push("x".repeat(300));
    names.extend(["\u{6f22}\u{5b57}", "\u{ff37}", "\u{1f600}"].map(|wide| format!("wide {}", wide.repeat(100))));
    names.push("\u{5d0}".repeat(300) + "z");
    names
}

/// A badge as it was served.
struct ServedBadge {
    what: String,
    svg: String,
}

async fn badge(site: &Site, agent: u64, query: &str) -> ServedBadge {
    let path = format!("/api/cv/{agent}/badge.svg?{query}");
    let response = site.get(&path).await;
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, "image/svg+xml"),
        "{path}: {}",
        response.text()
    );
    ServedBadge { what: path, svg: response.text() }
}

async fn variants(site: &Site, agent: u64) -> Vec<ServedBadge> {
    let mut badges = Vec::new();
    for theme in ["light", "dark"] {
        for style in ["flat", "card"] {
            for metric in ["jobs", "earned", "rating"] {
                badges.push(badge(site, agent, &format!("theme={theme}&style={style}&metric={metric}")).await);
            }
        }
    }
    badges
}

#[tokio::test]
async fn badges_are_drawn_within_their_boxes() {
    let (chain, names) = (chain().await, hostile());
    for (id, name) in (AGENTS + 1..).zip(&names) {
        chain.mine(registered_by(id, owner(1).address(), name, ""));
    }
    chain.mine_empty(4);
    let gateway = setup(&chain).start().await.unwrap();
    let site = Site::of(&gateway);
    let last = AGENTS + names.len() as u64;
    let mut badges = Vec::new();
    for (number, status) in (0..).zip(STATUSES) {
        set_status(&chain, number);
        let path = format!("/api/cv/{last}");
        let has_status = || async { site.get(&path).await.json()["credentialSubject"]["agent"]["status"] == status };
        TestGateway::eventually(LIMIT, status, has_status).await;
        badges.extend(variants(&site, PAID).await);
        assert_labelled(&badges, status);
    }
    for agent in AGENTS + 1..=last {
        for query in ["style=flat", "style=card&theme=dark"] {
            badges.push(badge(&site, agent, query).await);
        }
    }
    if let Some(folder) = std::env::var_os("KEEP_PICTURES") {
        keep(&badges, &PathBuf::from(folder));
    }
    let question: Vec<Value> = badges.iter().map(|badge| json!({ "what": badge.what, "svg": badge.svg })).collect();
    let drawn = ask(node("badges.mjs"), &json!({ "badges": question })).await;
    let drawn = drawn.as_array().unwrap();
    assert_eq!(drawn.len(), badges.len());
    for (badge, drawn) in badges.iter().zip(drawn) {
        assert_inactive(badge);
        assert_fits(badge, drawn);
    }
    super::assert_no_faults(&gateway).await;
}

/// Files, and a page with all of them: for who wants to look at them in a browser.
fn keep(badges: &[ServedBadge], folder: &Path) {
    let mut page = "<!doctype html><meta charset=utf-8><body style='background:#888'>".to_owned();
    for (number, badge) in badges.iter().enumerate() {
        fs::write(folder.join(format!("badge-{number}.svg")), &badge.svg).unwrap();
        page.push_str(&format!("<p><img src=badge-{number}.svg> <code>{}</code>", badge.what));
    }
    fs::write(folder.join("badges.html"), page).unwrap();
}

fn set_status(chain: &ScriptedChain, status: u8) {
    let state = json!([owner(1).address(), "Digger", "", "ipfs://m", "5", "100", 1, 0, status, 1, 0, 1, 5]);
    chain.mock_call(ScriptedChain::address_of(CONTRACTS[0]), GET_AGENT, &[state]);
}

/// The newest ones tell of a status other than active.
fn assert_labelled(badges: &[ServedBadge], status: &str) {
    let ServedBadge { what, svg } = badges.last().unwrap();
    let is_card = what.contains("style=card");
    assert!(is_card, "{what}");
    assert_eq!(svg.contains(&format!("· {}", status.to_uppercase())), status != "Active", "{svg}");
}

/// Nothing that acts, and nothing from outside.
fn assert_inactive(ServedBadge { what, svg }: &ServedBadge) {
    let elements: Vec<&str> = svg.split('<').skip(1).map(|part| part.split([' ', '>', '/']).next().unwrap()).collect();
    let is_allowed = |name: &&str| ["svg", "title", "rect", "g", "text", ""].contains(name);
    assert!(elements.iter().all(is_allowed), "{what}: {elements:?}");
    // Outside of texts, whose quotes are escaped.
    for reference in ["href=\"", "url(", "src=\"", "style=\"", "onload=\""] {
        assert!(!svg.contains(reference), "{what}: {reference}");
    }
}

fn assert_fits(ServedBadge { what, svg }: &ServedBadge, drawn: &Value) {
    let size = |name: &str| drawn[name].as_f64().unwrap();
    let (width, height) = (size("width"), size("height"));
    assert!(drawn["colours"].as_u64().unwrap() >= COLOURS_MIN, "{what} is blank: {drawn}");
    let texts: Vec<[f64; 4]> = serde_json::from_value(drawn["texts"].clone()).unwrap();
    let boxes = if what.contains("style=card") {
        assert_eq!((width, height), (320.0, 90.0), "{what}");
        [[0.0, 0.0, width, height]; 4].to_vec()
    } else {
        // The label's ground comes first, and that of the value begins where it ends.
        let left: f64 = svg.split("<rect width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        assert_eq!(height, 20.0, "{what}");
        vec![[0.0, 0.0, left, height], [left, 0.0, width, height]]
    };
    assert_eq!(texts.len(), boxes.len(), "{what}: {drawn}");
    // Marks that are stacked on a letter reach the edge of the picture, which cuts them off.
    let is_ordinary = what.starts_with(&format!("/api/cv/{PAID}/"));
    for (text, frame) in texts.iter().zip(boxes) {
        let is_within = text[0] >= frame[0] && text[2] <= frame[2];
        let is_as_high = text[1] >= frame[1] && text[3] <= frame[3];
        assert!(is_within && (is_as_high || !is_ordinary), "{what}: {text:?} is not within {frame:?}\n{svg}");
    }
}
