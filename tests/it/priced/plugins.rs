//! A till that takes payments, and a shop with a route for each thing that can go wrong.

use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
pub use plugin_api::host::object_module as module;
use plugin_api::{
    Address, ApiError, ConfigError, Definition, HandlerError, HostError, HostHandle, JsonSchema, Migration, NoConfig,
    Path, Plugin, PluginContext, Query as _, RequestContext, Route, Signed, Tx, Wei,
    handles::FfiBytes,
    host::Identity,
    payment::{
        self, Check, CheckInput, CheckedPayment, End, EndInput, Offer, OfferInput, Payment, Price, Reserve,
        ReserveInput,
    },
    point::Service,
    response::{IntoResponse, StreamBody, Text},
    sql,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

pub struct Till;
pub struct Shop;
/// Provides a payment service of other types.
pub struct Fake;

macro_rules! identity {
    ($($plugin:ident $name:literal)*) => {$(
        impl Identity for $plugin {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "1.0.0";
            const SUMMARY: &'static str = "A plugin of this test";
        }
    )*};
}
identity! { Till "till" Shop "shop" Fake "fake" }

pub const PAYEE: Address = Address([7; 20]);

/// As the client sends it, as plain JSON.
#[derive(Serialize, Deserialize)]
pub struct Coin {
    pub payer: Address,
    pub nonce: String,
    pub amount: u64,
}

impl Plugin for Till {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(
                1,
                "create",
                "CREATE TABLE till_payments (payer TEXT NOT NULL, nonce TEXT NOT NULL, state TEXT NOT NULL,
                    until_s BIGINT, PRIMARY KEY (payer, nonce))",
            )])
            .provides(payment::OFFER, async |_, OfferInput { price, resource, refused }| {
                let terms =
                    json!({ "amount": price.amount, "payTo": price.payee, "resource": resource, "error": refused });
                Ok(Offer::Terms(terms.to_string()))
            })
            .provides(payment::CHECK, async |_, CheckInput { price, payment, .. }| {
                let Ok(coin) = serde_json::from_str::<Coin>(&payment) else {
                    return Ok(Check::Malformed("not a coin".to_owned()));
                };
                if Wei::from(coin.amount) < price.amount {
                    return Ok(Check::Refused("the coin is too small".to_owned()));
                }
                let document = coin.amount.to_string();
                let payment = Payment { payer: coin.payer, nonce: coin.nonce };
                Ok(Check::Accepted(CheckedPayment { payment, document }))
            })
            .provides_in_write(payment::RESERVE, reserve)
            .provides(payment::END, end)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn reserve(_: PluginContext<Till>, tx: Tx, input: ReserveInput) -> Result<Reserve, HostError> {
    let ReserveInput { price, checked: CheckedPayment { payment, document }, until_s, .. } = input;
    if document.parse::<u64>().map_or(true, |amount| Wei::from(amount) < price.amount) {
        return Ok(Reserve::Refused("the coin is too small now".to_owned()));
    }
    let known = sql("SELECT state FROM till_payments WHERE payer = $1 AND nonce = $2");
    let known: Option<String> = tx.row(known.bind((payment.payer, &payment.nonce))).await?;
    if let Some(state) = known {
        return Ok(Reserve::Refused(format!("the coin is {state}")));
    }
    let state = if until_s.is_some() { "reserved" } else { "kept" };
    let insert = sql("INSERT INTO till_payments (payer, nonce, state, until_s) VALUES ($1, $2, $3, $4)");
    tx.execute(insert.bind((payment.payer, &payment.nonce, state, until_s))).await?;
    Ok(Reserve::Reserved(json!({ "nonce": payment.nonce }).to_string()))
}

async fn end(cx: PluginContext<Till>, EndInput { payment, released }: EndInput) -> Result<End, HostError> {
    cx.write(async move |tx| {
        let state = if released.is_some() { "released" } else { "kept" };
        let end = sql("UPDATE till_payments SET state = $1 WHERE payer = $2 AND nonce = $3 AND state = 'reserved'");
        let changed = tx.execute(end.bind((state, payment.payer, &payment.nonce))).await?;
        Ok(if changed == 1 { End::Done } else { End::Gone })
    })
    .await
}

