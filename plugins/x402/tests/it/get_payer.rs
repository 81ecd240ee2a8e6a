//! `GET /api/x402/payer/{addr}`

use crate::{FMX, VAULT, draft::Draft, each, finish, prepared, read, set_funds, settle, settled, start};
use plugin_testing::{Fault, ScriptedChain, TestGateway, json};

#[tokio::test]
async fn a_payer_sees_balance_and_vouchers() {
    each(json!({}), async |chain, gateway| {
        set_funds(chain, FMX, 99);
        let unknown = Draft::new(gateway, 9, 1).payer();
        set_funds(chain, FMX, 0);
        let drafts: Vec<Draft> = (1..=3).map(|nonce| Draft::new(gateway, 1, nonce)).collect();
        for draft in &drafts {
            settle(gateway, draft).await;
        }
        chain.mine(vec![settled(&drafts[0], [7; 32])]);
        gateway.indexed(chain).await;
        let payer = read(gateway, &format!("/api/x402/payer/{}", drafts[0].payer().to_string().to_lowercase())).await;
        assert_eq!(payer["address"], json!(drafts[0].payer()));
        assert_eq!((&payer["balance"], &payer["unlockAt"]), (&json!(FMX.to_string()), &json!(0)));
        assert_eq!(payer["vault"], json!(ScriptedChain::address_of(VAULT)));
        assert_eq!(payer["pendingWei"], json!((2 * drafts[1].amount).to_string()));
        assert_eq!((payer["pending"].as_array().unwrap().len(), &payer["settledCount"]), (2, &json!(1)));
        let vouchers = payer["vouchers"].as_array().unwrap();
        let first = vouchers.iter().find(|voucher| voucher["nonce"] == "1").unwrap();
        let expected = json!({
            "payer": drafts[0].payer(), "nonce": "1", "payee": drafts[0].payee, "amount": drafts[0].amount.to_string(),
            "ref": drafts[0].reference, "expiry": drafts[0].expiry_s, "resource": "", "status": "settled",
            "txHash": plugin_api::Hash256([7; 32]), "error": null, "createdAt": first["createdAt"], "settledAt": first["settledAt"],
        });
        assert_eq!(first, &expected);
        assert!(first["settledAt"].is_i64() && vouchers.len() == 3);
        let nobody = read(gateway, &format!("/api/x402/payer/{unknown}")).await;
        assert_eq!((&nobody["vouchers"], &nobody["pendingWei"], &nobody["settledCount"]), (&json!([]), &json!("0"), &json!(0)));
    })
    .await;
}

#[tokio::test]
async fn a_bad_address_is_a_400() {
    each(json!({}), async |_, gateway| {
        let answer = gateway.get("/api/x402/payer/0x12").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "bad_address"), "{}", answer.text());
    })
    .await;
}

#[tokio::test]
async fn it_answers_without_the_chain() {
    let chain = crate::chain().await;
    let gateway = start(prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    let draft = Draft::new(&gateway, 1, 1);
    settle(&gateway, &draft).await;
    chain.fail_always(Some(Fault::Status(500)));
    let payer = read(&gateway, &format!("/api/x402/payer/{}", draft.payer())).await;
    assert_eq!((&payer["balance"], &payer["unlockAt"]), (&json!(null), &json!(null)), "{payer}");
    assert_eq!(payer["vouchers"][0]["status"], "queued");
    chain.fail_always(None);
    finish(gateway).await;
}
