//! A plugin with priced routes, and with routes that call the payment service as the gateway does.

use crate::PAYEE;
use plugin_api::{
    ConfigError, Definition, HandlerError, HostError, HostHandle, Json, JsonBody, JsonSchema, Migration, NoConfig,
    Plugin, QueryString, RequestContext, Route, Signed, Tx, Wei,
    abi::PluginModule_Ref,
    host::Identity,
    payment::{self, Check, CheckInput, End, EndInput, Offer, OfferInput, Price, Reserve, ReserveInput},
    point::Service,
    response::Problem,
    sql,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub struct Caller;

impl Identity for Caller {
    const NAME: &'static str = "caller";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Calls the payment service";
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Caller>()
}

/// 0.01 FMX.
pub const PRICE_WEI: u64 = 10_000_000_000_000_000;

fn price() -> Price {
    Price { payee: Some(PAYEE), amount: Wei(alloy_primitives::U256::from(PRICE_WEI)), description: "Work".to_owned() }
}

type Cx = RequestContext<Caller>;

impl Plugin for Caller {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(1, "create", "CREATE TABLE caller_notes (id {{id}}, text TEXT NOT NULL)")])
            .uses(payment::OFFER)
            .uses(payment::CHECK)
            .uses(payment::RESERVE)
            .uses(payment::END)
            .routes([
                Route::post("/api/caller/offer", offer).public().operation("caller_offer"),
                Route::post("/api/caller/check", check).public().operation("caller_check"),
                Route::post("/api/caller/reserve", reserve).public().operation("caller_reserve"),
                Route::post("/api/caller/end", end).public().operation("caller_end"),
                Route::post("/api/caller/work", work).public().operation("caller_work").priced("work", price_of_work),
                Route::post("/api/caller/notes", create_note)
                    .signed("caller.note")
                    .operation("caller_note")
                    .priced("a note", price_of_note),
            ])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn call<I, O>(cx: &Cx, service: Service<I, O>, input: &I) -> Result<Json<O>, HandlerError>
where
    I: Serialize,
    O: DeserializeOwned,
{
    Ok(Json(cx.call(service, input).await?))
}

async fn offer(cx: Cx, JsonBody(input): JsonBody<OfferInput>) -> Result<Json<Offer>, HandlerError> {
    call(&cx, payment::OFFER, &input).await
}

async fn check(cx: Cx, JsonBody(input): JsonBody<CheckInput>) -> Result<Json<Check>, HandlerError> {
    call(&cx, payment::CHECK, &input).await
}

async fn reserve(cx: Cx, JsonBody(input): JsonBody<ReserveInput>) -> Result<Json<Reserve>, HandlerError> {
    call(&cx, payment::RESERVE, &input).await
}

async fn end(cx: Cx, JsonBody(input): JsonBody<EndInput>) -> Result<Json<End>, HandlerError> {
    call(&cx, payment::END, &input).await
}

#[derive(Deserialize, JsonSchema)]
struct WorkQuery {
    #[serde(default)]
    fails: bool,
}

async fn price_of_work(_: Cx, _: QueryString<WorkQuery>) -> Result<Price, HandlerError> {
    Ok(price())
}

async fn work(cx: Cx, QueryString(WorkQuery { fails }): QueryString<WorkQuery>) -> Result<Json<String>, HandlerError> {
    if fails {
        return Err(Problem::new(422, "refused", "not this").into());
    }
    Ok(Json(cx.payment().map(|paid| paid.nonce).unwrap_or_default()))
}

#[derive(Deserialize, JsonSchema)]
struct NewNote {
    text: String,
}

async fn price_of_note(_: Cx, _: Signed<NewNote>) -> Result<Price, HandlerError> {
    Ok(price())
}

async fn create_note(cx: Cx, Signed { payload, .. }: Signed<NewNote>) -> Result<Json<String>, HandlerError> {
    let nonce = cx.write(async move |tx| Ok::<_, HandlerError>(charge(tx, &payload.text).await?)).await?;
    Ok(Json(nonce))
}

async fn charge(tx: &Tx, text: &str) -> Result<String, HostError> {
    let paid = tx.charge(&price()).await?;
    tx.execute(sql("INSERT INTO caller_notes (text) VALUES ($1)").bind(text)).await?;
    Ok(paid.nonce)
}
