//! Priced routes: what the gateway does between a price and an answer, with a payment service of this test.

mod plugins;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use gateway::lifecycle::OperatorAction;
use gateway_plugins::PluginState;
use plugin_api::Address;
use plugin_testing::{TestGateway, TestResponse, Wallet, json};
use plugins::{Coin, Fake, PAYEE, Shop, Till, module};
use rstest::rstest;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);
const PAYER: Address = Address([9; 20]);

fn coin(nonce: u32, amount: u64) -> String {
    serde_json::to_string(&Coin { payer: PAYER, nonce: nonce.to_string(), amount }).unwrap()
}

async fn gateways() -> Vec<TestGateway> {
    TestGateway::each_database(&[module::<Till>(), module::<Shop>()]).await
}

async fn buy(gateway: &TestGateway, thing: &str, payment: Option<&str>) -> TestResponse {
    let headers: Vec<_> = payment.map(|payment| ("payment", payment)).into_iter().collect();
    gateway.send("POST", &format!("/api/shop/{thing}"), &headers, "").await
}

async fn payments(gateway: &TestGateway) -> Vec<String> {
    texts(gateway, "SELECT nonce || ' ' || state FROM till_payments ORDER BY nonce").await
}

async fn texts(gateway: &TestGateway, statement: &str) -> Vec<String> {
    let rows = gateway.rows(statement).await;
    rows.iter().map(|row| row.trim_start_matches("Text(\"").trim_end_matches("\")").to_owned()).collect()
}

async fn sales(gateway: &TestGateway) -> usize {
    gateway.rows("SELECT payer FROM shop_sales").await.len()
}

#[tokio::test]
async fn without_a_payment_the_answer_is_the_price() {
    for gateway in gateways().await {
        let asked = gateway.send("POST", "/api/shop/book?language=de", &[], "").await;
        assert_eq!(asked.status, 402, "{}", asked.text());
        let base_url = &gateway.gateway().environment.base_url;
        let resource = format!("{base_url}/api/shop/book?language=de");
        let terms = json!({ "amount": "10", "payTo": PAYEE, "resource": resource, "error": null });
        assert_eq!(asked.json(), terms);
        assert_eq!(BASE64.decode(asked.header("payment-required")).unwrap(), asked.body);
        assert_eq!(asked.header("cache-control"), "private, no-store");
        assert_eq!(asked.header("content-type"), "application/json");
        assert_eq!((payments(&gateway).await, sales(&gateway).await), (vec![], 0));
        gateway.stop().await;
    }
}

