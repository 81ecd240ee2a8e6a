//! Errors with headers and members.

use crate::{Cx, Keeper};
use plugin_api::{ApiError, ErrorSpec, HandlerError, Path, Route, response::NoContent, response::Problem};

const DISABLED: ErrorSpec = ErrorSpec::new(503, "closed", "come back in the morning");

#[derive(Debug, ApiError)]
#[api(400, "bad_request", hint = "name an error")]
enum KeeperError {
    #[api("no such error")]
    Unknown,
    #[api(
        429,
        "too_soon",
        "too soon: wait {seconds} s",
        hint = "wait",
        header("retry-after" = seconds),
        member("lastOrder" = last_order)
    )]
    TooSoon { seconds: u32, last_order: i64 },
    #[api(401, "sign_in", "sign in", hint = "send a token", header("www-authenticate" = 0))]
    SignIn(&'static str),
    #[api(DISABLED, "closed until {until}", header("retry-after" = seconds), member("until" = until),)]
    Closed { seconds: u32, until: String },
    #[api(409, "broken", "a value that no header can hold", hint = "-", header("x-broken" = 0))]
    Broken(&'static str),
    #[api(transparent)]
    Payment(#[from] PaymentError),
}

/// An error of its own, in another one.
#[derive(Debug, ApiError)]
#[api(
    402,
    "payment_required",
    "this costs {price} wei",
    hint = "pay",
    header("payment-required" = header),
    member("price" = price)
)]
struct PaymentError {
    header: &'static str,
    price: String,
}

pub fn routes() -> [Route<Keeper>; 1] {
    [Route::get("/api/keeper/errors/{name}", get_error).public()]
}

async fn get_error(_: Cx, Path(name): Path<String>) -> Result<NoContent, HandlerError<KeeperError>> {
    Err(match name.as_str() {
        "soon" => KeeperError::TooSoon { seconds: 17, last_order: 7 }.into(),
        "sign-in" => KeeperError::SignIn("Bearer realm=\"keeper\"").into(),
        "closed" => KeeperError::Closed { seconds: 3600, until: "08:00".to_owned() }.into(),
        "payment" => KeeperError::from(PaymentError { header: "eyJ4IjoxfQ==", price: "21".to_owned() }).into(),
        "broken" => KeeperError::Broken("a\nb").into(),
        "problem" => {
            Problem::new(402, "pay_first", "pay first").header("payment-required", "e30=").member("price", "1").into()
        }
        _ => KeeperError::Unknown.into(),
    })
}
