//! What the database remembers of intents, and how that changes.
//!
//! The rule: every change names the version that it was decided on, so that of two gateways which believe to be the one that
//! sends, one changes an intent and the other learns that it came too late.

use super::{
    Trouble,
    row::{ATTEMPT_COLUMNS, Attempt, INTENT_COLUMNS, IntentRow},
};
use alloy_primitives::Address;
use gateway_chain::Chain;
use gateway_chain::account::Receipt;
use gateway_storage::{Database, Dialect, Final, Scope, StorageError};
use plugin_api::{Sql, abi::Statement, sql};
use serde::de::DeserializeOwned;

/// A lease that is not renewed ends after this long.
pub const LEASE_MS: i64 = 20_000;

#[derive(Clone)]
pub struct Store {
    database: Database,
}

impl Store {
    pub fn new(database: Database) -> Self {
        Self { database }
    }

    pub fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    pub async fn read<T: DeserializeOwned>(&self, statement: Sql) -> Result<Vec<T>, StorageError> {
        let rows = self.database.read(&Scope::Host, statement.into()).await?;
        plugin_api::decode_rows(&rows).map_err(|error| StorageError::Internal(error.to_string()))
    }

    /// What an account has signed and is not at its end, in the order of nonces.
    pub async fn signed(&self, chain_id: u64, sender: Address) -> Result<Vec<IntentRow>, StorageError> {
        let text = format!(
            "SELECT {INTENT_COLUMNS} FROM host_tx_intents WHERE chain_id = $1 AND sender = $2 \
             AND state NOT IN ('final', 'failed') ORDER BY nonce"
        );
        self.read(sql(text).bind(int(chain_id)).bind(sender.to_string())).await
    }

    /// What waits for the keys of these roles, oldest first.
    pub async fn queued(&self, chain_id: u64, roles: &[String], limit: usize) -> Result<Vec<IntentRow>, StorageError> {
        // Role names are the gateway's own words.
        let roles: Vec<String> = roles.iter().map(|role| format!("'{role}'")).collect();
        let text = format!(
            "SELECT {INTENT_COLUMNS} FROM host_tx_intents WHERE chain_id = $1 AND state = 'queued' AND role IN ({}) \
             ORDER BY id LIMIT $2",
            roles.join(", ")
        );
        self.read(sql(text).bind(int(chain_id)).bind(i64::try_from(limit).unwrap_or(i64::MAX))).await
    }

    /// Accounts that signed what is not at its end.
    pub async fn senders(&self, chain_id: u64) -> Result<Vec<Address>, StorageError> {
        let text = "SELECT DISTINCT sender FROM host_tx_intents WHERE chain_id = $1 AND sender IS NOT NULL \
             AND state NOT IN ('final', 'failed')";
        self.read(sql(text).bind(int(chain_id))).await
    }

    /// How many wait for these roles, and since when (Unix milliseconds).
    pub async fn waiting(&self, chain_id: u64, roles: &[String]) -> Result<(i64, Option<i64>), StorageError> {
        let roles: Vec<String> = roles.iter().map(|role| format!("'{role}'")).collect();
        let text = format!(
            "SELECT count(*), min(created_ms) FROM host_tx_intents WHERE chain_id = $1 AND state = 'queued' \
             AND role IN ({})",
            roles.join(", ")
        );
        Ok(self.read(sql(text).bind(int(chain_id))).await?.pop().unwrap_or_default())
    }

