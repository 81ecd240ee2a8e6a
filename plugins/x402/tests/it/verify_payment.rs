//! `POST /api/x402/verify`: the order of the checks, and each refusal.

use crate::{FMX, PAYEE, draft::Draft, each, post, set_verify, settle, unlock_requested, withdrawn};
use plugin_api::{Address, Hash256};
use plugin_testing::{TestGateway, Value, json};

const VERIFY: &str = "/api/x402/verify";

/// Why a payment is refused; empty when it is valid.
pub async fn problem(gateway: &TestGateway, body: &Value) -> String {
    let answer = post(gateway, VERIFY, body).await;
    let reason = answer["invalidReason"].as_str().unwrap_or_default().to_owned();
    assert_eq!((&answer["isValid"], &answer["ok"]), (&json!(reason.is_empty()), &json!(reason.is_empty())), "{answer}");
    assert_eq!(answer["reason"].as_str().unwrap_or_default(), reason, "{answer}");
    reason
}

#[tokio::test]
async fn a_good_payment_is_valid_in_each_form() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let named = json!({ "scheme": "service-voucher", "network": "service:3961", "payload": draft.payment() });
        let v2 = json!({
            "x402Version": 2, "payload": draft.payment(),
            "accepted": { "scheme": "service-voucher", "network": "service:3961", "amount": "1" },
        });
        let bodies = [
            draft.payment(),
            json!({ "payment": draft.payment() }),
            draft.request(PAYEE, draft.amount),
            json!({ "x402Version": 1, "paymentPayload": named }),
            json!({ "x402Version": 2, "paymentPayload": v2, "paymentRequirements": { "payTo": PAYEE, "amount": "1" } }),
        ];
        for body in bodies {
            let answer = post(gateway, VERIFY, &body).await;
            assert_eq!(answer["isValid"], true, "{body}: {answer}");
            assert_eq!(answer["payer"], json!(draft.payer()));
            assert_eq!((&answer["settlement"], &answer["disabled"]), (&json!("facilitator"), &Value::Null));
        }
        assert_eq!(gateway.rows("SELECT count(*) FROM x402_vouchers").await, ["Int(0)"], "nothing is taken");
    })
    .await;
}

#[tokio::test]
async fn what_is_no_payment_is_a_400() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let mut negative = draft.payment();
        negative["voucher"]["amount"] = json!(-1);
        let nul = json!({ "payment": draft.payment(), "resource": "a\u{0}" });
        for body in ["", "[]", "{", "7", "{}", r#"{"payment": "%"}"#, &negative.to_string(), &nul.to_string()] {
            let answer = gateway.send("POST", VERIFY, &[("content-type", "application/json")], body.to_owned()).await;
            assert_eq!((answer.status, answer.code().as_str()), (400, "bad_request"), "{body}: {}", answer.text());
        }
    })
    .await;
}

