//! `POST /api/payloads`: bytes of any type. Equal bytes have the same hash and are stored once.

use crate::{Payloads, error::PayloadsError, model, store};
use plugin_api::{
    HandlerError, Hash256, HostError, Json, RequestContext, Route, extract::BodyParts, format, handles::FfiBytes,
};

/// Payloads that a client may store in a minute.
pub const PER_MINUTE: u32 = 60;

pub fn route() -> Route<Payloads> {
    Route::post("/api/payloads", store_payload)
        .public()
        .per_minute(PER_MINUTE)
        .body_max_bytes(model::SIZE_MAX.unsigned_abs())
        .body_types(&["application/json", "text/plain", "application/octet-stream"])
        .summary("Store bytes under their hash")
        .endpoint("payloads")
        .briefing(
            "Payloads",
            "POST bytes of any type (256 KiB) and get {hash, uri, size}; GET /{hash} answers the same bytes. Use \
             hash and uri in job inputs and outputs, artifacts and submissions; what nobody mentions is deleted \
             after a while",
        )
        .example("POST /api/payloads with the bytes as the body")
        .description("Any content type, 1 byte to 256 KiB. Bytes that are stored already cost nothing.")
}

async fn store_payload(
    cx: RequestContext<Payloads>,
    model::ContentType(content_type): model::ContentType,
    body: BodyParts,
) -> Result<Json<model::StoredPayload>, HandlerError<PayloadsError>> {
    let bytes = receive(&cx, body).await?;
    if bytes.is_empty() {
        return Err(PayloadsError::Empty.into());
    }
    let (hash, bytes) = hashed(&cx, bytes).await?;
    let stored = model::StoredPayload { hash, uri: format::payload_uri(hash), size: bytes.len() };
    // Bytes that are stored already usually need no transaction.
    if store::payloads::is_stored_since(&cx.db(), hash, cx.now_s() - model::DAY_S).await? {
        return Ok(Json(stored));
    }
    let config = &cx.plugin().config;
    let limits = store::payloads::Limits { total: config.total_bytes_max, client: config.client_bytes_per_day_max };
    let upload = store::payloads::Upload { hash, bytes, content_type, client: cx.client_network() };
    cx.write(async move |tx| {
        if tx.execute(store::payloads::renew(upload.hash, tx.now_s())).await? > 0 {
            return Ok(());
        }
        let [fits_client, fits_store] = store::payloads::count(tx, &upload, limits).await?;
        if !fits_client {
            return Err(PayloadsError::DailyBytes { limit: limits.client }.into());
        }
        if !fits_store {
            return Err(PayloadsError::Full { limit: limits.total }.into());
        }
        Ok(store::payloads::insert(tx, &upload).await?)
    })
    .await?;
    Ok(Json(stored))
}

/// The whole body.
async fn receive(cx: &RequestContext<Payloads>, mut body: BodyParts) -> Result<Vec<u8>, HostError> {
    let mut bytes = Vec::new();
    while let Some(part) = body.next(cx).await? {
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

/// Hashing more than this takes longer than moving it to another thread.
const INLINE_BYTES: usize = 32 * 1024;

async fn hashed(cx: &RequestContext<Payloads>, bytes: Vec<u8>) -> Result<(Hash256, FfiBytes), HostError> {
    let hash = |bytes: Vec<u8>| (Hash256::keccak(&bytes), bytes.into());
    if bytes.len() <= INLINE_BYTES { Ok(hash(bytes)) } else { cx.blocking(move || hash(bytes)).await }
}
