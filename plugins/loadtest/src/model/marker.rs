//! The bytes that every transaction of the load test has as its data.

use plugin_api::JsonSchema;
use serde::Serialize;

/// `FXLT` and the version, in hexadecimal.
pub const MARKER: &str = "0x46584c5401";

#[derive(Serialize, JsonSchema)]
pub struct Marker {
    /// All of it.
    data: &'static str,
    prefix: &'static str,
    ascii: &'static str,
    version: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
}

impl Marker {
    pub const fn new() -> Self {
        Self { data: MARKER, prefix: "0x46584c54", ascii: "FXLT", version: 1, rule: None }
    }

    /// With the rule by which a reader recognises a transaction.
    pub const fn with_rule() -> Self {
        let rule = "A transaction of the load test has exactly these bytes as its data and is sent by the float or by a wallet of \
             the branch. The marker alone proves nothing: anybody can copy it.";
        Self { rule: Some(rule), ..Self::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_those_of_the_whole() {
        let Marker { data, prefix, ascii, version, .. } = Marker::with_rule();
        assert_eq!(data, format!("{prefix}{version:02x}"));
        assert_eq!(prefix, format!("0x{}", alloy_primitives::hex::encode(ascii)));
    }
}
