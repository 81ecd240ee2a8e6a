//! Batches: when they are sent, what is in them, and what becomes of the vouchers.

use crate::{
    DEPTH, FMX, MINUTE, VAULT, becomes, draft::Draft, each, first_run, post, reserve, runs_after, set_verify, settle,
    settled, skipped, state, until, waits,
};
use alloy_primitives::hex;
use plugin_api::Address;
use plugin_testing::{Fault, ScriptedChain, ScriptedTx, TestGateway, json};
use std::time::Duration;

const SETTLE_BATCH: &str = "960a5b93";

/// Whether the calldata names the voucher: its nonce is in a word of its own.
fn holds(tx: &ScriptedTx, draft: &Draft) -> bool {
    let data = hex::encode(&tx.data);
    assert!(data.starts_with(SETTLE_BATCH), "{data}");
    let payer = format!("{:0>64}", &draft.payer().to_string()[2..].to_lowercase());
    data.contains(&format!("{payer}{:0>64}{:064x}{:064x}", hex::encode(draft.payee.0), draft.amount, draft.nonce))
}

/// The whole way of vouchers that were just accepted, until their batch is signed and its hash is noted.
async fn submitted(chain: &ScriptedChain, gateway: &TestGateway, drafts: &[Draft]) -> ScriptedTx {
    gateway.clock().advance(Duration::from_secs(30)).await;
    let tx = waits(chain, gateway, 1).await.remove(0);
    for draft in drafts {
        assert!(holds(&tx, draft), "voucher {} is not in the batch", draft.nonce);
        becomes(gateway, draft, "submitted").await;
    }
    let noted = async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        !gateway.rows("SELECT tx FROM x402_batch_transactions").await.is_empty()
    };
    assert!(tokio::time::timeout(MINUTE, until(noted)).await.is_ok(), "the batch's transaction is not noted");
    tx
}

#[tokio::test]
async fn a_batch_settles_what_waits() {
    each(json!({}), async |chain, gateway| {
        first_run(gateway).await;
        let drafts: Vec<Draft> = (1..=3).map(|nonce| Draft::new(gateway, nonce, nonce)).collect();
        for draft in &drafts {
            settle(gateway, draft).await;
        }
        runs_after(gateway, "settle", 25).await;
        for draft in &drafts {
            assert_eq!(state(gateway, draft).await.0, "queued", "it has not waited long enough");
        }
        let tx = submitted(chain, gateway, &drafts).await;
        assert_eq!((tx.to, tx.value), (ScriptedChain::address_of(VAULT), crate::wei(0)));
        chain.mine(vec![
            settled(&drafts[0], tx.hash),
            settled(&drafts[1], tx.hash),
            skipped(&drafts[2], "insufficient balance", tx.hash),
        ]);
        gateway.indexed(chain).await;
        let hash = json!(hex::encode_prefixed(tx.hash));
        for draft in &drafts[..2] {
            assert_eq!(state(gateway, draft).await, ("settled".to_owned(), hash.clone(), json!(null)));
        }
        assert_eq!(
            state(gateway, &drafts[2]).await,
            ("skipped".to_owned(), hash.clone(), json!("insufficient balance"))
        );
        let again = post(gateway, "/api/x402/settle", &drafts[0].payment()).await;
        assert_eq!((&again["success"], &again["txHash"]), (&json!(false), &hash), "{again}");
        // Nothing changes when it is final.
        chain.mine_empty(DEPTH + 1);
        gateway.clock().advance(Duration::from_secs(300)).await;
        let closed = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows("SELECT state FROM x402_batches").await == ["Text(\"done\")"]
        };
        assert!(tokio::time::timeout(MINUTE, until(closed)).await.is_ok(), "the batch does not end");
        assert_eq!(state(gateway, &drafts[0]).await, ("settled".to_owned(), hash.clone(), json!(null)));
        assert_eq!(state(gateway, &drafts[2]).await, ("skipped".to_owned(), hash, json!("insufficient balance")));
    })
    .await;
}

