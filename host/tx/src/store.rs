//! Intents and their transactions in the database.
//!
//! The rule: every update names the version of the row that it was decided on. Of two gateways that both believe to
//! hold the lease, one updates the intent, and the other gets [`UpdateError::VersionConflict`].

use super::{
    error::UpdateError,
    row::{ATTEMPT_COLUMNS, Attempt, INTENT_COLUMNS, IntentRow},
};
use alloy_primitives::{Address, B256};
use gateway_chain::{Chain, Receipt};
use gateway_storage::{CommitStatement, Database, Dialect, Scope, StorageError};
use plugin_api::{Sql, abi::Statement, manifest::TxState, sql};

/// Stands in the place of the plugin for the gateway's own intents, which no plugin can record.
pub(crate) const HOST: &str = "host";
/// How long a lease is valid after it was acquired or renewed.
pub(crate) const LEASE_MS: i64 = 20_000;

#[derive(Clone)]
pub(crate) struct IntentStore {
    database: Database,
}

impl IntentStore {
    pub(crate) fn new(database: Database) -> Self {
        Self { database }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    /// The account's intents that are signed, and neither final nor failed, in the order of nonces.
    pub(crate) async fn signed(&self, chain_id: u64, sender: Address) -> Result<Vec<IntentRow>, StorageError> {
        let text = format!(
            "SELECT {INTENT_COLUMNS} FROM host_tx_intents WHERE chain_id = $1 AND sender = $2 \
             AND state NOT IN ('final', 'failed') ORDER BY nonce"
        );
        self.database.fetch_all(sql(text).bind(to_i64(chain_id)).bind(sender.to_string())).await
    }

    /// Intents that are neither final nor failed, oldest first.
    pub(crate) async fn unfinished(&self, limit: u32) -> Result<Vec<IntentRow>, StorageError> {
        let text = format!(
            "SELECT {INTENT_COLUMNS} FROM host_tx_intents WHERE state NOT IN ('final', 'failed') ORDER BY id LIMIT $1"
        );
        self.database.fetch_all(sql(text).bind(i64::from(limit))).await
    }

    /// Intents in any state, newest first.
    pub(crate) async fn newest(&self, limit: u32) -> Result<Vec<IntentRow>, StorageError> {
        let text = format!("SELECT {INTENT_COLUMNS} FROM host_tx_intents ORDER BY id DESC LIMIT $1");
        self.database.fetch_all(sql(text).bind(i64::from(limit))).await
    }

    /// Queued intents of plugins with these roles, oldest first.
    pub(crate) async fn queued(
        &self,
        chain_id: u64,
        roles: &[String],
        limit: usize,
    ) -> Result<Vec<IntentRow>, StorageError> {
        let text = format!(
            "SELECT {INTENT_COLUMNS} FROM host_tx_intents WHERE chain_id = $1 AND state = 'queued' AND role IN ({}) \
             AND plugin <> '{HOST}' ORDER BY id LIMIT $2",
            quoted(roles)
        );
        self.database.fetch_all(sql(text).bind(to_i64(chain_id)).bind(i64::try_from(limit).unwrap_or(i64::MAX))).await
    }

    /// Accounts with signed intents that are neither final nor failed.
    pub(crate) async fn senders(&self, chain_id: u64) -> Result<Vec<Address>, StorageError> {
        let text = "SELECT DISTINCT sender FROM host_tx_intents WHERE chain_id = $1 AND sender IS NOT NULL \
             AND state NOT IN ('final', 'failed')";
        self.database.fetch_all(sql(text).bind(to_i64(chain_id))).await
    }

    /// How many intents of plugins with these roles are queued, and since when (Unix milliseconds).
    pub(crate) async fn queued_count(
        &self,
        chain_id: u64,
        roles: &[String],
    ) -> Result<(i64, Option<i64>), StorageError> {
        let text = format!(
            "SELECT count(*), min(created_ms) FROM host_tx_intents WHERE chain_id = $1 AND state = 'queued' \
             AND role IN ({}) AND plugin <> '{HOST}'",
            quoted(roles)
        );
        Ok(self.database.fetch_all(sql(text).bind(to_i64(chain_id))).await?.pop().unwrap_or_default())
    }

    /// The signed transactions of these intents, oldest first.
    pub(crate) async fn attempts(&self, intents: &[i64]) -> Result<Vec<Attempt>, StorageError> {
        if intents.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<String> = intents.iter().map(i64::to_string).collect();
        let text = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM host_tx_attempts WHERE intent IN ({}) ORDER BY nonce, signed_ms, hash",
            ids.join(", ")
        );
        self.database.fetch_all(sql(text)).await
    }

