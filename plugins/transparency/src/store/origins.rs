//! Origins with their keys, and the token of the job that signs.
//!
//! The rule: only the job with the newest token writes. The key is sealed by the gateway, which alone signs with it.

use super::from_db;
use crate::model::{Checkpoint, EMPTY_ROOT, LogKey, OriginBegun};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use plugin_api::{Event, HostError, HostErrorCode, HostHandle, Query, Tx, sql};
use serde::Deserialize;

/// The secret whose sealed keys sign.
const SECRET: &str = "log_key";

/// The present origin of the database, with its newest checkpoint.
#[derive(Clone, Debug)]
pub struct Origin {
    pub epoch: i64,
    pub public_key: Vec<u8>,
    pub sealed_key: Vec<u8>,
    /// Size 0 without a note, when none was signed yet.
    pub newest: Checkpoint,
    pub note: Option<String>,
    pub signed_at: Option<i64>,
    /// Why a gateway stopped the log.
    pub stopped: Option<String>,
}

#[derive(Deserialize)]
struct OriginRow {
    epoch: i64,
    origin: String,
    public_key: Vec<u8>,
    sealed_key: Vec<u8>,
    size: Option<i64>,
    root: Option<String>,
    note: Option<String>,
    signed_at: Option<i64>,
    stopped: Option<String>,
}

const PRESENT: &str = "SELECT o.epoch, o.origin, o.public_key, o.sealed_key, c.size, c.root, c.note, c.signed_at, \
    (SELECT s.reason FROM transparency_stops s WHERE s.origin = o.origin) AS stopped \
    FROM (SELECT epoch, origin, public_key, sealed_key FROM transparency_origins ORDER BY epoch DESC LIMIT 1) o \
    LEFT JOIN transparency_checkpoints c ON c.epoch = o.epoch \
    AND c.size = (SELECT max(m.size) FROM transparency_checkpoints m WHERE m.epoch = o.epoch)";

pub async fn present(db: &impl Query) -> Result<Option<Origin>, HostError> {
    let row: Option<OriginRow> = db.row(sql(PRESENT)).await?;
    Ok(row.map(|row| Origin {
        epoch: row.epoch,
        public_key: row.public_key,
        sealed_key: row.sealed_key,
        newest: Checkpoint {
            origin: row.origin,
            size: from_db(row.size.unwrap_or_default()),
            root: row.root.unwrap_or_else(|| STANDARD.encode(EMPTY_ROOT)),
        },
        note: row.note,
        signed_at: row.signed_at,
        stopped: row.stopped,
    }))
}

/// Whether the database had an origin of this name before the present one.
pub async fn is_over(db: &impl Query, origin: &str, present: &Origin) -> Result<bool, HostError> {
    let select = "SELECT epoch FROM transparency_origins WHERE origin = $1 AND epoch < $2";
    let found: Option<i64> = db.row(sql(select).bind((origin, present.epoch))).await?;
    Ok(found.is_some())
}

/// Begins an origin with a new key. Another gateway may have been first; then this one changes nothing.
pub async fn begin(host: &HostHandle, origin: &str, previous: Option<&Checkpoint>) -> Result<(), HostError> {
    let (public_key, sealed_key) = host.secret(SECRET).create_signing_key(origin).await?;
    let (origin, previous) = (origin.to_owned(), previous.cloned());
    host.write(async move |tx| {
        let insert = sql("INSERT INTO transparency_origins (epoch, origin, public_key, sealed_key, token, previous, began_at) \
             SELECT coalesce(max(epoch), 0) + 1, $1, $2, $3, 0, $4, $5 FROM transparency_origins WHERE 1 = 1 ON CONFLICT DO NOTHING");
        let named = previous.as_ref().map(Checkpoint::body);
        let insert = insert.bind((&*origin, &public_key[..], &*sealed_key, named, tx.now_s()));
        if tx.execute(insert).await? == 1
            && let Some(previous) = &previous
        {
            OriginBegun { origin: &origin, previous }.publish(tx)?;
        }
        Ok(())
    })
    .await
}

/// A token that ends all earlier ones.
pub async fn take_token(host: &HostHandle, epoch: i64) -> Result<i64, HostError> {
    host.write(async move |tx| {
        let take = "UPDATE transparency_origins SET token = token + 1 WHERE epoch = $1 RETURNING token";
        tx.one(sql(take).bind(epoch)).await
    })
    .await
}

/// Fails with [`HostErrorCode::Constraint`] when a later token was taken. No other job takes one before this transaction ends.
pub async fn hold_token(tx: &Tx, epoch: i64, token: i64) -> Result<(), HostError> {
    let hold = "UPDATE transparency_origins SET token = $2 WHERE epoch = $1 AND token = $2";
    if tx.execute(sql(hold).bind((epoch, token))).await? == 1 {
        return Ok(());
    }
    Err(HostError::new(HostErrorCode::Constraint, "another gateway signs the log now"))
}

/// Stops the log of an origin on all gateways of the database. The first reason stays.
pub async fn stop(host: &HostHandle, origin: &str, reason: &str) -> Result<(), HostError> {
    let (origin, reason) = (origin.to_owned(), reason.to_owned());
    host.write(async move |tx| {
        let insert =
            "INSERT INTO transparency_stops (origin, reason, since_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        tx.execute(sql(insert).bind((&*origin, &*reason, tx.now_s()))).await.map(drop)
    })
    .await
}

/// Seals the key again after the operator has a newer secrets key, so that the old one can be removed.
pub async fn reseal(host: &HostHandle, origin: &Origin) -> Result<(), HostError> {
    let Some(sealed) = host.secret(SECRET).reseal(&origin.sealed_key, &origin.newest.origin).await? else {
        return Ok(());
    };
    let epoch = origin.epoch;
    host.write(async move |tx| {
        let update = "UPDATE transparency_origins SET sealed_key = $2 WHERE epoch = $1";
        tx.execute(sql(update).bind((epoch, &*sealed))).await.map(drop)
    })
    .await
}

impl Origin {
    pub fn key(&self) -> LogKey<'_> {
        LogKey { name: &self.newest.origin, public_key: &self.public_key }
    }

    /// A signed note: the signature of the log, and one that has the time.
    pub async fn sign(&self, host: &HostHandle, checkpoint: &Checkpoint, now_s: i64) -> Result<String, HostError> {
        let time_s = from_db(now_s);
        let sign = async |text: String| host.secret(SECRET).sign(&self.sealed_key, &self.newest.origin, text).await;
        let signature = sign(checkpoint.body()).await?;
        let cosignature = sign(checkpoint.cosigned_text(time_s)).await?;
        let key = self.key();
        Ok(checkpoint.note(&[key.signature_line(&signature), key.cosignature_line(time_s, &cosignature)]))
    }
}
