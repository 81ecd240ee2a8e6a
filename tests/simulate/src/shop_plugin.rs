//! A plugin that sells orders for vouchers, in both ways in which a plugin can: paid before the work, as a call of an agent is, or by the
//! transaction that stores the order, as room of the memory is.

use plugin_api::{
    Address, ConfigError, Created, Definition, HandlerError, HostError, HostHandle, JsonBody, JsonSchema, Migration,
    NoConfig, Plugin, RequestContext, Route, Signed, Tx, Wei,
    payment::{Payment, Price},
    response::Problem,
    sql,
};
use serde::Deserialize;
use std::time::Duration;

/// A voucher buys one order: a second one with its nonce is not prevented here, but found by the simulation.
const TABLE: &str = "CREATE TABLE shop_orders (
    id {{id}},
    text TEXT NOT NULL,
    payer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    is_signed BIGINT NOT NULL
)";
const INSERT: &str = "INSERT INTO shop_orders (text, payer, nonce, is_signed) VALUES ($1, $2, $3, $4)";
pub const PRICE_WEI: u64 = 10_000_000_000_000_000;
pub const PAYEE: Address = Address([0x33; 20]);
/// Before and after an order is stored: gateways are killed at any time of it.
const WORK: Duration = Duration::from_millis(600);
const WORK_TIMEOUT_MS: u64 = 10_000;

pub struct Shop;

impl plugin_api::host::Identity for Shop {
    const NAME: &'static str = "shop";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const SUMMARY: &'static str = "Orders that are paid by vouchers";
}

impl Plugin for Shop {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new().migrations([Migration::new(1, "create", TABLE)]).routes([
            Route::post("/api/shop/work", do_work)
                .public()
                .timeout_ms(WORK_TIMEOUT_MS)
                .priced("work, paid before it is done", price_of_work),
            Route::post("/api/shop/orders", create_order)
                .signed("order.create")
                .priced("an order, paid by its own transaction", price_of_order),
        ])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

#[derive(Deserialize, JsonSchema)]
struct NewOrder {
    /// No two orders have the same.
    text: String,
    /// Its work fails.
    fails: bool,
}

fn price() -> Price {
    Price { payee: Some(PAYEE), amount: Wei::from(PRICE_WEI), description: "An order".to_owned() }
}

fn failed() -> HandlerError {
    Problem::new(422, "work_failed", "the work has failed").into()
}

async fn price_of_work(_: RequestContext<Shop>, _: JsonBody<NewOrder>) -> Result<Price, HandlerError> {
    Ok(price())
}

async fn do_work(
    cx: RequestContext<Shop>,
    JsonBody(order): JsonBody<NewOrder>,
) -> Result<Created<String>, HandlerError> {
    let unpaid = || Problem::new(422, "not_paid", "the work has no payment");
    let payment = cx.payment().ok_or_else(unpaid)?;
    cx.sleep(WORK).await;
    if order.fails {
        return Err(failed());
    }
    let nonce = payment.nonce.clone();
    cx.write(async move |tx| Ok::<_, HandlerError>(insert(tx, &order.text, &payment, false).await?)).await?;
    cx.sleep(WORK).await;
    Ok(Created(nonce))
}

async fn price_of_order(_: RequestContext<Shop>, _: Signed<NewOrder>) -> Result<Price, HandlerError> {
    Ok(price())
}

async fn create_order(
    cx: RequestContext<Shop>,
    Signed { payload: order, .. }: Signed<NewOrder>,
) -> Result<Created<String>, HandlerError> {
    let nonce = cx.write(async move |tx| charge_and_insert(tx, &order).await).await?;
    Ok(Created(nonce))
}

async fn charge_and_insert(tx: &Tx, order: &NewOrder) -> Result<String, HandlerError> {
    let payment = tx.charge(&price()).await?;
    insert(tx, &order.text, &payment, true).await?;
    // Both are rolled back.
    if order.fails { Err(failed()) } else { Ok(payment.nonce) }
}

async fn insert(tx: &Tx, text: &str, payment: &Payment, is_signed: bool) -> Result<(), HostError> {
    let insert = sql(INSERT).bind((text, payment.payer, &payment.nonce, i64::from(is_signed)));
    tx.execute(insert).await.map(drop)
}