    /// The signed transactions of these intents, oldest first.
    pub async fn attempts(&self, intents: &[i64]) -> Result<Vec<Attempt>, StorageError> {
        if intents.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<String> = intents.iter().map(i64::to_string).collect();
        let text = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM host_tx_attempts WHERE intent IN ({}) ORDER BY nonce, signed_ms, hash",
            ids.join(", ")
        );
        self.read(sql(text)).await
    }

    /// The newest transaction of each nonce that the account signed since then.
    pub async fn attempts_since(
        &self,
        chain_id: u64,
        sender: Address,
        since_ms: i64,
    ) -> Result<Vec<Attempt>, StorageError> {
        let text = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM host_tx_attempts a WHERE chain_id = $1 AND sender = $2 AND signed_ms > $3 \
             AND NOT EXISTS (SELECT 1 FROM host_tx_attempts b WHERE b.intent = a.intent AND b.nonce = a.nonce \
             AND b.signed_ms > a.signed_ms)"
        );
        self.read(sql(text).bind(int(chain_id)).bind(sender.to_string()).bind(since_ms)).await
    }

    pub async fn intent(&self, plugin: &str, id: i64) -> Result<Option<IntentRow>, StorageError> {
        let text = format!("SELECT {INTENT_COLUMNS} FROM host_tx_intents WHERE plugin = $1 AND id = $2");
        Ok(self.read(sql(text).bind(plugin).bind(id)).await?.pop())
    }

    pub async fn intent_named(&self, plugin: &str, role: &str, name: &str) -> Result<Option<IntentRow>, StorageError> {
        let text =
            format!("SELECT {INTENT_COLUMNS} FROM host_tx_intents WHERE plugin = $1 AND role = $2 AND name = $3");
        Ok(self.read(sql(text).bind(plugin).bind(role).bind(name)).await?.pop())
    }

    /// The gateway's own intent that takes a nonce which nobody has; none when it has one already.
    pub async fn filler(
        &self,
        role: &str,
        name: &str,
        chain: &Chain,
        sender: Address,
        now_ms: i64,
    ) -> Result<Option<IntentRow>, StorageError> {
        let insert = sql("INSERT INTO host_tx_intents (plugin, role, name, chain, chain_id, target, value_wei, data, \
             state, created_ms, changed_ms) VALUES ('host', $1, $2, $3, $4, $5, '0', '0x', 'queued', $6, $6) \
             ON CONFLICT (plugin, role, name) DO NOTHING")
        .bind(role)
        .bind(name)
        .bind(&chain.name)
        .bind(int(chain.chain_id))
        .bind(sender.to_string())
        .bind(now_ms);
        self.write(vec![Final::new(insert.into())]).await?;
        let filler = self.intent_named("host", role, name).await?;
        Ok(filler.filter(|filler| filler.state == plugin_api::manifest::TxState::Queued))
    }

    /// Whether this gateway may work on the lane until then. On SQLite whoever held it before is gone.
    pub async fn claim(&self, chain_id: u64, sender: Address, holder: &str, now_ms: i64) -> Result<bool, StorageError> {
        let is_free = match self.database.dialect() {
            Dialect::Sqlite => "$4 = $4",
            Dialect::Postgres => {
                "(host_tx_lanes.holder IS NULL OR host_tx_lanes.holder = excluded.holder \
                 OR host_tx_lanes.lease_until_ms < $4)"
            }
        };
        let text = format!(
            "INSERT INTO host_tx_lanes (chain_id, sender, holder, lease_until_ms) VALUES ($1, $2, $3, $5) \
             ON CONFLICT (chain_id, sender) DO UPDATE SET holder = excluded.holder, \
             lease_until_ms = excluded.lease_until_ms WHERE {is_free}"
        );
        let statement = sql(text).bind(int(chain_id)).bind(sender.to_string()).bind(holder).bind(now_ms);
        let outcomes = self.write(vec![Final::new(statement.bind(now_ms + LEASE_MS).into())]).await?;
        Ok(outcomes == 1)
    }

    pub async fn release(&self, (chain_id, sender): (u64, Address), holder: &str) -> Result<(), StorageError> {
        let statement =
            sql("UPDATE host_tx_lanes SET holder = NULL WHERE chain_id = $1 AND sender = $2 AND holder = $3");
        let statement = statement.bind(int(chain_id)).bind(sender.to_string()).bind(holder);
        self.write(vec![Final::new(statement.into())]).await.map(drop)
    }

    /// Signed for the first time, or for another nonce: the transaction and the nonce are stored in one commit.
    pub async fn sign(
        &self,
        intent: &mut IntentRow,
        (chain_id, sender): (u64, Address),
        attempt: &Attempt,
        now_ms: i64,
    ) -> Result<(), Trouble> {
        let change = sql("UPDATE host_tx_intents SET state = 'signed', reason = NULL, sender = $3, nonce = $4, \
             version = version + 1, changed_ms = $5 WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(sender.to_string())
        .bind(attempt.nonce)
        .bind(now_ms);
        self.change(intent, change, vec![insert(attempt, chain_id, sender)]).await
    }

    /// A further transaction with the same nonce.
    pub async fn replace(
        &self,
        intent: &mut IntentRow,
        (chain_id, sender): (u64, Address),
        attempt: &Attempt,
        now_ms: i64,
    ) -> Result<(), Trouble> {
        let change = sql("UPDATE host_tx_intents SET state = 'signed', reason = $4, version = version + 1, \
             changed_ms = $5 WHERE id = $1 AND version = $2 AND nonce = $3 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(attempt.nonce)
        .bind(attempt.given_up.as_deref())
        .bind(now_ms);
        self.change(intent, change, vec![insert(attempt, chain_id, sender)]).await
    }

    /// A server took it.
    pub async fn sent(&self, intent: &mut IntentRow, attempt: &Attempt, now_ms: i64) -> Result<(), Trouble> {
        let change = sql("UPDATE host_tx_intents SET state = 'sent', reason = $4, version = version + 1, \
             changed_ms = $3 WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(now_ms)
        .bind(attempt.given_up.as_deref());
        let sent = sql("UPDATE host_tx_attempts SET sent_ms = $2 WHERE hash = $1");
        let sent = sent.bind(attempt.hash.to_string()).bind(now_ms);
        self.change(intent, change, vec![sent.into()]).await
    }

    /// `given_up` says why what is in the block is not what was intended.
    pub async fn included(
        &self,
        intent: &mut IntentRow,
        receipt: &Receipt,
        given_up: Option<&str>,
        now_ms: i64,
    ) -> Result<(), Trouble> {
        let change = sql("UPDATE host_tx_intents SET state = 'included', reason = $10, hash = $3, block = $4, \
             block_hash = $5, succeeded = $6, gas_used = $7, fee_wei = $8, version = version + 1, changed_ms = $9 \
             WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(receipt.transaction_hash.to_string())
        .bind(int(receipt.block()))
        .bind(receipt.block_hash.to_string())
        .bind(receipt.succeeded() && given_up.is_none())
        .bind(int(receipt.gas_used()))
        .bind(receipt.fee().to_string())
        .bind(now_ms)
        .bind(given_up);
        self.change(intent, change, Vec::new()).await
    }

    /// Its block is gone.
    pub async fn taken_back(&self, intent: &mut IntentRow, now_ms: i64) -> Result<(), Trouble> {
        let change = sql("UPDATE host_tx_intents SET state = 'signed', reason = 'its block was taken back', \
             hash = NULL, block = NULL, block_hash = NULL, succeeded = NULL, gas_used = NULL, fee_wei = NULL, \
             version = version + 1, changed_ms = $3 WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(now_ms);
        self.change(intent, change, Vec::new()).await
    }

    /// None of its transactions can be included any more: it waits for another nonce.
    pub async fn queue_again(&self, intent: &mut IntentRow, reason: &str, now_ms: i64) -> Result<(), Trouble> {
        let change = sql("UPDATE host_tx_intents SET state = 'queued', reason = $3, sender = NULL, nonce = NULL, \
             version = version + 1, changed_ms = $4 WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(reason)
        .bind(now_ms);
        self.change(intent, change, Vec::new()).await
    }

    /// The end, one way or the other.
    pub async fn end(&self, intent: &mut IntentRow, failure: Option<&str>, now_ms: i64) -> Result<(), Trouble> {
        let state = if failure.is_none() { "final" } else { "failed" };
        let change = sql("UPDATE host_tx_intents SET state = $3, reason = $4, version = version + 1, changed_ms = $5 \
             WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(state)
        .bind(failure)
        .bind(now_ms);
        self.change(intent, change, Vec::new()).await
    }

    /// What is in its way. Moves nothing.
    pub async fn explain(&self, intent: &mut IntentRow, reason: &str) -> Result<(), Trouble> {
        if intent.reason.as_deref() == Some(reason) {
            return Ok(());
        }
        let change = sql("UPDATE host_tx_intents SET reason = $3, version = version + 1 \
             WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(reason);
        self.change(intent, change, Vec::new()).await
    }

    async fn change(&self, intent: &mut IntentRow, change: Sql, others: Vec<Statement>) -> Result<(), Trouble> {
        let mut finals: Vec<Final> = others.into_iter().map(Final::new).collect();
        finals.push(Final::expecting_row(change.into()));
        match self.write(finals).await {
            Ok(_) => {
                intent.version += 1;
                Ok(())
            }
            Err(StorageError::Rejected(_)) => Err(Trouble::Moved),
            Err(error) => Err(Trouble::Storage(error)),
        }
    }

    pub(super) async fn write(&self, finals: Vec<Final>) -> Result<u64, StorageError> {
        let transaction = self.database.begin(Scope::Host);
        let outcomes = transaction.commit(finals).await?;
        Ok(outcomes.iter().map(|outcome| outcome.changes).sum())
    }
}

fn insert(attempt: &Attempt, chain_id: u64, sender: Address) -> Statement {
    sql("INSERT INTO host_tx_attempts (hash, intent, chain_id, sender, nonce, raw, gas, tip_wei, max_fee_wei, block, \
         signed_ms, given_up) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)")
    .bind(attempt.hash.to_string())
    .bind(attempt.intent)
    .bind(int(chain_id))
    .bind(sender.to_string())
    .bind(attempt.nonce)
    .bind(&attempt.raw)
    .bind(attempt.gas)
    .bind(attempt.tip_wei.to_string())
    .bind(attempt.max_fee_wei.to_string())
    .bind(attempt.block)
    .bind(attempt.signed_ms)
    .bind(attempt.given_up.as_deref())
    .into()
}

/// Numbers of chains, blocks, nonces and gas are far below 2^63.
pub fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
