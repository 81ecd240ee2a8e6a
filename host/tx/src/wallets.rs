//! Transactions of a role's wallets, which the plugin stores, sends and follows itself: a load test has thousands of accounts, and
//! the journal a queue for each.
//!
//! The rule: what the gateway owes goes first. While one of the journal's transactions waits on the chain, nothing is signed here;
//! and no fee is above the operator's limit.

use super::{
    journal::Journal,
    record::invalid,
    unsigned_transaction::{TRANSFER_GAS, UnsignedTransaction},
};
use crate::fees::{self, Fees};
use alloy_primitives::{Bytes, hex};
use gateway_chain::Chain;
use gateway_signers::Wallets;
use plugin_api::{
    Address, Hash256,
    abi::{HostError, HostErrorCode},
    manifest::{SignedTransaction, WalletTransaction},
};

/// Transactions of one request.
const TRANSACTIONS_MAX: usize = 500;
/// Gas of one of them.
const GAS_MAX: u64 = 100_000;

impl Journal {
    pub(super) fn sign_wallets(
        &self,
        (roles, chains): (&[String], &[String]),
        role: &str,
        chain: &str,
        transactions: Vec<WalletTransaction>,
    ) -> Result<Vec<SignedTransaction>, HostError> {
        gateway_signers::check_grant(roles, role)?;
        let wallets = self.signers.wallets(role)?;
        let chain = self.chains.granted(chains, chain)?;
        if transactions.len() > TRANSACTIONS_MAX {
            return Err(invalid(format!("at most {TRANSACTIONS_MAX} transactions are signed at a time")));
        }
        let waiting = self.waiting(chain)?;
        if waiting > 0 {
            let message = format!("{waiting} transactions of the gateway wait, and go first");
            return Err(HostError::new(HostErrorCode::Unavailable, message));
        }
        transactions.into_iter().map(|transaction| self.sign_wallet(&wallets, chain, transaction)).collect()
    }

    /// The journal's transactions that are in no block. A queue that is blocked, for example by an empty account, does not count:
    /// nothing that is left alone would help it. Fails while a queue cannot be read, because something may wait in it.
    pub(super) fn waiting(&self, chain: &Chain) -> Result<u64, HostError> {
        let mut senders: Vec<_> = self.signers.ready().map(|(_, key)| key.address()).collect();
        senders.sort_unstable();
        senders.dedup();
        let mut waiting = 0;
        for sender in senders {
            match self.account_status(chain.chain_id, sender).filter(|status| !status.is_unreadable) {
                None => {
                    let message =
                        format!("the transactions of {} on {} cannot be read now, and go first", sender, chain.name);
                    return Err(HostError::new(HostErrorCode::Unavailable, message));
                }
                Some(status) if status.blocked_reason.is_some() => {}
                Some(status) => waiting += status.queued + status.pending,
            }
        }
        Ok(waiting)
    }

    fn sign_wallet(
        &self,
        wallets: &Wallets,
        chain: &Chain,
        transaction: WalletTransaction,
    ) -> Result<SignedTransaction, HostError> {
        let WalletTransaction { wallet, nonce, to, value, data, gas, gas_price } = transaction;
        if gas_price.0 > fees::max_allowed(&self.settings) {
            let limit = self.settings.max_fee_gwei;
            return Err(invalid(format!("a price of {gas_price} wei per gas is above tx.max_fee_gwei ({limit})")));
        }
        if !(TRANSFER_GAS..=GAS_MAX).contains(&gas) {
            return Err(invalid(format!("a transfer has {TRANSFER_GAS} to {GAS_MAX} gas")));
        }
        let data = Bytes::from(hex::decode(&data).map_err(|error| invalid(format!("the data is not 0x…: {error}")))?);
        let key = wallets.key(wallet).map_err(|_| invalid(format!("there is no wallet {wallet}")))?;
        let fees = Fees { tip: gas_price.0, max: gas_price.0 };
        let to = alloy_primitives::Address::from(to.0);
        let unsigned =
            UnsignedTransaction { chain_id: chain.chain_id, nonce, to, value: value.0, data: &data, gas, fees };
        let (hash, raw) = unsigned.sign(&key).map_err(|error| HostError::new(HostErrorCode::Internal, error))?;
        Ok(SignedTransaction { hash: Hash256(hash.0), sender: Address(key.address().into_array()), raw })
    }
}
