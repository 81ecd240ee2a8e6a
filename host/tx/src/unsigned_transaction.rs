//! A transaction (EIP-1559) before it is signed.

use super::{fees::Fees, row::Attempt, store::to_i64};
use alloy::{
    consensus::{SignableTransaction as _, TxEip1559},
    eips::eip2718::Encodable2718 as _,
};
use alloy_primitives::{Address, B256, Bytes, TxKind, U256, hex};
use gateway_signers::Key;

/// Gas of a plain transfer to an account, the least that any transaction takes.
pub(crate) const TRANSFER_GAS: u64 = 21_000;

pub(crate) struct UnsignedTransaction<'a> {
    pub chain_id: u64,
    pub nonce: u64,
    pub to: Address,
    pub value: U256,
    pub data: &'a Bytes,
    pub gas: u64,
    pub fees: Fees,
}

impl UnsignedTransaction<'_> {
    /// Its hash, and the bytes that servers take.
    pub(crate) fn sign(&self, key: &Key) -> Result<(B256, String), String> {
        let to_u128 = |wei: U256| u128::try_from(wei).map_err(|_| format!("{wei} wei per gas is out of range"));
        let transaction = TxEip1559 {
            chain_id: self.chain_id,
            nonce: self.nonce,
            gas_limit: self.gas,
            max_fee_per_gas: to_u128(self.fees.max)?,
            max_priority_fee_per_gas: to_u128(self.fees.tip)?,
            to: TxKind::Call(self.to),
            value: self.value,
            access_list: Default::default(),
            input: self.data.clone(),
        };
        let signature = key.sign_hash(&transaction.signature_hash()).map_err(|error| error.to_string())?;
        let signed = transaction.into_signed(signature);
        Ok((*signed.hash(), hex::encode_prefixed(signed.encoded_2718())))
    }

    /// Signs it for an intent; `block` is the newest block.
    pub(crate) fn sign_for(&self, intent: i64, key: &Key, block: u64, now_ms: i64) -> Result<Attempt, String> {
        let (hash, raw) = self.sign(key)?;
        Ok(Attempt {
            hash,
            intent,
            nonce: to_i64(self.nonce),
            raw,
            gas: to_i64(self.gas),
            tip_wei: self.fees.tip,
            max_fee_wei: self.fees.max,
            block: to_i64(block),
            signed_ms: now_ms,
            sent_ms: None,
            cancel_reason: None,
        })
    }
}
