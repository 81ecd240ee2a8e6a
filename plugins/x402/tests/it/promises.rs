//! A payer breaks his promise, or only seems to: who is refused for it, and who goes on.

use crate::{
    CONTRACT, DEPTH, FMX, MINUTE, VAULT, becomes, draft::Draft, each, first_run, post, reserve, runs_after, set_verify,
    settle, settled, state, unlock_requested, until, waits,
};
use gateway_telemetry::MetricsRecorder;
use plugin_testing::{Fault, ScriptedChain, TestGateway, Value, json};
use std::time::Duration;

/// Payers who are refused for days.
const REFUSED: &str = "SELECT payer FROM x402_payers WHERE refused_until_s > 0";

/// Why a new voucher of this wallet is refused; empty when it is accepted.
async fn refusal(gateway: &TestGateway, wallet: u64, nonce: u64) -> String {
    let answer = reserve::check(gateway, &Draft::new(gateway, wallet, nonce), 1).await;
    assert_eq!(answer["disabled"], json!(null), "{answer}");
    answer["refused"].as_str().unwrap_or_default().to_owned()
}

async fn stored(gateway: &TestGateway) -> Vec<String> {
    gateway.rows("SELECT state FROM x402_vouchers ORDER BY nonce").await
}

/// A voucher lives 90 seconds at least, and a block is final after some minutes: its expiry must not come first.
#[tokio::test]
async fn whose_nonce_is_settled_for_another_voucher_is_refused_although_his_own_expires_before_that_is_final() {
    each(json!({}), async |chain, gateway| {
        first_run(gateway).await;
        let promised = Draft { expiry_s: gateway.now_s() + 100, ..Draft::new(gateway, 1, 1) };
        settle(gateway, &promised).await;
        // Of somebody who keeps his promises, so that something does end.
        let beside = Draft { amount: FMX / 50, expiry_s: promised.expiry_s, ..Draft::new(gateway, 2, 9) };
        settle(gateway, &beside).await;
        let to_himself = Draft { payee: promised.payer(), ..promised.clone() };
        chain.mine(vec![settled(&to_himself, [7; 32])]);
        gateway.indexed(chain).await;
        // Not by the clock: the job would send a batch before they expire, if it got to run meanwhile.
        gateway.execute(&format!("UPDATE x402_vouchers SET expiry_s = {}", gateway.now_s() - 1)).await;
        runs_after(gateway, "settle", 5).await;
        runs_after(gateway, "settle", 5).await;
        assert_eq!(stored(gateway).await, ["Text(\"queued\")", "Text(\"skipped\")"], "it is not over");
        assert!(refusal(gateway, 1, 2).await.contains("was not covered"), "before it is final");
        chain.mine_empty(DEPTH + 1);
        let is_refused = async || {
            gateway.clock().advance(Duration::from_secs(10)).await;
            !gateway.rows(REFUSED).await.is_empty()
        };
        assert!(tokio::time::timeout(MINUTE, until(is_refused)).await.is_ok(), "the refusal is not stored");
        assert!(refusal(gateway, 1, 3).await.contains("was not covered"), "when it is final");
        assert!(chain.waiting().is_empty(), "no batch was made for it");
    })
    .await;
}

/// Lets the batch of what waits be made, of which no server says anything until faults end.
async fn batch_without_answer(chain: &ScriptedChain, gateway: &TestGateway) {
    chain.fail_always(Some(Fault::Status(500)));
    made(gateway).await;
}

/// Waits until the first batch is made.
async fn made(gateway: &TestGateway) {
    let sent = async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        gateway.rows("SELECT count(*) FROM x402_batches").await == ["Int(1)"]
    };
    assert!(tokio::time::timeout(MINUTE, until(sent)).await.is_ok(), "the batch is not made");
}

#[tokio::test]
async fn what_its_payer_settles_himself_stops_no_sales() {
    each(json!({}), async |chain, gateway| {
        first_run(gateway).await;
        let draft = Draft::new(gateway, 1, 1);
        settle(gateway, &draft).await;
        chain.mine(vec![settled(&draft, [7; 32])]);
        gateway.indexed(chain).await;
        // Ten minutes is what a voucher may wait for its batch.
        runs_after(gateway, "settle", 700).await;
        assert_eq!(stored(gateway).await, ["Text(\"queued\")"], "its settlement is not final");
        assert_eq!(refusal(gateway, 2, 1).await, "");
        let facilitator = &gateway.collect("status", &json!({})).await["x402"]["facilitator"];
        assert_eq!(
            (&facilitator["ok"], &facilitator["oldestQueuedAgeS"]),
            (&json!(true), &json!(null)),
            "{facilitator}"
        );
    })
    .await;
}

