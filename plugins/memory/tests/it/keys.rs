//! The secrets key behind the memory: rotated, missing, another one. And the jobs.

use super::{
    builders, delete, finish,
    fixture::{owner, sites},
    gateways, get, list, refusal, store, value_of,
};
use plugin_testing::{TestGateway, Wallet, json};
use std::{fs, time::Duration};

const KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const NEWER: &str = "ff02030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const RESEALED: Duration = Duration::from_secs(11 * 60);

/// Sets the key that seals, and those that only open.
macro_rules! set_keys {
    ($newest:expr, $older:expr) => {
        |config| {
            let older: &[&str] = &$older;
            config.secrets.key = Some($newest.to_owned().into());
            config.secrets.old_keys = older.iter().map(|key| (*key).to_owned().into()).collect();
        }
    };
}

async fn stale_rows(gateway: &TestGateway) -> i64 {
    let status = gateway.collect("status", &json!({})).await;
    status["memory"]["memory"]["rowsOfOldKeys"].as_i64().unwrap()
}

#[tokio::test]
async fn rows_are_sealed_again_after_a_rotation() {
    let wallet = Wallet::new(1);
    for builder in builders().await {
        let gateway = builder.configure(set_keys!(KEY, [])).start().await;
        for number in 0..120 {
            store(&gateway, &wallet, &format!("k{}", number % 60), json!(number)).await;
        }
        let before = gateway.rows("SELECT record_hash FROM memory_records ORDER BY seq").await;
        let gateway = gateway.restart_after(set_keys!(KEY, [NEWER])).await;
        assert_eq!(stale_rows(&gateway).await, 0);
        let gateway = gateway.restart_after(set_keys!(NEWER, [KEY])).await;
        assert_eq!(stale_rows(&gateway).await, 60 + 120);
        // Values of the old key are found, replaced and deleted.
        assert_eq!(value_of(&gateway, &wallet, "k7").await, 67);
        store(&gateway, &wallet, "k7", json!("new")).await;
        assert_eq!(delete(&gateway, &wallet, "k8").await.status, 200);
        assert_eq!(list(&gateway, &wallet).await["keys"], 59);
        gateway.clock().advance(RESEALED).await;
        TestGateway::eventually(Duration::from_secs(20), "rows are sealed again", async || {
            stale_rows(&gateway).await == 0
        })
        .await;

        let gateway = gateway.restart_after(set_keys!(NEWER, [])).await;
        assert_eq!(value_of(&gateway, &wallet, "k7").await, "new");
        assert_eq!(value_of(&gateway, &wallet, "k59").await, 119);
        let listed = list(&gateway, &wallet).await;
        assert_eq!((&listed["keys"], listed["items"].as_array().unwrap().len()), (&json!(59), 59));
        store(&gateway, &wallet, "k59", json!("replaced")).await;
        assert_eq!(list(&gateway, &wallet).await["keys"], 59, "no second row for a name");
        let after = gateway.rows("SELECT record_hash FROM memory_records ORDER BY seq").await;
        assert_eq!(after[..before.len()], before[..], "the log is as it was");
        finish(gateway).await;
    }
}

/// The names in records open after a rotation, too.
#[tokio::test]
async fn records_reveal_their_keys_after_a_rotation() {
    for site in sites().await {
        site.write(&owner(), 2).await;
        let super::fixture::Site { gateway, chain } = site;
        let file = gateway.gateway().config.data_dir.join("secrets.key");
        let key = fs::read_to_string(file).unwrap().trim().to_owned();
        let gateway = gateway.restart_after(set_keys!(NEWER, [key.as_str()])).await;
        gateway.clock().advance(RESEALED).await;
        TestGateway::eventually(Duration::from_secs(20), "rows are sealed again", async || {
            stale_rows(&gateway).await == 0
        })
        .await;
        let gateway = gateway.restart_after(set_keys!(NEWER, [])).await;
        gateway.indexed(&chain).await;
        let site = super::fixture::Site { gateway, chain };
        let batch = site.anchor(&owner(), json!({ "agentId": 1 })).await;
        assert_eq!(batch.status, 201, "{}", batch.text());
        assert_eq!(batch.json()["records"][1]["key"], "r2");
        site.close().await;
    }
}

#[tokio::test]
async fn a_gateway_without_the_key_says_which_is_missing() {
    let wallet = Wallet::new(1);
    for builder in builders().await {
        let gateway = builder.configure(set_keys!(KEY, [])).start().await;
        store(&gateway, &wallet, "k", json!("kept")).await;
        // Rotated, and the old key removed before the rows were sealed again.
        let gateway = gateway.restart_after(set_keys!(NEWER, [KEY])).await;
        let gateway = gateway.restart_after(set_keys!(NEWER, [])).await;
        let listed = super::send_headers(&gateway, ("GET", super::MEMORY), &wallet, ("memory.get", ""), "").await;
        assert_eq!(refusal(&listed), (503, "disabled".to_owned()), "{}", listed.text());
        assert!(listed.text().contains("was sealed with the secrets key"), "{}", listed.text());
        // The tag of the name is one of the missing key as well.
        assert_eq!(get(&gateway, &wallet, "k").await.status, 404);
        // With the key listed again nothing is lost.
        let gateway = gateway.restart_after(set_keys!(NEWER, [KEY])).await;
        assert_eq!(value_of(&gateway, &wallet, "k").await, "kept");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_key_file_that_is_gone_keeps_the_plugin_off() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        store(&gateway, &wallet, "k", json!("kept")).await;
        let file = gateway.gateway().config.data_dir.join("secrets.key");
        let key = fs::read_to_string(&file).unwrap();
        let gateway = gateway.restart_after(|_| fs::remove_file(&file).unwrap()).await;
        let report = gateway.reports().await.into_iter().find(|report| report.name == "memory").unwrap();
        assert!(report.is_failure() && report.reason.contains("which is not here: copy its file"), "{report:?}");
        assert!(!get(&gateway, &wallet, "k").await.is_success());
        let gateway = gateway
            .restart_after(|config| {
                config.secrets.key = Some(key.trim().to_owned().into());
            })
            .await;
        assert_eq!(value_of(&gateway, &wallet, "k").await, "kept");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn what_has_expired_is_pruned() {
    let wallet = Wallet::new(1);
    for gateway in gateways().await {
        store(&gateway, &wallet, "k", json!(1)).await;
        for (bytes, expires_at) in [(1, gateway.now_s() + 60), (2, gateway.now_s() + 365 * 86_400)] {
            let values = format!("('{}', {bytes}, 0, {expires_at}, '', '')", wallet.address());
            gateway
                .execute(&format!(
                    "INSERT INTO memory_credits (address, bytes, created_at, expires_at, payer, nonce) VALUES {values}"
                ))
                .await;
        }
        assert_eq!(list(&gateway, &wallet).await["paidBytes"], 3);
        gateway.clock().advance(Duration::from_secs(60)).await;
        assert_eq!(list(&gateway, &wallet).await["paidBytes"], 2, "expired, pruned or not");
        gateway.clock().advance(Duration::from_secs(25 * 60 * 60)).await;
        TestGateway::eventually(Duration::from_secs(20), "expired rows are deleted", async || {
            gateway.rows("SELECT bytes FROM memory_credits").await == ["Int(2)"]
                && gateway.rows("SELECT bytes FROM memory_uploads").await.is_empty()
        })
        .await;
        finish(gateway).await;
    }
}
