//! `DELETE /api/memory/{key}`: deletes a value of the signer. Its records stay in the log.

use super::PER_MINUTE;
use crate::{
    Config, Memory,
    error::MemoryError,
    model::{DeletedValue, MemoryKey, Quota},
    store::{self, drafts::Draft, records::Change, values::Before},
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route, Tx, extract::SignedBy};

pub fn route() -> Route<Memory> {
    Route::delete("/api/memory/{key}", delete_memory)
        .signed_headers_once("memory.delete")
        .private_path()
        .per_minute(PER_MINUTE)
        .summary("Delete one of your values")
        .description("The signature is over an empty text, over {} or over the JSON body {key}, which must be the key of the path.")
}

async fn delete_memory(
    cx: RequestContext<Memory>,
    SignedBy(owner): SignedBy,
    Path(key): Path<String>,
) -> Result<Json<DeletedValue>, HandlerError<MemoryError>> {
    let key = MemoryKey::parse(&key)?;
    let draft = Draft::delete(&cx, owner, &key).await?;
    let config = cx.plugin().config.clone();
    let deleted = cx.write(async move |tx| delete(tx, &key, &draft, &config).await).await?;
    Ok(Json(deleted))
}

async fn delete(
    tx: &Tx,
    key: &MemoryKey,
    draft: &Draft,
    config: &Config,
) -> Result<DeletedValue, HandlerError<MemoryError>> {
    let owner = draft.owner;
    let Before { head, paid_bytes, value } = store::values::before(tx, owner, &draft.tags).await?;
    let before = value.ok_or(MemoryError::UnknownKey)?;
    tx.defer(store::values::delete(owner, &before.name_tag))?;
    let (record, head) = store::records::append(tx, draft, &head, Change { value_bytes: -before.size, keys: -1 })?;
    let quota = Quota::new(head.used_bytes, head.key_count, paid_bytes, config);
    Ok(DeletedValue { address: owner, key: key.clone(), deleted: true, ok: true, quota, record })
}
