//! Priced routes of another plugin, from the 402 to the queue.

use crate::{caller::PRICE_WEI, draft::Draft, each, state};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use plugin_testing::{TestGateway, TestResponse, Value, Wallet, json};

const WORK: &str = "/api/caller/work";

async fn paid(gateway: &TestGateway, path: &str, header: &str, draft: &Draft) -> TestResponse {
    let payment = STANDARD.encode(draft.payment().to_string());
    gateway.send("POST", path, &[(header, &payment)], "").await
}

fn decoded(response: &TestResponse, header: &str) -> Value {
    serde_json::from_slice(&STANDARD.decode(response.header(header)).unwrap()).unwrap()
}

#[tokio::test]
async fn a_client_pays_for_what_a_402_says() {
    each(json!({}), async |_, gateway| {
        let response = gateway.send("POST", WORK, &[], "").await;
        assert_eq!(response.status, 402, "{}", response.text());
        assert_eq!(decoded(&response, "payment-required"), response.json());
        let terms = response.json()["accepts"][0].clone();
        assert_eq!(terms["maxAmountRequired"], PRICE_WEI.to_string());
        let headers = ["payment", "x-payment", "payment-signature"];
        for (nonce, header) in (1..).zip(headers) {
            let draft = Draft::new(gateway, 1, nonce);
            let response = paid(gateway, WORK, header, &draft).await;
            assert_eq!((response.status, response.json()), (200, json!(nonce.to_string())), "{}", response.text());
            let receipt = decoded(&response, "payment-response");
            assert_eq!((&receipt["success"], &receipt["payer"]), (&json!(true), &json!(draft.payer())));
            assert_eq!(state(gateway, &draft).await.0, "queued");
            let again = paid(gateway, WORK, header, &draft).await;
            assert_eq!(again.status, 402);
            assert!(again.json()["error"].as_str().unwrap().contains("queued"), "{}", again.text());
        }
    })
    .await;
}

#[tokio::test]
async fn failed_work_is_not_charged() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let response = paid(gateway, &format!("{WORK}?fails=true"), "payment", &draft).await;
        assert_eq!(response.status, 422, "{}", response.text());
        assert_eq!(response.header("payment-response"), "");
        assert_eq!(state(gateway, &draft).await.0, "voided");
    })
    .await;
}

/// The client has no answer, and must not be told that it pays nothing.
#[tokio::test]
async fn a_payment_of_which_nobody_knows_whether_it_was_kept_is_not_called_void() {
    let chain = crate::chain().await;
    let gateway = crate::start(crate::prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    crate::settle(&gateway, &Draft::new(&gateway, 2, 1)).await;
    // No second voucher can be kept.
    gateway.execute("CREATE UNIQUE INDEX refuse ON x402_vouchers (state) WHERE state = 'queued'").await;
    let draft = Draft::new(&gateway, 1, 1);
    let response = paid(&gateway, WORK, "payment", &draft).await;
    assert_eq!((response.status, response.code().as_str()), (503, "unavailable"), "{}", response.text());
    let said = response.text();
    assert!(said.contains("not known whether its payment was kept") && !said.contains("nothing was charged"), "{said}");
    gateway.execute("DROP INDEX refuse").await;
    let again = paid(&gateway, WORK, "payment", &draft).await.json();
    assert!(again["error"].as_str().unwrap().contains("its voucher is reserved"), "{again}");
    gateway.stop().await;
}

#[tokio::test]
async fn malformed_payments_are_a_400() {
    each(json!({}), async |_, gateway| {
        for payment in ["e30=", "{}", "%%%"] {
            let response = gateway.send("POST", WORK, &[("payment", payment)], "").await;
            assert_eq!((response.status, response.code().as_str()), (400, "bad_payment"), "{}", response.text());
        }
    })
    .await;
}

#[tokio::test]
async fn a_signed_write_and_its_payment_are_one_transaction() {
    each(json!({}), async |_, gateway| {
        let (wallet, draft) = (Wallet::new(5), Draft::new(gateway, 1, 1));
        let body = wallet.signed_body("caller.note", gateway.now_s(), &json!({ "text": "hello" })).to_string();
        let payment = STANDARD.encode(draft.payment().to_string());
        let headers = [("content-type", "application/json"), ("payment", payment.as_str())];
        let response = gateway.send("POST", "/api/caller/notes", &headers, body.clone()).await;
        assert_eq!((response.status, response.json()), (200, json!("1")), "{}", response.text());
        assert_eq!(state(gateway, &draft).await.0, "queued");
        assert_eq!(gateway.rows("SELECT count(*) FROM caller_notes").await, ["Int(1)"]);
        let again = gateway.send("POST", "/api/caller/notes", &headers, body).await;
        assert!(again.status >= 400, "{}", again.text());
        assert_eq!(gateway.rows("SELECT count(*) FROM caller_notes").await, ["Int(1)"]);
    })
    .await;
}
