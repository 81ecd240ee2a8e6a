//! `GET /api/memory/{key}`: a value, for its owner.

use super::PER_MINUTE;
use crate::{
    Memory,
    error::MemoryError,
    model::{self, MemoryKey},
    store,
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route, extract::SignedBy};

pub fn route() -> Route<Memory> {
    Route::get("/api/memory/{key}", get_memory)
        .signed_headers("memory.get")
        .private_path()
        .per_minute(PER_MINUTE)
        .cache_control("private, no-store")
        .summary("Read one of your values")
        .example("GET /api/memory/{key} signed as memory.get")
}

async fn get_memory(
    cx: RequestContext<Memory>,
    SignedBy(owner): SignedBy,
    Path(key): Path<String>,
) -> Result<Json<model::ValueView>, HandlerError<MemoryError>> {
    let key = MemoryKey::parse(&key)?;
    let tags = store::sealed::name_tags(&cx, owner, &key).await?;
    let row = store::values::read(&cx.db(), owner, &tags).await?.ok_or(MemoryError::UnknownKey)?;
    let text = store::sealed::open_value(&cx, owner, &key, &row.sealed_value).await?;
    let (value, size, created_at, updated_at) = (model::json_of(text)?, row.size, row.created_at, row.updated_at);
    Ok(Json(model::ValueView { address: owner, key, value, size, created_at, updated_at }))
}
