//! `GET /api/artifacts/{id}`

use super::{finish, houses, path_of, publish_named, read, star};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_viewer_sees_whether_the_star_is_hers() {
    for house in houses().await {
        let artifact = publish_named(&house, &Wallet::new(1), "n").await;
        let (bob, carol) = (Wallet::new(2), Wallet::new(3));
        star(&house, &bob, artifact).await;
        for (viewer, starred) in [(&bob, true), (&carol, false)] {
            for spelt in [viewer.address().to_owned(), viewer.address().to_lowercase()] {
                let detail = read(&house, &format!("{}?viewer={spelt}", path_of(artifact))).await;
                assert_eq!((&detail["starred"], &detail["viewer"]), (&json!(starred), &json!(viewer.address())));
            }
        }
        for query in ["", "?viewer=", "?viewer=bob", "?viewer=0x12"] {
            let detail = read(&house, &format!("{}{query}", path_of(artifact))).await;
            assert!(detail.get("starred").is_none() && detail.get("viewer").is_none(), "{query}: {detail}");
        }
        finish(house).await;
    }
}

#[tokio::test]
async fn at_most_a_hundred_stargazers_are_named() {
    for house in houses().await {
        let artifact = publish_named(&house, &Wallet::new(1), "n").await;
        for number in 2..=103 {
            assert_eq!(star(&house, &Wallet::new(number), artifact).await.status, 200);
        }
        let detail = read(&house, &path_of(artifact)).await;
        let stargazers = detail["stargazers"].as_array().unwrap();
        assert_eq!((&detail["stars"], stargazers.len()), (&json!(102), 100));
        assert_eq!(stargazers[0]["address"], Wallet::new(103).address());
        finish(house).await;
    }
}

#[tokio::test]
async fn what_is_no_artifact_is_404() {
    for house in houses().await {
        for unknown in ["1", "0", "-1", "abc", "1.5", "99999999999999999999", "%00"] {
            let answer = house.get(&format!("/api/artifacts/{unknown}")).await;
            assert_eq!((answer.status, answer.code()), (404, "not_found".to_owned()), "{unknown}");
        }
        finish(house).await;
    }
}
