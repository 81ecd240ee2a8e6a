//! Two gateways on one database close a challenge consistently, also when their clocks differ.

use super::{CHALLENGES, CONTRACTS, Site, plugins, sites};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

/// A second gateway on the database of a site; `None` on SQLite, which has one writer.
async fn replica(site: &Site) -> Option<TestGateway> {
    if site.gateway.dialect() != "postgres" {
        return None;
    }
    let url = site.gateway.gateway().config.database.url.clone();
    let builder = plugins(TestGateway::builder()).configure(|config| config.database.url = url);
    Some(builder.chain(&site.chain, &CONTRACTS).start().await)
}

#[tokio::test]
async fn votes_at_one_gateway_and_the_end_at_the_other_make_one_ranking() {
    for site in sites().await {
        let Some(other) = replica(&site).await else { continue };
        let challenge = site.open("c").await;
        let (one, two) =
            (site.submitted(challenge, &Wallet::new(5)).await, site.submitted(challenge, &Wallet::new(6)).await);
        site.voted(two, &Wallet::new(7), 5).await;
        // The other gateway's clock is past the end, this one's is a second before it.
        let ends_at = site.challenge(challenge).await["endsAt"].as_i64().unwrap();
        site.wait(ends_at - site.gateway.now_s() - 1).await;
        other.clock().advance(Duration::from_secs((ends_at - other.now_s()).unsigned_abs())).await;
        let path = format!("{CHALLENGES}/{challenge}");
        let voters: Vec<Wallet> = (50..80).map(Wallet::new).collect();
        let votes = voters.iter().map(|voter| async { site.vote(one, voter, json!(1)).await.status });
        let reads = (0..20).map(|_| async { other.get(&path).await.json()["winnerSubmissionId"].clone() });
        let (votes, reads) =
            futures_util::future::join(futures_util::future::join_all(votes), futures_util::future::join_all(reads))
                .await;
        // Exactly the votes that were accepted are in the ranking, and that ranking decided.
        let counted = votes.iter().filter(|status| **status == 200).count();
        assert!(votes.iter().all(|status| matches!(status, 200 | 409)), "{votes:?}");
        let detail = site.challenge(challenge).await;
        assert_eq!(detail, other.get(&path).await.json());
        assert_eq!((&detail["status"], &detail["closedAt"]), (&json!("closed"), &json!(ends_at)));
        assert_eq!(detail["voteCount"], counted + 1);
        assert_eq!(detail["winnerSubmissionId"], detail["submissions"][0]["id"]);
        assert!(reads.iter().all(|winner| *winner == detail["winnerSubmissionId"]), "{reads:?}");
        assert_eq!(site.published("arena.close").await.len(), 1);
        assert_eq!(other.faults().await, Vec::<String>::new());
        other.stop().await;
        site.close().await;
    }
}
