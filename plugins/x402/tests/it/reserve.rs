//! The payment service, called as the gateway calls it: terms, check, reservation, keep and release.

use crate::{
    CONFIRMATIONS, FMX, MINUTE, PAYEE, caller::PRICE_WEI, deposited, draft::Draft, each, post, settled, state,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::future::join_all;
use plugin_api::Address;
use plugin_testing::{TestGateway, Value, json};
use std::time::Duration;

const RESOURCE: &str = "https://gateway.example/a/x/invoke";

fn price(amount: u64) -> Value {
    json!({ "payee": PAYEE, "amount": amount.to_string(), "description": "A call" })
}

async fn offer(gateway: &TestGateway, resource: &str) -> Value {
    let input = json!({ "price": price(5), "resource": resource, "refused": "why not" });
    let answer = post(gateway, "/api/caller/offer", &input).await;
    serde_json::from_str(answer["terms"].as_str().unwrap_or_else(|| panic!("{answer}"))).unwrap()
}

pub async fn check(gateway: &TestGateway, draft: &Draft, amount: u64) -> Value {
    let payment = STANDARD.encode(draft.payment().to_string());
    let input = json!({ "price": price(amount), "resource": RESOURCE, "payment": payment });
    post(gateway, "/api/caller/check", &input).await
}

/// Checks a payment for the usual price; it is accepted.
async fn checked(gateway: &TestGateway, draft: &Draft) -> Value {
    let answer = check(gateway, draft, PRICE_WEI).await;
    assert!(answer["accepted"].is_object(), "{answer}");
    answer["accepted"].clone()
}

async fn reserve(gateway: &TestGateway, checked: &Value, until_s: Option<i64>) -> Value {
    let input = json!({ "price": price(PRICE_WEI), "resource": RESOURCE, "checked": checked, "until_s": until_s });
    post(gateway, "/api/caller/reserve", &input).await
}

pub async fn end(gateway: &TestGateway, draft: &Draft, released: Option<&str>) -> Value {
    let input =
        json!({ "payment": { "payer": draft.payer(), "nonce": draft.nonce.to_string() }, "released": released });
    post(gateway, "/api/caller/end", &input).await
}

/// Reserves a voucher for a minute.
pub async fn reserved(gateway: &TestGateway, draft: &Draft) {
    let checked = checked(gateway, draft).await;
    let answer = reserve(gateway, &checked, Some(gateway.now_s() + 60)).await;
    assert!(answer["reserved"].is_string(), "{answer}");
}

#[tokio::test]
async fn terms_are_of_version_1_unless_the_url_asks_for_2() {
    each(json!({}), async |_, gateway| {
        let v1 = offer(gateway, RESOURCE).await;
        let hint = v1["accepts"][0]["extra"]["nonceHint"].as_u64().unwrap();
        let vault = plugin_testing::ScriptedChain::address_of(crate::VAULT);
        let extra = json!({ "vault": vault, "nonceHint": hint, "settlement": "facilitator" });
        let expected = json!({
            "x402Version": 1,
            "accepts": [{
                "scheme": "service-voucher", "network": "service:3961", "asset": "FMX", "payTo": PAYEE, "maxAmountRequired": "5",
                "resource": RESOURCE, "description": "A call", "mimeType": "application/json", "maxTimeoutSeconds": 300,
                "extra": extra,
            }],
            "error": "why not",
        });
        assert_eq!(v1, expected);
        let url = format!("{RESOURCE}?x402Version=2");
        let v2 = offer(gateway, &url).await;
        assert_eq!(v2["x402Version"], 2);
        assert_eq!(v2["resource"], json!({ "url": url, "description": "A call", "mimeType": "application/json" }));
        let terms = &v2["accepts"][0];
        assert_eq!((&terms["amount"], &terms["network"]), (&json!("5"), &json!("service:3961")));
        assert_eq!((&terms["maxAmountRequired"], &v2["error"]), (&json!(null), &json!("why not")));
        let second = terms["extra"]["nonceHint"].as_u64().unwrap();
        assert_ne!(second, hint, "no nonce is proposed twice");
        let now_s = gateway.now_s().unsigned_abs();
        assert!((hint / 1_000_000, second / 1_000_000) == (now_s, now_s) && second > hint, "{hint} and {second} at {now_s}");
    })
    .await;
    each(json!({ "version": 2, "scheme": "a", "network": "b", "asset": "c" }), async |_, gateway| {
        let terms = offer(gateway, RESOURCE).await;
        assert_eq!(terms["x402Version"], 2);
        let names = ["scheme", "network", "asset"].map(|name| terms["accepts"][0][name].clone());
        assert_eq!(names, [json!("a"), json!("b:3961"), json!("c")]);
        assert_eq!(offer(gateway, &format!("{RESOURCE}?x402Version=1")).await["x402Version"], 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_kept_is_queued_and_what_is_released_is_void() {
    each(json!({}), async |_, gateway| {
        let (kept, released) = (Draft::new(gateway, 1, 1), Draft::new(gateway, 1, 2));
        for draft in [&kept, &released] {
            reserved(gateway, draft).await;
            assert_eq!(state(gateway, draft).await.0, "reserved");
        }
        assert_eq!(end(gateway, &kept, None).await, "done");
        assert_eq!(state(gateway, &kept).await.0, "queued");
        assert_eq!(end(gateway, &released, Some("it failed")).await, "done");
        assert_eq!(state(gateway, &released).await, ("voided".to_owned(), json!(null), json!("it failed")));
        assert_eq!(end(gateway, &kept, None).await, "done", "the gateway may ask twice");
        assert_eq!(end(gateway, &kept, Some("too late")).await, "gone");
        assert_eq!(end(gateway, &released, None).await, "gone");
        assert_eq!(end(gateway, &Draft::new(gateway, 1, 3), None).await, "gone", "nobody knows it");
        let again = check(gateway, &released, PRICE_WEI).await;
        assert!(again["refused"].as_str().unwrap().contains("voided"), "the nonce stays used: {again}");
    })
    .await;
}

#[tokio::test]
async fn a_reservation_ends_by_its_time() {
    each(json!({}), async |_, gateway| {
        let draft = Draft { expiry_s: gateway.now_s() + 600, ..Draft::new(gateway, 1, 1) };
        reserved(gateway, &draft).await;
        gateway.clock().advance(Duration::from_secs(61)).await;
        assert_eq!(
            state(gateway, &draft).await,
            ("voided".to_owned(), json!(null), json!("the work did not end in time"))
        );
        assert_eq!(end(gateway, &draft, None).await, "gone");
        let voided = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows("SELECT state FROM x402_vouchers").await == ["Text(\"voided\")"]
        };
        TestGateway::eventually(MINUTE, "the job voids it", voided).await;
    })
    .await;
}

/// The job that voids what is overdue may not have run yet.
#[tokio::test]
async fn a_reservation_ends_once_by_its_payer_and_nonce_and_in_its_time() {
    each(json!({}), async |_, gateway| {
        let (one, same_nonce) = (Draft::new(gateway, 1, 1), Draft::new(gateway, 2, 1));
        reserved(gateway, &one).await;
        reserved(gateway, &same_nonce).await;
        assert_eq!(end(gateway, &one, Some("it failed")).await, "done");
        assert_eq!(state(gateway, &same_nonce).await.0, "reserved");
        assert_eq!(end(gateway, &same_nonce, None).await, "done");
        assert_eq!(end(gateway, &one, None).await, "gone");
        for (nonce, until_s, answer) in [(2, gateway.now_s() - 1, "gone"), (3, gateway.now_s(), "done")] {
            let draft = Draft::new(gateway, 1, nonce);
            reserved(gateway, &draft).await;
            let update = format!("UPDATE x402_vouchers SET until_s = {until_s} WHERE nonce = '{nonce}'");
            gateway.execute(&update).await;
            assert_eq!(end(gateway, &draft, None).await, answer);
        }
    })
    .await;
}

/// While the agent works, the payer has its nonce settled.
#[tokio::test]
async fn a_voucher_that_cannot_be_settled_any_more_buys_nothing() {
    each(json!({}), async |chain, gateway| {
        let (replaced, by_himself) = (Draft::new(gateway, 1, 1), Draft::new(gateway, 2, 1));
        reserved(gateway, &replaced).await;
        reserved(gateway, &by_himself).await;
        let to_himself = Draft { payee: replaced.payer(), ..replaced.clone() };
        chain.mine(vec![settled(&to_himself, [7; 32]), settled(&by_himself, [8; 32])]);
        gateway.indexed(chain).await;
        assert_eq!(end(gateway, &replaced, None).await, "gone", "another voucher has its nonce");
        assert_eq!(end(gateway, &by_himself, None).await, "done", "its payee was paid");
        for (nonce, left_s, answer) in [(2, 14, "gone"), (3, 15, "done")] {
            let draft = Draft { expiry_s: gateway.now_s() + 90, ..Draft::new(gateway, 2, nonce) };
            reserved(gateway, &draft).await;
            let expiry_s = gateway.now_s() + left_s;
            let update = format!("UPDATE x402_vouchers SET expiry_s = {expiry_s} WHERE nonce = '{nonce}'");
            gateway.execute(&update).await;
            assert_eq!(end(gateway, &draft, None).await, answer, "{left_s} s are left");
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_reserved_is_in_no_batch() {
    each(json!({ "batch_s": 5 }), async |chain, gateway| {
        let (working, kept) = (Draft::new(gateway, 1, 1), Draft::new(gateway, 2, 1));
        let accepted = checked(gateway, &working).await;
        let answer = reserve(gateway, &accepted, Some(gateway.now_s() + 3000)).await;
        assert!(answer["reserved"].is_string(), "{answer}");
        // It is older than the batch of what came after it.
        gateway.clock().advance(Duration::from_secs(5)).await;
        reserved(gateway, &kept).await;
        assert_eq!(end(gateway, &kept, None).await, "done");
        crate::becomes(gateway, &kept, "submitted").await;
        assert_eq!(state(gateway, &working).await.0, "reserved");
        assert_eq!(gateway.rows("SELECT count(*) FROM x402_vouchers WHERE batch IS NULL").await, ["Int(1)"]);
        crate::waits(chain, gateway, 1).await;
    })
    .await;
}

#[tokio::test]
async fn the_credit_is_checked_again_when_it_is_reserved() {
    each(json!({ "credit_max_wei": (2 * PRICE_WEI).to_string() }), async |_, gateway| {
        // Checked at the same time, each is within the credit.
        let mut all = Vec::new();
        for nonce in 1..=3 {
            all.push(checked(gateway, &Draft::new(gateway, 1, nonce)).await);
        }
        let until_s = Some(gateway.now_s() + 60);
        let answers = join_all(all.iter().map(|checked| reserve(gateway, checked, until_s))).await;
        let refused: Vec<_> = answers.iter().filter_map(|answer| answer["refused"].as_str()).collect();
        assert!(refused.len() == 1 && refused[0].contains("not settled yet"), "{answers:?}");
    })
    .await;
}

#[tokio::test]
async fn without_a_time_it_is_kept_at_once() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let checked = checked(gateway, &draft).await;
        let answer = reserve(gateway, &checked, None).await;
        let receipt: Value = serde_json::from_str(answer["reserved"].as_str().unwrap()).unwrap();
        assert_eq!(
            (&receipt["success"], &receipt["txHash"], &receipt["nonce"]),
            (&json!(true), &json!(null), &json!("1"))
        );
        assert_eq!(receipt["payer"], json!(draft.payer()));
        assert_eq!(state(gateway, &draft).await.0, "queued");
    })
    .await;
}

#[tokio::test]
async fn of_many_reservations_of_a_voucher_one_succeeds() {
    each(json!({}), async |_, gateway| {
        let checked = checked(gateway, &Draft::new(gateway, 1, 1)).await;
        let until_s = Some(gateway.now_s() + 60);
        let answers = join_all((0..20).map(|_| reserve(gateway, &checked, until_s))).await;
        assert_eq!(answers.iter().filter(|answer| answer["reserved"].is_string()).count(), 1, "{answers:?}");
        let refused = answers.iter().filter_map(|answer| answer["refused"].as_str());
        assert!(
            refused.clone().count() == 19 && refused.clone().all(|reason| reason.contains("reserved, txHash null"))
        );
    })
    .await;
}

#[tokio::test]
async fn funds_are_checked_again_when_it_is_reserved() {
    each(json!({}), async |_, gateway| {
        // Checked at the same time, each is covered.
        let drafts: Vec<Draft> =
            (0..3).map(|nonce| Draft { amount: FMX / 2, ..Draft::new(gateway, 1, nonce) }).collect();
        let mut all = Vec::new();
        for draft in &drafts {
            all.push(checked(gateway, draft).await);
        }
        let until_s = Some(gateway.now_s() + 60);
        let answers = join_all(all.iter().map(|checked| reserve(gateway, checked, until_s))).await;
        assert_eq!(answers.iter().filter(|answer| answer["reserved"].is_string()).count(), 2, "{answers:?}");
        let open = drafts.iter().zip(&answers).filter(|(_, answer)| answer["reserved"].is_string());
        for (draft, _) in open {
            assert_eq!(end(gateway, draft, Some("it failed")).await, "done");
        }
        let after = checked(gateway, &Draft { amount: FMX, ..Draft::new(gateway, 1, 9) }).await;
        let answer = reserve(gateway, &after, until_s).await;
        assert!(answer["reserved"].is_string(), "what is void counts no more: {answer}");
    })
    .await;
}

#[tokio::test]
async fn price_and_age_are_checked_again() {
    each(json!({}), async |_, gateway| {
        let checked = checked(gateway, &Draft::new(gateway, 1, 1)).await;
        let until_s = gateway.now_s() + 900;
        let dearer =
            json!({ "price": price(PRICE_WEI + 1), "resource": RESOURCE, "checked": checked, "until_s": until_s });
        let answer = post(gateway, "/api/caller/reserve", &dearer).await;
        assert!(answer["refused"].as_str().unwrap().contains("at least"), "{answer}");
        let mut other = dearer.clone();
        other["price"] = price(PRICE_WEI);
        other["price"]["payee"] = json!(Address([9; 20]));
        let answer = post(gateway, "/api/caller/reserve", &other).await;
        assert!(answer["refused"].as_str().unwrap().contains("payee"), "{answer}");
        let second = self::checked(gateway, &Draft::new(gateway, 1, 2)).await;
        gateway.clock().advance(Duration::from_secs(60)).await;
        let answer = reserve(gateway, &second, Some(until_s)).await;
        assert!(answer["reserved"].is_string(), "a check counts for a minute: {answer}");
        gateway.clock().advance(Duration::from_secs(1)).await;
        let answer = reserve(gateway, &checked, Some(until_s)).await;
        assert!(answer["refused"].as_str().unwrap().contains("too long"), "{answer}");
    })
    .await;
}

/// Between the check and the reservation, another gateway may have learnt that the payer spent what he had promised.
#[tokio::test]
async fn a_broken_promise_is_seen_when_it_is_reserved() {
    each(json!({}), async |chain, gateway| {
        let promised = Draft::new(gateway, 1, 1);
        crate::settle(gateway, &promised).await;
        let mut all = Vec::new();
        for nonce in 2..=4 {
            all.push(checked(gateway, &Draft::new(gateway, 1, nonce)).await);
        }
        let until_s = Some(gateway.now_s() + 60);
        let refuse = async |until_s: i64| {
            gateway.execute(&format!("UPDATE x402_payers SET refused_until_s = {until_s}")).await;
        };
        refuse(gateway.now_s() + 1).await;
        let answer = reserve(gateway, &all[0], until_s).await;
        assert!(answer["refused"].as_str().unwrap_or_default().contains("was not covered"), "{answer}");
        refuse(gateway.now_s()).await;
        let answer = reserve(gateway, &all[1], until_s).await;
        assert!(answer["reserved"].is_string(), "the time is over: {answer}");
        checked(gateway, &Draft::new(gateway, 1, 5)).await;
        chain.mine(vec![crate::settled(&Draft { payee: promised.payer(), ..promised }, [7; 32])]);
        gateway.indexed(chain).await;
        let answer = reserve(gateway, &all[2], until_s).await;
        assert!(answer["refused"].as_str().unwrap_or_default().contains("was not covered"), "{answer}");
    })
    .await;
}

/// Without a payee, a voucher for anybody would fit the price.
#[tokio::test]
async fn nothing_is_paid_to_nobody() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let mut nobody = price(PRICE_WEI);
        nobody["payee"] = json!(null);
        let payment = STANDARD.encode(draft.payment().to_string());
        let offer = json!({ "price": nobody, "resource": RESOURCE, "refused": null });
        let check = json!({ "price": nobody, "resource": RESOURCE, "payment": payment });
        let checked = checked(gateway, &draft).await;
        let until_s = gateway.now_s() + 60;
        let reserve = json!({ "price": nobody, "resource": RESOURCE, "checked": checked, "until_s": until_s });
        for (what, input) in [("offer", offer), ("check", check), ("reserve", reserve)] {
            let answer = post(gateway, &format!("/api/caller/{what}"), &input).await;
            assert_eq!(answer["disabled"], "nobody is there to be paid", "{what}: {answer}");
        }
        assert_eq!(gateway.rows("SELECT count(*) FROM x402_vouchers").await, ["Int(0)"]);
    })
    .await;
}

#[tokio::test]
async fn a_full_batch_of_kept_vouchers_is_sent_at_once() {
    each(json!({ "batch_size": 2, "batch_s": 600 }), async |chain, gateway| {
        crate::first_run(gateway).await;
        for nonce in [1, 2] {
            let draft = Draft::new(gateway, 1, nonce);
            reserved(gateway, &draft).await;
            assert_eq!(end(gateway, &draft, None).await, "done");
        }
        // A job that is woken runs again after a tenth of a second.
        gateway.clock().advance(Duration::from_secs(1)).await;
        TestGateway::eventually(MINUTE, "a full batch is sent", async || chain.waiting().len() == 1).await;
    })
    .await;
}

#[tokio::test]
async fn a_check_says_what_is_wrong() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let answer = check(gateway, &draft, PRICE_WEI + 1).await;
        assert!(answer["refused"].as_str().unwrap().contains("at least"), "{answer}");
        let input = json!({ "price": price(5), "resource": RESOURCE, "payment": "no payment" });
        let answer = post(gateway, "/api/caller/check", &input).await;
        assert!(answer["malformed"].is_string(), "{answer}");
        let poor = Draft::new(gateway, 20, 1);
        chain.mine(vec![deposited(poor.payer(), 1)]);
        chain.mine_empty(CONFIRMATIONS);
        gateway.indexed(chain).await;
        let answer = check(gateway, &poor, PRICE_WEI).await;
        assert!(answer["refused"].as_str().unwrap().contains("the vault holds 1 wei"), "{answer}");
    })
    .await;
}

