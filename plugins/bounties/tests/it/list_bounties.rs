//! `GET /api/bounties`

use super::{
    BOUNTIES, Site, citing, owner, poster,
    script::{completed, refunded},
    sites,
};
use plugin_testing::{Wallet, json};

/// Titles and total of a list.
async fn titles(site: &Site, query: &str) -> (Vec<String>, i64) {
    let list = site.read(&format!("{BOUNTIES}{query}")).await;
    let titles = list["items"].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap().to_owned());
    (titles.collect(), list["total"].as_i64().unwrap())
}

fn are<const N: usize>(titles: [&str; N], total: i64) -> (Vec<String>, i64) {
    (titles.map(str::to_owned).into(), total)
}

#[tokio::test]
async fn rewards_sort_exactly_up_to_the_last_of_256_bits() {
    // 2^256 - 1, one less, 2^64 and its neighbours, 2^53 and its neighbour, 0.
    let rewards = [
        "115792089237316195423570985008687907853269984665640564039457584007913129639935",
        "115792089237316195423570985008687907853269984665640564039457584007913129639934",
        "18446744073709551617",
        "18446744073709551616",
        "18446744073709551615",
        "9007199254740993",
        "9007199254740992",
        "10",
        "9",
        "0",
    ];
    for site in sites().await {
        for number in [4, 0, 9, 2, 7, 1, 5, 3, 8, 6] {
            site.post(rewards[number], json!({ "rewardWei": rewards[number] })).await;
        }
        let (found, total) = titles(&site, "?sort=reward").await;
        assert_eq!((found, total), (rewards.map(str::to_owned).to_vec(), 10));
        let (found, _) = titles(&site, "?sort=reward&status=open&limit=3&offset=2").await;
        assert_eq!(found, rewards[2..5]);
        site.close().await;
    }
}

#[tokio::test]
async fn orders_and_their_ties() {
    for site in sites().await {
        let now = site.gateway.now_s();
        let a = site.post("a", json!({ "rewardWei": "5", "deadline": now + 900 })).await;
        site.post("b", json!({ "rewardWei": "7" })).await;
        site.post("c", json!({ "rewardWei": "5", "deadline": now + 500 })).await;
        site.post("d", json!({ "rewardWei": "5" })).await;
        for (sort, expected) in [
            ("", ["d", "c", "b", "a"]),
            ("?sort=new", ["d", "c", "b", "a"]),
            ("?sort=rubbish", ["d", "c", "b", "a"]),
            ("?sort=reward", ["b", "d", "c", "a"]),
            ("?sort=deadline", ["c", "a", "d", "b"]),
            ("?sort=active", ["d", "c", "b", "a"]),
        ] {
            assert_eq!(titles(&site, sort).await, are(expected, 4), "{sort}");
            let filtered = format!(
                "{}{}status=open",
                if sort.is_empty() { "?" } else { sort },
                if sort.is_empty() { "" } else { "&" }
            );
            assert_eq!(titles(&site, &filtered).await, are(expected, 4), "{filtered}");
        }
        site.claim(a, &owner(1), json!({ "agentId": 1, "pitch": "p" })).await;
        assert_eq!(titles(&site, "?sort=active").await, are(["a", "d", "c", "b"], 4));
        site.close().await;
    }
}

#[tokio::test]
async fn statuses_follow_the_chain() {
    for site in sites().await {
        let [a, b, c] =
            [site.post("a", json!({})).await, site.post("b", json!({})).await, site.post("c", json!({})).await];
        site.mine(vec![citing(1, 1, a), citing(2, 2, b)]).await;
        site.award(c, &poster(), json!({ "agentId": 2 })).await;
        assert_eq!(titles(&site, "?status=open").await, are([], 0));
        assert_eq!(titles(&site, "?status=awarded").await, are(["c", "b", "a"], 3));
        site.mine(vec![completed(1, "4", 5), refunded(2, "5", false)]).await;
        assert_eq!(titles(&site, "?status=open").await, are(["b"], 1));
        assert_eq!(titles(&site, "?status=awarded").await, are(["c"], 1));
        assert_eq!(titles(&site, "?status=completed").await, are(["a"], 1));
        assert_eq!(titles(&site, "?status=").await, are(["c", "b", "a"], 3));
        // a and b changed last, by the chain's clock.
        assert_eq!(titles(&site, "?sort=active&limit=2").await.1, 3);
        for status in ["Open", "closed", "open,awarded"] {
            let response = site.gateway.get(&format!("{BOUNTIES}?status={status}")).await;
            assert_eq!((response.status, response.code().as_str()), (400, "bad_request"), "{status}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn filters_are_anded_and_texts_found_as_they_are() {
    for site in sites().await {
        let other = Wallet::new(9);
        site.post("Index the Chain", json!({ "brief": "100% of it_all", "tags": ["data", "rust"] })).await;
        site.post("Grüße", json!({ "brief": "chain letters", "tags": ["rust"] })).await;
        site.posted(&other, "Other", json!({ "tags": ["data"] })).await;
        for (query, expected) in [
            ("?q=CHAIN", are(["Grüße", "Index the Chain"], 2)),
            ("?q=0%25%20of", are(["Index the Chain"], 1)),
            ("?q=t_a", are(["Index the Chain"], 1)),
            ("?q=%25", are(["Index the Chain"], 1)),
            ("?q=gr%C3%BC", are(["Grüße"], 1)),
            ("?q=GR%C3%9C", are([], 0)),
            ("?tag=data", are(["Other", "Index the Chain"], 2)),
            ("?tag=%20DATA", are(["Other", "Index the Chain"], 2)),
            ("?tag=dat", are([], 0)),
            ("?tag=data&q=chain", are(["Index the Chain"], 1)),
            ("?tag=rust&q=chain&status=open&limit=1", are(["Grüße"], 2)),
        ] {
            assert_eq!(titles(&site, query).await, expected, "{query}");
        }
        for address in [other.address().to_owned(), other.address().to_lowercase()] {
            assert_eq!(titles(&site, &format!("?poster={address}&status=open")).await, are(["Other"], 1));
        }
        assert_eq!(titles(&site, "?poster=").await.1, 3);
        let response = site.gateway.get(&format!("{BOUNTIES}?poster=alice")).await;
        assert_eq!((response.status, response.code().as_str()), (400, "bad_request"));
        site.close().await;
    }
}

#[tokio::test]
async fn pages_have_25_items_and_at_most_100() {
    for site in sites().await {
        for number in 0..27 {
            site.post(&number.to_string(), json!({})).await;
        }
        for (query, items) in
            [("", 25), ("?limit=0", 25), ("?limit=abc", 25), ("?limit=1000", 27), ("?offset=26", 1), ("?offset=30", 0)]
        {
            let (found, total) = titles(&site, query).await;
            assert_eq!((found.len(), total), (items, 27), "{query}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_list_that_did_not_change_is_not_sent_again() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        let first = site.gateway.get(BOUNTIES).await;
        let tag = first.header("etag").to_owned();
        let again =
            || async { site.gateway.send("GET", BOUNTIES, &[("if-none-match", tag.as_str())], "").await.status };
        assert_eq!(again().await, 304);
        // A chain event changes the list, too.
        site.mine(vec![citing(7, 1, bounty)]).await;
        assert_eq!(again().await, 200);
        assert_eq!(site.read(BOUNTIES).await["items"][0]["status"], "awarded");
        site.close().await;
    }
}
