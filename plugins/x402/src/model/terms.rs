//! How a price is paid: the body of a 402, in the versions 1 and 2 of x402.

use super::Names;
use plugin_api::{Address, payment::Price};
use serde_json::{Value, json};

/// Suggested life of a voucher, and the bounds within which one is taken.
pub const LIFE_S: i64 = 300;
pub const LIFE_MIN_S: i64 = 90;
pub const LIFE_MAX_S: i64 = 3900;

/// Longer resources are cut off where they are stored.
pub const RESOURCE_CHARS_MAX: usize = 512;

/// What the terms are for.
pub struct Offered<'a> {
    pub price: &'a Price,
    pub pay_to: Address,
    pub resource: &'a str,
    /// Why the payment that was sent is refused.
    pub error: Option<&'a str>,
    pub vault: Address,
    /// A nonce that no voucher has had.
    pub nonce_hint: u64,
}

/// The version that the query of a URL asks for: `?x402Version=2`.
pub fn version_of(resource: &str, otherwise: u8) -> u8 {
    let query = resource.split_once('?').map_or("", |(_, query)| query);
    let asked =
        query.split('#').next().unwrap_or_default().split('&').find_map(|member| member.strip_prefix("x402Version="));
    match asked {
        Some("1") => 1,
        Some("2") => 2,
        _ => otherwise,
    }
}

pub fn terms(names: &Names, offered: &Offered<'_>, version: u8) -> Value {
    let extra = json!({ "vault": offered.vault, "nonceHint": offered.nonce_hint, "settlement": "facilitator" });
    let mut terms = if version == 2 { version_2(names, offered, &extra) } else { version_1(names, offered, &extra) };
    if let Some(error) = offered.error {
        terms["error"] = json!(error);
    }
    terms
}

fn version_1(names: &Names, Offered { price, pay_to, resource, .. }: &Offered<'_>, extra: &Value) -> Value {
    json!({
        "x402Version": 1,
        "accepts": [{
            "scheme": names.scheme,
            "network": names.network,
            "asset": names.asset,
            "payTo": pay_to,
            "maxAmountRequired": price.amount,
            "resource": resource,
            "description": price.description,
            "mimeType": "application/json",
            "maxTimeoutSeconds": LIFE_S,
            "extra": extra,
        }],
    })
}

fn version_2(names: &Names, Offered { price, pay_to, resource, .. }: &Offered<'_>, extra: &Value) -> Value {
    json!({
        "x402Version": 2,
        "resource": { "url": resource, "description": price.description, "mimeType": "application/json" },
        "accepts": [{
            "scheme": names.scheme,
            "network": names.network,
            "asset": names.asset,
            "payTo": pay_to,
            "amount": price.amount,
            "maxTimeoutSeconds": LIFE_S,
            "extra": extra,
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_says_the_version() {
        for (resource, version) in [
            ("https://a/b", 1),
            ("https://a/b?x402Version=2", 2),
            ("https://a/b?c=d&x402Version=2&e", 2),
            ("https://a/b?x402Version=2#f", 2),
            ("https://a/b?x402Version=3", 1),
            ("https://a/x402Version=2", 1),
        ] {
            assert_eq!(version_of(resource, 1), version, "{resource}");
        }
        assert_eq!((version_of("https://a/b", 2), version_of("https://a/b?x402Version=1", 2)), (2, 1));
    }
}
