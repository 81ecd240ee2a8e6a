//! What every signed write has to do on axum, sqlx and k256, as the gateway does it: form, time and signature, then replay guard
//! and interval in the transaction of the write, and an event at its end.

use alloy_primitives::{Address, eip191_hash_message, hex, keccak256};
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use gateway_clock::Clock;
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use sqlx::{
    SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

const WINDOW_S: i64 = 300;
const INTERVAL_MS: i64 = 1000;

#[derive(Clone)]
pub struct Pools {
    pub readers: SqlitePool,
    /// One connection: SQLite has one writer at a time, and waiting in the pool is cheaper than waiting for its lock.
    pub writer: SqlitePool,
}

impl Pools {
    pub async fn open() -> anyhow::Result<Self> {
        let synchronous = match super::variable(super::SYNCHRONOUS)?.as_str() {
            "normal" => SqliteSynchronous::Normal,
            _ => SqliteSynchronous::Full,
        };
        let options = SqliteConnectOptions::new()
            .filename(super::variable(super::DATABASE)?)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(synchronous);
        Ok(Self {
            readers: SqlitePoolOptions::new().connect_with(options.clone()).await?,
            writer: SqlitePoolOptions::new().max_connections(1).connect_with(options).await?,
        })
    }
}

pub enum SignedError {
    Unknown,
    Refused(StatusCode, &'static str),
    Database(sqlx::Error),
}

impl From<sqlx::Error> for SignedError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl IntoResponse for SignedError {
    fn into_response(self) -> Response {
        let (status, error) = match self {
            Self::Unknown => (StatusCode::NOT_FOUND, "there is no such record".to_owned()),
            Self::Refused(status, reason) => (status, reason.to_owned()),
            Self::Database(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        };
        (status, Json(json!({ "error": error }))).into_response()
    }
}

/// Who signed, and the digest that was signed.
pub struct Signed {
    pub signer: String,
    digest: String,
}

/// Form, time, signature: what needs no database.
pub fn check<T: DeserializeOwned>(body: &[u8], action: &str) -> Result<(Signed, T), SignedError> {
    let malformed = || SignedError::Refused(StatusCode::BAD_REQUEST, "malformed body");
    let mut payload: Map<String, Value> = serde_json::from_slice(body).map_err(|_| malformed())?;
    let mut text = |name: &str| payload.remove(name).ok_or_else(malformed);
    let (address, ts, sig) = (text("address")?, text("ts")?, text("sig")?);
    let address: Address = address.as_str().and_then(|address| address.parse().ok()).ok_or_else(malformed)?;
    let ts = ts.as_i64().ok_or_else(malformed)?;
    if (Clock::System.now_s() - ts).abs() > WINDOW_S {
        return Err(SignedError::Refused(StatusCode::UNAUTHORIZED, "ts is too far from now"));
    }
    let payload = Value::Object(payload);
    let canonical = serde_json_canonicalizer::to_string(&payload).map_err(|_| malformed())?;
    let hash = hex::encode(Sha256::digest(canonical.as_bytes()));
    let signer = address.to_checksum(None);
    let message = format!("Service Commons\naction: {action}\naddress: {signer}\nts: {ts}\nbody: {hash}");
    let digest = eip191_hash_message(message);
    if sig.as_str().and_then(|sig| recover(&digest.0, sig)) != Some(address) {
        return Err(SignedError::Refused(StatusCode::UNAUTHORIZED, "the signature is not by this address"));
    }
    let payload = serde_json::from_value(payload).map_err(|_| malformed())?;
    Ok((Signed { signer, digest: hex::encode(digest) }, payload))
}

fn recover(digest: &[u8; 32], sig: &str) -> Option<Address> {
    let bytes = hex::decode(sig).ok()?;
    let (rs, v) = bytes.split_at_checked(64)?;
    let signature = Signature::from_slice(rs).ok()?;
    let recovery = RecoveryId::from_byte(v.first()?.checked_sub(27)?)?;
    let key = VerifyingKey::recover_from_prehash(digest, &signature, recovery).ok()?;
    let public = key.to_encoded_point(false);
    Some(Address::from_slice(&keccak256(&public.as_bytes()[1..])[12..]))
}

/// The signature was not used before, and the signer's last write was a second ago; answers who that is.
pub async fn guard(tx: &mut SqliteConnection, Signed { signer, digest }: Signed) -> Result<String, SignedError> {
    let (now_ms, now_s) = (Clock::System.now_ms(), Clock::System.now_s());
    let replay =
        "INSERT INTO host_replay_guard (address, digest, remember_until_s) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    let replay = sqlx::query(replay).bind(&signer).bind(digest).bind(now_s + 3 * WINDOW_S).execute(&mut *tx).await?;
    if replay.rows_affected() == 0 {
        return Err(SignedError::Refused(StatusCode::CONFLICT, "this signature was already used"));
    }
    let slot = "INSERT INTO host_write_slots (address, last_ms) VALUES (?, ?) ON CONFLICT (address) DO UPDATE \
                SET last_ms = excluded.last_ms WHERE host_write_slots.last_ms <= excluded.last_ms - ?";
    let slot = sqlx::query(slot).bind(&signer).bind(now_ms).bind(INTERVAL_MS).execute(&mut *tx).await?;
    if slot.rows_affected() == 0 {
        return Err(SignedError::Refused(StatusCode::TOO_MANY_REQUESTS, "one write a second and address"));
    }
    Ok(signer)
}

/// An event of the activity log about a record.
pub async fn publish(
    tx: &mut SqliteConnection,
    kind: &str,
    now_s: i64,
    actor: &str,
    (ref_kind, ref_id): (&str, i64),
    data: Value,
) -> sqlx::Result<()> {
    let event = "INSERT INTO host_activity (type, ts, actor, ref_kind, ref_id, data) VALUES (?, ?, ?, ?, ?, ?)";
    let event = sqlx::query(event).bind(kind).bind(now_s).bind(actor).bind(ref_kind).bind(ref_id.to_string());
    event.bind(data.to_string()).execute(tx).await.map(drop)
}
