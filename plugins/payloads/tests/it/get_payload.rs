//! `GET /api/payloads/{hash}`

use super::{PAYLOADS, finish, gateways, path_of, post, store};

#[tokio::test]
async fn the_bytes_come_back_as_they_were() {
    for gateway in gateways().await {
        let every_byte: Vec<u8> = (0..=255).collect();
        let hash = store(&gateway, every_byte.clone()).await;
        let response = gateway.get(&path_of(&hash)).await;
        assert_eq!((response.status, &response.body[..]), (200, &every_byte[..]));
        let head = gateway.send("HEAD", &path_of(&hash), &[], "").await;
        assert_eq!(head.status, 200);
        finish(gateway).await;
    }
}

/// Content types, and as what their bytes are served.
const SERVED_AS: [(&str, &[&str]); 3] = [
    (
        "text/plain; charset=utf-8",
        &[
            "text/plain; charset=utf-8",
            "Text/Plain;Charset=\"UTF-8\"",
            "text/html",
            "TEXT/HTML; charset=utf-8",
            "text/html,text/plain",
            "application/xhtml+xml",
            "text/xml",
            "application/xml",
            "application/rss+xml",
            "text/xsl",
            "text/vnd.wap.wml",
            "text/javascript",
            "application/javascript",
            "application/ecmascript",
            "application/x-shockwave-flash",
            "image/svg+xml",
        ],
    ),
    (
        "application/octet-stream",
        &[
            "",
            "application/octet-stream",
            "json",
            "/",
            "text/",
            "/plain",
            "text plain",
            "audio/mpeg",
            "video/mp4",
            "application/zip",
            "a/b/c",
            "text/pl ain",
            ", text/plain",
        ],
    ),
    ("text/plain", &["text/plain", "text/plain; charset=\"a b\"", "text/plain; charset", "text/plain, text/html"]),
];

/// These and their charset stay; other parameters do not.
const SERVED_UNCHANGED: [(&str, &str); 14] = [
    ("application/json", ""),
    ("application/json", "; profile=x"),
    ("application/x-ndjson", ""),
    ("application/pdf", ""),
    ("text/markdown", ""),
    ("text/csv", ""),
    ("text/csv; charset=iso-8859-1", "; header=present"),
    ("image/png", ""),
    ("image/png", "; charset=utf-8"),
    ("image/jpeg", ""),
    ("image/gif", ""),
    ("image/webp", ""),
    ("image/avif", ""),
    ("image/bmp", ""),
];

#[tokio::test]
async fn a_browser_runs_nothing_of_it() {
    let unchanged = SERVED_UNCHANGED.map(|(served, dropped)| (format!("{served}{dropped}"), served));
    let other =
        SERVED_AS.into_iter().flat_map(|(served, named)| named.iter().map(move |named| ((*named).to_owned(), served)));
    let types: Vec<(String, &str)> = other.chain(unchanged).collect();
    for gateway in gateways().await {
        for (number, (named, served)) in types.iter().enumerate() {
            let stored = post(&gateway, named, format!("<script>{number}</script>")).await;
            let response = gateway.get(&path_of(stored.json()["hash"].as_str().unwrap())).await;
            assert_eq!(response.header("content-type"), *served, "{named}");
            assert_eq!(response.header("content-security-policy"), "default-src 'none'; sandbox");
            // The gateway's listener adds `x-content-type-options: nosniff` to every response.
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_client_that_has_the_bytes_gets_304() {
    for gateway in gateways().await {
        let hash = store(&gateway, "text").await;
        let tag = gateway.get(&path_of(&hash)).await.header("etag").to_owned();
        assert!(tag.starts_with('"'), "a strong tag: {tag}");
        for _ in 0..3 {
            let again = gateway.send("GET", &path_of(&hash), &[("if-none-match", &tag)], "").await;
            assert_eq!((again.status, again.body.len()), (304, 0));
        }
        let other = gateway.send("GET", &path_of(&hash), &[("if-none-match", "\"other\"")], "").await;
        assert_eq!((other.status, other.text().as_str()), (200, "text"));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_hash_that_is_unknown_or_written_otherwise_is_404() {
    for gateway in gateways().await {
        let hash = store(&gateway, "text").await;
        let digits = hash.trim_start_matches("0x");
        let unknown = format!("0x{}", "0".repeat(64));
        for other in [&unknown, digits, &format!("0x{}", digits.to_uppercase()), &format!("{hash}0"), "x", "1", "%00"] {
            let response = gateway.get(&format!("{PAYLOADS}/{other}")).await;
            assert_eq!((response.status, response.code()), (404, "not_found".to_owned()), "{other}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_unknown_payload_is_found_once_it_is_stored() {
    for gateway in gateways().await {
        let hash = plugin_api::Hash256::keccak(b"new").to_string();
        for _ in 0..3 {
            assert_eq!(gateway.get(&path_of(&hash)).await.status, 404);
        }
        assert_eq!(store(&gateway, "new").await, hash);
        assert_eq!(gateway.get(&path_of(&hash)).await.text(), "new");
        finish(gateway).await;
    }
}
