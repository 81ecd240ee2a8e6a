//! Requests at the same time, over replicas and restarts.

use crate::{
    Draft, SECRETS_KEY, assert_refused, chain, counted, each, eventually, knows_head, passing, prepared, relay,
    relayed, send, set_nonce,
};
use futures_util::future::join_all;
use plugin_testing::{ScriptedChain, TestGateway, Value, json};

/// Status and hash of each answer.
async fn all_of(answers: impl Future<Output = Vec<plugin_testing::TestResponse>>) -> Vec<(u16, Value)> {
    answers.await.iter().map(|answer| (answer.status, answer.json()["tx"].clone())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_call_at_once_is_one_send() {
    each(json!({}), async |chain: &ScriptedChain, gateway| {
        let draft = Draft::new(&gateway, 1, 0);
        let bodies: Vec<Value> =
            [draft.body(), draft.body_with(&draft.other_form())].into_iter().cycle().take(50).collect();
        let requests = join_all(bodies.iter().map(|body| send(&gateway, "/api/relay", body)));
        let answers = passing(&gateway, all_of(requests)).await;
        assert!(answers.iter().all(|(status, tx)| *status == 202 && *tx == answers[0].1), "{answers:?}");
        eventually(&gateway, "it is sent", async || chain.waiting().len() == 1).await;
        assert_eq!(counted(&gateway, "call_day").await, ["Int(1)"]);
        gateway
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_at_once_stay_within_the_cap() {
    each(json!({ "per_day": 10, "ip_per_day": 1000 }), async |chain: &ScriptedChain, gateway| {
        for number in 1..=200 {
            set_nonce(chain, number, 0);
        }
        let drafts: Vec<Value> = (1..=200).map(|number| Draft::new(&gateway, number, 0).body()).collect();
        let requests = join_all(drafts.iter().map(|body| send(&gateway, "/api/relay", body)));
        let answers = passing(&gateway, all_of(requests)).await;
        let sent = answers.iter().filter(|(status, _)| *status == 202).count();
        assert!(answers.iter().all(|(status, _)| matches!(status, 202 | 503)), "{answers:?}");
        assert!((1..=10).contains(&sent), "{answers:?}");
        assert_eq!(counted(&gateway, "call_day").await, [format!("Int({sent})")]);
        eventually(&gateway, "all are sent", async || chain.waiting().len() == sent).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn caps_hold_over_a_restart_and_the_answer_too() {
    each(json!({ "account_per_day": 1 }), async |_, gateway| {
        let draft = Draft::new(&gateway, 1, 0);
        let answer = relayed(&gateway, &draft).await;
        let gateway = gateway.restart().await;
        assert_eq!(relayed(&gateway, &draft).await, answer);
        let more = Draft { data: vec![1], ..draft };
        assert_refused(&relay(&gateway, &more).await, 429, "rate_limited");
        gateway
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_call_at_two_gateways_is_one_send() {
    let Some(builder) = TestGateway::postgres_builder().await else { return };
    let chain = chain().await;
    let one = prepared(builder, &chain, &json!({})).start().await;
    let url = one.gateway().config.database.url.clone();
    let other = TestGateway::builder().configure(|config| {
        config.database.url = url;
        config.secrets.key = Some(SECRETS_KEY.to_owned().into());
    });
    let other = prepared(other, &chain, &json!({})).start().await;
    knows_head(&one).await;
    knows_head(&other).await;
    let body = Draft::new(&one, 1, 0).body();
    let gateways = [&one, &other];
    let requests = join_all((0..20).map(|number| send(gateways[number % 2], "/api/relay", &body)));
    let answers = passing(&one, passing(&other, all_of(requests))).await;
    assert!(answers.iter().all(|(status, tx)| *status == 202 && *tx == answers[0].1), "{answers:?}");
    eventually(&one, "it is sent", async || chain.waiting().len() == 1).await;
    assert_eq!(counted(&other, "call_day").await, ["Int(1)"]);
    for gateway in gateways {
        assert_eq!(gateway.faults().await, Vec::<String>::new());
    }
    other.stop().await;
    one.stop().await;
}
