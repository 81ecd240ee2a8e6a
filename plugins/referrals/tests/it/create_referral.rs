//! `POST /api/referrals`.

use super::{
    REFERRALS, REWARD, agent, each, is, newcomer, paid_job, referrer, refusal,
    script::{self, transferred_by},
};
use futures_util::future::join_all;
use plugin_testing::{Wallet, json};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn a_claim_is_recorded_and_published() {
    each(json!({}), async |site| {
        let response = site.claim(&newcomer(), 1, 2).await;
        assert_eq!(response.status, 201, "{}", response.text());
        let author = |wallet: &Wallet| json!({ "address": wallet.address(), "name": null, "agentId": null });
        let expected = json!({
            "newAgentId": 1, "newAgentName": "agent 1", "refAgentId": 2, "refAgentName": "agent 2",
            "newOwner": author(&newcomer()), "refOwner": author(&referrer()), "ts": site.gateway.now_s(),
            "status": "registered", "eligibleAt": null, "jobId": null, "paidAt": null, "txNew": null, "txRef": null,
            "rewardWei": REWARD, "reason": null,
        });
        assert_eq!(response.json(), expected);
        assert_eq!(site.referral(1).await, expected);
        let data = json!({
            "newAgentId": 1, "newAgentName": "agent 1", "refAgentId": 2, "refAgentName": "agent 2", "rewardWei": REWARD,
        });
        assert_eq!(site.published().await, [("referral.claim".to_owned(), data)]);
        let events = site.gateway.events().await;
        let event = events.iter().find(|event| event.kind == "referral.claim").unwrap();
        assert_eq!(event.actor.as_deref(), Some(newcomer().address()));
        assert_eq!(
            event.subject.as_ref().map(|subject| format!("{} {}", subject.kind, subject.id)).unwrap(),
            "agent 1"
        );
    })
    .await;
}

#[tokio::test]
async fn refusals_come_in_their_order() {
    each(json!({}), async |site| {
        let refused = async |wallet: &Wallet, new, referrer| refusal(&site.claim(wallet, new, referrer).await);
        for payload in [json!({}), json!({ "newAgentId": "x", "ref": 2 }), json!({ "newAgentId": 1, "ref": -2 })] {
            let response = site.gateway.post_signed(REFERRALS, &newcomer(), "referral.claim", payload).await;
            assert_eq!(refusal(&response), is(400, "bad_request"));
        }
        // Each has all the faults that come later.
        assert_eq!(refused(&referrer(), 9, 9).await, is(404, "not_found"));
        assert_eq!(refused(&referrer(), 1, 1).await, is(403, "not_owner"));
        assert_eq!(refused(&newcomer(), 1, 1).await, is(400, "self_referral"));
        site.claimed().await;
        site.gateway.clock().advance(31 * DAY).await;
        assert_eq!(refused(&newcomer(), 1, 9).await, is(404, "not_found"));
        assert_eq!(refused(&newcomer(), 1, 3).await, is(400, "same_owner"));
        assert_eq!(refused(&newcomer(), 1, 2).await, is(409, "too_late"));
        assert_eq!(refused(&newcomer(), 3, 2).await, is(409, "too_late"));
        let unsigned = site.gateway.send("POST", REFERRALS, &[("content-type", "application/json")], "{}").await;
        assert!(unsigned.status == 400 || unsigned.status == 401, "{}", unsigned.text());
        assert_eq!(site.published().await.len(), 1, "a refusal publishes nothing");
    })
    .await;
}

#[tokio::test]
async fn a_second_claim_is_refused_and_changes_nothing() {
    each(json!({}), async |site| {
        site.mine(agent(4, &Wallet::new(14))).await;
        site.claimed().await;
        let before = site.referral(1).await;
        assert_eq!(refusal(&site.claim(&newcomer(), 1, 4).await), is(409, "already_referred"));
        site.gateway.clock().advance(Duration::from_secs(1)).await;
        assert_eq!(refusal(&site.claim(&newcomer(), 1, 2).await), is(409, "already_referred"));
        assert_eq!(site.referral(1).await, before);
    })
    .await;
}

#[tokio::test]
async fn the_window_ends_30_days_after_the_registration() {
    each(json!({}), async |site| {
        let registered = "SELECT registered_at FROM referrals_agents WHERE id = 1";
        let registered = site.gateway.rows(registered).await[0].replace("Int(", "").replace(')', "");
        let registered: i64 = registered.parse().unwrap();
        let left_s = registered + 2_592_000 - site.gateway.now_s();
        site.gateway.clock().advance(Duration::from_secs(left_s.unsigned_abs())).await;
        site.claimed().await;
        site.gateway.clock().advance(Duration::from_secs(1)).await;
        assert_eq!(refusal(&site.claim(&newcomer(), 3, 2).await), is(409, "too_late"));
    })
    .await;
}

#[tokio::test]
async fn of_many_claims_at_once_one_is_recorded() {
    each(json!({}), async |site| {
        for id in 20..40 {
            site.chain.mine(agent(id, &referrer()));
        }
        site.gateway.indexed(&site.chain).await;
        let wallet = newcomer();
        let answers = join_all((20..40).map(|id| site.claim(&wallet, 1, id))).await;
        let recorded = answers.iter().filter(|answer| answer.status == 201).count();
        assert_eq!(recorded, 1);
        assert!(answers.iter().all(|answer| [201, 409].contains(&answer.status)), "{:?}", answers[0].text());
        assert_eq!(site.published().await.len(), 1);
        assert_eq!(site.gateway.rows("SELECT count(*) FROM referrals_claims").await, ["Int(1)"]);
    })
    .await;
}

#[tokio::test]
async fn a_job_from_before_the_claim_counts_at_once() {
    each(json!({}), async |site| {
        site.mine(paid_job(7, 1)).await;
        let referral = site.claim(&newcomer(), 1, 2).await.json();
        assert_eq!((&referral["status"], &referral["jobId"]), (&json!("pending"), &json!(7)));
        assert!(referral["eligibleAt"].is_i64());
    })
    .await;
}

#[tokio::test]
async fn the_owners_of_the_claim_stay() {
    each(json!({}), async |site| {
        site.claimed().await;
        let buyer = Wallet::new(70);
        site.mine(vec![
            transferred_by(1, newcomer().address(), buyer.address()),
            transferred_by(2, referrer().address(), &script::account(71)),
        ])
        .await;
        let referral = site.referral(1).await;
        assert_eq!(referral["newOwner"]["address"], newcomer().address());
        assert_eq!(referral["refOwner"]["address"], referrer().address());
        assert_eq!(refusal(&site.claim(&newcomer(), 1, 3).await), is(403, "not_owner"), "of the owner of now");
        assert_eq!(site.claim(&newcomer(), 3, 2).await.status, 201, "it is another agent's owner still");
        let board = site.read("/api/referrals/leaderboard").await;
        assert_eq!(board["items"][0]["owner"]["address"], script::account(71));
    })
    .await;
}
