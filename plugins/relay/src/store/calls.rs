//! Sponsored calls. The rule: of the calls of an account with one nonce at most one is on its way, because only one can succeed.

use super::caps::Client;
use plugin_api::{Address, Hash256, HostError, Query, Tx, Wei, sql};
use serde::Deserialize;

/// For so long a call that is asked for again is answered as before, whatever became of it.
const SAME_S: i64 = 120;

/// A call that was recorded.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedCall {
    pub nonce: Wei,
    pub signature_hash: Hash256,
    pub signer: Option<Address>,
    pub gas_estimate: i64,
    pub remaining: i64,
    pub intent: i64,
}

const COLUMNS: &str = "nonce, signature_hash, signer, gas_estimate, remaining, intent";

/// Those of the last minutes that differ from a request in the nonce at most, which no request has.
pub async fn alike(db: &impl Query, tuple: Hash256, now_s: i64) -> Result<Vec<RecordedCall>, HostError> {
    let select = format!(
        "SELECT {COLUMNS} FROM relay_calls WHERE tuple = $1 AND created_at > $2 AND state <> 'returned' \
         ORDER BY id DESC LIMIT 10"
    );
    db.rows(sql(select).bind((tuple, now_s - SAME_S))).await
}

/// The same call, if it was recorded in the last minutes or is on its way.
pub async fn same(db: &impl Query, digest: Hash256, now_s: i64) -> Result<Option<RecordedCall>, HostError> {
    let select = format!(
        "SELECT {COLUMNS} FROM relay_calls WHERE digest = $1 AND (created_at > $2 OR state = 'open') \
         AND state <> 'returned' ORDER BY id DESC LIMIT 1"
    );
    db.row(sql(select).bind((digest, now_s - SAME_S))).await
}

/// Whether a call with this nonce is on its way. One that is in a block has used up the nonce, or has failed there.
pub async fn is_nonce_used(db: &impl Query, account: Address, nonce: Wei) -> Result<bool, HostError> {
    let select = sql("SELECT count(*) FROM relay_calls \
         WHERE account = $1 AND nonce = $2 AND state = 'open' AND mined_at IS NULL");
    Ok(db.one::<i64>(select.bind((account, nonce))).await? > 0)
}

/// What is stored of a call.
#[derive(Clone, Debug)]
pub struct NewCall {
    pub digest: Hash256,
    pub tuple: Hash256,
    pub account: Address,
    pub nonce: Wei,
    pub signature_hash: Hash256,
    pub signer: Option<Address>,
    pub gas_estimate: i64,
    pub client: Client,
}

/// A new call without intent; returns its id.
pub async fn insert(tx: &Tx, new: &NewCall, remaining: i64) -> Result<i64, HostError> {
    let insert = sql("INSERT INTO relay_calls (digest, tuple, account, nonce, signature_hash, signer, gas_estimate, \
         remaining, client, site, intent, state, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 'open', $11) RETURNING id");
    let signed = (new.digest, new.tuple, new.account, new.nonce, new.signature_hash, new.signer);
    let insert = insert.bind(signed).bind((new.gas_estimate, remaining));
    tx.one(insert.bind((new.client.network.as_ref(), new.client.site.as_ref(), tx.now_s()))).await
}

/// How often the call was recorded before: each time the journal needs another key.
pub async fn attempts(tx: &Tx, digest: Hash256) -> Result<i64, HostError> {
    tx.one(sql("SELECT count(*) FROM relay_calls WHERE digest = $1").bind(digest)).await
}
