//! `GET /api/artifacts`

use super::{ARTIFACTS, finish, houses, id, next, publish, publish_named, read, star};
use plugin_testing::{TestGateway, Wallet, json};

/// The names of a list, and its total.
async fn names(house: &TestGateway, query: &str) -> (Vec<String>, u64) {
    let list = read(house, &format!("{ARTIFACTS}{query}")).await;
    let names = list["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned());
    (names.collect(), list["total"].as_u64().unwrap())
}

fn found(names: &[&str]) -> (Vec<String>, u64) {
    (names.iter().map(ToString::to_string).collect(), names.len() as u64)
}

#[tokio::test]
async fn filters_are_joined() {
    for house in houses().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        for (owner, name, kind, description, url, tags) in [
            (&alice, "Alpha", "dataset", "rows of RAIN", "https://one.example", &["a", "b"][..]),
            (&alice, "beta", "prompt", "100% safe", "https://two.example", &["b"]),
            (&bob, "Gamma", "dataset", "", "https://three.example/alpha", &[]),
            (&bob, "Überblick", "code", "l_n", "https://four.example", &["ä"]),
        ] {
            let payload = json!({ "name": name, "kind": kind, "description": description, "url": url, "tags": tags });
            publish(&house, owner, payload).await;
            next(&house).await;
        }
        for (query, expected) in [
            ("", &["Überblick", "Gamma", "beta", "Alpha"][..]),
            ("?q=", &["Überblick", "Gamma", "beta", "Alpha"]),
            ("?q=ALPHA", &["Gamma", "Alpha"]),
            ("?q=rain", &["Alpha"]),
            ("?q=100%25", &["beta"]),
            ("?q=_", &["Überblick"]),
            ("?q=%C3%9Cber", &["Überblick"]),
            ("?q=%C3%BCber", &[]),
            ("?kind=dataset", &["Gamma", "Alpha"]),
            ("?tag=b", &["beta", "Alpha"]),
            ("?tag=%20B%20", &["beta", "Alpha"]),
            ("?tag=%C3%84", &["Überblick"]),
            ("?tag=none", &[]),
            ("?kind=dataset&q=alpha&tag=a", &["Alpha"]),
            ("?kind=model", &[]),
        ] {
            assert_eq!(names(&house, query).await, found(expected), "{query}");
        }
        for owner in [bob.address().to_owned(), bob.address().to_lowercase()] {
            assert_eq!(names(&house, &format!("?owner={owner}")).await, found(&["Überblick", "Gamma"]));
            assert_eq!(names(&house, &format!("?owner={owner}&q=gamma&kind=dataset")).await, found(&["Gamma"]));
        }
        assert_eq!(names(&house, "?owner=").await.1, 4);
        finish(house).await;
    }
}

#[tokio::test]
async fn filters_that_make_no_sense_are_400_and_orders_are_not() {
    for house in houses().await {
        for query in ["?kind=binary", "?owner=me", "?owner=0x12"] {
            let answer = house.get(&format!("{ARTIFACTS}{query}")).await;
            assert_eq!((answer.status, answer.code()), (400, "bad_query".to_owned()), "{query}");
        }
        for query in ["?sort=old", "?limit=x", "?offset=-1", "?limit=0"] {
            assert_eq!(names(&house, query).await, found(&[]), "{query}");
        }
        finish(house).await;
    }
}

#[tokio::test]
async fn orders_and_pages() {
    for house in houses().await {
        let alice = Wallet::new(1);
        let mut ids = Vec::new();
        for name in ["one", "two", "three"] {
            ids.push(publish_named(&house, &alice, name).await);
            next(&house).await;
        }
        for (stargazer, artifact) in [(2, ids[0]), (3, ids[0]), (4, ids[1])] {
            star(&house, &Wallet::new(stargazer), artifact).await;
        }
        assert_eq!(names(&house, "").await.0, ["three", "two", "one"]);
        assert_eq!(names(&house, "?sort=new").await.0, ["three", "two", "one"]);
        assert_eq!(names(&house, "?sort=stars").await.0, ["one", "two", "three"]);
        assert_eq!(names(&house, "?limit=1&offset=1").await, (vec!["two".to_owned()], 3));
        assert_eq!(names(&house, "?limit=2&offset=9").await, (Vec::new(), 3));
        let listed = &read(&house, &format!("{ARTIFACTS}?sort=stars")).await["items"][0];
        assert_eq!((id(listed), &listed["stars"]), (ids[0], &json!(2)));
        finish(house).await;
    }
}

#[tokio::test]
async fn a_list_is_new_as_soon_as_a_write_is_answered() {
    for house in houses().await {
        let alice = Wallet::new(1);
        for number in 1..=3_u64 {
            for _ in 0..3 {
                assert_eq!(names(&house, "").await.1, number - 1);
            }
            let artifact = publish_named(&house, &alice, "n").await;
            assert_eq!(names(&house, "").await.1, number);
            star(&house, &Wallet::new(number + 1), artifact).await;
            assert_eq!(read(&house, ARTIFACTS).await["items"][0]["stars"], 1);
            next(&house).await;
        }
        finish(house).await;
    }
}