#[tokio::test]
async fn a_full_batch_is_sent_at_once() {
    each(json!({ "batch_size": 2, "batch_s": 600 }), async |chain, gateway| {
        first_run(gateway).await;
        let drafts: Vec<Draft> = (1..=2).map(|nonce| Draft::new(gateway, 1, nonce)).collect();
        for draft in &drafts {
            settle(gateway, draft).await;
        }
        // A job that is woken runs again after a tenth of a second.
        gateway.clock().advance(Duration::from_secs(1)).await;
        TestGateway::eventually(MINUTE, "a full batch is sent without waiting", async || chain.waiting().len() == 1)
            .await;
        assert!(drafts.iter().all(|draft| holds(&chain.waiting()[0], draft)));
    })
    .await;
}

#[tokio::test]
async fn a_voucher_that_is_about_to_expire_is_sent_before_its_time() {
    each(json!({ "batch_s": 600 }), async |chain, gateway| {
        first_run(gateway).await;
        let draft = Draft { expiry_s: gateway.now_s() + 90, ..Draft::new(gateway, 1, 1) };
        settle(gateway, &draft).await;
        runs_after(gateway, "settle", 25).await;
        assert_eq!(state(gateway, &draft).await.0, "queued");
        gateway.clock().advance(Duration::from_secs(10)).await;
        assert!(holds(&waits(chain, gateway, 1).await[0], &draft));
    })
    .await;
}

#[tokio::test]
async fn what_expires_in_the_queue_is_skipped() {
    each(json!({}), async |chain, gateway| {
        first_run(gateway).await;
        let draft = Draft { expiry_s: gateway.now_s() + 90, ..Draft::new(gateway, 1, 1) };
        settle(gateway, &draft).await;
        // As if no gateway had run meanwhile.
        gateway.execute(&format!("UPDATE x402_vouchers SET expiry_s = {}", gateway.now_s() - 1)).await;
        assert_eq!(state(gateway, &draft).await.0, "skipped");
        let stored = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows("SELECT state FROM x402_vouchers").await == ["Text(\"skipped\")"]
        };
        TestGateway::eventually(MINUTE, "the job skips it", stored).await;
        assert_eq!(gateway.rows("SELECT count(*) FROM x402_batches").await, ["Int(0)"], "it was in no batch");
        assert!(chain.waiting().is_empty() && chain.mined().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_batch_that_fails_is_halved() {
    each(json!({}), async |chain, gateway| {
        let vault = ScriptedChain::address_of(VAULT);
        chain.refuse_calls(vault, true);
        let drafts: Vec<Draft> = (1..=4).map(|nonce| Draft::new(gateway, 1, nonce)).collect();
        for draft in &drafts {
            settle(gateway, draft).await;
        }
        gateway.clock().advance(Duration::from_secs(30)).await;
        let batches = async |state: &str| {
            let count = gateway.rows(&format!("SELECT count(*) FROM x402_batches WHERE state = '{state}'")).await;
            count[0].clone()
        };
        let halved = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            batches("sent").await == "Int(2)" && batches("failed").await == "Int(1)"
        };
        assert!(tokio::time::timeout(MINUTE, until(halved)).await.is_ok(), "the batch is not halved");
        assert_eq!(
            gateway.rows("SELECT DISTINCT state, attempts FROM x402_vouchers").await,
            ["Text(\"submitted\") Int(0)"]
        );
        chain.refuse_calls(vault, false);
        let sent = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            let waiting = chain.waiting();
            !waiting.is_empty() && drafts.iter().all(|draft| waiting.iter().filter(|tx| holds(tx, draft)).count() == 1)
        };
        let in_time = tokio::time::timeout(MINUTE, until(sent)).await;
        assert!(in_time.is_ok(), "each voucher is in one transaction: {:?}", chain.waiting());
        assert_eq!(gateway.rows("SELECT DISTINCT state FROM x402_vouchers").await, ["Text(\"submitted\")"]);
    })
    .await;
}

#[tokio::test]
async fn a_voucher_that_fails_alone_three_times_has_failed() {
    each(json!({ "batch_s": 1 }), async |chain, gateway| {
        chain.refuse_calls(ScriptedChain::address_of(VAULT), true);
        let drafts: Vec<Draft> = (1..=2).map(|nonce| Draft::new(gateway, 1, nonce)).collect();
        for draft in &drafts {
            settle(gateway, draft).await;
        }
        for draft in &drafts {
            becomes(gateway, draft, "failed").await;
            assert!(state(gateway, draft).await.2.as_str().unwrap().contains("would revert"));
        }
        assert_eq!(gateway.rows("SELECT DISTINCT attempts FROM x402_vouchers").await, ["Int(3)"]);
        let alone = "SELECT count(*) FROM x402_batches";
        assert_eq!(gateway.rows(alone).await, ["Int(7)"], "one with both, then three of each");
        assert!(chain.waiting().is_empty() && chain.mined().is_empty());
        let again = reserve::check(gateway, &Draft::new(gateway, 1, 3), 1).await;
        assert!(again["accepted"].is_object(), "what failed is not pending: {again}");
    })
    .await;
}

#[tokio::test]
async fn a_batch_that_fails_changes_no_voucher_of_another() {
    each(json!({}), async |chain, gateway| {
        first_run(gateway).await;
        chain.refuse_calls(ScriptedChain::address_of(VAULT), true);
        for nonce in [1, 2] {
            settle(gateway, &Draft::new(gateway, 1, nonce)).await;
        }
        // It is on its way, and only the vault can say that it came too late.
        let other = "0x0000000000000000000000000000000000000009";
        let on_its_way =
            format!("state = 'submitted', batch = 99, vault = '{other}', expiry_s = {}", gateway.now_s() - 1);
        gateway.execute(&format!("UPDATE x402_vouchers SET {on_its_way} WHERE nonce = '2'")).await;
        let failed = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows("SELECT attempts FROM x402_vouchers WHERE nonce = '1'").await == ["Int(1)"]
        };
        assert!(tokio::time::timeout(MINUTE, until(failed)).await.is_ok(), "the batch does not fail");
        let other = "SELECT state, batch, attempts FROM x402_vouchers WHERE nonce = '2'";
        assert_eq!(gateway.rows(other).await, ["Text(\"submitted\") Int(99) Int(0)"]);
    })
    .await;
}

