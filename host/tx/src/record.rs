//! Recording an intent in a plugin's own transaction.
//!
//! The rule: the intent commits with the plugin's rows or not at all, and one that is recorded again is the same one.

use super::{Journal, raw::TRANSFER_GAS, store::int};
use alloy_primitives::{Bytes, U256, hex};
use gateway_config::MAIN;
use gateway_storage::StorageError;
use plugin_api::{
    abi::{HostError, HostErrorCode, Outcome, Statement},
    manifest::{Intent, TxCall, TxQuestion},
    sql,
};
use serde::Deserialize;

/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 200;
/// Longest call, in bytes: servers take no transaction of more than 128 KiB.
const DATA_BYTES_MAX: usize = 96 * 1024;

#[derive(Deserialize)]
struct Known {
    id: i64,
    chain: String,
    target: String,
    value_wei: String,
    data: String,
    gas: Option<i64>,
    valid_until_s: Option<i64>,
}

impl Journal {
    /// Records what a question within a transaction asks for; answers the id. `run` runs the gateway's own statements there.
    pub async fn record<F>(
        &self,
        plugin: &str,
        granted: (&[String], &[String]),
        question: &[u8],
        run: impl FnOnce(Vec<Statement>) -> F,
    ) -> Result<i64, HostError>
    where
        F: Future<Output = Result<Vec<Outcome>, StorageError>>,
    {
        let question: TxQuestion = serde_json::from_slice(question).map_err(|error| invalid(error.to_string()))?;
        let TxQuestion::Send(intent) = question else {
            return Err(invalid("only sending belongs into a transaction".to_owned()));
        };
        let (roles, chains) = granted;
        gateway_signers::check_grant(roles, &intent.role)?;
        let chain_id = self.check(chains, &intent)?;
        let data = data(&intent)?;
        let outcomes = run(statements(plugin, &intent, chain_id, &data, self.clock.now_ms())).await?;
        let known: Option<Known> = outcomes.last().map(Outcome::first).transpose()?.flatten();
        let known = known.ok_or_else(|| HostError::new(HostErrorCode::Internal, "the intent was not recorded"))?;
        let is_same = known.chain == intent.chain
            && known.target == intent.to.to_string()
            && known.value_wei == intent.value.to_string()
            && known.data == data
            && known.gas == intent.gas.map(int)
            && known.valid_until_s == intent.valid_until_s;
        if !is_same {
            let message = format!("the key `{}` is that of another transaction of this plugin", intent.key);
            return Err(HostError::new(HostErrorCode::Constraint, message));
        }
        Ok(known.id)
    }

    /// The chain's id, when something of this kind can be sent at all.
    fn check(&self, chains: &[String], intent: &Intent) -> Result<u64, HostError> {
        if !chains.contains(&intent.chain) {
            let message = format!("the plugin does not declare the chain `{}` in its grants", intent.chain);
            return Err(HostError::new(HostErrorCode::Refused, message));
        }
        if intent.key.is_empty() || intent.key.chars().count() > NAME_CHARS_MAX || intent.key.contains('\0') {
            return Err(invalid(format!("a key has 1 to {NAME_CHARS_MAX} characters, and no NUL")));
        }
        if intent.gas.is_some_and(|gas| gas < TRANSFER_GAS) {
            return Err(invalid(format!("no transaction gets by with less than {TRANSFER_GAS} gas")));
        }
        let key = self.signers.key(&intent.role)?;
        let Some(chain) = self.chains.get(&intent.chain) else {
            let hint = if intent.chain == MAIN { ": add a section [chains.main]" } else { "" };
            return Err(disabled(format!("no chain `{}` is configured{hint}", intent.chain)));
        };
        let fee = U256::from(TRANSFER_GAS) * U256::from(self.settings.tip_gwei) * U256::from(1_000_000_000u64);
        let needed = intent.value.0.saturating_add(fee);
        match self.facts(chain.chain_id, key.address()).and_then(|facts| facts.balance) {
            Some(balance) if balance < needed => {
                self.note(chain.chain_id, key.address(), |facts| facts.is_doubted = true);
                self.wake();
                let (account, role) = (key.address(), &intent.role);
                let short = format!("the account {account} of the role {role} has {balance} wei, and this needs");
                Err(disabled(format!("{short} at least {needed}")))
            }
            _ => Ok(chain.chain_id),
        }
    }
}

fn data(intent: &Intent) -> Result<String, HostError> {
    let bytes: Bytes = match &intent.call {
        TxCall::Data(text) => {
            hex::decode(text).map_err(|error| invalid(format!("the data is not 0x…: {error}")))?.into()
        }
        TxCall::Function { function, args } => {
            gateway_chain::encode_call(intent.to, function, args).map_err(invalid)?
        }
    };
    if bytes.len() > DATA_BYTES_MAX {
        return Err(invalid(format!("the call has {} bytes, at most {DATA_BYTES_MAX} are sent", bytes.len())));
    }
    Ok(bytes.to_string())
}

/// The intent, unless it is there; and the one that is there now.
fn statements(plugin: &str, intent: &Intent, chain_id: u64, data: &str, now_ms: i64) -> Vec<Statement> {
    let insert = sql("INSERT INTO host_tx_intents (plugin, role, name, chain, chain_id, target, value_wei, data, gas, \
         valid_until_s, state, created_ms, changed_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'queued', $11, $11) \
         ON CONFLICT (plugin, role, name) DO NOTHING")
    .bind(plugin)
    .bind(&intent.role)
    .bind(&intent.key)
    .bind(&intent.chain)
    .bind(int(chain_id))
    .bind(intent.to)
    .bind(intent.value)
    .bind(data)
    .bind(intent.gas.map(int))
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