#[tokio::test]
async fn a_payer_whose_credit_is_used_up_gets_a_batch_at_once() {
    let config = json!({ "credit_max_wei": (2 * PRICE_WEI).to_string(), "batch_s": 600 });
    each(config, async |chain, gateway| {
        crate::first_run(gateway).await;
        for nonce in [1, 2] {
            let draft = Draft::new(gateway, 1, nonce);
            reserved(gateway, &draft).await;
            assert_eq!(end(gateway, &draft, None).await, "done");
        }
        assert!(chain.waiting().is_empty(), "it is too early for a batch");
        let answer = check(gateway, &Draft::new(gateway, 1, 3), PRICE_WEI).await;
        assert!(answer["refused"].as_str().unwrap().contains("not settled yet"), "{answer}");
        // Two vouchers are no full batch, and none has waited for long.
        let refused_s = gateway.now_s();
        crate::waits(chain, gateway, 1).await;
        assert!(gateway.now_s() - refused_s < 400, "no other batch is due");
        for nonce in [1, 2] {
            assert_eq!(state(gateway, &Draft::new(gateway, 1, nonce)).await.0, "submitted");
        }
        // Once only: what is in a batch waits for the chain alone.
        let wanting = "SELECT count(*) FROM x402_payers WHERE wants_batch = 1";
        assert_eq!(gateway.rows(wanting).await, ["Int(0)"]);
        let again = check(gateway, &Draft::new(gateway, 1, 4), PRICE_WEI).await;
        assert!(again["refused"].as_str().unwrap().contains("not settled yet"), "{again}");
        assert_eq!(gateway.rows(wanting).await, ["Int(0)"]);
    })
    .await;
}
