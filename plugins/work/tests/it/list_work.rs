//! `GET /api/work`

use super::{NO_CALLS, Site, WORK, all, owner, poster, script::completed, sites, sites_of};
use plugin_testing::{ScriptedChain, Value, json};

const FEED_AND_LIST: [&str; 2] = ["/api/work/feed", WORK];

async fn item(site: &Site, id: &str) -> Value {
    let list = site.read(WORK).await;
    list["items"].as_array().unwrap().iter().find(|item| item["id"] == id).cloned().unwrap_or_default()
}

#[tokio::test]
async fn every_kind_is_told_with_its_call() {
    for site in sites().await {
        site.probed().await;
        let now = site.gateway.now_s();
        let bounty =
            site.bounty("Index it", json!({ "rewardWei": "1500000000000000000", "deadline": now + 1000 })).await;
        let thread = site.question("Why?").await;
        site.job(7, "9").await;
        let base = site.gateway.gateway().environment.base_url.clone();
        let nameless = json!({ "address": poster().address(), "name": null, "agentId": null });
        assert_eq!(
            item(&site, &format!("bounty:{bounty}")).await,
            json!({
                "kind": "bounty", "id": format!("bounty:{bounty}"), "refId": bounty, "title": "Index it",
                "summary": "what to do", "tags": ["paid"], "rewardWei": "1500000000000000000", "rewardFmx": "1.5",
                "postedAt": now, "deadline": now + 1000, "agentId": null, "claims": 0, "requester": nameless,
                "url": null, "api": format!("/api/bounties/{bounty}"),
                "action": format!("POST /api/bounties/{bounty}/claims {{agentId, pitch}} signed as bounty.claim by the agent's owner")
            })
        );
        let question = item(&site, &format!("question:{thread}")).await;
        assert_eq!(
            (&question["rewardWei"], &question["rewardFmx"], &question["tags"]),
            (&json!("0"), &json!("0"), &json!(["help"]))
        );
        assert_eq!(question["api"], format!("/api/forum/threads/{thread}"));
        let job = item(&site, "job:7").await;
        assert_eq!((&job["agentId"], &job["rewardWei"], &job["requester"]), (&json!(1), &json!("9"), &nameless));
        assert_eq!((&job["title"], &job["tags"]), (&json!("Job 7 for Digger"), &json!(["escrow", "job"])));
        assert!(job["action"].as_str().unwrap().contains(&ScriptedChain::address_of("escrow").to_string()), "{job}");
        let endpoint = item(&site, "endpoint:2").await;
        assert_eq!((&endpoint["agentId"], &endpoint["rewardFmx"]), (&json!(2), &json!("2")));
        assert_eq!(endpoint["tags"], json!(["x402", "invoke", "sort", "rust", "c", "d"]));
        assert_eq!(endpoint["requester"], json!({ "address": owner(2).address(), "name": "Sorter", "agentId": 2 }));

        let list = site.read(WORK).await;
        assert_eq!(list["total"], 4);
        assert_eq!(list["counts"], json!({ "job": 1, "bounty": 1, "arena": 0, "question": 1, "endpoint": 1 }));
        assert_eq!(list["kinds"], json!(["job", "bounty", "arena", "question", "endpoint"]));
        assert_eq!(
            (&list["feed"], &list["now"]),
            (&json!(format!("{base}/api/work/feed")), &json!(site.gateway.now_s()))
        );
        // The links of an item exist.
        for item in list["items"].as_array().unwrap() {
            site.read(item["api"].as_str().unwrap()).await;
        }
        site.close().await;
    }
}

#[tokio::test]
async fn taken_work_is_not_listed() {
    for site in sites().await {
        let due = site.gateway.now_s() + 100;
        let taken = site.bounty("a", json!({})).await;
        let claimed = site.bounty("b", json!({ "deadline": due })).await;
        let thread = site.question("Why?").await;
        site.job(7, "9").await;
        let claim = json!({ "agentId": 1, "pitch": "p" });
        site.write(&format!("/api/bounties/{claimed}/claims"), &owner(1), "bounty.claim", claim).await;
        assert_eq!(item(&site, &format!("bounty:{claimed}")).await["claims"], 1, "a claimed bounty is open");
        assert_eq!(site.ids(NO_CALLS).await.len(), 4);
        let (path, award) = (format!("/api/bounties/{taken}/award"), json!({ "agentId": 1 }));
        assert_eq!(site.gateway.post_signed(&path, &poster(), "bounty.award", award).await.status, 200);
        site.wait(200).await;
        site.write(&format!("/api/forum/threads/{thread}/posts"), &owner(1), "post.create", json!({ "body": "so" }))
            .await;
        site.mine(vec![super::script::delivered(7, 7, "o"), completed(7, "8", 5)]).await;
        assert_eq!(site.ids(NO_CALLS).await, Vec::<String>::new());
        site.close().await;
    }
}

