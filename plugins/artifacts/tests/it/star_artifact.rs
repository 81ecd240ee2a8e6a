//! `POST /api/artifacts/{id}/star`

use super::{author, finish, houses, id, next, path_of, publish, publish_named, read, star, star_of};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn a_star_is_given_once() {
    for house in houses().await {
        let (alice, bob, now) = (Wallet::new(1), Wallet::new(2), house.now_s());
        let artifact =
            publish(&house, &alice, json!({ "name": "n", "kind": "code", "url": "https://a.example" })).await;
        let first = star(&house, &bob, id(&artifact)).await;
        let mut expected = artifact.clone();
        for (member, value) in [("stars", json!(1)), ("starred", json!(true)), ("changed", json!(true))] {
            expected[member] = value;
        }
        assert_eq!((first.status, first.json()), (200, expected.clone()), "{}", first.text());
        next(&house).await;
        let second = star(&house, &bob, id(&artifact)).await;
        expected["changed"] = json!(false);
        assert_eq!((second.status, second.json()), (200, expected));
        assert_eq!(read(&house, &path_of(id(&artifact))).await["stars"], 1);

        let events = house.events().await;
        let [_, event] = &events[..] else { panic!("two events: {events:?}") };
        assert_eq!(
            (event.kind.as_str(), event.ts, event.actor.as_deref()),
            ("artifact.star", now, Some(bob.address()))
        );
        let about = event.about.as_ref().unwrap();
        assert_eq!((about.kind.as_str(), about.id.clone()), ("artifact", id(&artifact).to_string()));
        assert_eq!(
            event.data,
            json!({ "artifactId": id(&artifact), "name": "n", "owner": alice.address(), "stars": 1 })
        );
        finish(house).await;
    }
}

#[tokio::test]
async fn of_the_same_star_many_times_at_once_one_counts() {
    for house in houses().await {
        let artifact = publish_named(&house, &Wallet::new(1), "n").await;
        let bob = Wallet::new(2);
        let answers = futures_util::future::join_all((0..50).map(|_| star(&house, &bob, artifact))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (200, [409; 49].as_slice()));
        assert_eq!(read(&house, &path_of(artifact)).await["stars"], 1);
        assert_eq!(house.events().await.len(), 2);
        let house = house.restart().await;
        next(&house).await;
        assert_eq!(star(&house, &bob, artifact).await.json()["changed"], false);
        finish(house).await;
    }
}

#[tokio::test]
async fn stars_of_many_at_once_are_all_counted() {
    for house in houses().await {
        let artifact = publish_named(&house, &Wallet::new(1), "n").await;
        let wallets: Vec<Wallet> = (2..22).map(Wallet::new).collect();
        let answers = futures_util::future::join_all(wallets.iter().map(|wallet| star(&house, wallet, artifact))).await;
        assert!(answers.iter().all(|answer| answer.status == 200 && answer.json()["changed"] == true));
        let mut counts: Vec<i64> = answers.iter().map(|answer| answer.json()["stars"].as_i64().unwrap()).collect();
        counts.sort_unstable();
        assert_eq!(counts, (1..=20).collect::<Vec<_>>());
        let detail = read(&house, &path_of(artifact)).await;
        assert_eq!((&detail["stars"], detail["stargazers"].as_array().unwrap().len()), (&json!(20), 20));
        finish(house).await;
    }
}

#[tokio::test]
async fn an_unknown_artifact_is_answered_before_body_and_signature() {
    for house in houses().await {
        let artifact = publish_named(&house, &Wallet::new(1), "n").await;
        for unknown in ["999999", "0", "-1", "abc", "1.5", "99999999999999999999"] {
            let answer = house.send("POST", &format!("/api/artifacts/{unknown}/star"), &[], "not json").await;
            assert_eq!((answer.status, answer.code()), (404, "not_found".to_owned()), "{unknown}");
        }
        let answer = house.send("POST", &star_of(artifact), &[], "{}").await;
        assert_eq!(answer.status, 401, "{}", answer.text());
        let answer = house.send("POST", &star_of(artifact), &[], "[]").await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        finish(house).await;
    }
}

#[tokio::test]
async fn stargazers_come_with_the_newest_star_first() {
    for house in houses().await {
        let artifact = publish_named(&house, &Wallet::new(1), "n").await;
        for number in [5, 3, 4] {
            star(&house, &Wallet::new(number), artifact).await;
        }
        let stargazers = read(&house, &path_of(artifact)).await["stargazers"].clone();
        assert_eq!(stargazers, json!([4, 3, 5].map(|number| author(&Wallet::new(number)))));
        finish(house).await;
    }
}