/// The id of the first batch. Ids have gaps where writes ran again.
const FIRST: &str = "(SELECT min(id) FROM x402_batches)";

#[tokio::test]
async fn the_next_attempt_comes_after_a_pause() {
    each(json!({}), async |chain, gateway| {
        chain.refuse_calls(ScriptedChain::address_of(VAULT), true);
        let draft = Draft::new(gateway, 1, 1);
        settle(gateway, &draft).await;
        becomes(gateway, &draft, "failed").await;
        let pauses = "WITH attempts AS (SELECT created_at, ended_at, row_number() OVER (ORDER BY id) AS place FROM x402_batches) \
             SELECT next.created_at - failed.ended_at >= 30 * failed.place FROM attempts failed \
             JOIN attempts next ON next.place = failed.place + 1 ORDER BY failed.place";
        let kept = gateway.rows(pauses).await;
        assert!(kept == ["Int(1)", "Int(1)"] || kept == ["Bool(true)", "Bool(true)"], "{kept:?}");
    })
    .await;
}

#[tokio::test]
async fn a_failure_is_no_attempt_of_a_voucher_that_was_not_alone() {
    each(json!({}), async |chain, gateway| {
        let drafts: Vec<Draft> = (1..=3).map(|nonce| Draft::new(gateway, 1, nonce)).collect();
        for draft in &drafts {
            settle(gateway, draft).await;
        }
        // The batch is made, and nothing can be said of it yet.
        chain.fail_always(Some(Fault::Status(500)));
        let sent = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows(&format!("SELECT count(*) FROM x402_vouchers WHERE batch = {FIRST}")).await == ["Int(3)"]
        };
        assert!(tokio::time::timeout(MINUTE, until(sent)).await.is_ok(), "the batch is not made");
        let (other, now_s) = ("0x0000000000000000000000000000000000000009", gateway.now_s());
        gateway.execute(&format!("UPDATE x402_vouchers SET vault = '{other}' WHERE nonce = '1'")).await;
        gateway.execute(&format!("UPDATE x402_vouchers SET expiry_s = {} WHERE nonce = '2'", now_s - 1)).await;
        chain.refuse_calls(ScriptedChain::address_of(VAULT), true);
        chain.fail_always(None);
        let failed = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows(&format!("SELECT state FROM x402_batches WHERE id = {FIRST}")).await == ["Text(\"failed\")"]
        };
        assert!(tokio::time::timeout(MINUTE, until(failed)).await.is_ok(), "the batch does not fail");
        let third = "SELECT state, (SELECT count(*) FROM x402_batches WHERE id <= v.batch), attempts FROM x402_vouchers v WHERE nonce = '3'";
        assert_eq!(
            gateway.rows(third).await,
            ["Text(\"submitted\") Int(2) Int(0)"],
            "it is sent alone, and has not failed"
        );
        becomes(gateway, &drafts[0], "unsettleable").await;
        becomes(gateway, &drafts[1], "skipped").await;
    })
    .await;
}

