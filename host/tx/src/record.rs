//! Records an intent in a plugin's own database transaction.
//!
//! The rule: the intent commits with the plugin's rows or not at all, and a key that is recorded again returns the same
//! intent.

use super::{fees::GWEI, journal::Journal, store::to_i64, unsigned_transaction::TRANSFER_GAS};
use alloy_primitives::U256;
use gateway_storage::StorageError;
use plugin_api::{
    abi::{HostError, HostErrorCode, Statement, StatementResult},
    host::decode_call,
    manifest::{Intent, JournalCall},
    sql,
};
use serde::Deserialize;

const KEY_CHARS_MAX: usize = 200;
/// RPC servers accept no transaction of more than 128 KiB.
const DATA_BYTES_MAX: usize = 96 * 1024;

#[derive(Deserialize)]
struct StoredIntent {
    id: i64,
    chain: String,
    target: String,
    value_wei: String,
    data: String,
    gas: Option<i64>,
    valid_until_s: Option<i64>,
}

impl Journal {
    /// Records the intent of a request and returns its id. `run` runs the gateway's own statements in the transaction.
    pub async fn record<F>(
        &self,
        plugin: &str,
        (roles, chains): (&[String], &[String]),
        request: &[u8],
        run: impl FnOnce(Vec<Statement>) -> F,
    ) -> Result<i64, HostError>
    where
        F: Future<Output = Result<Vec<StatementResult>, StorageError>>,
    {
        let request: JournalCall = decode_call("a call of the journal", request)?;
        let JournalCall::Send(intent) = request else {
            return Err(invalid("only sending belongs into a transaction".to_owned()));
        };
        gateway_signers::check_grant(roles, &intent.role)?;
        let chain_id = self.check(chains, &intent)?;
        let data = call_data(&intent)?;
        let outcomes = run(statements(plugin, &intent, chain_id, &data, self.clock.now_ms())).await?;
        let stored: Option<StoredIntent> = outcomes.last().map(StatementResult::first).transpose()?.flatten();
        let stored = stored.ok_or_else(|| HostError::new(HostErrorCode::Internal, "the intent was not recorded"))?;
        let is_same = stored.chain == intent.chain
            && stored.target == intent.to.to_string()
            && stored.value_wei == intent.value.to_string()
            && stored.data == data
            && stored.gas == intent.gas.map(to_i64)
            && stored.valid_until_s == intent.valid_until_s;
        if !is_same {
            let message = format!("the key `{}` is that of another transaction of this plugin", intent.key);
            return Err(HostError::new(HostErrorCode::Constraint, message));
        }
        Ok(stored.id)
    }

    /// Returns the chain's id, or why such an intent can never be sent, or not with the present balance.
    fn check(&self, chains: &[String], intent: &Intent) -> Result<u64, HostError> {
        let chain = self.chains.granted(chains, &intent.chain)?;
        if intent.key.is_empty() || intent.key.chars().count() > KEY_CHARS_MAX || intent.key.contains('\0') {
            return Err(invalid(format!("a key has 1 to {KEY_CHARS_MAX} characters, and no NUL")));
        }
        if intent.gas.is_some_and(|gas| gas < TRANSFER_GAS) {
            return Err(invalid(format!("no transaction gets by with less than {TRANSFER_GAS} gas")));
        }
        let key = self.signers.key(&intent.role)?;
        let fee = U256::from(TRANSFER_GAS) * U256::from(self.settings.tip_gwei) * GWEI;
        let needed = intent.value.0.saturating_add(fee);
        match self.account_status(chain.chain_id, key.address()).and_then(|status| status.balance) {
            Some(balance) if balance < needed => {
                self.update_status(chain.chain_id, key.address(), |status| status.is_balance_stale = true);
                self.wake();
                let (account, role) = (key.address(), &intent.role);
                let balance_text =
                    format!("the account {account} of the role {role} has {balance} wei, and this needs");
                Err(disabled(format!("{balance_text} at least {needed}")))
            }
            _ => Ok(chain.chain_id),
        }
    }
}

fn call_data(intent: &Intent) -> Result<String, HostError> {
    let bytes = gateway_chain::call_data(intent.to, &intent.call).map_err(invalid)?;
    if bytes.len() > DATA_BYTES_MAX {
        return Err(invalid(format!("the call has {} bytes, at most {DATA_BYTES_MAX} are sent", bytes.len())));
    }
    Ok(bytes.to_string())
}

/// Inserts the intent unless its key exists, and selects the stored one.
fn statements(plugin: &str, intent: &Intent, chain_id: u64, data: &str, now_ms: i64) -> Vec<Statement> {
    let insert = sql("INSERT INTO host_tx_intents (plugin, role, name, chain, chain_id, target, value_wei, data, gas, \
         valid_until_s, state, created_ms, changed_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'queued', $11, $11) \
         ON CONFLICT (plugin, role, name) DO NOTHING")
    .bind(plugin)
    .bind(&intent.role)
    .bind(&intent.key)
    .bind(&intent.chain)
    .bind(to_i64(chain_id))
    .bind(intent.to)
    .bind(intent.value)
    .bind(data)
    .bind(intent.gas.map(to_i64))
    .bind(intent.valid_until_s)
    .bind(now_ms);
    let select = sql("SELECT id, chain, target, value_wei, data, gas, valid_until_s FROM host_tx_intents \
         WHERE plugin = $1 AND role = $2 AND name = $3")
    .bind(plugin)
    .bind(&intent.role)
    .bind(&intent.key);
    vec![insert.into(), select.into()]
}

fn disabled(reason: String) -> HostError {
    HostError::new(HostErrorCode::Disabled, reason)
}

pub(super) fn invalid(reason: String) -> HostError {
    HostError::new(HostErrorCode::Invalid, reason)
}
