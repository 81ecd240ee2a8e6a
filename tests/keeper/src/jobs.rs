//! A job that is woken, and fails with an error of the plugin's own.

use crate::{Cx, Keeper};
use plugin_api::{
    HandlerError, HostError, Job, JsonBody, Path, PluginContext, Query as _, Route, response::NoContent, sql,
};
use std::time::Duration;

/// How long an order takes that goes far away.
const JOURNEY: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    #[error("order {name} cannot be delivered")]
    Undeliverable { name: String, source: AddressError },
    #[error(transparent)]
    Host(#[from] HostError),
}

#[derive(Debug, thiserror::Error)]
#[error("nobody lives there")]
pub struct AddressError;

pub fn job() -> Job<Keeper> {
    Job::every("deliver_orders", Duration::from_secs(3600), deliver_orders)
}

pub fn routes() -> [Route<Keeper>; 2] {
    [
        Route::post("/api/keeper/orders", create_order).public(),
        Route::post("/api/keeper/jobs/{name}", wake_job).public(),
    ]
}

async fn deliver_orders(cx: PluginContext<Keeper>) -> Result<(), DeliveryError> {
    let orders: Vec<String> = cx.db().rows(sql("SELECT name FROM keeper_orders ORDER BY id")).await?;
    if let Some(name) = orders.iter().find(|name| *name == "nowhere").cloned() {
        return Err(DeliveryError::Undeliverable { name, source: AddressError });
    }
    if orders.iter().any(|name| name == "by courier") {
        let courier = cx.clone();
        cx.spawn("courier", async move {
            courier.sleep(JOURNEY).await;
            courier.write(async |tx| tx.execute(sql("DELETE FROM keeper_orders")).await.map(drop)).await
        });
        // The run goes on while the courier writes.
        cx.sleep(3 * JOURNEY).await;
        return Ok(());
    }
    if orders.iter().any(|name| name == "far away") {
        cx.sleep(JOURNEY).await;
    }
    cx.write(async |tx| tx.execute(sql("DELETE FROM keeper_orders")).await).await?;
    Ok(())
}

async fn create_order(cx: Cx, JsonBody(name): JsonBody<String>) -> Result<NoContent, HandlerError> {
    let insert = move |name: &str| sql("INSERT INTO keeper_orders (name) VALUES ($1)").bind(name);
    cx.write(async move |tx| Ok(tx.execute(insert(&name)).await?)).await?;
    cx.wake("deliver_orders").await?;
    Ok(NoContent)
}

async fn wake_job(cx: Cx, Path(name): Path<String>) -> Result<NoContent, HandlerError> {
    cx.wake(&name).await?;
    Ok(NoContent)
}
