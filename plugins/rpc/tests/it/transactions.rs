//! `eth_sendRawTransaction`: what is sent, and what is refused instead of waiting for ever; receipts of servers that lie.

use crate::fixture::{call, calls_of, gateways, knows_head};
use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope, TxLegacy};
use alloy_eips::eip2718::Encodable2718 as _;
use alloy_primitives::{Address, Signature, TxKind, U256, hex};
use plugin_testing::{Fault, ScriptedChain, Value, Wallet, json};
use secp256k1::{Message, Secp256k1, SecretKey};

const GWEI: u128 = 1_000_000_000;
const CHAIN: u64 = 3961;

fn signed<T: SignableTransaction<Signature>>(transaction: T) -> String
where
    TxEnvelope: From<alloy_consensus::Signed<T>>,
{
    let key = hex::decode(Wallet::new(1).key_text()).unwrap();
    let key = SecretKey::from_byte_array(key.try_into().unwrap()).unwrap();
    let message = Message::from_digest(transaction.signature_hash().0);
    let (recovery, scalars) = Secp256k1::signing_only().sign_ecdsa_recoverable(message, &key).serialize_compact();
    let signature = Signature::from_bytes_and_parity(&scalars, i32::from(recovery) & 1 == 1);
    hex::encode_prefixed(TxEnvelope::from(transaction.into_signed(signature)).encoded_2718())
}

fn transfer(chain_id: u64, nonce: u64, tip: u128) -> String {
    signed(TxEip1559 {
        chain_id,
        nonce,
        gas_limit: 21_000,
        max_fee_per_gas: 100 * GWEI,
        max_priority_fee_per_gas: tip,
        to: TxKind::Call(Address::repeat_byte(7)),
        value: U256::from(1),
        ..TxEip1559::default()
    })
}

#[tokio::test]
async fn a_transaction_is_sent_and_its_receipt_read() {
    for is_known_elsewhere in [false, true] {
        let first = ScriptedChain::start().await;
        let second = first.another_server().await;
        for (nonce, gateway) in (0..).zip(gateways(&[&first, &second], |builder| builder).await) {
            let raw = transfer(CHAIN, nonce, GWEI);
            if is_known_elsewhere {
                // The first server takes it and says nothing: the second one has it already.
                first.fail_next(1, Fault::SilentSuccess);
            }
            let hash = call(&gateway, "eth_sendRawTransaction", json!([raw])).await["result"].clone();
            assert!(hash.is_string());
            // Sent again it is the same.
            assert_eq!(call(&gateway, "eth_sendRawTransaction", json!([raw])).await["result"], hash);
            assert_eq!(call(&gateway, "eth_getTransactionReceipt", json!([hash])).await["result"], json!(null));
            first.mine_empty(1);
            let receipt = call(&gateway, "eth_getTransactionReceipt", json!([hash])).await;
            assert_eq!(receipt["result"]["transactionHash"], hash, "{receipt}");
            // It is kept when no reorganisation removes its block any more.
            first.mine_empty(5);
            knows_head(&gateway, &first).await;
            let asked =
                || calls_of(&first, "eth_getTransactionReceipt") + calls_of(&second, "eth_getTransactionReceipt");
            assert_eq!(call(&gateway, "eth_getTransactionReceipt", json!([hash])).await, receipt);
            let before = asked();
            assert_eq!(call(&gateway, "eth_getTransactionReceipt", json!([hash])).await, receipt);
            assert_eq!(asked(), before);
            assert_eq!(gateway.faults().await, Vec::<String>::new());
            gateway.stop().await;
        }
    }
}

#[tokio::test]
async fn a_transaction_that_no_block_will_include_is_refused_with_the_reason() {
    let chain = ScriptedChain::start().await;
    let legacy = |chain_id: Option<u64>, gas_price: u128| {
        let to = TxKind::Call(Address::repeat_byte(7));
        signed(TxLegacy { chain_id, gas_price, gas_limit: 21_000, to, ..TxLegacy::default() })
    };
    let good = transfer(CHAIN, 0, GWEI);
    let mut broken = good.clone();
    broken.truncate(good.len() - 2);
    let cases = [
        (transfer(1, 0, GWEI), -32000, "have 1 want 3961"),
        (transfer(CHAIN, 0, GWEI - 1), -32000, "tip of 999999999 wei"),
        (transfer(CHAIN, 0, 0), -32000, "underpriced"),
        (legacy(None, 2 * GWEI), -32000, "EIP-155"),
        (legacy(Some(1), 2 * GWEI), -32000, "have 1 want 3961"),
        (legacy(Some(CHAIN), GWEI / 2), -32000, "underpriced"),
        (broken, -32602, "no transaction"),
        (format!("{good}00"), -32602, "no transaction"),
        ("0x".to_owned(), -32602, "no transaction"),
        ("0xzz".to_owned(), -32602, "params[0]"),
        ("hello".to_owned(), -32602, "params[0]"),
        (format!("0x02{}", "00".repeat(130_000)), -32602, "no transaction"),
    ];
    for gateway in gateways(&[&chain], |builder| builder).await {
        for (raw, code, part) in &cases {
            let answer = call(&gateway, "eth_sendRawTransaction", json!([raw])).await;
            assert_eq!(answer["error"]["code"], *code, "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{answer}");
        }
        for params in [json!([7]), json!([null]), json!([]), json!([{}])] {
            assert_eq!(call(&gateway, "eth_sendRawTransaction", params).await["error"]["code"], -32602);
        }
        assert_eq!(calls_of(&chain, "eth_sendRawTransaction"), 0);
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_a_server_refuses_is_told() {
    let chain = ScriptedChain::start().await;
    chain.refuse_transactions("insufficient funds for gas * price + value", |_| true);
    for gateway in gateways(&[&chain], |builder| builder).await {
        let answer = call(&gateway, "eth_sendRawTransaction", json!([transfer(CHAIN, 0, GWEI)])).await;
        assert_eq!(answer["error"]["message"], "insufficient funds for gas * price + value");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn another_transactions_receipt_is_not_believed() {
    let first = ScriptedChain::start().await;
    let second = first.another_server().await;
    let mut nonce = 0;
    for gateway in gateways(&[&first, &second], |builder| builder).await {
        let mut hashes: Vec<Value> = Vec::new();
        for _ in 0..2 {
            hashes.push(
                call(&gateway, "eth_sendRawTransaction", json!([transfer(CHAIN, nonce, GWEI)])).await["result"].clone(),
            );
            nonce += 1;
            first.mine_empty(1);
        }
        first.fail_always(Some(Fault::OtherReceipts));
        let receipt = call(&gateway, "eth_getTransactionReceipt", json!([hashes[1]])).await;
        first.fail_always(None);
        assert_eq!(receipt["result"]["transactionHash"], hashes[1], "{receipt}");
        gateway.stop().await;
    }
}
