//! `POST /api/artifacts/{id}/star`

use super::{author, finish, gateways, id, next, path_of, publish, publish_named, read, star, star_of};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_star_is_given_once() {
    for gateway in gateways().await {
        let (alice, bob, now) = (Wallet::new(1), Wallet::new(2), gateway.now_s());
        let artifact =
            publish(&gateway, &alice, json!({ "name": "n", "kind": "code", "url": "https://a.example" })).await;
        let first = star(&gateway, &bob, id(&artifact)).await;
        let mut expected = artifact.clone();
        for (member, value) in [("stars", json!(1)), ("starred", json!(true)), ("changed", json!(true))] {
            expected[member] = value;
        }
        assert_eq!((first.status, first.json()), (200, expected.clone()), "{}", first.text());
        next(&gateway).await;
        let second = star(&gateway, &bob, id(&artifact)).await;
        expected["changed"] = json!(false);
        assert_eq!((second.status, second.json()), (200, expected));
        assert_eq!(read(&gateway, &path_of(id(&artifact))).await["stars"], 1);

        let events = gateway.events().await;
        let [_, event] = &events[..] else { panic!("two events: {events:?}") };
        assert_eq!(
            (event.kind.as_str(), event.ts, event.actor.as_deref()),
            ("artifact.star", now, Some(bob.address()))
        );
        let subject = event.subject.as_ref().unwrap();
        assert_eq!((subject.kind.as_str(), subject.id.clone()), ("artifact", id(&artifact).to_string()));
        assert_eq!(
            event.data,
            json!({ "artifactId": id(&artifact), "name": "n", "owner": alice.address(), "stars": 1 })
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn of_the_same_star_many_times_at_once_one_counts() {
    for gateway in gateways().await {
        let artifact = publish_named(&gateway, &Wallet::new(1), "n").await;
        let bob = Wallet::new(2);
        let responses = futures_util::future::join_all((0..50).map(|_| star(&gateway, &bob, artifact))).await;
        let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (200, [409; 49].as_slice()));
        assert_eq!(read(&gateway, &path_of(artifact)).await["stars"], 1);
        assert_eq!(gateway.events().await.len(), 2);
        let gateway = gateway.restart().await;
        next(&gateway).await;
        assert_eq!(star(&gateway, &bob, artifact).await.json()["changed"], false);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn stars_of_many_at_once_are_all_counted() {
    for gateway in gateways().await {
        let artifact = publish_named(&gateway, &Wallet::new(1), "n").await;
        let wallets: Vec<Wallet> = (2..22).map(Wallet::new).collect();
        let responses =
            futures_util::future::join_all(wallets.iter().map(|wallet| star(&gateway, wallet, artifact))).await;
        assert!(responses.iter().all(|response| response.status == 200 && response.json()["changed"] == true));
        let mut counts: Vec<i64> =
            responses.iter().map(|response| response.json()["stars"].as_i64().unwrap()).collect();
        counts.sort_unstable();
        assert_eq!(counts, (1..=20).collect::<Vec<_>>());
        let detail = read(&gateway, &path_of(artifact)).await;
        assert_eq!((&detail["stars"], detail["stargazers"].as_array().unwrap().len()), (&json!(20), 20));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_unknown_artifact_is_answered_before_body_and_signature() {
    for gateway in gateways().await {
        let artifact = publish_named(&gateway, &Wallet::new(1), "n").await;
        for unknown in ["999999", "0", "-1", "abc", "1.5", "99999999999999999999"] {
            let response = gateway.send("POST", &format!("/api/artifacts/{unknown}/star"), &[], "not json").await;
            assert_eq!((response.status, response.code()), (404, "not_found".to_owned()), "{unknown}");
        }
        let response = gateway.send("POST", &star_of(artifact), &[], "{}").await;
        assert_eq!(response.status, 401, "{}", response.text());
        let response = gateway.send("POST", &star_of(artifact), &[], "[]").await;
        assert_eq!(response.status, 400, "{}", response.text());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn stargazers_come_with_the_newest_star_first() {
    for gateway in gateways().await {
        let artifact = publish_named(&gateway, &Wallet::new(1), "n").await;
        for number in [5, 3, 4] {
            star(&gateway, &Wallet::new(number), artifact).await;
        }
        let stargazers = read(&gateway, &path_of(artifact)).await["stargazers"].clone();
        assert_eq!(stargazers, json!([4, 3, 5].map(|number| author(&Wallet::new(number)))));
        finish(gateway).await;
    }
}
