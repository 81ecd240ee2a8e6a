//! Priced routes, and the service that takes payments.
//!
//! A route is priced by a function that says what a request costs. All else is the gateway's work: the 402 with the price, the payment
//! in its headers, its check by the payment service, and its release when the work failed.
//!
//! ```
//! use plugin_api::{HandlerError, Json, Path, Query, RequestContext, Route, sql, payment::{Payment, Price}};
//!
//! # struct Notes;
//! fn route() -> Route<Notes> {
//!     Route::post("/api/notes/{id}/translate", translate).public().priced("a translation, paid to the note's author", price)
//! }
//!
//! /// Called before the handler, with the same request. An error is the response.
//! async fn price(cx: RequestContext<Notes>, Path(id): Path<i64>) -> Result<Price, HandlerError> {
//!     let (payee, amount) = cx.db().one(sql("SELECT author, price FROM notes_notes WHERE id = $1").bind(id)).await?;
//!     Ok(Price { payee: Some(payee), amount, description: format!("Translation of note {id}") })
//! }
//!
//! /// Called when the payment is reserved. A response of 400 or more releases it.
//! async fn translate(cx: RequestContext<Notes>, Path(id): Path<i64>) -> Result<Json<String>, HandlerError> {
//!     if let Some(Payment { payer, .. }) = cx.payment() {
//!         cx.debug(&format!("{payer} pays for note {id}"));
//!     }
//!     Ok(Json("…".to_owned()))
//! }
//! ```
//!
//! A signed write charges in its own transaction, so that the payment and what it pays for are committed together:
//! [`crate::Tx::charge`].
//!
//! One plugin provides the payment service: four functions, which the gateway calls. [`RESERVE`] runs in the transaction of a
//! signed write, or in one that the gateway opens.
//!
//! ```
//! use plugin_api::{Definition, HostError, Plugin, PluginContext, Tx};
//! use plugin_api::payment::{self, Check, CheckInput, CheckedPayment, End, EndInput, Offer, OfferInput, Payment, Reserve, ReserveInput};
//!
//! fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     definition
//!         .provides(payment::OFFER, async |_, OfferInput { price, resource, refused }| {
//!             Ok(Offer::Terms(format!(r#"{{"pay":"{}","for":"{resource}","error":"{}"}}"#, price.amount, refused.unwrap_or_default())))
//!         })
//!         .provides(payment::CHECK, async |_, CheckInput { payment, .. }| match payment.parse() {
//!             Ok(payer) => {
//!                 let payment = Payment { payer, nonce: "1".to_owned() };
//!                 Ok(Check::Accepted(CheckedPayment { payment, document: String::new() }))
//!             }
//!             Err(_) => Ok(Check::Malformed("not an address".to_owned())),
//!         })
//!         .provides_in_write(payment::RESERVE, reserve)
//!         .provides(payment::END, async |_, EndInput { released, .. }| Ok(if released.is_some() { End::Done } else { End::Gone }))
//! }
//!
//! async fn reserve<P>(_: PluginContext<P>, tx: Tx, input: ReserveInput) -> Result<Reserve, HostError> {
//!     let insert = plugin_api::sql("INSERT INTO pay_payments (payer, until_s) VALUES ($1, $2)");
//!     tx.execute(insert.bind(input.checked.payment.payer).bind(input.until_s)).await?;
//!     Ok(Reserve::Reserved("{}".to_owned()))
//! }
//! ```
//!
//! It may also say who was paid lately, which any plugin may ask that declares `.uses(payment::PAID_SINCE)`.
//!
//! ```
//! use plugin_api::{Address, HostError, PluginContext, payment::{PAID_SINCE, PaidSinceInput}};
//!
//! async fn sold_today<P>(cx: PluginContext<P>, seller: Address) -> Result<bool, HostError> {
//!     let input = PaidSinceInput { since_s: cx.now_s() - 86_400, payees: [seller].into() };
//!     Ok(!cx.call(PAID_SINCE, &input).await?.is_empty())
//! }
//! ```

pub use crate::sdk::payment::{
    CHECK, Check, CheckInput, CheckedPayment, END, End, EndInput, OFFER, Offer, OfferInput, PAID_SINCE, PaidSinceInput,
    Payment, Price, RESERVE, Reserve, ReserveInput,
};
