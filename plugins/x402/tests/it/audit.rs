//! Lines of audit exports: vouchers and settlements of an address.

use crate::{PAYEE, draft::Draft, each, post, read, settled, until};
use plugin_api::Address;
use plugin_testing::{TestGateway, Value, json};
use std::collections::BTreeSet;

fn input(owner: Address, more: Value) -> Value {
    let mut input = json!({ "agentId": 1, "owner": owner, "limit": 1000 });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

/// The contribution: lines, and whether others follow.
async fn lines(gateway: &TestGateway, owner: Address, more: Value) -> (Vec<Value>, bool) {
    let mut contributed = gateway.collect("audit", &input(owner, more)).await;
    let found = contributed.remove("x402").expect("the plugin contributes");
    (found["lines"].as_array().unwrap().clone(), found["more"] == true)
}

async fn pay(gateway: &TestGateway, draft: &Draft) {
    let mut body = draft.request(draft.payee, draft.amount);
    body["paymentRequirements"]["resource"] = "https://me:secret@a.example:8443/private?key=1#x".into();
    assert_eq!(post(gateway, "/api/x402/settle", &body).await["success"], true);
}

#[tokio::test]
async fn a_voucher_is_a_line_of_payer_and_payee_without_path_and_query() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 7);
        pay(gateway, &draft).await;
        let expected = json!({
            "event": "Voucher", "payer": draft.payer(), "nonce": "7", "payee": draft.payee, "amount": draft.amount.to_string(),
            "ref": draft.reference, "expiry": draft.expiry_s, "resource": "https://a.example:8443", "status": "queued",
            "txHash": null, "createdAt": gateway.now_s(), "settledAt": null,
        });
        let id = format!("{}:7", draft.payer().to_string().to_lowercase());
        let at = json!({ "ts": gateway.now_s(), "block": 0, "logIndex": 0, "kind": "x402", "id": id });
        for owner in [draft.payer(), draft.payee] {
            assert_eq!(lines(gateway, owner, json!({})).await, (vec![json!({ "at": at, "members": expected })], false));
        }
        assert!(lines(gateway, Address([9; 20]), json!({})).await.0.is_empty());
        assert!(lines(gateway, PAYEE, json!({ "fromBlock": 0 })).await.0.is_empty(), "it has no block");
        assert!(lines(gateway, PAYEE, json!({ "fromS": gateway.now_s() + 1 })).await.0.is_empty());
        assert!(lines(gateway, PAYEE, json!({ "toS": gateway.now_s() - 1 })).await.0.is_empty());
        let resource = &read(gateway, &format!("/api/x402/payer/{}", draft.payer())).await["vouchers"][0]["resource"];
        assert_ne!(resource, "https://a.example:8443", "the payer himself sees all of it");
    })
    .await;
}

#[tokio::test]
async fn a_settlement_has_its_place_on_the_chain() {
    each(json!({}), async |chain, gateway| {
        let drafts: Vec<Draft> = (1..=2).map(|nonce| Draft::new(gateway, 1, nonce)).collect();
        let own = Draft { payee: drafts[0].payer(), ..Draft::new(gateway, 1, 3) };
        let block = chain.mine(vec![settled(&drafts[1], [7; 32]), settled(&drafts[0], [8; 32]), settled(&own, [9; 32])]);
        gateway.indexed(chain).await;
        let (found, more) = lines(gateway, drafts[0].payer(), json!({})).await;
        let places: Vec<Value> = found.iter().map(|line| json!([line["at"]["logIndex"], line["members"]["nonce"]])).collect();
        assert_eq!((places, more), (vec![json!([0, "2"]), json!([1, "1"]), json!([2, "3"])], false), "each once");
        let members = &found[1]["members"];
        let expected = json!({
            "event": "Settled", "block": block, "tx": format!("0x{}", "08".repeat(32)), "logIndex": 1, "payer": drafts[0].payer(),
            "payee": PAYEE, "amount": drafts[0].amount.to_string(), "fee": (drafts[0].amount / 100).to_string(), "nonce": "1",
            "ref": drafts[0].reference,
        });
        assert_eq!(members, &expected);
        assert_eq!(lines(gateway, PAYEE, json!({})).await.0.len(), 2);
        assert_eq!(lines(gateway, PAYEE, json!({ "fromBlock": block, "toBlock": block })).await.0.len(), 2);
        assert!(lines(gateway, PAYEE, json!({ "fromBlock": block + 1 })).await.0.is_empty());
        let after = json!({ "after": found[0]["at"] });
        assert_eq!(lines(gateway, drafts[0].payer(), after).await.0, found[1..]);
        // The line of the log itself comes before that of the settlement.
        let mut of_log = found[0]["at"].clone();
        of_log["kind"] = "chain".into();
        assert_eq!(lines(gateway, drafts[0].payer(), json!({ "after": of_log })).await.0, found);
        chain.reorg(1);
        chain.mine_empty(2);
        gateway.indexed(chain).await;
        assert!(lines(gateway, PAYEE, json!({})).await.0.is_empty(), "a reorganisation has undone them");
    })
    .await;
}

#[tokio::test]
async fn vouchers_of_one_second_are_followed_without_gaps_or_repeats() {
    each(json!({}), async |_, gateway| {
        for wallet in 1..=6 {
            for nonce in [9, 10] {
                pay(gateway, &Draft::new(gateway, wallet, nonce)).await;
            }
        }
        let (all, _) = lines(gateway, PAYEE, json!({})).await;
        let ids: Vec<&str> = all.iter().map(|line| line["at"]["id"].as_str().unwrap()).collect();
        assert!(ids.len() == 12 && ids.is_sorted() && ids.iter().collect::<BTreeSet<_>>().len() == 12, "{ids:?}");
        let (mut followed, mut after) = (Vec::new(), Value::Null);
        loop {
            let (some, more) = lines(gateway, PAYEE, json!({ "limit": 5, "after": after })).await;
            assert!(some.len() <= 5);
            after = some.last().map(|line| line["at"].clone()).unwrap_or_default();
            followed.extend(some);
            if !more {
                break;
            }
        }
        assert_eq!(followed, all);
    })
    .await;
}

#[tokio::test]
async fn settled_events_of_the_log_are_lines_of_the_payer() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        chain.mine(vec![settled(&draft, [7; 32])]);
        chain.mine_empty(3);
        gateway.indexed(chain).await;
        let kinds = async || -> Vec<String> {
            let (found, _) = lines(gateway, draft.payer(), json!({})).await;
            found.iter().map(|line| line["at"]["kind"].as_str().unwrap().to_owned()).collect()
        };
        let public = async || kinds().await.len() == 2;
        assert!(tokio::time::timeout(crate::MINUTE, until(public)).await.is_ok(), "{:?}", kinds().await);
        assert_eq!(kinds().await, ["commons", "x402"]);
    })
    .await;
}
