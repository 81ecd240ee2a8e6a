//! The members of a claim: their forms, as the schema says, and how an argument of an event becomes one.

use super::vocabulary::{Field, Form, Kind};
use plugin_api::{Address, Hash256, Wei};
use serde_json::{Map, Value, json};

/// The largest integer that every reader of JSON has exactly.
const SAFE_INTEGER_MAX: i64 = (1 << 53) - 1;

impl Form {
    /// Whether a value has this form.
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Int => {
                value.as_i64().is_some_and(|number| (-SAFE_INTEGER_MAX..=SAFE_INTEGER_MAX).contains(&number))
                    || value.as_str().is_some_and(|text| text.parse::<Wei>().is_ok())
            }
            Self::Number => value.is_number(),
            Self::Wei => value.as_str().is_some_and(is_wei),
            Self::Text => value.is_string(),
            Self::Address => parses::<Address>(value),
            Self::Hash => parses::<Hash256>(value),
            Self::Bool => value.is_boolean(),
            Self::Texts => value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string)),
        }
    }

    /// An argument of an event as a member of this form.
    pub fn of_argument(self, argument: &Value) -> Option<Value> {
        let text = match argument {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) if self == Self::Bool => return Some((*flag).into()),
            _ => return None,
        };
        let member = match self {
            Self::Int | Self::Number => match text.parse::<i64>() {
                Ok(number) if number.abs() <= SAFE_INTEGER_MAX => number.into(),
                _ => text.into(),
            },
            Self::Address => json!(text.parse::<Address>().ok()?),
            Self::Wei | Self::Text | Self::Hash => text.into(),
            Self::Bool | Self::Texts => return None,
        };
        self.fits(&member).then_some(member)
    }

    /// Its JSON Schema.
    pub fn schema(self) -> Value {
        match self {
            Self::Int => json!({ "anyOf": [
                { "type": "integer" },
                { "type": "string", "pattern": "^[0-9]{1,78}$", "description": "beyond 2^53 - 1" },
            ] }),
            Self::Number => json!({ "type": "number" }),
            Self::Wei => json!({ "type": "string", "pattern": "^(0|[1-9][0-9]{0,77})$" }),
            Self::Text => json!({ "type": "string" }),
            Self::Address => json!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{40}$" }),
            Self::Hash => json!({ "type": "string", "pattern": "^0x[0-9a-f]{64}$" }),
            Self::Bool => json!({ "type": "boolean" }),
            Self::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        }
    }
}

/// Whether it is how an amount is written.
fn is_wei(text: &str) -> bool {
    /// Less than 2^256 in any case.
    const DIGITS: usize = 77;
    let is_plain = text == "0" || !text.is_empty() && !text.starts_with('0');
    let is_small = || text.len() <= DIGITS && text.bytes().all(|digit| digit.is_ascii_digit());
    is_plain && (is_small() || text.parse::<Wei>().is_ok())
}

fn parses<T: std::str::FromStr>(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.parse::<T>().is_ok())
}

impl Field {
    fn accepts(&self, value: &Value) -> bool {
        value.is_null() && self.nullable || self.form.fits(value)
    }
}

/// The members of a claim in the order of its kind, with the constant ones; `None` when one is missing, unknown or of another form.
pub fn complete(kind: &Kind, mut stated: Map<String, Value>) -> Option<Map<String, Value>> {
    let mut fields = Map::with_capacity(kind.fields.len() + kind.notes.len() + 1);
    for field in kind.fields {
        let stated = stated.remove_entry(field.name);
        let (name, value) = stated.unwrap_or_else(|| (field.name.to_owned(), Value::Null));
        if !field.accepts(&value) {
            return None;
        }
        fields.insert(name, value);
    }
    fields.extend(kind.notes.iter().map(|(name, text)| ((*name).to_owned(), Value::from(*text))));
    stated.is_empty().then_some(fields)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::point::members;

    #[test]
    fn arguments_become_members() {
        assert_eq!(Form::Int.of_argument(&json!("7")), Some(json!(7)));
        assert_eq!(Form::Int.of_argument(&json!("9007199254740992")), Some(json!("9007199254740992")));
        assert_eq!(Form::Wei.of_argument(&json!(7)), Some(json!("7")));
        let address = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
        let checksummed = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        assert_eq!(Form::Address.of_argument(&json!(address)), Some(json!(checksummed)));
        assert_eq!(Form::Address.of_argument(&json!("0x5a")), None);
        assert_eq!(Form::Bool.of_argument(&json!(true)), Some(json!(true)));
        assert_eq!(Form::Int.of_argument(&json!(true)), None);
    }

    #[test]
    fn an_amount_has_no_leading_zeros_and_is_below_2_to_the_256() {
        let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        for text in ["0", "7", "10", largest, &largest[..77]] {
            assert!(Form::Wei.fits(&json!(text)), "{text}");
        }
        let too_large = largest.replace("9935", "9936");
        for text in ["", "00", "07", "-1", "1.0", "0x1", "1 ", &too_large, &format!("{largest}0"), &"9".repeat(78)] {
            assert!(!Form::Wei.fits(&json!(text)), "{text}");
        }
        assert!(!Form::Wei.fits(&json!(7)));
    }

    #[test]
    fn a_claim_has_the_members_of_its_kind_and_no_others() {
        let kind = Kind::find("Referral").unwrap();
        let stated = |fields: Value| fields.as_object().cloned().unwrap();
        let complete_one = complete(kind, stated(json!({ "referred": 2, "paidOut": 1 })));
        assert_eq!(complete_one, Some(members([("referred", json!(2)), ("paidOut", json!(1))])));
        for wrong in [
            json!({ "referred": 2 }),
            json!({ "referred": 2, "paidOut": null }),
            json!({ "referred": 2, "paidOut": "many" }),
            json!({ "referred": 2, "paidOut": 1, "evidence": {} }),
        ] {
            assert_eq!(complete(kind, stated(wrong.clone())), None, "{wrong}");
        }
    }
}
