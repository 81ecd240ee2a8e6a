//! The parts of a message, as clients of all dialects send them.

use super::{Dialect, RpcError};
use serde_json::{Map, Value};

/// A checked part: an object with a text, data or a file.
#[derive(Clone, Debug)]
pub struct Part(Map<String, Value>);

/// Members of which a part without a kind has one.
const CONTENTS: [&str; 5] = ["text", "data", "file", "raw", "url"];

impl Part {
    /// Says what is wrong by the position of the part.
    pub fn parse(part: &Value, position: usize) -> Result<Self, RpcError> {
        let wrong = |what: &str| RpcError::invalid_params(format!("params.message.parts[{position}]: {what}"));
        let part = part.as_object().ok_or_else(|| wrong("an object is needed"))?;
        let has = |name: &str| part.get(name).is_some_and(|value| !value.is_null());
        let kind = match part.get("kind").or_else(|| part.get("type")) {
            None | Some(Value::Null) => None,
            Some(Value::String(kind)) => Some(kind.as_str()),
            Some(_) => return Err(wrong("its kind is a text")),
        };
        match kind {
            Some(kind @ ("text" | "data" | "file")) if !has(kind) => return Err(wrong(&format!("it has no {kind}"))),
            Some("text" | "data" | "file") => {}
            Some(_) => return Err(wrong("its kind is text, data or file")),
            None if !CONTENTS.into_iter().any(has) => return Err(wrong("it has no text, data, url or raw")),
            None => {}
        }
        for text in ["text", "raw", "url"] {
            if has(text) && !part.get(text).is_some_and(Value::is_string) {
                return Err(wrong(&format!("{text} is a text")));
            }
        }
        if has("file") && !part.get("file").is_some_and(Value::is_object) {
            return Err(wrong("file is an object"));
        }
        Ok(Self(part.clone()))
    }

    pub fn text(&self) -> Option<&str> {
        self.0.get("text").and_then(Value::as_str)
    }

    pub fn data(&self) -> Option<&Value> {
        self.0.get("data").filter(|data| !data.is_null())
    }

    /// As the client sent it, with the kind that 0.3 wants.
    pub fn render(&self, dialect: Dialect) -> Value {
        let mut part = self.0.clone();
        if dialect == Dialect::V03 && !part.contains_key("kind") {
            let kind = part.remove("type").and_then(|kind| kind.as_str().map(str::to_owned));
            let guess = || {
                if self.text().is_some() {
                    "text"
                } else if self.data().is_some() {
                    "data"
                } else {
                    "file"
                }
            };
            part.insert("kind".to_owned(), kind.unwrap_or_else(|| guess().to_owned()).into());
        }
        part.into()
    }

    pub fn as_sent(&self) -> Value {
        self.0.clone().into()
    }
}
