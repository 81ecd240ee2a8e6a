//! When nothing can be paid, everything says why, and what can be read is still answered.

use crate::{
    FACILITATOR, VAULT, caller, chain,
    draft::{Draft, separator},
    finish, mock, post, prepared, read, reserve, settle, start,
};
use plugin_api::Hash256;
use plugin_testing::{Builder, Fault, ScriptedChain, TestGateway, Wallet, json};
use std::time::Duration;

/// The gateway with everything but a fault says no with these words, in every place.
async fn says_no(gateway: &TestGateway, words: &str) {
    let draft = Draft::new(gateway, 1, 77);
    let offered = json!({ "price": { "payee": draft.payee, "amount": "5", "description": "" }, "resource": "r", "refused": null });
    let offer = post(gateway, "/api/caller/offer", &offered).await;
    assert!(offer["disabled"].as_str().unwrap_or_default().contains(words), "{offer}");
    let check = reserve::check(gateway, &draft, 1).await;
    assert!(check["disabled"].as_str().unwrap_or_default().contains(words), "{check}");
    let verified = post(gateway, "/api/x402/verify", &draft.payment()).await;
    assert_eq!(
        (&verified["isValid"], &verified["disabled"], &verified["settlement"]),
        (&json!(false), &json!(true), &json!("disabled"))
    );
    assert!(verified["disabledReason"].as_str().unwrap().contains(words), "{verified}");
    let settled = post(gateway, "/api/x402/settle", &draft.payment()).await;
    assert_eq!(
        (&settled["success"], &settled["queued"], &settled["disabled"]),
        (&json!(false), &json!(false), &json!(true))
    );
    assert!(settled["errorReason"].as_str().unwrap().contains(words), "{settled}");
    let supported = read(gateway, "/api/x402/supported").await;
    assert_eq!(supported["disabled"], true);
    assert!(supported["reason"].as_str().unwrap().contains(words), "{supported}");
    assert_eq!(supported["extensions"], json!([]), "clients read lists and objects, not null");
    assert!(supported["signers"].as_object().unwrap().values().all(plugin_testing::Value::is_array), "{supported}");
    assert_eq!(supported["kinds"].as_array().unwrap().len(), 2);
    let payer = read(gateway, &format!("/api/x402/payer/{}", draft.payer())).await;
    assert!(payer["reason"].as_str().unwrap().contains(words), "{payer}");
    let priced = gateway.send("POST", "/api/caller/work", &[], "").await;
    assert_eq!((priced.status, priced.code().as_str()), (503, "disabled"), "{}", priced.text());
}

fn bare(chain: &ScriptedChain, contracts: &[&str]) -> Builder {
    let builder = TestGateway::builder().plugin(x402::plugin_module()).plugin(caller::module());
    builder.chain(chain, contracts)
}

#[tokio::test]
async fn without_a_vault() {
    let chain = chain().await;
    let gateway = bare(&chain, &[]).signer("facilitator", FACILITATOR).start().await;
    says_no(&gateway, "not deployed").await;
    let domain = read(&gateway, "/api/x402/supported").await["domain"].clone();
    assert_eq!(domain["verifyingContract"], "0x0000000000000000000000000000000000000000");
    finish(gateway).await;
}

#[tokio::test]
async fn without_a_key() {
    let chain = chain().await;
    let gateway = bare(&chain, &[VAULT]).start().await;
    says_no(&gateway, "facilitator has no key").await;
    finish(gateway).await;
}

