//! A signed transaction (EIP-1559) as bytes.

use super::{fees::Fees, row::Attempt, store::int};
use alloy::{
    consensus::{SignableTransaction as _, TxEip1559},
    eips::eip2718::Encodable2718 as _,
};
use alloy_primitives::{Address, Bytes, TxKind, U256, hex};
use gateway_signers::Key;

/// Gas of a plain transfer to an account: nothing costs less.
pub const TRANSFER_GAS: u64 = 21_000;

/// Everything that is signed.
pub struct Unsigned<'a> {
    pub chain_id: u64,
    pub nonce: u64,
    pub to: Address,
    pub value: U256,
    pub data: &'a Bytes,
    pub gas: u64,
    pub fees: Fees,
}

impl Unsigned<'_> {
    /// Signs it for an intent; `block` is the newest one now.
    pub fn sign(self, key: &Key, intent: i64, block: u64, now_ms: i64) -> Result<Attempt, String> {
        let small = |wei: U256| u128::try_from(wei).map_err(|_| format!("{wei} wei per gas is out of range"));
        let transaction = TxEip1559 {
            chain_id: self.chain_id,
            nonce: self.nonce,
            gas_limit: self.gas,
            max_fee_per_gas: small(self.fees.max)?,
            max_priority_fee_per_gas: small(self.fees.tip)?,
            to: TxKind::Call(self.to),
            value: self.value,
            access_list: Default::default(),
            input: self.data.clone(),
        };
        let signature = key.sign_hash(&transaction.signature_hash()).map_err(|error| error.to_string())?;
        let signed = transaction.into_signed(signature);
        Ok(Attempt {
            hash: *signed.hash(),
            intent,
            nonce: int(self.nonce),
            raw: hex::encode_prefixed(signed.encoded_2718()),
            gas: int(self.gas),
            tip_wei: self.fees.tip,
            max_fee_wei: self.fees.max,
            block: int(block),
            signed_ms: now_ms,
            sent_ms: None,
            given_up: None,
        })
    }
}
