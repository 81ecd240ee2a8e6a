//! What an agent answers, as content of a task.

use super::Dialect;
use plugin_api::handles::FfiBytes;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    Text(String),
    Data(Value),
}

impl Output {
    /// A JSON object is data, because the data parts of older dialects hold objects only; anything else is text.
    pub fn of(text: &str) -> Self {
        match serde_json::from_str(text) {
            Ok(data @ Value::Object(_)) => Self::Data(data),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// Bytes that are no UTF-8 become replacement characters.
    pub fn of_bytes(bytes: &FfiBytes) -> Self {
        Self::of(&String::from_utf8_lossy(bytes))
    }

    pub fn into_part(self, dialect: Dialect) -> Value {
        match (self, dialect) {
            (Self::Text(text), Dialect::V01) => json!({ "type": "text", "text": text }),
            (Self::Text(text), Dialect::V03) => json!({ "kind": "text", "text": text }),
            (Self::Text(text), Dialect::V1) => json!({ "text": text }),
            (Self::Data(data), Dialect::V01) => json!({ "type": "data", "data": data }),
            (Self::Data(data), Dialect::V03) => json!({ "kind": "data", "data": data }),
            (Self::Data(data), Dialect::V1) => json!({ "data": data }),
        }
    }
}
