//! A JSON number that is written digit by digit. The rule: no float is made of it here.

use plugin_api::JsonSchema;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Digits, perhaps with a point and more digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonNumber(pub String);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.clone()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl JsonSchema for JsonNumber {
    fn schema_name() -> Cow<'static, str> {
        "JsonNumber".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn no_digit_is_lost() {
        let number = JsonNumber("32514979.87499999".to_owned());
        assert_eq!(serde_json::to_string(&vec![Some(number), None]).unwrap(), "[32514979.87499999,null]");
    }
}
