//! `GET /api/network/similar/{agent}`.

use super::{MAX, NETWORK, account_created, agent, each, job, named, priced};
use plugin_testing::{Value, json};

fn similar(agent: &str) -> String {
    format!("{NETWORK}/similar/{agent}")
}

fn ids(list: &Value) -> Vec<i64> {
    list["items"].as_array().unwrap().iter().map(|item| item["agentId"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn agents_are_similar_by_capabilities_clients_and_price() {
    let logs = [
        (1..=8).flat_map(|id| agent(id, 10 + id)).collect(),
        vec![priced(1, "100"), priced(2, "200"), priced(3, "201"), priced(4, "50"), priced(5, "49"), priced(6, MAX)],
        vec![priced(7, "0"), priced(8, "1000"), account_created(50, 60)],
        // Clients 50 (once by its account) and 51 are those of agents 1 and 5; agent 6 shares one of them.
        job(1, 1, 50, "1", 0),
        job(2, 1, 51, "1", 0),
        job(3, 5, 60, "1", 0),
        job(4, 5, 51, "1", 0),
        job(5, 6, 51, "1", 4),
        job(6, 6, 52, "1", 0),
    ];
    each(logs.concat(), async |site| {
        site.declare(1, &["Translate", "sum up", "<b>ä😀</b>"]).await;
        site.declare(3, &["translate", "SUM UP", "dig"]).await;
        site.declare(4, &["<b>Ä😀</b>"]).await;
        site.declare(8, &["dig"]).await;
        site.knows_capabilities(8).await;
        let list = site.read(&similar("1")).await;
        // Ranks: 5 has 4, 6 has 2, 3 has 3 × 2/4, 4 has 3 × 1/3 + 0.5, 2 has 0.5; 7 and 8 have nothing in common with it.
        assert_eq!(ids(&list), [5, 6, 3, 4, 2]);
        assert_eq!(list["total"], 5);
        let about = ["agentId", "name", "capabilities"].map(|name| list[name].clone());
        assert_eq!(about, [json!(1), json!("Agent 1"), json!(["translate", "sum up", "<b>ä😀</b>"])]);
        assert!(list["method"]["ranking"].is_string(), "{list}");
        let expected = json!({
            "agentId": 4, "name": "Agent 4", "slug": "agent-4", "owner": super::account(14), "status": "Active",
            "capabilities": ["<b>ä😀</b>"], "sharedCapabilities": ["<b>ä😀</b>"], "capabilityJaccard": 0.33,
            "clientsInCommon": 0, "coClientProvenance": null, "pricePerJobWei": "50", "samePriceBand": true, "jobsCompleted": 0,
            "ratingAvg": null, "cv": null, "reason": "1 shared capability (<b>ä😀</b>); price within a factor of two",
        });
        assert_eq!(list["items"][3], expected);
        let five = &list["items"][0];
        assert_eq!((&five["clientsInCommon"], &five["coClientProvenance"]), (&json!(2), &json!("chain")));
        assert_eq!(five["reason"], "2 clients in common");
        assert_eq!(ids(&site.read(&format!("{}?limit=2&unknown=1", similar("agent-1"))).await), [5, 6]);
        assert_eq!(ids(&site.read(&similar("AGENT-7")).await), Vec::<i64>::new(), "nothing else is free");
    })
    .await;
}

#[tokio::test]
async fn of_agents_with_one_slug_the_oldest_is_meant() {
    each([named(1, 11, "Same"), named(2, 12, "same!"), named(3, 13, "😀")].concat(), async |site| {
        let list = site.read(&similar("same")).await;
        assert_eq!((&list["agentId"], ids(&list)), (&json!(1), vec![2, 3]));
        assert_eq!(site.read(&similar("agent")).await["name"], "😀");
        for unknown in ["4", "nobody", "99999999999999999999", "-1", "%00", "%F0%9F%98%80"] {
            let response = site.gateway.get(&similar(unknown)).await;
            assert_eq!((response.status, response.code().as_str()), (404, "not_found"), "{unknown}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_crowd_is_cut_to_a_bounded_number() {
    // 300 agents at the same price with the same capability, of which the first are compared.
    let crowd = (1..=300).map(|id| super::script::registered(id, id, "x", "").swap_remove(0)).collect();
    each(crowd, async |site| {
        let insert = "INSERT INTO agents_cards (agent_id, endpoint, checked_at, online, card, capabilities) \
             SELECT id, '', 0, 1, '{}', '[\"dig\"]' FROM agents_agents WHERE true \
             ON CONFLICT (agent_id) DO UPDATE SET capabilities = excluded.capabilities";
        site.gateway.execute(insert).await;
        site.knows_capabilities(300).await;
        let list = site.read(&format!("{}?limit=99", similar("150"))).await;
        assert_eq!(ids(&list), (1..=25).collect::<Vec<_>>());
        // 100 by the capability, 50 next to it by the price: some are both.
        let total = list["total"].as_u64().unwrap();
        assert!((100..=200).contains(&total), "{total}");
    })
    .await;
}
