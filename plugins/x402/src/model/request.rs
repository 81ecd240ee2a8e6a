//! What a server asks of the facilitator: a payment, and what it has to meet.

use super::{Payment, Requirement, number, payment::object};
use crate::error::Malformed;
use plugin_api::JsonSchema;
use schemars::{Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The body of `/verify` and `/settle`, as it came.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct FacilitatorBody(Value);

/// The documentation of a [`FacilitatorBody`].
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", rename = "FacilitatorRequest")]
#[allow(dead_code, reason = "its schema is all that is used")]
struct Documented {
    /// The payment: `{scheme, network, payload: {voucher, signature}}`, version 2's `{x402Version, accepted, payload}`, or the header's
    /// text. Also called `payment`. Without it the body is the payment: `{voucher, signature}`.
    payment_payload: Option<Value>,
    /// What the payment has to meet: `payTo`, `maxAmountRequired` (or `amount`), `resource`. Also called `requirement`.
    payment_requirements: Option<Map<String, Value>>,
    /// The URL that is paid for, where the requirements do not say it.
    resource: Option<String>,
}

impl JsonSchema for FacilitatorBody {
    fn schema_name() -> Cow<'static, str> {
        Documented::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Documented::json_schema(generator)
    }
}

impl FacilitatorBody {
    pub fn parse(&self) -> Result<(Payment, Requirement), Malformed> {
        let members = object("body", Some(&self.0))?;
        let payment = first(members, ["paymentPayload", "payment"]).unwrap_or(&self.0);
        let (payment, told) = match payment {
            Value::String(header) => (Payment::parse_header(header)?, None),
            payment => (Payment::parse(payment)?, payment.get("resource")),
        };
        let requirement = match first(members, ["paymentRequirements", "requirement"]) {
            Some(requirement) => Some(object("paymentRequirements", Some(requirement))?),
            None => None,
        };
        let resource = [requirement.and_then(|requirement| requirement.get("resource")), members.get("resource"), told];
        let resource = resource.into_iter().flatten().find_map(url).unwrap_or_default().to_owned();
        let Some(requirement) = requirement else {
            return Ok((payment, Requirement { resource, ..Requirement::default() }));
        };
        let pay_to = first(requirement, ["payTo"]).map(address).transpose()?;
        let amount = first(requirement, ["maxAmountRequired", "amount"]);
        let amount = amount.map(|amount| number::uint256("maxAmountRequired", Some(amount))).transpose()?;
        Ok((payment, Requirement { pay_to, amount, resource }))
    }
}

/// The first of these members that is not null.
fn first<'v, const N: usize>(members: &'v Map<String, Value>, names: [&str; N]) -> Option<&'v Value> {
    names.into_iter().find_map(|name| members.get(name).filter(|value| !value.is_null()))
}

fn address(value: &Value) -> Result<plugin_api::Address, Malformed> {
    let text = value.as_str().unwrap_or_default();
    text.parse().map_err(|problem: &str| Malformed::new("payTo", problem))
}

/// Version 1 says a text, version 2 an object with `url`.
fn url(resource: &Value) -> Option<&str> {
    resource.as_str().or_else(|| resource.get("url")?.as_str())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn payment() -> Value {
        json!({
            "voucher": {
                "payer": "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf", "payee": "0x2222222222222222222222222222222222222222",
                "amount": "5", "nonce": "1", "expiry": "1900000000",
            },
            "signature": format!("0x{}", "ab".repeat(65)),
        })
    }

    fn parse(body: Value) -> Result<(Payment, Requirement), Malformed> {
        FacilitatorBody(body).parse()
    }

    #[test]
    fn payment_and_requirements_have_two_names_each() {
        let requirement =
            json!({ "payTo": "0x2222222222222222222222222222222222222222", "maxAmountRequired": "5", "resource": "u" });
        let mut whole = payment();
        whole["paymentRequirements"] = requirement.clone();
        let expected = parse(whole).unwrap();
        assert_eq!((expected.1.amount.unwrap().to_string().as_str(), expected.1.resource.as_str()), ("5", "u"));
        for (first, second) in [("paymentPayload", "paymentRequirements"), ("payment", "requirement")] {
            assert_eq!(parse(json!({ first: payment(), second: requirement })).unwrap(), expected);
            assert_eq!(parse(json!({ first: payment().to_string(), second: requirement })).unwrap(), expected);
        }
    }

    #[test]
    fn version_2_says_amount_and_the_resource_in_the_payment() {
        let payload = json!({
            "x402Version": 2, "resource": { "url": "u" }, "payload": payment(),
            "accepted": { "scheme": "s", "network": "n:1", "amount": "5" },
        });
        let (payment, requirement) =
            parse(json!({ "paymentPayload": payload, "paymentRequirements": { "amount": "5" } })).unwrap();
        assert_eq!(payment.scheme.as_deref(), Some("s"));
        assert_eq!((requirement.amount.unwrap().to_string().as_str(), requirement.resource.as_str()), ("5", "u"));
    }

    #[test]
    fn nothing_is_required_that_is_not_said() {
        assert_eq!(parse(payment()).unwrap().1, Requirement::default());
        for body in [json!([]), json!({}), json!({ "payment": 7 }), json!({ "payment": payment(), "requirement": 7 })] {
            assert!(parse(body.clone()).is_err(), "{body}");
        }
        for (member, value) in [("payTo", json!("0x1")), ("maxAmountRequired", json!("x"))] {
            let problem = parse(json!({ "payment": payment(), "requirement": { member: value } })).unwrap_err();
            assert_eq!(problem.member, member);
        }
    }
}
