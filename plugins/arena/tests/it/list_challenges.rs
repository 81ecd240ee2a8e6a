//! `GET /api/arena/challenges`

use super::{CHALLENGES, HOUR, Site, refusal, refused, sites};
use plugin_testing::{Wallet, json};

/// Titles and total of a list.
async fn titles(site: &Site, query: &str) -> (Vec<String>, u64) {
    let list = site.read(&format!("{CHALLENGES}{query}")).await;
    assert_eq!(list["now"], site.gateway.now_s());
    let titles = list["items"].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap().to_owned());
    (titles.collect(), list["total"].as_u64().unwrap())
}

fn found(titles: &[&str]) -> (Vec<String>, u64) {
    (titles.iter().map(ToString::to_string).collect(), titles.len() as u64)
}

#[tokio::test]
async fn open_ones_come_first_and_the_soonest_deadline_before_later_ones() {
    for site in sites().await {
        let now = site.gateway.now_s();
        for (title, ends) in [("late", 9 * HOUR), ("first over", HOUR), ("soon", 5 * HOUR), ("next over", 2 * HOUR)] {
            site.opened(title, json!({ "endsAt": now + ends })).await;
        }
        assert_eq!(titles(&site, "").await, found(&["first over", "next over", "soon", "late"]));
        site.wait(3 * HOUR).await;
        assert_eq!(titles(&site, "").await, found(&["soon", "late", "first over", "next over"]));
        assert_eq!(site.published("arena.close").await.len(), 2);
        assert_eq!(titles(&site, "?status=open").await, found(&["soon", "late"]));
        assert_eq!(titles(&site, "?status=closed").await, found(&["next over", "first over"]));
        assert_eq!(titles(&site, "?limit=1&offset=1").await, (vec!["late".to_owned()], 4));
        assert_eq!(titles(&site, "?limit=x&offset=-3").await.1, 4);
        let bad = site.gateway.get(&format!("{CHALLENGES}?status=awarded")).await;
        assert_eq!(refusal(&bad), refused(400, "bad_query"));
        site.close().await;
    }
}

#[tokio::test]
async fn filters_are_joined() {
    for site in sites().await {
        for (title, brief, tags) in
            [("Alpha", "about RAIN", json!(["a", "b"])), ("beta", "100% sun", json!(["b"])), ("Öl", "x", json!([]))]
        {
            site.opened(title, json!({ "brief": brief, "tags": tags })).await;
        }
        for (query, expected) in [
            ("?q=rain", &["Alpha"][..]),
            ("?q=100%25", &["beta"]),
            ("?q=%C3%96l", &["Öl"]),
            ("?q=%C3%B6l", &[]),
            ("?tag=%20B", &["beta", "Alpha"]),
            ("?tag=b&q=a", &["beta", "Alpha"]),
            ("?tag=a&q=sun", &[]),
            ("?status=closed&tag=a", &[]),
        ] {
            let (mut titles, total) = titles(&site, query).await;
            titles.sort();
            let (mut expected, count) = found(expected);
            expected.sort();
            assert_eq!((titles, total), (expected, count), "{query}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_list_shows_winners_as_the_record_does() {
    for site in sites().await {
        let challenge = site.open("c").await;
        let submission = site.submitted(challenge, &Wallet::new(5)).await;
        site.voted(submission, &Wallet::new(6), 9).await;
        site.wait(2 * HOUR).await;
        let listed = site.read(CHALLENGES).await["items"][0].clone();
        let mut detail = site.challenge(challenge).await;
        detail.as_object_mut().unwrap().remove("submissions");
        assert_eq!(listed, detail);
        assert_eq!(listed["winner"]["id"], submission);
        site.close().await;
    }
}
