//! `POST /api/payloads`

use super::{finish, gateways, gateways_with, path_of, post, store};
use plugin_api::Hash256;
use plugin_testing::{TestGateway, json};
use std::time::Duration;

const SIZE_MAX: usize = 262_144;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Bytes that are unique for the number.
fn bytes(number: u32, size: usize) -> Vec<u8> {
    number.to_be_bytes().into_iter().cycle().take(size).collect()
}

async fn totals(gateway: &TestGateway) -> Vec<String> {
    gateway.rows("SELECT payloads, bytes FROM payloads_totals").await
}

#[tokio::test]
async fn bytes_are_answered_with_hash_address_and_size() {
    for gateway in gateways().await {
        for text in ["hello", "grüße 😀", "\0\u{1}", " "] {
            let response = post(&gateway, "text/plain", text).await;
            let hash = Hash256::keccak(text.as_bytes()).to_string();
            assert_eq!(response.status, 200, "{}", response.text());
            let uri = format!("fmx://payload/{hash}");
            assert_eq!(response.json(), json!({ "hash": hash, "uri": uri, "size": text.len() }));
        }
        // The keccak-256 of "hello".
        let known = "0x1c8aff950685c2ed4bc3174f3472287b56d9517b9c948127319a09a7a36deac8";
        assert_eq!(store(&gateway, "hello").await, known);
        assert_eq!(totals(&gateway).await, ["Int(4) Int(20)"]);
        assert!(gateway.events().await.is_empty());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_same_bytes_are_stored_once_and_the_first_type_stays() {
    for gateway in gateways().await {
        let first = post(&gateway, "application/json", "{}").await;
        let again = post(&gateway, "text/plain", "{}").await;
        assert_eq!((again.status, again.json()), (200, first.json()));
        let hash = first.json()["hash"].as_str().unwrap().to_owned();
        assert_eq!(gateway.get(&path_of(&hash)).await.header("content-type"), "application/json");
        // Also later.
        gateway.clock().advance(DAY * 2).await;
        assert_eq!(post(&gateway, "text/plain", "{}").await.json(), first.json());
        assert_eq!(gateway.get(&path_of(&hash)).await.header("content-type"), "application/json");
        assert_eq!(totals(&gateway).await, ["Int(1) Int(2)"]);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn of_the_same_bytes_at_once_one_is_stored() {
    for gateway in gateways().await {
        let responses = futures_util::future::join_all((0..50).map(|_| post(&gateway, "text/plain", "same"))).await;
        assert!(responses.iter().all(|response| response.status == 200), "{:?}", responses.first());
        assert_eq!(totals(&gateway).await, ["Int(1) Int(4)"]);
        assert_eq!(gateway.rows("SELECT bytes FROM payloads_uploads").await, ["Int(4)"]);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn acknowledged_payloads_survive_a_restart() {
    for gateway in gateways().await {
        let hash = store(&gateway, "kept").await;
        let gateway = gateway.restart().await;
        assert_eq!(gateway.get(&path_of(&hash)).await.text(), "kept");
        assert_eq!(store(&gateway, "kept").await, hash);
        assert_eq!(totals(&gateway).await, ["Int(1) Int(4)"]);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn one_byte_to_256_kib() {
    for gateway in gateways().await {
        let empty = post(&gateway, "text/plain", "").await;
        assert_eq!((empty.status, empty.code()), (400, "bad_request".to_owned()), "{}", empty.text());
        for size in [1, 32 * 1024, 32 * 1024 + 1, SIZE_MAX] {
            let bytes = bytes(7, size);
            let hash = store(&gateway, bytes.clone()).await;
            assert_eq!(hash, Hash256::keccak(&bytes).to_string(), "{size}");
            assert!(gateway.get(&path_of(&hash)).await.body == bytes, "{size}");
        }
        let large = post(&gateway, "text/plain", bytes(7, SIZE_MAX + 1)).await;
        assert_eq!((large.status, large.code()), (413, "too_large".to_owned()), "{}", large.text());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_client_stores_so_much_a_day() {
    let limited = |builder: plugin_testing::Builder| {
        builder.config("payloads", json!({ "client_bytes_per_day_max": SIZE_MAX + 10 }))
    };
    for gateway in gateways_with(limited).await {
        store(&gateway, bytes(1, SIZE_MAX)).await;
        store(&gateway, bytes(2, 10)).await;
        let refused = post(&gateway, "text/plain", "x").await;
        assert_eq!((refused.status, refused.code()), (429, "daily_bytes".to_owned()), "{}", refused.text());
        // Bytes that are stored already cost nothing; refused bytes are not stored.
        store(&gateway, bytes(1, SIZE_MAX)).await;
        let refused = post(&gateway, "text/plain", "x").await;
        assert_eq!(refused.status, 429);
        assert_eq!(totals(&gateway).await, ["Int(2) Int(262154)"]);
        // Also after a restart.
        let gateway = gateway.restart().await;
        assert_eq!(post(&gateway, "text/plain", "x").await.status, 429);
        gateway.clock().advance(DAY).await;
        store(&gateway, "x").await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn all_addresses_of_an_ipv6_network_share_a_day() {
    let limited = |builder: plugin_testing::Builder| {
        builder.config("payloads", json!({ "client_bytes_per_day_max": SIZE_MAX + 10 }))
    };
    for gateway in gateways_with(limited).await {
        let mut answers = Vec::new();
        for (ip, bytes) in [
            ("2001:db8::1", bytes(1, SIZE_MAX)),
            ("2001:db8::2", bytes(2, 10)),
            ("2001:db8::3", bytes(3, 1)),
            ("2001:db8:0:1::1", bytes(3, 1)),
        ] {
            gateway.set_client_ip(ip.parse().unwrap());
            let response = post(&gateway, "text/plain", bytes).await;
            answers.push((response.status, response.code()));
        }
        assert_eq!(answers.iter().map(|(status, _)| *status).collect::<Vec<_>>(), [200, 200, 429, 200]);
        assert_eq!(answers[2].1, "daily_bytes");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_full_store_takes_no_more() {
    let limited =
        |builder: plugin_testing::Builder| builder.config("payloads", json!({ "total_bytes_max": SIZE_MAX + 10 }));
    for gateway in gateways_with(limited).await {
        store(&gateway, bytes(1, SIZE_MAX)).await;
        let refused = post(&gateway, "text/plain", bytes(2, 11)).await;
        assert_eq!((refused.status, refused.code()), (507, "store_full".to_owned()), "{}", refused.text());
        // Refused bytes count for no client.
        assert_eq!(gateway.rows("SELECT bytes FROM payloads_uploads").await, ["Int(262144)"]);
        store(&gateway, bytes(2, 10)).await;
        store(&gateway, bytes(1, SIZE_MAX)).await;
        assert_eq!(totals(&gateway).await, ["Int(2) Int(262154)"]);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn many_at_once_never_pass_the_limits() {
    let limited = |builder: plugin_testing::Builder| builder.config("payloads", json!({ "total_bytes_max": SIZE_MAX }));
    for gateway in gateways_with(limited).await {
        // 40 of 16 KiB: sixteen fit.
        let posts = (0..40).map(|number| post(&gateway, "text/plain", bytes(number, 16 * 1024)));
        let responses = futures_util::future::join_all(posts).await;
        let count = |status| responses.iter().filter(|response| response.status == status).count();
        assert_eq!((count(200), count(507)), (16, 24));
        assert_eq!(totals(&gateway).await, ["Int(16) Int(262144)"]);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn one_address_posts_sixty_times_a_minute() {
    for gateway in gateways_with(|builder| builder.configure(|config| config.limits.allow.clear())).await {
        for number in 0..60 {
            store(&gateway, bytes(number, 8)).await;
        }
        // The limit returns one call per second, which matters while sixty posts run.
        let refused = loop {
            let response = post(&gateway, "text/plain", "x").await;
            if response.status != 200 {
                break response;
            }
        };
        assert_eq!((refused.status, refused.code()), (429, "rate_limited".to_owned()), "{}", refused.text());
        assert!(refused.header("retry-after").parse::<u32>().is_ok(), "{:?}", refused.headers);
        finish(gateway).await;
    }
}