#[tokio::test]
async fn terms_are_checked_in_their_order() {
    each(json!({}), async |_, gateway| {
        let (good, now_s) = (Draft::new(gateway, 1, 1), gateway.now_s());
        // Each is wrong in all that follows, too: no signature fits.
        let mut wrong = json!({
            "scheme": "exact", "network": "service:1",
            "payload": { "voucher": good.voucher(), "signature": format!("0x{}", "11".repeat(65)) },
        });
        wrong["payload"]["voucher"]["expiry"] = json!(now_s - 1);
        wrong["payload"]["voucher"]["amount"] = json!("0");
        wrong["payload"]["voucher"]["payee"] = json!(Address([9; 20]));
        let check = async |payment: &Value| {
            let requirements = json!({ "payTo": PAYEE, "maxAmountRequired": "5" });
            problem(gateway, &json!({ "payment": payment, "requirement": requirements })).await
        };
        assert!(check(&wrong).await.contains("scheme"));
        wrong["scheme"] = json!("service-voucher");
        assert!(check(&wrong).await.contains("network"));
        wrong["network"] = json!("service:3961");
        assert!(check(&wrong).await.contains("has expired"));
        for (expiry_s, words) in
            [(now_s + 89, "too soon"), (now_s + 3901, "too late"), (now_s + 90, "zero"), (now_s + 3900, "zero")]
        {
            wrong["payload"]["voucher"]["expiry"] = json!(expiry_s);
            assert!(check(&wrong).await.contains(words), "{expiry_s}");
        }
        wrong["payload"]["voucher"]["amount"] = json!("4");
        wrong["payload"]["voucher"]["payee"] = json!(Address::ZERO);
        assert!(check(&wrong).await.contains("the payee is the zero address"));
        wrong["payload"]["voucher"]["payee"] = json!(Address([9; 20]));
        assert!(check(&wrong).await.contains("the payee must be"));
        wrong["payload"]["voucher"]["payee"] = json!(PAYEE);
        assert!(check(&wrong).await.contains("at least 5 wei"));
        wrong["payload"]["voucher"]["amount"] = json!("5");
        assert!(check(&wrong).await.contains("signature"));
        settle(gateway, &good).await;
        assert!(check(&wrong).await.contains("queued"), "the nonce comes before the signature");
    })
    .await;
}

#[tokio::test]
async fn a_change_of_any_member_is_refused() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let changes = [
            ("payer", json!(Address([9; 20]))),
            ("payee", json!(Address([9; 20]))),
            ("amount", json!((draft.amount + 1).to_string())),
            ("nonce", json!("2")),
            ("expiry", json!(draft.expiry_s + 1)),
            ("ref", json!(Hash256([1; 32]))),
        ];
        for (member, value) in changes {
            let mut payment = draft.payment();
            payment["voucher"][member] = value;
            assert!(problem(gateway, &payment).await.contains("the signature is not the payer's"), "{member}");
        }
        let signature = draft.signature();
        for place in [2, 40, 70, 100] {
            let mut altered = signature.clone().into_bytes();
            altered[place] = if altered[place] == b'0' { b'1' } else { b'0' };
            let mut payment = draft.payment();
            payment["signature"] = json!(String::from_utf8(altered).unwrap());
            assert!(!problem(gateway, &payment).await.is_empty(), "digit {place}");
        }
        assert_eq!(problem(gateway, &draft.payment()).await, "");
    })
    .await;
}

#[tokio::test]
async fn a_signature_counts_as_the_vault_reads_it() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        let signature = draft.signature();
        let with = |signature: String| json!({ "voucher": draft.voucher(), "signature": signature });
        let (scalars, v) = signature.split_at(130);
        let low_v = if v == "1b" { "00" } else { "01" };
        assert_eq!(problem(gateway, &with(format!("{scalars}{low_v}"))).await, "", "v of 0 or 1");
        assert_eq!(
            problem(gateway, &with(format!("0x{}", signature[2..].to_uppercase()))).await,
            "",
            "upper-case digits"
        );
        let order = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
        let order: alloy_primitives::U256 = order.parse().unwrap();
        let s: alloy_primitives::U256 = format!("0x{}", &signature[66..130]).parse().unwrap();
        let other_v = if v == "1b" { "1c" } else { "1b" };
        let high_s = format!("{}{:064x}{other_v}", &signature[..66], order - s);
        assert!(problem(gateway, &with(high_s)).await.contains("signature"), "the vault takes the lower s alone");
        let longer = format!("{signature}00");
        assert!(problem(gateway, &with(longer)).await.contains("signature"));
    })
    .await;
}