/// A voucher of a contract, which the vault accepts now.
fn by_contract(chain: &ScriptedChain, gateway: &TestGateway, nonce: u64) -> Value {
    chain.mock_call(CONTRACT, "isValidSignature(bytes32,bytes) returns (bytes4)", &[json!("0x1626ba7e")]);
    set_verify(chain, true, "");
    let mut payment = Draft::new(gateway, 1, nonce).payment();
    payment["voucher"]["payer"] = json!(CONTRACT);
    payment["signature"] = json!(format!("0x{}", "ab".repeat(100)));
    payment
}

/// Otherwise it would be served for nothing again and again: its vouchers fail, so that it owes nothing.
#[tokio::test]
async fn a_contract_whose_code_makes_its_batch_fail_is_refused_at_once() {
    each(json!({}), async |chain, gateway| {
        first_run(gateway).await;
        let (vault, payment) = (ScriptedChain::address_of(VAULT), by_contract(chain, gateway, 1));
        for payment in [&payment, &Draft::new(gateway, 2, 1).payment()] {
            let answer = post(gateway, "/api/x402/settle", payment).await;
            assert_eq!(answer["success"], true, "{answer}");
        }
        // The vault never reverts by itself, but a key's batch may fail as well: its payer is not to blame.
        chain.refuse_calls(vault, true);
        let failed = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows("SELECT count(*) FROM x402_batches WHERE state = 'failed'").await == ["Int(2)"]
        };
        assert!(tokio::time::timeout(MINUTE, until(failed)).await.is_ok(), "the batches do not fail");
        chain.refuse_calls(vault, false);
        assert_eq!(gateway.rows(REFUSED).await, [format!("Text(\"{}\")", CONTRACT)]);
        let answer = post(gateway, "/api/x402/verify", &by_contract(chain, gateway, 2)).await;
        assert!(answer["invalidReason"].as_str().unwrap_or_default().contains("was not covered"), "{answer}");
        assert_eq!(refusal(gateway, 2, 2).await, "");
    })
    .await;
}

/// The servers do not answer: that is nobody's doing.
#[tokio::test]
async fn a_contract_is_not_blamed_for_a_batch_that_came_too_late() {
    each(json!({}), async |chain, gateway| {
        first_run(gateway).await;
        let mut payment = by_contract(chain, gateway, 1);
        payment["voucher"]["expiry"] = json!((gateway.now_s() + 100).to_string());
        let answer = post(gateway, "/api/x402/settle", &payment).await;
        assert_eq!(answer["success"], true, "{answer}");
        batch_without_answer(chain, gateway).await;
        gateway.clock().advance(Duration::from_secs(100)).await;
        chain.fail_always(None);
        let skipped = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            stored(gateway).await == ["Text(\"skipped\")"]
        };
        assert!(tokio::time::timeout(MINUTE, until(skipped)).await.is_ok(), "{:?}", stored(gateway).await);
        assert_eq!(gateway.rows(REFUSED).await, Vec::<String>::new());
    })
    .await;
}

/// Ten minutes are more than the time after which he may take out what covers it.
#[tokio::test]
async fn a_voucher_is_sent_before_its_payer_may_take_his_deposit() {
    each(json!({ "batch_s": 600 }), async |chain, gateway| {
        first_run(gateway).await;
        let draft = Draft::new(gateway, 1, 1);
        settle(gateway, &draft).await;
        chain.mine(vec![unlock_requested(draft.payer(), gateway.now_s() + 100)]);
        gateway.indexed(chain).await;
        runs_after(gateway, "settle", 35).await;
        assert_eq!(state(gateway, &draft).await.0, "queued");
        gateway.clock().advance(Duration::from_secs(10)).await;
        waits(chain, gateway, 1).await;
        assert!(gateway.now_s() < draft.expiry_s - 3000, "nor does it expire");
    })
    .await;
}

