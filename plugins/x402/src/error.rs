//! Errors of the routes: texts, statuses and codes.

use plugin_api::ApiError;

/// A text that is no payment, or no request about one.
#[derive(Clone, Debug, PartialEq, Eq, ApiError)]
#[api(
    400,
    "bad_request",
    "{member}: {problem}",
    hint = "GET /api/x402/supported says how a voucher is made and signed"
)]
pub struct Malformed {
    pub member: &'static str,
    pub problem: String,
}

impl Malformed {
    pub fn new(member: &'static str, problem: impl Into<String>) -> Self {
        Self { member, problem: problem.into() }
    }
}

#[derive(Debug, ApiError)]
pub enum PayerError {
    #[api(400, "bad_address", "{0}", hint = "the path ends with the payer's address: /api/x402/payer/0x…")]
    Address(&'static str),
}
