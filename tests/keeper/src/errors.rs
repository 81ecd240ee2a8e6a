//! Errors with headers and members.

use crate::{Cx, Keeper};
use plugin_api::{ApiError, ErrorSpec, HandlerError, Path, Route, response::NoContent, response::Problem};

const DISABLED: ErrorSpec = ErrorSpec::new(503, "closed", "come back in the morning");

#[derive(Debug, thiserror::Error, ApiError)]
#[api(400, "bad_request", hint = "name an error")]
enum KeeperError {
    #[error("no such error")]
    Unknown,
    #[error("too soon: wait {seconds} s")]
    #[api(429, "too_soon", hint = "wait", header("retry-after" = seconds), member("lastOrder" = last_order))]
    TooSoon { seconds: u32, last_order: i64 },
    #[error("sign in")]
    #[api(401, "sign_in", hint = "send a token", header("www-authenticate" = 0))]
    SignIn(&'static str),
    #[error("closed until {until}")]
    #[api(DISABLED, header("retry-after" = seconds), member("until" = until),)]
    Closed { seconds: u32, until: String },
    #[error("a value that no header can hold")]
    #[api(409, "broken", hint = "-", header("x-broken" = 0))]
    Broken(&'static str),
    #[error(transparent)]
    #[api(transparent)]
    Payment(#[from] PaymentError),
}

/// An error of its own, in another one.
#[derive(Debug, thiserror::Error, ApiError)]
#[error("this costs {price} wei")]
#[api(402, "payment_required", hint = "pay", header("payment-required" = header), member("price" = price))]
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
