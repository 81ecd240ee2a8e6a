//! Statements on tables of others, transactions that stay open, invalid events.

use crate::Hostile;
use plugin_api::{HandlerError, HostError, Json, Path, Query as _, RequestContext, Route, sql, stream::EventBuilder};
use serde_json::json;
use std::future::pending;

pub const EVENT: &str = "hostile.event";

/// Statements of `/api/hostile/sql/{number}`, all of which the gateway must refuse.
pub const WRITES: [&str; 8] = [
    "INSERT INTO hello_guests (address, message, created_at) VALUES ('0x0', 'forged', 0)",
    "UPDATE hello_guests SET message = 'forged'",
    "DELETE FROM host_replay_guard",
    "INSERT INTO hostile_rows (note) SELECT message FROM hello_guests",
    "INSERT INTO hostile_rows (note) VALUES ('a'); DROP TABLE hello_guests",
    "PRAGMA writable_schema = 1",
    "ATTACH DATABASE '/tmp/hostile.db' AS other",
    "DROP TABLE hello_guests",
];

pub fn routes() -> Vec<Route<Hostile>> {
    vec![
        Route::get("/api/hostile/rows", count_rows).public(),
        Route::post("/api/hostile/write", write).public(),
        Route::post("/api/hostile/write_then_hang", write_then_hang).public().timeout_ms(300),
        Route::post("/api/hostile/write_then_panic", write_then_panic).public(),
        Route::post("/api/hostile/write_then_leak", write_then_leak).public(),
        Route::post("/api/hostile/sql/{number}", run_statement).public(),
        Route::post("/api/hostile/event_fine", event_fine).public(),
        Route::post("/api/hostile/event_newline", event_newline).public(),
        Route::post("/api/hostile/event_of_another", event_of_another).public(),
        Route::post("/api/hostile/event_huge", event_huge).public(),
    ]
}

pub async fn write_row(cx: &RequestContext<Hostile>, note: &str) -> Result<(), HostError> {
    cx.transaction().execute(sql("INSERT INTO hostile_rows (note) VALUES ($1)").bind(note)).await.map(drop)
}

async fn count_rows(cx: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    Ok(Json(cx.db().one(sql("SELECT count(*) FROM hostile_rows")).await?))
}

async fn write(cx: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    write_row(&cx, "fine").await?;
    Ok(Json(0))
}

async fn write_then_hang(cx: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    write_row(&cx, "and hang").await?;
    pending().await
}

async fn write_then_panic(cx: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    write_row(&cx, "and panic").await?;
    std::panic::panic_any("with rows written")
}

/// Leaks a transaction of its own: it is neither committed nor dropped.
async fn write_then_leak(cx: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    let tx = cx.begin();
    tx.execute(sql("INSERT INTO hostile_rows (note) VALUES ('leaked')")).await?;
    std::mem::forget(tx);
    Ok(Json(0))
}

async fn run_statement(cx: RequestContext<Hostile>, Path(number): Path<i64>) -> Result<Json<u64>, HandlerError> {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let statement = WRITES.get(number).copied().unwrap_or_default();
    Ok(Json(cx.transaction().execute(sql(statement)).await?))
}

async fn event_fine(cx: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    EventBuilder::new(EVENT, &json!({ "fine": true })).publish(&cx.transaction())?;
    Ok(Json(0))
}

async fn event_newline(cx: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    EventBuilder::new("hostile.event\nid: 9", &json!({})).publish(&cx.transaction())?;
    Ok(Json(0))
}

/// Readers of the log would take it for a thread of the forum.
async fn event_of_another(cx: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    EventBuilder::new("thread.create", &json!({ "thread": 1 })).publish(&cx.transaction())?;
    Ok(Json(0))
}

async fn event_huge(cx: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    EventBuilder::new(EVENT, &json!({ "text": "x".repeat(16 * 1024 * 1024) })).publish(&cx.transaction())?;
    Ok(Json(0))
}
