//! `POST /api/x402/settle`: what is queued, and what the answer looks like.

use crate::{FMX, PAYEE, draft::Draft, each, post, read, state};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::future::join_all;
use plugin_testing::{TestGateway, TestResponse, Value, json};

const SETTLE: &str = "/api/x402/settle";

async fn send(gateway: &TestGateway, body: &Value) -> TestResponse {
    gateway.send("POST", SETTLE, &[("content-type", "application/json")], body.to_string()).await
}

/// The JSON in the header.
fn receipt(response: &TestResponse) -> Value {
    serde_json::from_slice(&STANDARD.decode(response.header("payment-response")).unwrap()).unwrap()
}

#[tokio::test]
async fn a_good_payment_is_queued() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 7);
        let response = send(gateway, &draft.request(PAYEE, draft.amount)).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let expected = json!({
            "success": true, "nonce": "7", "txHash": null, "transaction": "", "queued": true, "payer": draft.payer(),
            "network": "service:3961", "settlement": "facilitator",
        });
        assert_eq!(response.json(), expected);
        let expected = json!({
            "success": true, "txHash": null, "transaction": "", "network": "service:3961", "nonce": "7", "payer": draft.payer(),
        });
        assert_eq!(receipt(&response), expected);
        assert_eq!(state(gateway, &draft).await, ("queued".to_owned(), json!(null), json!(null)));
        let payer = read(gateway, &format!("/api/x402/payer/{}", draft.payer())).await;
        assert_eq!(payer["vouchers"][0]["resource"], "https://a.example/b");
    })
    .await;
}

#[tokio::test]
async fn a_voucher_is_taken_once_in_whatever_form() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        crate::settle(gateway, &draft).await;
        let signature = draft.signature();
        let (scalars, v) = signature.split_at(130);
        let low_v = format!("{scalars}{}", if v == "1b" { "00" } else { "01" });
        let mut numbers = draft.voucher();
        (numbers["nonce"], numbers["amount"]) = (json!(1), json!(format!("{:#x}", draft.amount)));
        let another = Draft { amount: draft.amount + 1, ..draft.clone() };
        let forms = [
            draft.payment(),
            json!({ "voucher": draft.voucher(), "signature": low_v }),
            json!({ "voucher": numbers, "signature": signature }),
            another.payment(),
        ];
        for form in forms {
            let response = send(gateway, &form).await;
            let answer = response.json();
            assert_eq!((&answer["success"], &answer["queued"]), (&json!(false), &json!(false)), "{answer}");
            let reason = answer["errorReason"].as_str().unwrap();
            assert!(reason.contains("queued") && reason.contains("txHash null"), "{reason}");
            assert_eq!(receipt(&response)["success"], false);
        }
        assert_eq!(gateway.rows("SELECT count(*) FROM x402_vouchers").await, ["Int(1)"]);
    })
    .await;
}

#[tokio::test]
async fn a_server_of_version_2_is_served() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let terms = |amount: u64| {
            json!({
                "scheme": "service-voucher", "network": "service:3961", "asset": "FMX", "amount": amount.to_string(), "payTo": PAYEE,
                "maxTimeoutSeconds": 300, "extra": {},
            })
        };
        let body = |amount, network: &str| {
            let mut accepted = terms(amount);
            accepted["network"] = json!(network);
            json!({
                "x402Version": 2, "paymentRequirements": terms(amount),
                "paymentPayload": {
                    "x402Version": 2, "payload": draft.payment(), "accepted": accepted, "extensions": {},
                    "resource": { "url": "https://a.example/c", "description": "", "mimeType": "" },
                },
            })
        };
        let dearer = post(gateway, SETTLE, &body(draft.amount + 1, "service:3961")).await;
        assert!(dearer["errorReason"].as_str().unwrap().contains("at least"), "{dearer}");
        let other = post(gateway, SETTLE, &body(draft.amount, "eip155:3961")).await;
        assert!(other["errorReason"].as_str().unwrap().contains("network"), "{other}");
        assert_eq!((&other["transaction"], &other["network"]), (&json!(""), &json!("service:3961")));
        let response = send(gateway, &body(draft.amount, "service:3961")).await;
        let answer = response.json();
        assert_eq!((&answer["success"], &answer["transaction"]), (&json!(true), &json!("")), "{answer}");
        assert_eq!(receipt(&response)["network"], "service:3961");
        let payer = read(gateway, &format!("/api/x402/payer/{}", draft.payer())).await;
        assert_eq!(payer["vouchers"][0]["resource"], "https://a.example/c");
    })
    .await;
}

#[tokio::test]
async fn a_payer_who_sends_many_at_once_spends_what_he_has() {
    each(json!({ "credit_max_wei": (10 * FMX).to_string() }), async |_, gateway| {
        // Each is for two fifths of what is in the vault.
        let drafts: Vec<Draft> =
            (0..6).map(|nonce| Draft { amount: FMX / 5 * 2, ..Draft::new(gateway, 1, nonce) }).collect();
        let bodies: Vec<Value> = drafts.iter().map(Draft::payment).collect();
        let answers = join_all(bodies.iter().map(|body| post(gateway, SETTLE, body))).await;
        let taken = answers.iter().filter(|answer| answer["success"] == true).count();
        assert_eq!(taken, 2, "{answers:?}");
    })
    .await;
}

#[tokio::test]
async fn amounts_below_their_cost_and_long_queues_are_refused() {
    each(json!({ "voucher_cost_wei": "1000", "queued_per_payer": 2 }), async |_, gateway| {
        let reason = async |draft: &Draft| {
            let answer = post(gateway, SETTLE, &draft.payment()).await;
            answer["errorReason"].as_str().unwrap_or_default().to_owned()
        };
        let small = Draft { amount: 999, ..Draft::new(gateway, 1, 1) };
        assert!(reason(&small).await.contains("below 1000 wei"));
        let draft = |nonce| Draft { amount: 1000, ..Draft::new(gateway, 1, nonce) };
        assert_eq!((reason(&draft(1)).await, reason(&draft(2)).await), (String::new(), String::new()));
        assert!(reason(&draft(3)).await.contains("2 vouchers of the payer wait"));
        gateway.execute("UPDATE x402_vouchers SET state = 'submitted', batch = 99 WHERE nonce = '1'").await;
        assert!(reason(&draft(3)).await.contains("2 vouchers of the payer wait"), "also those in a batch");
        assert_eq!(reason(&Draft { amount: 1000, ..Draft::new(gateway, 2, 1) }).await, "", "those of another do not");
    })
    .await;
}

#[tokio::test]
async fn what_is_not_signed_by_the_payer_is_refused() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let mut forged = draft.payment();
        forged["voucher"]["amount"] = json!("1000000000000000000");
        let answer = post(gateway, SETTLE, &forged).await;
        assert_eq!((&answer["success"], &answer["payer"]), (&json!(false), &json!(draft.payer())), "{answer}");
        assert_eq!(gateway.rows("SELECT count(*) FROM x402_vouchers").await, ["Int(0)"]);
        let malformed = send(gateway, &json!({})).await;
        assert_eq!((malformed.status, malformed.code().as_str()), (400, "bad_request"));
    })
    .await;
}