#[tokio::test]
async fn contracts_have_batches_of_their_own_with_a_bound_of_gas() {
    each(json!({}), async |chain, gateway| {
        let payer = Address([0xc0; 20]);
        chain.mock_call(payer, "isValidSignature(bytes32,bytes) returns (bytes4)", &[json!("0x1626ba7e")]);
        set_verify(chain, true, "");
        let by_key = Draft::new(gateway, 1, 1);
        let mut by_contract = by_key.payment();
        by_contract["voucher"]["payer"] = json!(payer);
        by_contract["signature"] = json!(format!("0x{}", "ab".repeat(200)));
        settle(gateway, &by_key).await;
        let answer = post(gateway, "/api/x402/settle", &by_contract).await;
        assert_eq!(answer["success"], true, "{answer}");
        gateway.clock().advance(Duration::from_secs(30)).await;
        let txs = waits(chain, gateway, 2).await;
        assert_eq!(gateway.rows("SELECT count(DISTINCT intent) FROM x402_batches").await, ["Int(2)"]);
        let of_contract = txs.iter().find(|tx| !holds(tx, &by_key)).expect("a batch of the contract's");
        let of_key = txs.iter().find(|tx| holds(tx, &by_key)).expect("a batch of the key's");
        assert_eq!(of_contract.gas, 520_000, "the gas of its signature check is bounded");
        assert_eq!(of_key.gas, 220_000, "enough whatever a payee does before it is mined");
        assert!(hex::encode(&of_contract.data).contains(&"ab".repeat(200)));
    })
    .await;
}

#[tokio::test]
async fn what_somebody_else_has_settled_is_sent_no_more() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        settle(gateway, &draft).await;
        chain.mine(vec![settled(&draft, [7; 32])]);
        gateway.indexed(chain).await;
        assert_eq!(state(gateway, &draft).await.0, "settled");
        // Of the same payer, and with the same nonce.
        let others = [Draft::new(gateway, 1, 2), Draft::new(gateway, 2, 1)];
        for other in &others {
            settle(gateway, other).await;
        }
        let tx = waits(chain, gateway, 1).await.remove(0);
        assert!(others.iter().all(|other| holds(&tx, other)), "the batch after it has what is not settled");
        assert!(!holds(&tx, &draft), "the batch after it is without it");
    })
    .await;
}

#[tokio::test]
async fn a_forged_skip_changes_nothing() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        settle(gateway, &draft).await;
        // Anybody can have the vault skip a voucher with this payer and nonce, by a signature that is none.
        chain.mine(vec![skipped(&draft, "bad signature", [7; 32])]);
        gateway.indexed(chain).await;
        assert_eq!(state(gateway, &draft).await.0, "queued");
        let tx = submitted(chain, gateway, std::slice::from_ref(&draft)).await;
        assert_eq!(state(gateway, &draft).await.0, "submitted");
        chain.mine(vec![settled(&draft, tx.hash)]);
        gateway.indexed(chain).await;
        assert_eq!(state(gateway, &draft).await.0, "settled");
    })
    .await;
}

