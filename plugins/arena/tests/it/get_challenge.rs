//! `GET /api/arena/challenges/{id}`

use super::{CHALLENGES, owner, refusal, refused, sites};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn submissions_are_ranked() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let mut submissions = Vec::new();
        for number in 30..36 {
            submissions.push(site.submitted(challenge, &Wallet::new(number)).await);
            site.wait(2).await;
        }
        let [silent, two_of_five, one_of_ten, agents_five, best, none] = submissions[..] else { panic!("six") };
        // Ten points each: from two voters of weight 1, one of weight 1, one of weight 2; then twelve points.
        for (submission, voter, score) in [
            (two_of_five, Wallet::new(40), 5),
            (two_of_five, Wallet::new(41), 5),
            (one_of_ten, Wallet::new(42), 10),
            (agents_five, owner(1), 5),
            (best, owner(2), 6),
        ] {
            site.voted(submission, &voter, score).await;
        }
        let detail = site.challenge(challenge).await;
        let ranking: Vec<_> =
            detail["submissions"].as_array().unwrap().iter().map(|view| view["id"].as_i64().unwrap()).collect();
        // Of ten points, the mean of ten is first; of the same mean and weight, more votes; if all is equal, the older one.
        assert_eq!(ranking, [best, one_of_ten, two_of_five, agents_five, silent, none]);
        let ranks: Vec<_> =
            detail["submissions"].as_array().unwrap().iter().map(|view| view["rank"].as_i64().unwrap()).collect();
        assert_eq!(ranks, [1, 2, 3, 4, 5, 6]);
        // The response to a vote has the new rank.
        assert_eq!(site.voted(agents_five, &Wallet::new(43), 10).await["rank"], 1);
        assert_eq!(site.voted(silent, &Wallet::new(44), 1).await["rank"], 5);
        site.close().await;
    }
}

#[tokio::test]
async fn a_viewer_sees_its_votes() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let (one, two) =
            (site.submitted(challenge, &Wallet::new(5)).await, site.submitted(challenge, &Wallet::new(6)).await);
        let carol = Wallet::new(7);
        site.voted(two, &carol, 4).await;
        for spelt in [carol.address().to_owned(), carol.address().to_lowercase()] {
            let detail = site.read(&format!("{CHALLENGES}/{challenge}?viewer={spelt}")).await;
            assert_eq!(detail["viewer"], carol.address());
            assert_eq!(detail["myVotes"], json!({ two.to_string(): 4 }));
            let votes: Vec<_> = detail["submissions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|view| json!([view["id"], view["myVote"]]))
                .collect();
            assert_eq!(votes, [json!([two, 4]), json!([one, null])]);
            assert!(detail["submissions"][1].as_object().unwrap().contains_key("myVote"));
        }
        for query in ["", "?viewer=carol", "?viewer="] {
            let detail = site.read(&format!("{CHALLENGES}/{challenge}{query}")).await;
            assert!(detail.get("viewer").is_none() && detail.get("myVotes").is_none(), "{detail}");
            assert!(detail["submissions"][0].get("myVote").is_none(), "{detail}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn the_first_read_after_the_end_freezes_the_winner_once() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let (one, two) =
            (site.submitted(challenge, &Wallet::new(5)).await, site.submitted(challenge, &Wallet::new(6)).await);
        site.voted(one, &Wallet::new(7), 3).await;
        site.voted(two, &owner(1), 3).await;
        let ends_at = site.challenge(challenge).await["endsAt"].as_i64().unwrap();
        site.wait(ends_at - site.gateway.now_s() + 100).await;
        // Concurrent reads of the record and of the list, and votes.
        let reads = (0..20).map(|_| async { site.challenge(challenge).await["winnerSubmissionId"].clone() });
        let lists = (0..20).map(|_| async { site.read(CHALLENGES).await["items"][0]["winnerSubmissionId"].clone() });
        let voters: Vec<Wallet> = (50..60).map(Wallet::new).collect();
        let votes = voters.iter().map(|voter| async { site.vote(one, voter, json!(10)).await.status });
        let (reads, lists, votes) = futures_util::future::join3(
            futures_util::future::join_all(reads),
            futures_util::future::join_all(lists),
            futures_util::future::join_all(votes),
        )
        .await;
        assert!(reads.iter().chain(&lists).all(|winner| *winner == two), "{reads:?} {lists:?}");
        assert_eq!(votes, [409; 10]);
        let events = site.gateway.events().await;
        let closed: Vec<_> = events.iter().filter(|event| event.kind == "arena.close").collect();
        let [closed] = closed[..] else { panic!("one end: {closed:?}") };
        assert_eq!((closed.ts, closed.actor.as_deref()), (ends_at, Some(super::creator().address())));
        assert_eq!(
            closed.data,
            json!({
                "challengeId": challenge, "title": "c", "prizeWei": "0", "winnerSubmissionId": two,
                "winner": Wallet::new(6).address(), "winnerAgentId": null, "submissions": 2
            })
        );
        let site = site.restarted().await;
        let detail = site.challenge(challenge).await;
        assert_eq!((&detail["winner"]["id"], &detail["closedAt"]), (&json!(two), &json!(ends_at)));
        assert_eq!(detail["winner"], detail["submissions"][0]);
        site.close().await;
    }
}

#[tokio::test]
async fn without_a_vote_nobody_wins() {
    for site in sites().await {
        let challenge = site.open("c").await;
        site.submitted(challenge, &Wallet::new(5)).await;
        site.wait(super::HOUR).await;
        let detail = site.challenge(challenge).await;
        assert_eq!(
            (&detail["status"], &detail["winner"], &detail["winnerSubmissionId"]),
            (&json!("closed"), &json!(null), &json!(null))
        );
        assert_eq!(site.published("arena.close").await[0]["winner"], json!(null));
        site.close().await;
    }
}

#[tokio::test]
async fn an_unknown_challenge_is_404() {
    for site in sites().await {
        for unknown in ["1", "0", "-1", "abc", "1.5", "99999999999999999999", "%00"] {
            let response = site.gateway.get(&format!("{CHALLENGES}/{unknown}")).await;
            assert_eq!(refusal(&response), refused(404, "not_found"), "{unknown}");
        }
        site.close().await;
    }
}
