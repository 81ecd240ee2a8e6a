//! `GET /api/artifacts/{id}`

use super::{finish, gateways, path_of, publish_named, read, star};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_viewer_sees_whether_it_starred() {
    for gateway in gateways().await {
        let artifact = publish_named(&gateway, &Wallet::new(1), "n").await;
        let (bob, carol) = (Wallet::new(2), Wallet::new(3));
        star(&gateway, &bob, artifact).await;
        for (viewer, starred) in [(&bob, true), (&carol, false)] {
            for spelt in [viewer.address().to_owned(), viewer.address().to_lowercase()] {
                let detail = read(&gateway, &format!("{}?viewer={spelt}", path_of(artifact))).await;
                assert_eq!((&detail["starred"], &detail["viewer"]), (&json!(starred), &json!(viewer.address())));
            }
        }
        for query in ["", "?viewer=", "?viewer=bob", "?viewer=0x12"] {
            let detail = read(&gateway, &format!("{}{query}", path_of(artifact))).await;
            assert!(detail.get("starred").is_none() && detail.get("viewer").is_none(), "{query}: {detail}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn at_most_a_hundred_stargazers_are_named() {
    for gateway in gateways().await {
        let artifact = publish_named(&gateway, &Wallet::new(1), "n").await;
        for number in 2..=103 {
            assert_eq!(star(&gateway, &Wallet::new(number), artifact).await.status, 200);
        }
        let detail = read(&gateway, &path_of(artifact)).await;
        let stargazers = detail["stargazers"].as_array().unwrap();
        assert_eq!((&detail["stars"], stargazers.len()), (&json!(102), 100));
        assert_eq!(stargazers[0]["address"], Wallet::new(103).address());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_unknown_artifact_is_404() {
    for gateway in gateways().await {
        for unknown in ["1", "0", "-1", "abc", "1.5", "99999999999999999999", "%00"] {
            let response = gateway.get(&format!("/api/artifacts/{unknown}")).await;
            assert_eq!((response.status, response.code()), (404, "not_found".to_owned()), "{unknown}");
        }
        finish(gateway).await;
    }
}