impl Plugin for Fake {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let offer = Service::<String, String>::new(payment::OFFER.name());
        Definition::new().provides(offer, async |_, text| Ok(text))
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

#[derive(Debug, ApiError)]
#[api(409, "sold_out", hint = "buy something else")]
pub enum ShopError {
    #[api("{0} is sold out")]
    SoldOut(String),
    #[api(404, "not_found", "no such thing: {0}", hint = "buy something else")]
    Unknown(String),
}

#[derive(Deserialize, JsonSchema)]
struct NewNote {
    text: String,
}

impl Plugin for Shop {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(
                1,
                "create",
                "CREATE TABLE shop_notes (id {{id}}, text TEXT NOT NULL);
                 CREATE TABLE shop_sales (id {{id}}, payer TEXT NOT NULL)",
            )])
            .routes([
                Route::post("/api/shop/{thing}", buy_thing).public().timeout_ms(2_000).priced("a thing", price_thing),
                Route::post("/api/notes", keep_note).signed("note.keep").priced("a note after the first", price_note),
            ])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn price_thing(cx: RequestContext<Shop>, Path(thing): Path<String>) -> Result<Price, HandlerError<ShopError>> {
    let price = |amount: u64| Price { payee: Some(PAYEE), amount: Wei::from(amount), description: thing.clone() };
    match thing.as_str() {
        "free" => Ok(Price::free()),
        "unknown" => Err(ShopError::Unknown(thing).into()),
        "nobodys" => Ok(Price { payee: None, ..price(10) }),
        "unreadable" => panic!("the price tag is gone"),
        "written" => {
            cx.write(async |tx| Ok::<_, HandlerError<ShopError>>(sell(tx, Address::ZERO).await?)).await?;
            Ok(price(10))
        }
        _ => Ok(price(10)),
    }
}

async fn sell(tx: &Tx, payer: Address) -> Result<(), HostError> {
    tx.execute(sql("INSERT INTO shop_sales (payer) VALUES ($1)").bind(payer)).await.map(drop)
}

enum Bought {
    Whole(Text),
    InParts(StreamBody<BoxStream<'static, Result<FfiBytes, HostError>>>),
}

impl IntoResponse for Bought {
    fn into_response(self) -> plugin_api::abi::Response {
        match self {
            Self::Whole(text) => text.into_response(),
            Self::InParts(parts) => parts.into_response(),
        }
    }
}

async fn buy_thing(cx: RequestContext<Shop>, Path(thing): Path<String>) -> Result<Bought, HandlerError<ShopError>> {
    let payer = cx.payment().map(|payment| payment.payer);
    match thing.as_str() {
        "sold_out" => return Err(ShopError::SoldOut(thing).into()),
        "explosive" => panic!("it explodes"),
        "endless" => cx.sleep(Duration::from_secs(86_400)).await,
        "in_parts" => {
            let parts = stream::iter([Ok(FfiBytes::from("a part"))]).boxed();
            return Ok(Bought::InParts(StreamBody::new(&cx, "text/plain", parts)));
        }
        "apology" => cx.release_payment("it broke on the way\nsorry"),
        _ => {}
    }
    if let Some(payer) = payer {
        cx.write(async move |tx| Ok::<_, HandlerError<ShopError>>(sell(tx, payer).await?)).await?;
    }
    Ok(Bought::Whole(Text(
        format!("{thing} for {}", payer.map_or("nothing".to_owned(), |payer| payer.to_string())).into(),
    )))
}

async fn note_price(db: &impl plugin_api::Query) -> Result<Price, HostError> {
    let count: i64 = db.one(sql("SELECT count(*) FROM shop_notes")).await?;
    let price = Price { payee: Some(PAYEE), amount: Wei::from(10), description: "A note".to_owned() };
    Ok(if count == 0 { Price::free() } else { price })
}

async fn price_note(cx: RequestContext<Shop>) -> Result<Price, HandlerError<ShopError>> {
    Ok(note_price(&cx.db()).await?)
}

async fn keep_note(cx: RequestContext<Shop>, note: Signed<NewNote>) -> Result<Text, HandlerError<ShopError>> {
    let text = note.payload.text;
    let paid = cx
        .write(async move |tx| {
            let price = note_price(tx).await?;
            let paid = match price.is_free() {
                true => None,
                // A plugin that does not care whether it is paid.
                false if text == "careless" => tx.charge(&price).await.ok().map(|payment| payment.nonce),
                false => Some(tx.charge(&price).await?.nonce),
            };
            tx.execute(sql("INSERT INTO shop_notes (text) VALUES ($1)").bind(&text)).await?;
            if text == "refused" {
                return Err(HandlerError::from(ShopError::SoldOut(text.clone())));
            }
            Ok(paid)
        })
        .await?;
    Ok(Text(format!("paid {}", paid.unwrap_or_default()).into()))
}