/// In the queue, and on the way back from a batch that failed.
#[tokio::test]
async fn vouchers_that_expire_are_counted() {
    let metrics = MetricsRecorder::install().expect("each test has a process of its own");
    let counted = |why: &str| -> u64 {
        let counts = metrics.counts("plugin_vouchers_lost");
        counts.iter().filter(|(labels, _)| labels.contains(why)).map(|(_, count)| count).sum()
    };
    each(json!({}), async |chain, gateway| {
        first_run(gateway).await;
        let before = counted("expired");
        // Of two, one expires before its batch has failed.
        for nonce in 1..=2 {
            settle(gateway, &Draft::new(gateway, 1, nonce)).await;
        }
        batch_without_answer(chain, gateway).await;
        gateway
            .execute(&format!("UPDATE x402_vouchers SET expiry_s = {} WHERE nonce = '2'", gateway.now_s() - 1))
            .await;
        chain.refuse_calls(ScriptedChain::address_of(VAULT), true);
        chain.fail_always(None);
        becomes(gateway, &Draft::new(gateway, 1, 2), "skipped").await;
        // It is counted once the change is committed.
        TestGateway::eventually(MINUTE, "it is counted on the way back", async || counted("expired") - before == 1)
            .await;
        chain.refuse_calls(ScriptedChain::address_of(VAULT), false);
        // As if no gateway had run meanwhile.
        let late = Draft { amount: FMX / 50, ..Draft::new(gateway, 2, 3) };
        settle(gateway, &late).await;
        gateway
            .execute(&format!("UPDATE x402_vouchers SET expiry_s = {} WHERE nonce = '3'", gateway.now_s() - 1))
            .await;
        let closed = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            stored(gateway).await[2] == "Text(\"skipped\")"
        };
        assert!(tokio::time::timeout(MINUTE, until(closed)).await.is_ok(), "{:?}", stored(gateway).await);
        TestGateway::eventually(MINUTE, "it is counted in the queue", async || counted("expired") - before == 2).await;
    })
    .await;
}

/// A client would be told that nothing was charged.
#[tokio::test]
async fn what_is_kept_is_kept_although_no_batch_can_be_asked_for() {
    each(json!({ "batch_size": 1, "batch_s": 600 }), async |_, gateway| {
        first_run(gateway).await;
        let (worked, sold) = (Draft::new(gateway, 1, 1), Draft::new(gateway, 2, 1));
        reserve::reserved(gateway, &worked).await;
        let sold_for = sold.payment();
        gateway.execute("ALTER TABLE host_job_runs RENAME TO host_job_runs_away").await;
        let kept = reserve::end(gateway, &worked, None).await;
        let settled = post(gateway, "/api/x402/settle", &sold_for).await;
        gateway.execute("ALTER TABLE host_job_runs_away RENAME TO host_job_runs").await;
        assert_eq!((kept, &settled["success"]), (json!("done"), &json!(true)), "{settled}");
        assert_eq!(state(gateway, &worked).await.0, "queued");
    })
    .await;
}

/// Contracts have a batch each. Those that are not followed would count as not mined, and stop the sales after ten minutes.
#[tokio::test]
async fn a_run_follows_all_batches() {
    each(json!({}), async |chain, gateway| {
        first_run(gateway).await;
        let drafts: Vec<Draft> = (1..=2).map(|wallet| Draft::new(gateway, wallet, 1)).collect();
        settle(gateway, &drafts[0]).await;
        let first = waits(chain, gateway, 1).await.remove(0);
        let many = "INSERT INTO x402_batches (intent, state, is_mined, by_contract, created_at) \
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 600) \
            SELECT 0, 'sent', 1, 0, 1 FROM number";
        gateway.execute(many).await;
        settle(gateway, &drafts[1]).await;
        let second = waits(chain, gateway, 2).await.into_iter().find(|tx| tx.hash != first.hash).unwrap();
        chain.mine(vec![settled(&drafts[0], first.hash), settled(&drafts[1], second.hash)]);
        gateway.indexed(chain).await;
        let noted = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            let waiting = "SELECT count(*) FROM x402_batches WHERE state = 'sent' AND is_mined = 0";
            gateway.rows(waiting).await == ["Int(0)"]
        };
        assert!(tokio::time::timeout(MINUTE, until(noted)).await.is_ok(), "a mined batch is not noted");
    })
    .await;
}
