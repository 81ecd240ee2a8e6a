//! `GET /api/validators/waitlist/challenge`: the text that a wallet signs to sign up.

use crate::{Validators, error::WaitlistError, model};
use plugin_api::{Address, HandlerError, Json, JsonSchema, QueryString, RequestContext, Route};
use serde::Serialize;

pub fn route() -> Route<Validators> {
    Route::get("/api/validators/waitlist/challenge", get_waitlist_challenge)
        .public()
        .per_minute(60)
        .cache_control("no-store")
        .summary("Get the text to sign for a validator seat")
}

#[derive(Serialize, JsonSchema)]
struct ChallengeView {
    /// What is to be signed, by EIP-191.
    message: String,
    /// To be sent with the signature.
    nonce: String,
    /// Unix seconds; to be sent with the signature.
    expires: i64,
    address: Address,
    /// What to do with it.
    sign: &'static str,
}

const SIGN: &str = "sign `message` with `address` by personal_sign (EIP-191), then POST the same fields with `nonce`, `expires` \
     and `sig` to /api/validators/waitlist";

async fn get_waitlist_challenge(
    cx: RequestContext<Validators>,
    QueryString(query): QueryString<model::RawFields>,
) -> Result<Json<ChallengeView>, HandlerError<WaitlistError>> {
    let fields = query.check()?;
    let nonce = hex::encode(rand::random::<[u8; 16]>());
    let expires = cx.now_s() + model::CHALLENGE_S;
    let message = model::message(&fields, cx.environment(), &nonce, expires);
    Ok(Json(ChallengeView { message, nonce, expires, address: fields.address, sign: SIGN }))
}
