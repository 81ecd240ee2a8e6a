//! Vouchers of many payers.

use crate::{jobs::new_view, signing};
use alloy_primitives::{Address, U256, keccak256};
use anyhow::Result;
use gateway_clock::Clock;
use plugin_testing::ScriptedChain;
use serde_json::{Value, json};
use std::ops::Range;

/// In wei, of each voucher.
pub const AMOUNT: u64 = 1_000_000_000_000;
pub const PAYEE: Address = Address::repeat_byte(0x22);
pub const VAULT: &str = "x402Vault";
/// The default of the gateway's configuration.
const CHAIN_ID: u64 = 3961;
/// Seconds that each lives.
const LIFE_S: u64 = 3600;

pub fn vault() -> Address {
    Address::from(ScriptedChain::address_of(VAULT).0)
}

/// So many payments, `{voucher, signature}`, of these payers in turn; no two have the same nonce.
pub fn payments(payers: &Range<u64>, count: u64) -> Result<Vec<Value>> {
    let expiry = u64::try_from(Clock::System.now_s())? + LIFE_S;
    let separator = separator();
    signing::in_parallel(0..count, |number| {
        let key = signing::key(payers.start + number % (payers.end - payers.start))?;
        payment(&key, new_view(), expiry, separator)
    })
}

fn payment(key: &signing::Key, nonce: u64, expiry: u64, separator: [u8; 32]) -> Result<Value> {
    let payer = signing::address(key);
    let kind = keccak256("Voucher(address payer,address payee,uint256 amount,uint256 nonce,uint64 expiry,bytes32 ref)");
    let words = [kind.0, word(payer), word(PAYEE), number(AMOUNT), number(nonce), number(expiry), [0; 32]];
    let digest = keccak256([&[0x19, 0x01], separator.as_slice(), keccak256(words.as_flattened()).as_slice()].concat());
    let signature = signing::signature(key, digest.0)?;
    Ok(json!({
        "voucher": {
            "payer": payer.to_checksum(None), "payee": PAYEE.to_checksum(None), "amount": AMOUNT.to_string(),
            "nonce": nonce.to_string(), "expiry": expiry, "ref": format!("0x{}", "0".repeat(64)),
        },
        "signature": signature,
    }))
}

fn separator() -> [u8; 32] {
    let kind = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    let words = [kind.0, keccak256("ServiceX402").0, keccak256("1").0, number(CHAIN_ID), word(vault())];
    keccak256(words.as_flattened()).0
}

fn word(address: Address) -> [u8; 32] {
    address.into_word().0
}

fn number(number: u64) -> [u8; 32] {
    U256::from(number).to_be_bytes()
}
