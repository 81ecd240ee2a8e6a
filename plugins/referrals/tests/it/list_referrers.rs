//! `GET /api/referrals/leaderboard`.

use super::{REWARD, Site, agent, each, each_with, paid_job, paying, referrer};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn an_empty_board_says_what_is_promised() {
    each(paying(), async |site| {
        let expected = json!({
            "items": [], "rewardWei": REWARD, "rewardFmx": "10.0", "minJobFmx": "5.0",
            "rules": { "minJobFmx": "5.0", "clientMustBeThirdParty": true }, "payoutEnabled": true,
            "totals": { "referred": 0, "paid": 0, "pending": 0 }, "recent": [],
        });
        assert_eq!(site.read("/api/referrals/leaderboard").await, expected);
    })
    .await;
}

async fn pays(site: &Site) -> bool {
    site.read("/api/referrals/leaderboard").await["payoutEnabled"].as_bool().unwrap()
}

#[tokio::test]
async fn without_budget_or_key_nobody_is_paid() {
    each(json!({}), async |site| assert!(!pays(site).await)).await;
    let small = json!({ "budget_wei": "19999999999999999999" });
    each(small, async |site| assert!(!pays(site).await, "it has no room for two rewards")).await;
    let no_key = |builder: plugin_testing::Builder| {
        builder.configure(|config| {
            config.signers.remove("growth");
        })
    };
    each_with(paying(), no_key, async |site| {
        assert!(!pays(site).await);
        site.claimed().await;
        site.mine(paid_job(1, 1)).await;
        site.finalize().await;
        site.after_run().await;
        assert_eq!(site.status(1).await, "pending");
        assert_eq!(site.service().await["detail"], "the role growth has no key: nobody is paid");
    })
    .await;
}

#[tokio::test]
async fn those_who_earned_most_are_first() {
    each(json!({}), async |site| {
        // Agent 2 brought three, of which one worked; agent 4 two, both worked; agent 5 two, one worked.
        for (referrer, owner) in [(4, 14), (5, 15)] {
            site.chain.mine(agent(referrer, &Wallet::new(owner)));
        }
        let brought = [(101, 2), (102, 2), (103, 2), (104, 4), (105, 4), (106, 5), (107, 5)];
        for (id, _) in brought {
            site.chain.mine(agent(id, &Wallet::new(id)));
        }
        site.gateway.indexed(&site.chain).await;
        for (id, by) in brought {
            assert_eq!(site.claim(&Wallet::new(id), id.cast_signed(), by).await.status, 201);
        }
        for id in [101, 104, 105, 106] {
            site.chain.mine(paid_job(id, id));
        }
        site.gateway.indexed(&site.chain).await;
        let board = site.read("/api/referrals/leaderboard").await;
        let line = |item: &plugin_testing::Value| {
            let number = |name: &str| item[name].as_i64().unwrap();
            (number("rank"), number("agentId"), number("referred"), number("earned"), number("pending"))
        };
        let lines: Vec<_> = board["items"].as_array().unwrap().iter().map(line).collect();
        assert_eq!(lines, [(1, 4, 2, 2, 2), (2, 2, 3, 1, 1), (3, 5, 2, 1, 1)]);
        let second = &board["items"][1];
        assert_eq!(
            (&second["agentName"], &second["owner"]["address"]),
            (&json!("agent 2"), &json!(referrer().address()))
        );
        assert_eq!((&second["paidWei"], &second["earnedWei"]), (&json!("0"), &json!(REWARD)));
        assert_eq!(board["totals"], json!({ "referred": 7, "paid": 0, "pending": 4 }));
        let recent: Vec<i64> =
            board["recent"].as_array().unwrap().iter().map(|item| item["newAgentId"].as_i64().unwrap()).collect();
        assert_eq!(recent, [107, 106, 105, 104, 103, 102, 101]);
        let first = site.read("/api/referrals/leaderboard?limit=1").await;
        assert_eq!((first["items"].as_array().unwrap().len(), &first["totals"]), (1, &board["totals"]));
    })
    .await;
}