#[tokio::test]
async fn the_vault_is_asked_for_payers_with_code_only() {
    each(json!({}), async |chain, gateway| {
        let payer = Address([0xc0; 20]);
        let mut payment = Draft::new(gateway, 1, 1).payment();
        payment["voucher"]["payer"] = json!(payer);
        payment["signature"] = json!(format!("0x{}", "ab".repeat(100)));
        assert!(problem(gateway, &payment).await.contains("the signature is not the payer's"), "no code");
        chain.mock_call(payer, "isValidSignature(bytes32,bytes) returns (bytes4)", &[json!("0x1626ba7e")]);
        assert!(problem(gateway, &payment).await.contains("contract does not accept"), "the vault reverts");
        set_verify(chain, false, "bad signature");
        assert!(problem(gateway, &payment).await.contains("bad signature"));
        set_verify(chain, true, "");
        assert_eq!(problem(gateway, &payment).await, "");
        set_verify(chain, false, "not asked");
        assert_eq!(problem(gateway, &Draft::new(gateway, 1, 2).payment()).await, "", "a key signed it");
    })
    .await;
}

#[tokio::test]
async fn funds_count_what_is_not_settled_yet() {
    each(json!({ "credit_max_wei": (FMX / 10).to_string() }), async |chain, gateway| {
        let draft = |nonce, amount| Draft { amount, ..Draft::new(gateway, 1, nonce) };
        let (all, more) = (draft(1, FMX).payment(), draft(1, FMX + 1).payment());
        assert_eq!(problem(gateway, &all).await, "", "a single voucher may exceed the credit");
        assert!(problem(gateway, &more).await.contains("the vault holds"));
        let unlocks_at = async |at: i64| {
            chain.mine(vec![unlock_requested(draft(1, 1).payer(), at)]);
            gateway.indexed(chain).await;
        };
        unlocks_at(gateway.now_s() + 91).await;
        assert_eq!(problem(gateway, &all).await, "");
        unlocks_at(gateway.now_s() + 90).await;
        assert!(problem(gateway, &all).await.contains("take the balance out"));
        unlocks_at(0).await;
        settle(gateway, &draft(2, FMX / 20)).await;
        assert_eq!(problem(gateway, &draft(3, FMX / 20).payment()).await, "");
        assert!(problem(gateway, &draft(3, FMX / 20 + 1).payment()).await.contains("not settled yet"), "the credit");
        chain.mine(vec![withdrawn(draft(1, 1).payer(), FMX / 20 * 19)]);
        gateway.indexed(chain).await;
        assert!(problem(gateway, &draft(3, 1).payment()).await.contains("the vault holds"));
        let another = Draft { amount: FMX / 20, ..Draft::new(gateway, 2, 1) };
        assert_eq!(problem(gateway, &another.payment()).await, "", "another payer owes nothing");
    })
    .await;
}

#[tokio::test]
async fn a_nonce_that_the_vault_has_used_is_refused() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        chain.mine(vec![crate::settled(&draft, [5; 32])]);
        gateway.indexed(chain).await;
        assert!(problem(gateway, &draft.payment()).await.contains("the vault has settled it"), "by its events");
        assert_eq!(problem(gateway, &Draft::new(gateway, 2, 1).payment()).await, "", "of another payer");
    })
    .await;
}

#[tokio::test]
async fn the_operator_may_require_the_reference() {
    let resource = "https://a.example/b";
    let hash = Hash256::keccak(resource.as_bytes());
    for (rule, zero, fits, other) in
        [("any", true, true, true), ("match", true, true, false), ("required", false, true, false)]
    {
        each(json!({ "ref": rule }), async |_, gateway| {
            for (reference, expected) in [(Hash256([0; 32]), zero), (hash, fits), (Hash256([1; 32]), other)] {
                let draft = Draft { reference, ..Draft::new(gateway, 1, 1) };
                let is_valid = problem(gateway, &draft.request(PAYEE, 1)).await.is_empty();
                assert_eq!(is_valid, expected, "{rule} {reference}");
            }
        })
        .await;
    }
}

#[tokio::test]
async fn clients_are_limited() {
    each(json!({}), async |_, gateway| {
        gateway.set_client_ip("203.0.113.9".parse().unwrap());
        let (taken, answer) = gateway.until_limited("POST", VERIFY).await;
        assert_eq!((taken, answer.status), (120, 429));
    })
    .await;
}