    /// What the account signed since then. At most one transaction of an intent and nonce is paid for.
    pub(crate) async fn attempts_since(
        &self,
        chain_id: u64,
        sender: Address,
        since_ms: i64,
    ) -> Result<Vec<Attempt>, StorageError> {
        let text = format!(
            "SELECT {ATTEMPT_COLUMNS} FROM host_tx_attempts WHERE chain_id = $1 AND sender = $2 AND signed_ms > $3"
        );
        self.database.fetch_all(sql(text).bind(to_i64(chain_id)).bind(sender.to_string()).bind(since_ms)).await
    }

    pub(crate) async fn intent(&self, plugin: &str, id: i64) -> Result<Option<IntentRow>, StorageError> {
        let text = format!("SELECT {INTENT_COLUMNS} FROM host_tx_intents WHERE plugin = $1 AND id = $2");
        Ok(self.database.fetch_all(sql(text).bind(plugin).bind(id)).await?.pop())
    }

    pub(crate) async fn intent_by_key(
        &self,
        plugin: &str,
        role: &str,
        name: &str,
    ) -> Result<Option<IntentRow>, StorageError> {
        let text =
            format!("SELECT {INTENT_COLUMNS} FROM host_tx_intents WHERE plugin = $1 AND role = $2 AND name = $3");
        Ok(self.database.fetch_all(sql(text).bind(plugin).bind(role).bind(name)).await?.pop())
    }

    /// The intent that this transaction was signed for, whichever plugin recorded it.
    pub(crate) async fn intent_of(&self, hash: B256) -> Result<Option<IntentRow>, StorageError> {
        let text = format!(
            "SELECT {INTENT_COLUMNS} FROM host_tx_intents \
             WHERE id = (SELECT intent FROM host_tx_attempts WHERE hash = $1)"
        );
        Ok(self.database.fetch_all(sql(text).bind(hash.to_string())).await?.pop())
    }

