//! `POST /api/arena/submissions/{id}/vote`

use super::{
    fixture::{PAUSED, status},
    owner, refusal, refused, sites,
};
use plugin_testing::{Value, Wallet, json};

#[tokio::test]
async fn a_vote_weighs_two_for_who_owns_an_active_agent() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let submission = site.submitted(challenge, &Wallet::new(5)).await;
        let first = site.voted(submission, &Wallet::new(6), 7).await;
        assert_eq!(first["yourVote"], json!({ "score": 7, "weight": 1, "updated": false }));
        let second = site.voted(submission, &owner(1), 10).await;
        assert_eq!(second["yourVote"], json!({ "score": 10, "weight": 2, "updated": false }));
        let sums = |view: &Value| json!([view["votes"], view["weightSum"], view["points"], view["score"]]);
        assert_eq!(sums(&second), json!([2, 3, 27, 9.0]));
        // Voting again replaces the vote, with the current weight.
        site.mine(vec![status(1, PAUSED), status(3, PAUSED)]).await;
        site.wait(2).await;
        let third = site.voted(submission, &owner(1), 1).await;
        assert_eq!(third["yourVote"], json!({ "score": 1, "weight": 1, "updated": true }));
        assert_eq!(sums(&third), json!([2, 2, 8, 4.0]));
        let detail = site.challenge(challenge).await;
        assert_eq!(detail["voteCount"], 2);
        let mut expected = third.clone();
        expected.as_object_mut().unwrap().remove("yourVote");
        assert_eq!(detail["submissions"], json!([expected]));
        let published = site.published("arena.vote").await;
        let data = |score: i64, weight: i64, updated: bool| {
            json!({
                "challengeId": challenge, "title": "c", "submissionId": submission, "score": score, "weight": weight,
                "updated": updated
            })
        };
        assert_eq!(published, [data(7, 1, false), data(10, 2, false), data(1, 1, true)]);
        site.close().await;
    }
}

#[tokio::test]
async fn a_score_is_1_to_10_and_not_for_oneself() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let carol = Wallet::new(5);
        let submission = site.submitted(challenge, &carol).await;
        site.wait(2).await;
        for score in [json!(0), json!(11), json!(-1), json!(1.5), json!("5"), json!(null), json!([5]), json!(true)] {
            let response = site.vote(submission, &Wallet::new(6), score.clone()).await;
            assert_eq!(refusal(&response), refused(400, "bad_request"), "{score}");
        }
        let own = site.vote(submission, &carol, json!(10)).await;
        assert_eq!(refusal(&own), refused(403, "self_vote"));
        assert_eq!(site.challenge(challenge).await["voteCount"], 0);
        for unknown in ["999999", "0", "abc"] {
            let response = site.gateway.send("POST", &format!("/api/arena/submissions/{unknown}/vote"), &[], "x").await;
            assert_eq!(refusal(&response), refused(404, "not_found"), "{unknown}");
        }
        let response = site.gateway.send("POST", &format!("/api/arena/submissions/{submission}/vote"), &[], "{}").await;
        assert_eq!(response.status, 401, "{}", response.text());
        site.close().await;
    }
}

#[tokio::test]
async fn a_vote_counts_until_the_end_and_not_at_it() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let submission = site.submitted(challenge, &Wallet::new(5)).await;
        let ends_at = site.challenge(challenge).await["endsAt"].as_i64().unwrap();
        site.wait(ends_at - site.gateway.now_s() - 1).await;
        site.voted(submission, &Wallet::new(6), 7).await;
        site.wait(1).await;
        assert_eq!(site.gateway.now_s(), ends_at);
        // A vote is the first request after the end: it closes the challenge and is refused, with any score.
        for score in [json!(9), json!(99)] {
            let late = site.vote(submission, &Wallet::new(7), score).await;
            assert_eq!(refusal(&late), refused(409, "closed"));
        }
        assert_eq!(site.published("arena.close").await.len(), 1);
        let detail = site.challenge(challenge).await;
        assert_eq!(
            (&detail["status"], &detail["closedAt"], &detail["voteCount"]),
            (&json!("closed"), &json!(ends_at), &json!(1))
        );
        assert_eq!((&detail["winnerSubmissionId"], &detail["winner"]["points"]), (&json!(submission), &json!(7)));
        site.close().await;
    }
}

#[tokio::test]
async fn of_the_same_vote_many_times_at_once_one_counts() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let submission = site.submitted(challenge, &Wallet::new(5)).await;
        let voter = Wallet::new(6);
        let responses = futures_util::future::join_all((0..50).map(|_| site.vote(submission, &voter, json!(8)))).await;
        let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (200, [409; 49].as_slice()));
        let site = site.restarted().await;
        let ranked = site.challenge(challenge).await["submissions"][0].clone();
        assert_eq!(json!([ranked["votes"], ranked["weightSum"], ranked["points"]]), json!([1, 1, 8]));
        assert_eq!(site.published("arena.vote").await.len(), 1);
        site.close().await;
    }
}

#[tokio::test]
async fn votes_of_many_at_once_are_all_counted() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let submission = site.submitted(challenge, &Wallet::new(5)).await;
        let voters: Vec<Wallet> = (20..50).map(Wallet::new).collect();
        let votes = voters.iter().zip((1..=10).cycle()).map(|(voter, score)| site.voted(submission, voter, score));
        futures_util::future::join_all(votes).await;
        let detail = site.challenge(challenge).await;
        let ranked = &detail["submissions"][0];
        assert_eq!(json!([ranked["votes"], ranked["weightSum"], ranked["points"]]), json!([30, 30, 165]));
        assert_eq!((&detail["voteCount"], &ranked["score"]), (&json!(30), &json!(5.5)));
        site.close().await;
    }
}