#[tokio::test]
async fn filters_and_orders() {
    for site in sites().await {
        site.probed().await;
        let cheap = format!("bounty:{}", site.bounty("Dig for C++ data", json!({ "rewardWei": "5" })).await);
        let dear = format!("bounty:{}", site.bounty("Paint", json!({ "rewardWei": "1500000000000000000" })).await);
        let question = format!("question:{}", site.question("How to sort?").await);
        site.job(7, "6").await;
        let (job, endpoint) = ("job:7".to_owned(), "endpoint:2".to_owned());
        let sorted = |mut ids: Vec<String>| {
            ids.sort();
            ids
        };
        for (query, expected) in [
            ("?kind=bounty", vec![&cheap, &dear]),
            ("?kind=job,question", vec![&job, &question]),
            ("?kind=arena", vec![]),
            ("?minReward=6", vec![&dear, &job, &endpoint]),
            ("?minReward=1.5", vec![&dear, &endpoint]),
            ("?minReward=1.500000000000000001", vec![&endpoint]),
            ("?capability=c%2B%2B", vec![&cheap]),
            ("?capability=SORT,paint", vec![&dear, &question, &endpoint]),
            ("?capability=paid&minReward=6", vec![&dear]),
            ("?capability=WHAT", vec![&cheap, &dear]),
            // Agent 2 sorts, by its card; the job is another agent's.
            ("?agentId=2", vec![&question, &endpoint]),
            ("?agentId=1&capability=digger", vec![&job]),
            ("?agentId=2&capability=job", vec![]),
            ("?agentId=999", vec![&cheap, &dear, &question, &endpoint]),
        ] {
            let expected = sorted(expected.into_iter().cloned().collect());
            assert_eq!(sorted(site.ids(query).await), expected, "{query}");
        }
        assert_eq!(site.ids("?sort=reward").await, [&endpoint, &dear, &job, &cheap, &question].map(Clone::clone));
        assert_eq!(site.ids("?sort=reward&limit=2&offset=1").await, [dear, job]);
        site.close().await;
    }
}

#[tokio::test]
async fn the_filter_is_echoed_as_it_was_understood() {
    for site in sites().await {
        let filter = async |query: &str| site.read(&format!("{WORK}{query}")).await["filter"].clone();
        assert_eq!(
            filter("?kind=job&minReward=0.5&agentId=2&sort=reward&limit=0").await,
            json!({ "capability": null, "minReward": "500000000000000000", "kind": ["job"], "agentId": 2, "sort": "reward" })
        );
        assert_eq!(
            filter("?capability=Rust&kind=bounty,%20job,bounty").await,
            json!({ "capability": "Rust", "minReward": null, "kind": ["job", "bounty"], "agentId": null, "sort": "new" })
        );
        for nothing in ["", "?capability=%20&minReward=&kind=&agentId=&sort="] {
            let none = json!({ "capability": null, "minReward": null, "kind": null, "agentId": null, "sort": "new" });
            assert_eq!(filter(nothing).await, none, "{nothing}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_malformed_filter_is_400() {
    for site in sites().await {
        for (member, values) in [
            ("minReward", vec!["-1", "abc", "1.", "1e3"]),
            ("kind", vec!["jobs", "job,", "job,,"]),
            ("agentId", vec!["0", "-1", "%2B1", "1.5", "x", "99999999999999999999"]),
            ("sort", vec!["old"]),
        ] {
            for path in values.iter().flat_map(|value| FEED_AND_LIST.map(|path| format!("{path}?{member}={value}"))) {
                let response = site.gateway.get(&path).await;
                assert_eq!((response.status, response.code().as_str()), (400, "bad_request"), "{path}");
                let problem = response.json();
                assert!(problem["error"].as_str().unwrap().starts_with(&format!("{member}: ")), "{problem}");
                assert!(!problem["hint"].as_str().unwrap().is_empty());
            }
        }
        assert_eq!(site.ids("?kind=bounty&limit=abc&offset=-1").await, Vec::<String>::new());
        site.close().await;
    }
}

#[tokio::test]
async fn a_plugin_that_is_off_has_no_work_and_the_others_do() {
    let [agents, bounties] = [agents::plugin_module(), bounties::plugin_module()];
    let [forum, work] = [forum::plugin_module(), work::plugin_module()];
    for (plugins, expected) in [
        (vec![agents, forum, work], vec!["job", "question"]),
        (vec![agents, bounties, work], vec!["bounty", "job"]),
        (vec![agents, work], vec!["job"]),
    ] {
        for site in sites_of(&plugins).await {
            if plugins.len() == 3 {
                let has_forum = site.gateway.get("/api/forum/threads").await.status == 200;
                if has_forum {
                    site.question("Why?").await
                } else {
                    site.bounty("T", json!({})).await
                };
            }
            site.job(7, "9").await;
            let mut ids = site.ids(NO_CALLS).await;
            ids.sort();
            let kinds: Vec<&str> = ids.iter().filter_map(|id| id.split(':').next()).collect();
            assert_eq!(kinds, expected);
            let manifest = site.read("/.well-known/service.json").await;
            for (name, path) in [("work", "/api/work"), ("workFeed", "/api/work/feed")] {
                assert!(manifest["endpoints"][name].as_str().unwrap().ends_with(path));
            }
            site.close().await;
        }
    }
}

#[tokio::test]
async fn an_endpoint_that_was_paid_within_seven_days_is_not_listed() {
    const DAY_S: u64 = 86_400;
    for site in sites_of(&[all(), vec![x402::plugin_module()]].concat()).await {
        site.probed().await;
        site.pay(&owner(1)).await;
        assert_eq!(site.ids("?kind=endpoint").await, ["endpoint:2"], "another owner was paid");
        site.pay(&owner(2)).await;
        let bounty = format!("bounty:{}", site.bounty("Dig", json!({})).await);
        assert_eq!(site.ids("").await, [bounty]);
        site.wait(6 * DAY_S).await;
        assert_eq!(site.ids("?kind=endpoint").await, Vec::<String>::new());
        site.wait(DAY_S + 600).await;
        assert_eq!(site.ids("?kind=endpoint").await, ["endpoint:2"]);
        site.close().await;
    }
}
