//! What operators see of the journal: the accounts that send, and their transactions.

use super::{
    journal::{AccountStatus, Journal},
    row::IntentRow,
};
use alloy_primitives::{Address, B256};
use gateway_chain::Chain;
use gateway_storage::StorageError;
use plugin_api::manifest::TxState;
use serde::Serialize;
use std::collections::HashMap;

/// Why nothing is signed for an account whose transactions are still sent again and followed.
pub(crate) const KEY_IS_GONE: &str = "its key is no longer configured";

/// An account that sends on a chain.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountReport {
    pub chain: String,
    #[serde(serialize_with = "checksummed")]
    pub address: Address,
    pub roles: Vec<String>,
    /// In decimal digits; None until a server said it.
    pub balance_wei: Option<String>,
    /// Intents without a nonce.
    pub queued: u64,
    /// Intents with a signed transaction that is in no block.
    pub pending: u64,
    pub oldest_age_s: Option<i64>,
    /// Why no queued intent can be signed now.
    pub reason: Option<String>,
}

/// A transaction of the journal.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionReport {
    pub id: i64,
    pub plugin: String,
    pub role: String,
    /// The plugin's name for it.
    pub key: String,
    pub chain: String,
    #[serde(serialize_with = "checksummed")]
    pub to: Address,
    /// In decimal digits.
    pub value_wei: String,
    pub state: TxState,
    /// Why it waits, or why it failed.
    pub reason: Option<String>,
    pub nonce: Option<i64>,
    /// The newest one; a replacement for a higher fee has another.
    pub hash: Option<B256>,
    pub block: Option<i64>,
    /// Unix milliseconds.
    pub created_ms: i64,
}

impl Journal {
    /// The accounts of all roles with a usable key, on every chain, and those without one whose transactions are in no block.
    pub fn accounts(&self) -> Vec<AccountReport> {
        self.chains.iter().flat_map(|chain| self.accounts_of(chain)).collect()
    }

    fn accounts_of(&self, chain: &Chain) -> Vec<AccountReport> {
        let mut accounts: Vec<AccountReport> = Vec::new();
        for (role, key) in self.signers.ready() {
            match accounts.iter_mut().find(|account| account.address == key.address()) {
                Some(account) => account.roles.push(role.to_owned()),
                None => {
                    let status = self.account_status(chain.chain_id, key.address()).unwrap_or_default();
                    accounts.push(self.account(chain, key.address(), vec![role.to_owned()], status));
                }
            }
        }
        for (address, status) in self.account_statuses(chain.chain_id) {
            if status.pending > 0 && accounts.iter().all(|account| account.address != address) {
                let status = AccountStatus { blocked_reason: Some(KEY_IS_GONE.to_owned()), ..status };
                accounts.push(self.account(chain, address, Vec::new(), status));
            }
        }
        accounts
    }

    fn account(&self, chain: &Chain, address: Address, roles: Vec<String>, status: AccountStatus) -> AccountReport {
        let oldest_age_s = self.age_s(&status);
        let AccountStatus { balance, queued, pending, blocked_reason: reason, .. } = status;
        let balance_wei = balance.map(|wei| wei.to_string());
        AccountReport { chain: chain.name.clone(), address, roles, balance_wei, queued, pending, oldest_age_s, reason }
    }

    fn age_s(&self, account: &AccountStatus) -> Option<i64> {
        account.oldest_ms.map(|oldest_ms| (self.clock.now_ms() - oldest_ms).max(0) / 1000)
    }

    /// Transactions that are neither final nor failed, oldest first.
    pub async fn unfinished(&self, limit: u32) -> Result<Vec<TransactionReport>, StorageError> {
        self.reports(self.store.unfinished(limit).await?).await
    }

    /// Transactions in any state, newest first.
    pub async fn newest(&self, limit: u32) -> Result<Vec<TransactionReport>, StorageError> {
        self.reports(self.store.newest(limit).await?).await
    }

    /// An intent knows the hash of the transaction that was included; until then it is the newest one that was signed.
    async fn reports(&self, intents: Vec<IntentRow>) -> Result<Vec<TransactionReport>, StorageError> {
        let pending: Vec<i64> = intents.iter().filter(|intent| intent.is_pending()).map(|intent| intent.id).collect();
        let attempts = self.store.attempts(&pending).await?;
        let newest: HashMap<i64, B256> = attempts.into_iter().map(|attempt| (attempt.intent, attempt.hash)).collect();
        let with_hash = |intent: IntentRow| {
            let hash = intent.hash.or_else(|| newest.get(&intent.id).copied());
            report(IntentRow { hash, ..intent })
        };
        Ok(intents.into_iter().map(with_hash).collect())
    }
}

fn report(intent: IntentRow) -> TransactionReport {
    TransactionReport {
        id: intent.id,
        plugin: intent.plugin,
        role: intent.role,
        key: intent.name,
        chain: intent.chain,
        to: intent.target,
        value_wei: intent.value_wei.to_string(),
        state: intent.state,
        reason: intent.reason,
        nonce: intent.nonce,
        hash: intent.hash,
        block: intent.block,
        created_ms: intent.created_ms,
    }
}

fn checksummed<S: serde::Serializer>(address: &Address, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&address.to_checksum(None))
}