#[tokio::test]
async fn after_a_restore_until_no_lost_voucher_is_valid() {
    for place in 0..crate::builders(&chain().await, &json!({})).await.len() {
        let chain = chain().await;
        let gateway = start(crate::builders(&chain, &json!({})).await.remove(place), &chain).await;
        // Before: what a client was told of it is lost.
        settle(&gateway, &Draft::new(&gateway, 1, 1)).await;
        gateway.execute("DELETE FROM x402_vouchers").await;
        let restored_ms = gateway.now_s() * 1000;
        gateway.execute(&format!("INSERT INTO host_restores (restored_ms) VALUES (1), ({restored_ms})")).await;
        let gateway = gateway.restart().await;
        says_no(&gateway, "the database was restored").await;
        gateway.clock().advance(Duration::from_secs(3899)).await;
        says_no(&gateway, "are valid for 1 s").await;
        gateway.clock().advance(Duration::from_secs(1)).await;
        settle(&gateway, &Draft::new(&gateway, 1, 2)).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn without_gas() {
    let chain = chain().await;
    let facilitator = Wallet::new(FACILITATOR).address().parse().unwrap();
    chain.set_balance(facilitator, "6999999999999999");
    let gateway = start(prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    says_no(&gateway, "a batch may cost 7000000000000000").await;
    chain.set_balance(facilitator, "7000000000000000");
    gateway.clock().advance(Duration::from_secs(61)).await;
    settle(&gateway, &Draft::new(&gateway, 1, 1)).await;
    // The balance is read once a minute.
    chain.set_balance(facilitator, "6999999999999999");
    settle(&gateway, &Draft::new(&gateway, 1, 2)).await;
    gateway.clock().advance(Duration::from_secs(60)).await;
    says_no(&gateway, "a batch may cost 7000000000000000").await;
    finish(gateway).await;
}

#[tokio::test]
async fn without_the_chain() {
    let chain = chain().await;
    let gateway = start(prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    chain.fail_always(Some(Fault::Status(500)));
    says_no(&gateway, "the chain cannot be read").await;
    chain.fail_always(None);
    finish(gateway).await;
}

#[tokio::test]
async fn with_another_contract_at_the_vaults_address() {
    let chain = chain().await;
    let payer = crate::CONTRACT;
    chain.mock_call(payer, "isValidSignature(bytes32,bytes) returns (bytes4)", &[json!("0x1626ba7e")]);
    crate::set_verify(&chain, true, "");
    mock(&chain, "balance(address) returns (string)", &[json!("not a number, but a text that is longer than a word")]);
    let gateway = start(prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    crate::funds::fall_behind(&chain, &gateway, 4).await;
    let mut payment = Draft::new(&gateway, 1, 1).payment();
    payment["voucher"]["payer"] = json!(payer);
    payment["signature"] = json!(format!("0x{}", "ab".repeat(100)));
    let answer = post(&gateway, "/api/x402/verify", &payment).await;
    assert_eq!(answer["isValid"], false, "{answer}");
    finish(gateway).await;
}

#[tokio::test]
async fn while_vouchers_wait_too_long() {
    let chain = chain().await;
    let gateway = start(prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    // Otherwise its first run may send the voucher meanwhile.
    crate::first_run(&gateway).await;
    let draft = Draft { expiry_s: gateway.now_s() + 3900, ..Draft::new(&gateway, 1, 1) };
    settle(&gateway, &draft).await;
    gateway.execute("UPDATE x402_vouchers SET queued_at = queued_at - 600").await;
    settle(&gateway, &Draft::new(&gateway, 2, 1)).await;
    gateway.execute("UPDATE x402_vouchers SET queued_at = queued_at - 1").await;
    says_no(&gateway, "waited too long").await;
    gateway.execute("UPDATE x402_vouchers SET by_contract = 1").await;
    settle(&gateway, &Draft::new(&gateway, 3, 1)).await;
    finish(gateway).await;
}

#[tokio::test]
async fn while_batches_cannot_be_sent_and_a_while_longer() {
    let chain = chain().await;
    let gateway = start(prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    crate::first_run(&gateway).await;
    settle(&gateway, &Draft::new(&gateway, 1, 1)).await;
    // More than `tx.max_fee_gwei`: the batch is made, and not signed.
    chain.mine_fees(30_000_000, 900_000_000_000);
    gateway.indexed(&chain).await;
    let is_refused = async || {
        gateway.clock().advance(Duration::from_secs(10)).await;
        read(&gateway, "/api/x402/supported").await["disabled"] == true
    };
    assert!(tokio::time::timeout(crate::MINUTE, crate::until(is_refused)).await.is_ok(), "payments are still taken");
    says_no(&gateway, "batches cannot be sent").await;
    assert!(chain.waiting().is_empty());
    // The voucher and its batch end, so nothing waits any more: the next ones would end likewise.
    gateway.execute("UPDATE x402_vouchers SET state = 'skipped', closed_at = 1").await;
    gateway.execute("DELETE FROM x402_batches").await;
    gateway.execute("DELETE FROM host_tx_intents").await;
    gateway.clock().advance(Duration::from_secs(600)).await;
    says_no(&gateway, "batches cannot be sent").await;
    chain.mine_fees(1, 1_000_000_000);
    gateway.indexed(&chain).await;
    gateway.clock().advance(Duration::from_secs(400)).await;
    settle(&gateway, &Draft::new(&gateway, 2, 1)).await;
    finish(gateway).await;
}

#[tokio::test]
async fn with_another_domain_than_the_vaults() {
    let own = Hash256(separator("ServiceX402", ScriptedChain::address_of(VAULT)));
    let chain = chain().await;
    mock(&chain, "DOMAIN_SEPARATOR() returns (bytes32)", &[json!(format!("0x{}", "ab".repeat(32)))]);
    let gateway = start(prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    says_no(&gateway, "another EIP-712 domain").await;
    mock(&chain, "DOMAIN_SEPARATOR() returns (bytes32)", &[json!(own)]);
    says_no(&gateway, "another EIP-712 domain").await;
    // It is asked once.
    let gateway = gateway.restart().await;
    gateway.indexed(&chain).await;
    settle(&gateway, &Draft::new(&gateway, 1, 1)).await;
    finish(gateway).await;
}

#[tokio::test]
async fn while_a_batch_is_in_no_block_for_too_long() {
    let chain = chain().await;
    let gateway = start(prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    let draft = Draft::new(&gateway, 1, 1);
    settle(&gateway, &draft).await;
    gateway.clock().advance(Duration::from_secs(30)).await;
    let tx = crate::waits(&chain, &gateway, 1).await.remove(0);
    crate::becomes(&gateway, &draft, "submitted").await;
    let noted = async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        gateway.rows("SELECT count(*) FROM x402_batch_transactions").await == ["Int(1)"]
    };
    assert!(tokio::time::timeout(crate::MINUTE, crate::until(noted)).await.is_ok(), "its transaction is not noted");
    gateway.execute("UPDATE x402_batches SET created_at = created_at - 601").await;
    let other =
        "INSERT INTO x402_batches (intent, state, is_mined, by_contract, created_at) VALUES (0, 'failed', 0, 0, 0)";
    gateway.execute(other).await;
    says_no(&gateway, "waited too long").await;
    let is_mined = async |expected: &str| {
        let noted = async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows("SELECT is_mined FROM x402_batches WHERE id = 1").await == [expected]
        };
        assert!(tokio::time::timeout(crate::MINUTE, crate::until(noted)).await.is_ok(), "is_mined is not {expected}");
    };
    chain.mine(vec![crate::settled(&draft, tx.hash)]);
    is_mined("Int(1)").await;
    assert_eq!(gateway.rows("SELECT is_mined FROM x402_batches WHERE id = 2").await, ["Int(0)"], "of this one alone");
    settle(&gateway, &Draft::new(&gateway, 2, 1)).await;
    chain.reorg(1);
    chain.hold(true);
    chain.mine_empty(2);
    is_mined("Int(0)").await;
    says_no(&gateway, "waited too long").await;
    // A payer whose code makes his batches fail stops nobody else.
    gateway.execute("UPDATE x402_batches SET by_contract = 1 WHERE id = 1").await;
    settle(&gateway, &Draft::new(&gateway, 3, 1)).await;
    finish(gateway).await;
}

#[tokio::test]
async fn vouchers_of_another_vault_are_not_settled() {
    let chain = chain().await;
    let gateway = start(prepared(TestGateway::builder(), &chain, &json!({})), &chain).await;
    let draft = Draft::new(&gateway, 1, 1);
    settle(&gateway, &draft).await;
    gateway.execute("UPDATE x402_vouchers SET vault = '0x0000000000000000000000000000000000000009'").await;
    crate::becomes(&gateway, &draft, "unsettleable").await;
    assert!(chain.waiting().is_empty() && chain.mined().is_empty());
    finish(gateway).await;
}

#[tokio::test]
async fn the_job_ends_what_is_over_and_nothing_else() {
    crate::each(json!({ "batch_s": 600 }), async |_, gateway| {
        crate::first_run(gateway).await;
        let (other, now_s) = ("0x0000000000000000000000000000000000000009", gateway.now_s());
        let (past, later) = (now_s - 1, now_s + 900);
        let cases = [
            (format!("expiry_s = {past}"), "skipped"),
            (format!("state = 'submitted', batch = 99, expiry_s = {past}, vault = '{other}'"), "submitted"),
            (format!("expiry_s = {later}"), "queued"),
            (format!("vault = '{other}'"), "unsettleable"),
            (format!("state = 'reserved', until_s = {past}"), "voided"),
            (format!("state = 'reserved', until_s = {later}, vault = '{other}'"), "reserved"),
        ];
        for nonce in 1..=6 {
            settle(gateway, &Draft::new(gateway, 1, nonce)).await;
        }
        for (nonce, (change, _)) in (1..).zip(&cases) {
            gateway.execute(&format!("UPDATE x402_vouchers SET {change} WHERE nonce = '{nonce}'")).await;
        }
        crate::runs_after(gateway, "settle", 5).await;
        let states = gateway.rows("SELECT state FROM x402_vouchers ORDER BY nonce").await;
        assert_eq!(states, cases.map(|(_, state)| format!("Text(\"{state}\")")));
    })
    .await;
}