    /// Stores the gateway's own intent that fills a nonce gap together with its transaction: one without the other could be given
    /// another nonce later. None when the gap has an intent already.
    pub(crate) async fn save_gap_filler(
        &self,
        (role, name): (&str, &str),
        (chain, sender): (&Chain, Address),
        attempt: &Attempt,
        now_ms: i64,
    ) -> Result<Option<IntentRow>, StorageError> {
        let chain_id = to_i64(chain.chain_id);
        // Earlier releases stored a queued intent first, whose transaction may never have been signed.
        let intent = sql(format!(
            "INSERT INTO host_tx_intents (plugin, role, name, chain, chain_id, target, value_wei, data, sender, nonce, state, \
             created_ms, changed_ms) VALUES ('{HOST}', $1, $2, $3, $4, $5, '0', '0x', $5, $6, 'signed', $7, $7) \
             ON CONFLICT (plugin, role, name) DO UPDATE SET state = excluded.state, sender = excluded.sender, \
             nonce = excluded.nonce, version = host_tx_intents.version + 1, changed_ms = excluded.changed_ms \
             WHERE host_tx_intents.state = 'queued' RETURNING 1"
        ));
        let intent = intent.bind(role).bind(name).bind(&chain.name).bind(chain_id).bind(sender.to_string());
        let intent = intent.bind(attempt.nonce).bind(now_ms);
        let of_intent =
            format!("(SELECT id FROM host_tx_intents WHERE plugin = '{HOST}' AND role = $12 AND name = $13)");
        let signed = bind_attempt(insert_attempt(&of_intent), attempt, chain.chain_id, sender).bind(role).bind(name);
        match self.write(vec![CommitStatement::expecting_row(intent.into()), CommitStatement::new(signed.into())]).await
        {
            Ok(_) => self.intent_by_key(HOST, role, name).await,
            Err(StorageError::Rejected(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Claims or renews the account's lease; returns whether this gateway holds it.
    pub(crate) async fn acquire_lease(&self, (chain_id, sender): (u64, Address)) -> Result<bool, StorageError> {
        let now_ms = self.dialect().now_ms();
        let may_take_lease = self.dialect().may_take_lease("host_tx_lanes");
        let text = format!(
            "INSERT INTO host_tx_lanes (chain_id, sender, holder, lease_until_ms) VALUES ($1, $2, $3, {now_ms} + $4) \
             ON CONFLICT (chain_id, sender) DO UPDATE SET holder = excluded.holder, \
             lease_until_ms = excluded.lease_until_ms, blocked_reason = CASE WHEN host_tx_lanes.holder = excluded.holder \
             THEN host_tx_lanes.blocked_reason END WHERE {may_take_lease}"
        );
        let statement = sql(text).bind(to_i64(chain_id)).bind(sender.to_string()).bind(self.database.instance_id());
        let changes = self.write(vec![CommitStatement::new(statement.bind(LEASE_MS).into())]).await?;
        Ok(changes == 1)
    }

    /// Notes in the account's lease, which this gateway holds, why no queued intent can be signed now.
    pub(crate) async fn set_blocked_reason(
        &self,
        (chain_id, sender): (u64, Address),
        reason: Option<&str>,
    ) -> Result<(), StorageError> {
        let statement =
            sql("UPDATE host_tx_lanes SET blocked_reason = $4 WHERE chain_id = $1 AND sender = $2 AND holder = $3");
        let statement =
            statement.bind(to_i64(chain_id)).bind(sender.to_string()).bind(self.database.instance_id()).bind(reason);
        self.write(vec![CommitStatement::new(statement.into())]).await.map(drop)
    }

    /// What the holder of the account's lease noted there; `None` while no gateway holds it.
    pub(crate) async fn blocked_reason(
        &self,
        (chain_id, sender): (u64, Address),
    ) -> Result<Option<Option<String>>, StorageError> {
        let text = format!(
            "SELECT blocked_reason FROM host_tx_lanes WHERE chain_id = $1 AND sender = $2 AND holder IS NOT NULL \
             AND lease_until_ms >= {}",
            self.dialect().now_ms()
        );
        let statement = sql(text).bind(to_i64(chain_id)).bind(sender.to_string());
        let rows: Vec<(Option<String>,)> = self.database.fetch_all(statement).await?;
        Ok(rows.into_iter().next().map(|(reason,)| reason))
    }

    pub(crate) async fn release_lease(&self, (chain_id, sender): (u64, Address)) -> Result<(), StorageError> {
        let statement =
            sql("UPDATE host_tx_lanes SET holder = NULL WHERE chain_id = $1 AND sender = $2 AND holder = $3");
        let statement = statement.bind(to_i64(chain_id)).bind(sender.to_string()).bind(self.database.instance_id());
        self.write(vec![CommitStatement::new(statement.into())]).await.map(drop)
    }

    /// Stores the first transaction with a new nonce: transaction and nonce are written in one commit.
    pub(crate) async fn save_signed(
        &self,
        intent: &mut IntentRow,
        (chain_id, sender): (u64, Address),
        attempt: &Attempt,
        now_ms: i64,
    ) -> Result<(), UpdateError> {
        let update = sql("UPDATE host_tx_intents SET state = 'signed', reason = NULL, sender = $3, nonce = $4, \
             version = version + 1, changed_ms = $5 WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(sender.to_string())
        .bind(attempt.nonce)
        .bind(now_ms);
        self.update(intent, update, vec![attempt_of_intent(attempt, chain_id, sender)]).await
    }

    /// Stores another transaction with the same nonce.
    pub(crate) async fn save_replacement(
        &self,
        intent: &mut IntentRow,
        (chain_id, sender): (u64, Address),
        attempt: &Attempt,
        now_ms: i64,
    ) -> Result<(), UpdateError> {
        let update = sql("UPDATE host_tx_intents SET state = 'signed', reason = $4, version = version + 1, \
             changed_ms = $5 WHERE id = $1 AND version = $2 AND nonce = $3 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(attempt.nonce)
        .bind(attempt.cancel_reason.as_deref())
        .bind(now_ms);
        self.update(intent, update, vec![attempt_of_intent(attempt, chain_id, sender)]).await
    }

    /// A server accepted the transaction.
    pub(crate) async fn mark_sent(
        &self,
        intent: &mut IntentRow,
        attempt: &Attempt,
        now_ms: i64,
    ) -> Result<(), UpdateError> {
        let update = sql("UPDATE host_tx_intents SET state = 'sent', reason = $4, version = version + 1, \
             changed_ms = $3 WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(now_ms)
        .bind(attempt.cancel_reason.as_deref());
        let sent = sql("UPDATE host_tx_attempts SET sent_ms = $2 WHERE hash = $1");
        let sent = sent.bind(attempt.hash.to_string()).bind(now_ms);
        self.update(intent, update, vec![sent.into()]).await
    }

    /// `cancel_reason` is set when the transaction in the block is the empty transfer that cancels the intent.
    pub(crate) async fn mark_included(
        &self,
        intent: &mut IntentRow,
        receipt: &Receipt,
        cancel_reason: Option<&str>,
        now_ms: i64,
    ) -> Result<(), UpdateError> {
        let update = sql("UPDATE host_tx_intents SET state = 'included', reason = $10, hash = $3, block = $4, \
             block_hash = $5, succeeded = $6, gas_used = $7, fee_wei = $8, version = version + 1, changed_ms = $9 \
             WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(receipt.transaction_hash.to_string())
        .bind(to_i64(receipt.block()))
        .bind(receipt.block_hash.to_string())
        .bind(receipt.succeeded() && cancel_reason.is_none())
        .bind(to_i64(receipt.gas_used()))
        .bind(receipt.fee().to_string())
        .bind(now_ms)
        .bind(cancel_reason);
        self.update(intent, update, Vec::new()).await
    }

    /// A reorganisation removed the block of the transaction.
    pub(crate) async fn mark_reorganised(&self, intent: &mut IntentRow, now_ms: i64) -> Result<(), UpdateError> {
        let update = sql("UPDATE host_tx_intents SET state = 'signed', reason = 'its block was taken back', \
             hash = NULL, block = NULL, block_hash = NULL, succeeded = NULL, gas_used = NULL, fee_wei = NULL, \
             version = version + 1, changed_ms = $3 WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(now_ms);
        self.update(intent, update, Vec::new()).await
    }

    /// None of the intent's transactions can be included any more: it is queued again and gets another nonce.
    pub(crate) async fn requeue(&self, intent: &mut IntentRow, reason: &str, now_ms: i64) -> Result<(), UpdateError> {
        let update = sql("UPDATE host_tx_intents SET state = 'queued', reason = $3, sender = NULL, nonce = NULL, \
             version = version + 1, changed_ms = $4 WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(reason)
        .bind(now_ms);
        self.update(intent, update, Vec::new()).await
    }

    /// Ends the intent: failed with this reason, or final.
    pub(crate) async fn finish(
        &self,
        intent: &mut IntentRow,
        failure: Option<&str>,
        now_ms: i64,
    ) -> Result<(), UpdateError> {
        let state = if failure.is_none() { TxState::Final } else { TxState::Failed };
        let update = sql("UPDATE host_tx_intents SET state = $3, reason = $4, version = version + 1, changed_ms = $5 \
             WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(state.name())
        .bind(failure)
        .bind(now_ms);
        self.update(intent, update, Vec::new()).await
    }

    /// Sets why the intent does not proceed; its state stays.
    pub(crate) async fn set_reason(&self, intent: &mut IntentRow, reason: &str) -> Result<(), UpdateError> {
        if intent.reason.as_deref() == Some(reason) {
            return Ok(());
        }
        let update = sql("UPDATE host_tx_intents SET reason = $3, version = version + 1 \
             WHERE id = $1 AND version = $2 RETURNING 1")
        .bind(intent.id)
        .bind(intent.version)
        .bind(reason);
        self.update(intent, update, Vec::new()).await
    }

    async fn update(&self, intent: &mut IntentRow, update: Sql, others: Vec<Statement>) -> Result<(), UpdateError> {
        let mut finals: Vec<CommitStatement> = others.into_iter().map(CommitStatement::new).collect();
        finals.push(CommitStatement::expecting_row(update.into()));
        match self.write(finals).await {
            Ok(_) => {
                intent.version += 1;
                Ok(())
            }
            Err(StorageError::Rejected(_)) => Err(UpdateError::VersionConflict),
            Err(error) => Err(error.into()),
        }
    }

    async fn write(&self, finals: Vec<CommitStatement>) -> Result<u64, StorageError> {
        let transaction = self.database.begin(Scope::Host);
        let outcomes = transaction.commit(finals).await?;
        Ok(outcomes.iter().map(|outcome| outcome.changes).sum())
    }
}

/// Role names are not quoted further: they come from a fixed list, never from a client.
fn quoted(roles: &[String]) -> String {
    let roles: Vec<String> = roles.iter().map(|role| format!("'{role}'")).collect();
    roles.join(", ")
}

/// The intent is this SQL expression, or a parameter from `$12` on.
fn insert_attempt(intent: &str) -> Sql {
    sql(format!(
        "INSERT INTO host_tx_attempts (hash, chain_id, sender, nonce, raw, gas, tip_wei, max_fee_wei, block, signed_ms, given_up, \
         intent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, {intent})"
    ))
}

fn bind_attempt(insert: Sql, attempt: &Attempt, chain_id: u64, sender: Address) -> Sql {
    insert
        .bind(attempt.hash.to_string())
        .bind(to_i64(chain_id))
        .bind(sender.to_string())
        .bind(attempt.nonce)
        .bind(&attempt.raw)
        .bind(attempt.gas)
        .bind(attempt.tip_wei.to_string())
        .bind(attempt.max_fee_wei.to_string())
        .bind(attempt.block)
        .bind(attempt.signed_ms)
        .bind(attempt.cancel_reason.as_deref())
}

fn attempt_of_intent(attempt: &Attempt, chain_id: u64, sender: Address) -> Statement {
    bind_attempt(insert_attempt("$12"), attempt, chain_id, sender).bind(attempt.intent).into()
}

/// For chain ids, block numbers, nonces and gas, which are far below 2^63.
pub(crate) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