#[tokio::test]
async fn a_payer_who_broke_his_promise_is_refused_for_30_days() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        settle(gateway, &draft).await;
        let tx = submitted(chain, gateway, std::slice::from_ref(&draft)).await;
        // He settles another voucher with this nonce, to himself.
        let own = Draft { payee: draft.payer(), amount: FMX / 2, ..draft.clone() };
        chain.mine(vec![settled(&own, [7; 32]), skipped(&draft, "nonce used", tx.hash)]);
        gateway.indexed(chain).await;
        let (status, hash, error) = state(gateway, &draft).await;
        assert_eq!((status.as_str(), hash), ("skipped", json!(hex::encode_prefixed([7; 32]))));
        assert!(error.as_str().unwrap().contains("another voucher"), "{error}");
        let refusal = async |nonce| {
            let answer = reserve::check(gateway, &Draft::new(gateway, 1, nonce), 1).await;
            answer["refused"].as_str().unwrap_or_default().to_owned()
        };
        assert!(refusal(2).await.contains("was not covered"), "at once");
        chain.mine_empty(DEPTH + 1);
        let is_refused = async || {
            gateway.clock().advance(Duration::from_secs(10)).await;
            !gateway.rows("SELECT payer FROM x402_payers WHERE refused_until_s > 0").await.is_empty()
        };
        assert!(tokio::time::timeout(MINUTE, until(is_refused)).await.is_ok(), "the refusal is not stored");
        assert!(refusal(3).await.contains("was not covered"), "when it is final");
        assert_eq!(reserve::check(gateway, &Draft::new(gateway, 2, 1), 1).await["refused"], json!(null), "not others");
        gateway.clock().advance(Duration::from_secs(31 * 86_400)).await;
        let later = reserve::check(gateway, &Draft::new(gateway, 1, 4), 1).await;
        assert!(later["accepted"].is_object(), "not for ever: {later}");
    })
    .await;
}

/// Until then, a balance that was read before does not know of the settlement: the voucher counts beside it.
#[tokio::test]
async fn the_logs_end_vouchers_two_minutes_later_and_blame_the_payer_for_his_own_doing_alone() {
    each(json!({}), async |chain, gateway| {
        let drafts: Vec<Draft> = (1..=4).map(|wallet| Draft::new(gateway, wallet, 1)).collect();
        for draft in &drafts {
            settle(gateway, draft).await;
        }
        let tx = submitted(chain, gateway, &drafts).await;
        // A block of the script is seven seconds after the one before, whatever the gateway's clock says.
        chain.mine_empty(20);
        chain.mine(vec![
            settled(&drafts[0], tx.hash),
            skipped(&drafts[1], "expired", tx.hash),
            skipped(&drafts[2], "insufficient balance", tx.hash),
        ]);
        chain.mine_empty(DEPTH + 1);
        // This one is not final.
        chain.mine(vec![skipped(&drafts[3], "bad signature", tx.hash)]);
        gateway.indexed(chain).await;
        let row = gateway.rows("SELECT settled_at FROM x402_settled").await.remove(0);
        let settled_at: i64 = row.trim_start_matches("Int(").trim_end_matches(')').parse().unwrap();
        let left_s = u64::try_from(settled_at + 119 - gateway.now_s()).unwrap();
        runs_after(gateway, "close", left_s).await;
        let stored = async || gateway.rows("SELECT state FROM x402_vouchers ORDER BY state").await;
        assert_eq!(stored().await, ["Text(\"submitted\")"; 4]);
        let expected = ["settled", "skipped", "skipped", "submitted"].map(|state| format!("Text(\"{state}\")"));
        let ended = async || {
            gateway.clock().advance(Duration::from_secs(5)).await;
            stored().await == expected
        };
        assert!(tokio::time::timeout(MINUTE, until(ended)).await.is_ok(), "{:?}", stored().await);
        runs_after(gateway, "close", 200).await;
        assert_eq!(stored().await, expected);
        let refused = gateway.rows("SELECT payer FROM x402_payers WHERE refused_until_s > 0").await;
        assert_eq!(refused, [format!("Text(\"{}\")", drafts[2].payer())], "time is nobody's doing");
    })
    .await;
}