#[rstest]
#[case("payment")]
#[case("x-payment")]
#[case("payment-signature")]
#[tokio::test]
async fn a_payment_is_kept_before_the_answer_leaves(#[case] header: &str) {
    for gateway in gateways().await {
        let payment = coin(1, 10);
        let bought = gateway.send("POST", "/api/shop/book", &[(header, &payment)], "").await;
        assert_eq!((bought.status, bought.text()), (200, format!("book for {PAYER}")));
        for receipt in ["payment-response", "x-payment-response"] {
            assert_eq!(BASE64.decode(bought.header(receipt)).unwrap(), br#"{"nonce":"1"}"#);
        }
        assert_eq!(bought.header("cache-control"), "private, no-store");
        assert_eq!(payments(&gateway).await, ["1 kept"]);

        let again = buy(&gateway, "book", Some(&payment)).await;
        assert_eq!((again.status, again.json()["error"].as_str()), (402, Some("the coin is kept")));
        assert_eq!(again.header("payment-response"), "");
        assert_eq!((payments(&gateway).await.len(), sales(&gateway).await), (1, 1));
        gateway.stop().await;
    }
}

#[rstest]
#[case("sold_out", 409, "the answer is 409")]
#[case("explosive", 500, "the answer is 500")]
#[case("in_parts", 500, "the answer is 500")]
#[case("endless", 503, "the answer is 503")]
#[case("apology", 200, "it broke on the way?sorry")]
#[tokio::test]
async fn failed_work_releases_its_payment(#[case] thing: &str, #[case] status: u16, #[case] reason: &str) {
    for gateway in gateways().await {
        let answer = buy(&gateway, thing, Some(&coin(1, 10))).await;
        assert_eq!((answer.status, answer.header("x-service-payment-released")), (status, reason), "{}", answer.text());
        assert_eq!(answer.header("payment-response"), "");
        assert_eq!(payments(&gateway).await, ["1 released"]);
        let again = buy(&gateway, "book", Some(&coin(1, 10))).await;
        assert_eq!((again.status, again.json()["error"].as_str()), (402, Some("the coin is released")));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_is_no_payment_for_this_price_buys_nothing() {
    for gateway in gateways().await {
        let malformed = buy(&gateway, "book", Some("gold")).await;
        assert_eq!((malformed.status, malformed.code()), (400, "bad_payment".to_owned()), "{}", malformed.text());
        let small = buy(&gateway, "book", Some(&coin(1, 9))).await;
        assert_eq!((small.status, small.json()["error"].as_str()), (402, Some("the coin is too small")));
        assert_eq!((payments(&gateway).await, sales(&gateway).await), (vec![], 0));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_price_that_is_not_known_is_never_free() {
    for gateway in gateways().await {
        for thing in ["nobodys", "unreadable", "written"] {
            for payment in [None, Some(coin(1, 10))] {
                let answer = buy(&gateway, thing, payment.as_deref()).await;
                assert_eq!((answer.status, answer.code()), (503, "disabled".to_owned()), "{thing}: {}", answer.text());
                assert_eq!(answer.header("cache-control"), "private, no-store");
            }
        }
        let unknown = buy(&gateway, "unknown", Some(&coin(1, 10))).await;
        assert_eq!((unknown.status, unknown.code()), (404, "not_found".to_owned()), "{}", unknown.text());
        assert_eq!((payments(&gateway).await, sales(&gateway).await), (vec![], 0));
        let free = buy(&gateway, "free", Some(&coin(1, 10))).await;
        assert_eq!((free.status, free.text()), (200, "free for nothing".to_owned()));
        assert_eq!(payments(&gateway).await, Vec::<String>::new(), "what is free takes no payment");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn without_a_payment_service_what_is_free_is_served() {
    for gateway in TestGateway::each_database(&[module::<Till>(), module::<Shop>()]).await {
        let off = gateway.gateway().plugins.operate(OperatorAction::Disable, "till", "the test").await.unwrap();
        assert!(off.is_reached, "{}", off.report.reason);
        for payment in [None, Some(coin(1, 10))] {
            let answer = buy(&gateway, "book", payment.as_deref()).await;
            assert_eq!((answer.status, answer.code()), (503, "disabled".to_owned()), "{}", answer.text());
        }
        assert_eq!(buy(&gateway, "free", None).await.status, 200);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn one_payment_buys_once_however_many_try() {
    for gateway in gateways().await {
        let payment = coin(1, 10);
        let tries = (0..50).map(|_| buy(&gateway, "book", Some(&payment)));
        let answers = futures_util::future::join_all(tries).await;
        let served = answers.iter().filter(|answer| answer.status == 200).count();
        let refused = answers.iter().filter(|answer| matches!(answer.status, 402 | 503)).count();
        assert_eq!((served, refused), (1, 49));
        assert_eq!((payments(&gateway).await, sales(&gateway).await), (vec!["1 kept".to_owned()], 1));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_client_that_leaves_gets_its_work_done_and_pays() {
    for gateway in gateways().await {
        let payment = coin(1, 10);
        let mut buying = Box::pin(buy(&gateway, "endless", Some(&payment)));
        let is_reserved = async || payments(&gateway).await == ["1 reserved"];
        tokio::select! {
            answer = &mut buying => panic!("{}", answer.text()),
            () = TestGateway::eventually(LIMIT, "the payment is reserved", is_reserved) => {}
        }
        drop(buying);
        // Nobody waits for the answer, and the time limit of the route ends the work.
        TestGateway::eventually(LIMIT, "the payment is ended", async || payments(&gateway).await == ["1 released"])
            .await;
        gateway.stop().await;
    }
}

async fn keep(gateway: &TestGateway, wallet: &Wallet, text: &str, payment: Option<&str>) -> TestResponse {
    let body = wallet.signed_body("note.keep", gateway.now_s(), &json!({ "text": text })).to_string();
    let headers: Vec<_> = payment.map(|payment| ("payment", payment)).into_iter().collect();
    gateway.send("POST", "/api/notes", &headers, body).await
}

async fn notes(gateway: &TestGateway) -> Vec<String> {
    texts(gateway, "SELECT text FROM shop_notes ORDER BY id").await
}

#[tokio::test]
async fn a_signed_write_and_its_payment_are_one() {
    for gateway in gateways().await {
        let wallets: Vec<_> = (1..=6).map(Wallet::new).collect();
        let first = keep(&gateway, &wallets[0], "first", None).await;
        assert_eq!((first.status, first.text()), (200, "paid ".to_owned()));

        let unpaid = keep(&gateway, &wallets[1], "second", None).await;
        assert_eq!((unpaid.status, unpaid.json()["error"].clone()), (402, json!(null)), "{}", unpaid.text());

        let payment = coin(1, 10);
        let refused = keep(&gateway, &wallets[2], "refused", Some(&payment)).await;
        assert_eq!((refused.status, refused.code()), (409, "sold_out".to_owned()), "{}", refused.text());
        assert_eq!((notes(&gateway).await, payments(&gateway).await), (vec!["first".to_owned()], vec![]));

        let body = wallets[3].signed_body("note.keep", gateway.now_s(), &json!({ "text": "second" })).to_string();
        let send = |payment: String| {
            let (gateway, body) = (&gateway, body.clone());
            async move { gateway.send("POST", "/api/notes", &[("payment", payment.as_str())], body).await }
        };
        let paid = send(payment.clone()).await;
        assert_eq!((paid.status, paid.text()), (200, "paid 1".to_owned()));
        assert_eq!(BASE64.decode(paid.header("payment-response")).unwrap(), br#"{"nonce":"1"}"#);
        assert_eq!((notes(&gateway).await.len(), payments(&gateway).await), (2, vec!["1 kept".to_owned()]));

        // The same request again is a replay, and a new payment with it is not taken.
        assert_eq!(send(coin(2, 10)).await.status, 409);
        let used = keep(&gateway, &wallets[4], "third", Some(&payment)).await;
        assert_eq!((used.status, used.json()["error"].as_str()), (402, Some("the coin is kept")), "{}", used.text());
        assert_eq!((notes(&gateway).await.len(), payments(&gateway).await), (2, vec!["1 kept".to_owned()]));
        assert_eq!(gateway.faults().await, Vec::<String>::new(), "a refused payment is no fault of the plugin");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_write_whose_payment_is_refused_is_not_committed_whatever_its_plugin_does() {
    for gateway in gateways().await {
        let wallets: Vec<_> = (1..=3).map(Wallet::new).collect();
        assert_eq!(keep(&gateway, &wallets[0], "first", None).await.status, 200);
        assert_eq!(keep(&gateway, &wallets[1], "careless", Some(&coin(1, 10))).await.status, 200);
        let used = keep(&gateway, &wallets[2], "careless", Some(&coin(1, 10))).await;
        assert_eq!((used.status, used.json()["error"].as_str()), (402, Some("the coin is kept")), "{}", used.text());
        assert_eq!((notes(&gateway).await.len(), payments(&gateway).await), (2, vec!["1 kept".to_owned()]));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_price_that_rises_before_the_write_is_asked_again() {
    for gateway in gateways().await {
        // The first note is free when its price is asked; another one comes before it is written.
        let wallets: Vec<_> = (1..=20).map(Wallet::new).collect();
        let answers =
            futures_util::future::join_all(wallets.iter().map(|wallet| keep(&gateway, wallet, "a note", None))).await;
        let kept = answers.iter().filter(|answer| answer.status == 200).count();
        let asked = answers.iter().filter(|answer| answer.status == 402 && answer.json()["amount"] == "10").count();
        assert_eq!((kept, asked), (1, 19));
        assert_eq!(notes(&gateway).await.len(), 1);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_payment_service_of_other_types_does_not_start() {
    let gateway = TestGateway::builder().plugin(module::<Fake>()).plugin(module::<Shop>()).open().await;
    let report = gateway.reports().await.into_iter().find(|report| report.name == "fake").unwrap();
    assert_eq!(report.state, PluginState::Failed, "{}", report.reason);
    assert!(report.reason.contains("its used service payment-offer has other types"), "{}", report.reason);
    gateway.stop().await;
}
