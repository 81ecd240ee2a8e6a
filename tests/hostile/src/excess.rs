//! More than there may be: of bytes, statements, events, tasks and time.

use crate::Hostile;
use futures_util::{Stream, future::join_all, stream};
use plugin_api::{
    Address, Author, HandlerError, HostError, Json, Query as _, RequestContext, Route,
    abi::FfiBytes,
    response::{StreamBody, Text, WithHeader},
    sql,
    stream::EventBuilder,
};
use serde_json::json;
use std::{
    future::pending,
    sync::atomic::{AtomicI64, Ordering::SeqCst},
    time::Duration,
};

const MIB: usize = 1024 * 1024;

type Number = Result<Json<i64>, HandlerError>;

pub fn routes() -> Vec<Route<Hostile>> {
    vec![
        Route::get("/api/hostile/large_header", large_header).public(),
        Route::get("/api/hostile/large_chunk", large_chunk).public(),
        Route::get("/api/hostile/many_authors", many_authors).public(),
        Route::get("/api/hostile/long_statement", long_statement).public(),
        Route::get("/api/hostile/many_placeholders", many_placeholders).public(),
        Route::get("/api/hostile/large_parameter", large_parameter).public(),
        Route::get("/api/hostile/large_result", large_result).public(),
        Route::post("/api/hostile/large_batch", large_batch).public(),
        Route::post("/api/hostile/many_statements", many_statements).public(),
        Route::post("/api/hostile/many_events", many_events).public(),
        Route::get("/api/hostile/many_tasks", many_tasks).public(),
        Route::get("/api/hostile/many_blocking", many_blocking).public(),
        Route::get("/api/hostile/slow_read", slow_read).public(),
        Route::post("/api/hostile/slow_write", slow_write).public(),
        Route::post("/api/hostile/long_message", long_message).public(),
    ]
}

async fn large_header(_: RequestContext<Hostile>) -> Result<WithHeader<Text>, HandlerError> {
    Ok(WithHeader { response: Text("fine".into()), name: "x-large".into(), value: "x".repeat(17 * 1024).into() })
}

async fn large_chunk(
    cx: RequestContext<Hostile>,
) -> Result<StreamBody<impl Stream<Item = Result<FfiBytes, HostError>>>, HandlerError> {
    let chunks = stream::iter([1, 5].map(|mib| Ok(FfiBytes::from(vec![b'x'; mib * MIB]))));
    Ok(StreamBody::new(&cx, "image/png", chunks))
}

/// 8 MiB as it leaves the plugin, 32 MiB with the authors' records.
async fn many_authors(_: RequestContext<Hostile>) -> Result<Json<Vec<Author>>, HandlerError> {
    Ok(Json(vec![Author::Address(Address([7; 20])); 400_000]))
}

async fn long_statement(cx: RequestContext<Hostile>) -> Number {
    Ok(Json(cx.db().one(sql(format!("SELECT 1 -- {}", "x".repeat(MIB)))).await?))
}

async fn many_placeholders(cx: RequestContext<Hostile>) -> Number {
    let placeholders: Vec<String> = (1..=32_767).map(|number| format!("${number}")).collect();
    Ok(Json(cx.db().one(sql(format!("SELECT 1 WHERE 1 IN ({})", placeholders.join(",")))).await?))
}

async fn large_parameter(cx: RequestContext<Hostile>) -> Number {
    Ok(Json(cx.db().one(sql("SELECT length($1)").bind("x".repeat(65 * MIB))).await?))
}

async fn large_result(cx: RequestContext<Hostile>) -> Number {
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
                SELECT cast($1 AS TEXT) FROM n";
    let texts: Vec<String> = cx.db().rows(sql(rows).bind("x".repeat(MIB))).await?;
    Ok(Json(i64::try_from(texts.len()).unwrap_or_default()))
}

async fn large_batch(cx: RequestContext<Hostile>) -> Number {
    let insert = || sql("INSERT INTO hostile_rows (note) VALUES ($1)").bind("x".repeat(MIB));
    cx.transaction().batch((0..65).map(|_| insert()).collect()).await?;
    Ok(Json(0))
}

async fn many_statements(cx: RequestContext<Hostile>) -> Number {
    let insert = || sql("INSERT INTO hostile_rows (note) VALUES ('one of many')");
    cx.transaction().batch((0..20_001).map(|_| insert()).collect()).await?;
    Ok(Json(0))
}

async fn many_events(cx: RequestContext<Hostile>) -> Number {
    for number in 0..1001 {
        EventBuilder::new(crate::data::EVENT, &json!({ "number": number })).publish(&cx.transaction())?;
    }
    Ok(Json(0))
}

async fn many_tasks(cx: RequestContext<Hostile>) -> Number {
    for _ in 0..1100 {
        cx.spawn("one_of_many", pending());
    }
    Ok(Json(0))
}

/// 40 blocking calls that each last until no further one begins: how many there were at the same time.
async fn many_blocking(cx: RequestContext<Hostile>) -> Number {
    static RUNNING: AtomicI64 = AtomicI64::new(0);
    static MOST: AtomicI64 = AtomicI64::new(0);
    let work = || {
        MOST.fetch_max(RUNNING.fetch_add(1, SeqCst) + 1, SeqCst);
        crate::config::block(Duration::from_millis(200));
        RUNNING.fetch_sub(1, SeqCst);
    };
    for result in join_all((0..40).map(|_| cx.blocking(work))).await {
        result?;
    }
    Ok(Json(MOST.load(SeqCst)))
}

fn endless() -> plugin_api::Sql {
    sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000000) SELECT count(*) FROM n")
}

async fn slow_read(cx: RequestContext<Hostile>) -> Number {
    Ok(Json(cx.db().one(endless()).await?))
}

async fn slow_write(cx: RequestContext<Hostile>) -> Number {
    crate::data::write_row(&cx, "before a slow one").await?;
    Ok(Json(cx.transaction().one(endless()).await?))
}

async fn long_message(_: RequestContext<Hostile>) -> Number {
    std::panic::panic_any("x".repeat(MIB))
}
