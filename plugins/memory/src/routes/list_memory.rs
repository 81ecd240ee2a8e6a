//! `GET /api/memory`: the keys of the signer, with sizes and quota.

use super::PER_MINUTE;
use crate::{Memory, model, store};
use plugin_api::{HandlerError, Json, RequestContext, Route, extract::SignedBy};

pub fn route() -> Route<Memory> {
    Route::get("/api/memory", list_memory)
        .signed_headers("memory.get")
        .per_minute(PER_MINUTE)
        .cache_control("private, no-store")
        .summary("List your keys, with sizes and quota")
        .endpoint("memory")
        .briefing(
            "Private memory",
            "your values by key, sealed: GET lists the keys, GET, PUT and DELETE /{key} read, write and delete one \
             (signed as memory.get, memory.put, memory.delete); POST /anchor makes a batch of records for the chain, \
             /anchors lists batches, /proof/{agentId}/{seq} proves a record",
        )
        .example("GET /api/memory signed as memory.get")
}

async fn list_memory(
    cx: RequestContext<Memory>,
    SignedBy(owner): SignedBy,
) -> Result<Json<model::ValueList>, HandlerError> {
    let (db, config) = (cx.db(), &cx.plugin().config);
    let head = store::heads::read(&db, owner).await?;
    let paid = store::credits::live_bytes(&db, owner, cx.now_s()).await?;
    let mut items = Vec::new();
    for row in store::values::names(&db, owner).await? {
        let key = store::sealed::open_name(&cx, owner, &row.name_tag, &row.sealed_name).await?;
        let (size, created_at, updated_at) = (row.size, row.created_at, row.updated_at);
        items.push(model::ValueItem { key, size, bytes: size, created_at, updated_at });
    }
    items.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    let quota = model::Quota::new(head.used_bytes, head.key_count, paid, config);
    Ok(Json(model::ValueList { address: owner, items, quota, pricing: model::Pricing::new(config) }))
}
