//! `GET /api/artifacts`

use super::{ARTIFACTS, finish, gateways, id, next, publish, publish_named, read, star};
use plugin_testing::{TestGateway, Wallet, json};

/// Names and total of a list.
async fn names(gateway: &TestGateway, query: &str) -> (Vec<String>, u64) {
    let list = read(gateway, &format!("{ARTIFACTS}{query}")).await;
    let names = list["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned());
    (names.collect(), list["total"].as_u64().unwrap())
}

fn found(names: &[&str]) -> (Vec<String>, u64) {
    (names.iter().map(ToString::to_string).collect(), names.len() as u64)
}

#[tokio::test]
async fn filters_are_joined() {
    for gateway in gateways().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        for (owner, name, kind, description, url, tags) in [
            (&alice, "Alpha", "dataset", "rows of RAIN", "https://one.example", &["a", "b"][..]),
            (&alice, "beta", "prompt", "100% safe", "https://two.example", &["b"]),
            (&bob, "Gamma", "dataset", "", "https://three.example/alpha", &[]),
            (&bob, "Überblick", "code", "l_n", "https://four.example", &["ä"]),
        ] {
            let payload = json!({ "name": name, "kind": kind, "description": description, "url": url, "tags": tags });
            publish(&gateway, owner, payload).await;
            next(&gateway).await;
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
            assert_eq!(names(&gateway, query).await, found(expected), "{query}");
        }
        for owner in [bob.address().to_owned(), bob.address().to_lowercase()] {
            assert_eq!(names(&gateway, &format!("?owner={owner}")).await, found(&["Überblick", "Gamma"]));
            assert_eq!(names(&gateway, &format!("?owner={owner}&q=gamma&kind=dataset")).await, found(&["Gamma"]));
        }
        assert_eq!(names(&gateway, "?owner=").await.1, 4);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn filters_that_make_no_sense_are_400_and_orders_are_not() {
    for gateway in gateways().await {
        for query in ["?kind=binary", "?owner=me", "?owner=0x12"] {
            let response = gateway.get(&format!("{ARTIFACTS}{query}")).await;
            assert_eq!((response.status, response.code()), (400, "bad_query".to_owned()), "{query}");
        }
        for query in ["?sort=old", "?limit=x", "?offset=-1", "?limit=0"] {
            assert_eq!(names(&gateway, query).await, found(&[]), "{query}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn orders_and_pages() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let mut ids = Vec::new();
        for name in ["one", "two", "three"] {
            ids.push(publish_named(&gateway, &alice, name).await);
            next(&gateway).await;
        }
        for (stargazer, artifact) in [(2, ids[0]), (3, ids[0]), (4, ids[1])] {
            star(&gateway, &Wallet::new(stargazer), artifact).await;
        }
        assert_eq!(names(&gateway, "").await.0, ["three", "two", "one"]);
        assert_eq!(names(&gateway, "?sort=new").await.0, ["three", "two", "one"]);
        assert_eq!(names(&gateway, "?sort=stars").await.0, ["one", "two", "three"]);
        assert_eq!(names(&gateway, "?limit=1&offset=1").await, (vec!["two".to_owned()], 3));
        assert_eq!(names(&gateway, "?limit=2&offset=9").await, (Vec::new(), 3));
        let listed = &read(&gateway, &format!("{ARTIFACTS}?sort=stars")).await["items"][0];
        assert_eq!((id(listed), &listed["stars"]), (ids[0], &json!(2)));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_list_is_new_as_soon_as_a_write_is_answered() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        for number in 1..=3_u64 {
            for _ in 0..3 {
                assert_eq!(names(&gateway, "").await.1, number - 1);
            }
            let artifact = publish_named(&gateway, &alice, "n").await;
            assert_eq!(names(&gateway, "").await.1, number);
            star(&gateway, &Wallet::new(number + 1), artifact).await;
            assert_eq!(read(&gateway, ARTIFACTS).await["items"][0]["stars"], 1);
            next(&gateway).await;
        }
        finish(gateway).await;
    }
}
