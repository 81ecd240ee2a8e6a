//! What the journal tells: plugins about their own intents only, and everybody about a transaction whose hash he knows.

use super::{
    failure::failure_of,
    journal::Journal,
    record::invalid,
    row::{Attempt, IntentRow},
};
use alloy_primitives::B256;
use gateway_chain::Chain;
use gateway_storage::StorageError;
use plugin_api::{
    Address, Hash256, Wei,
    abi::HostError,
    host::decode_call,
    manifest::{IntentStatus, JournalCall, NonceQueueStatus, TxState},
};
use serde_json::{Value, json};

impl Journal {
    /// Handles a plugin's request; it may use these roles and chains.
    pub async fn call(
        &self,
        plugin: &str,
        (roles, chains): (&[String], &[String]),
        request: &[u8],
    ) -> Result<Value, HostError> {
        let request: JournalCall = decode_call("a call of the journal", request)?;
        match request {
            JournalCall::Send(_) => Err(invalid("an intent is recorded in a transaction".to_owned())),
            JournalCall::Status { id } => self.intent_status(self.store.intent(plugin, id).await?).await,
            JournalCall::Find { role, key } => {
                self.intent_status(self.store.intent_by_key(plugin, &role, &key).await?).await
            }
            JournalCall::NonceQueue { role, chain } => {
                gateway_signers::check_grant(roles, &role)?;
                self.queue_status(&role, self.chains.granted(chains, &chain)?).await
            }
            JournalCall::Xpub { role } => {
                gateway_signers::check_grant(roles, &role)?;
                Ok(json!(self.signers.wallets(&role)?.xpub()))
            }
            JournalCall::SignWallets { role, chain, transactions } => {
                Ok(json!(self.sign_wallets((roles, chains), &role, &chain, transactions)?))
            }
            JournalCall::Waiting { chain } => Ok(json!(self.waiting(self.chains.granted(chains, &chain)?)?)),
        }
    }

    /// The status of the intent that this transaction was signed for, of any plugin; `None` when it is none of the journal's.
    pub async fn status_of_transaction(&self, hash: B256) -> Result<Option<IntentStatus>, StorageError> {
        let Some(intent) = self.store.intent_of(hash).await? else { return Ok(None) };
        self.status(&intent).await.map(Some)
    }

    async fn intent_status(&self, intent: Option<IntentRow>) -> Result<Value, HostError> {
        let Some(intent) = intent else { return Ok(Value::Null) };
        Ok(json!(self.status(&intent).await?))
    }

    async fn status(&self, intent: &IntentRow) -> Result<IntentStatus, StorageError> {
        let attempts = self.store.attempts(&[intent.id]).await?;
        let head = self.chains.get(&intent.chain).and_then(|chain| chain.head()).map(|head| head.header.number);
        Ok(intent_status(intent, &attempts, head))
    }

    async fn queue_status(&self, role: &str, chain: &Chain) -> Result<Value, HostError> {
        let sender = self.signers.key(role)?.address();
        let roles = self.roles_of(sender);
        let (queued, queued_since) = self.store.queued_count(chain.chain_id, &roles).await?;
        let signed = self.store.signed(chain.chain_id, sender).await?;
        let pending: Vec<&IntentRow> = signed.iter().filter(|intent| intent.is_pending()).collect();
        let oldest_ms = pending.iter().map(|intent| intent.created_ms).chain(queued_since).min();
        let account = self.account_status(chain.chain_id, sender).unwrap_or_default();
        Ok(json!(NonceQueueStatus {
            address: Address(sender.into_array()),
            balance: account.balance.map(Wei),
            queued: queued.unsigned_abs(),
            pending: u64::try_from(pending.len()).unwrap_or(u64::MAX),
            oldest_age_s: oldest_ms.map(|oldest_ms| (self.clock.now_ms() - oldest_ms).max(0) / 1000),
            reason: account.blocked_reason,
        }))
    }
}

fn intent_status(intent: &IntentRow, attempts: &[Attempt], head: Option<u64>) -> IntentStatus {
    let unsigned = |number: i64| u64::try_from(number).unwrap_or_default();
    let hash = |hash: alloy_primitives::B256| Hash256(hash.0);
    let block = intent.block.map(unsigned);
    let newest = attempts.last().map(|attempt| attempt.hash);
    let is_cancelled = |attempt: &Attempt| Some(attempt.hash) == intent.hash && attempt.cancel_reason.is_some();
    IntentStatus {
        id: intent.id,
        role: intent.role.clone(),
        chain: intent.chain.clone(),
        key: intent.name.clone(),
        state: intent.state,
        reason: intent.reason.clone(),
        failure: (intent.state == TxState::Failed).then(|| failure_of(intent.reason.as_deref().unwrap_or_default())),
        sender: intent.sender.map(|sender| Address(sender.into_array())),
        nonce: intent.nonce.map(unsigned),
        hash: intent.hash.or(newest).map(hash),
        hashes: attempts.iter().map(|attempt| hash(attempt.hash)).collect(),
        block,
        block_hash: intent.block_hash.map(hash),
        confirmations: head.zip(block).and_then(|(head, block)| Some(head.checked_sub(block)? + 1)).unwrap_or(0),
        succeeded: intent.succeeded.map(|succeeded| succeeded == 1),
        is_cancelled: block.is_some() && attempts.iter().any(is_cancelled),
        gas_used: intent.gas_used.map(unsigned),
        fee: intent.fee_wei.as_deref().and_then(|fee| fee.parse().ok()),
    }
}
