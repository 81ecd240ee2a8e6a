//! Sends a batch. The rule: batch, vouchers and intent are written in one transaction, and a voucher moves into the batch only from the
//! queue or from a batch that has failed, so that none is ever in two.

use crate::{
    contributions::ROLE,
    model::contracts::SETTLE_BATCH,
    store::{
        batches::{self, VoucherKey},
        vouchers::NewVoucher,
    },
};
use plugin_api::{Address, HostError, Tx, chain::TransactionRequest};
use serde_json::{Value, json};

/// What a batch takes besides its signature checks.
const BATCH_GAS: u64 = 100_000;
/// What a voucher takes besides that.
const VOUCHER_GAS: u64 = 120_000;

/// Where and how batches are sent.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    pub vault: Address,
    /// Gas for the signature check of a contract.
    pub contract_gas: u64,
}

impl Sender {
    /// Sends those of the vouchers that are still where they were; returns how many there are.
    pub async fn send(&self, tx: &Tx, from: Option<i64>, keys: &[VoucherKey]) -> Result<usize, HostError> {
        let batch = batches::insert(tx).await?;
        let vouchers = batches::fill(tx, batch, from, keys).await?;
        if vouchers.is_empty() {
            batches::delete(tx, batch).await?;
            return Ok(0);
        }
        let intent = self.request(batch, &vouchers)?.record(tx).await?;
        let by_contract = vouchers.iter().any(|new| new.by_contract);
        batches::set_intent(tx, batch, intent, by_contract).await?;
        Ok(vouchers.len())
    }

    fn request(&self, batch: i64, vouchers: &[NewVoucher]) -> Result<TransactionRequest, HostError> {
        let tuples: Value = vouchers.iter().map(|new| new.voucher.tuple()).collect();
        let signatures: Value = vouchers.iter().map(|new| json!(new.signature)).collect();
        let request = TransactionRequest::new(ROLE, format!("batch {batch}"), self.vault);
        let request = request.call(SETTLE_BATCH, &[tuples, signatures])?;
        // After that the vault would skip all of them.
        let request = match vouchers.iter().map(|new| new.voucher.expiry_s).max() {
            Some(expiry_s) => request.valid_until_s(expiry_s),
            None => request,
        };
        Ok(request.gas(self.gas_max(vouchers)))
    }

    /// Not what a server estimates: a payee who takes his credits out of the vault before the batch is mined makes it cost more, and the
    /// whole batch would fail.
    fn gas_max(&self, vouchers: &[NewVoucher]) -> u64 {
        let each = |new: &NewVoucher| if new.by_contract { VOUCHER_GAS + self.contract_gas } else { VOUCHER_GAS };
        vouchers.iter().fold(BATCH_GAS, |sum, new| sum.saturating_add(each(new)))
    }
}
