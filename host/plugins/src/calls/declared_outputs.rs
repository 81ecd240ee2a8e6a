//! Whether what a plugin hands to another plugin has the type that both declare.
//!
//! The rule: who hands over something else is at fault, not who cannot read it. The gateway's own points are decoded instead
//! (`contributions/collect.rs`).

use jsonschema::Validator;
use plugin_api::manifest::Manifest;
use serde_json::Value;

/// The types of contributions to plugins' points and of services, in the order of the manifest.
pub(crate) struct DeclaredOutputs {
    contributions: Vec<OutputType>,
    services: Vec<OutputType>,
}

impl DeclaredOutputs {
    pub(crate) fn new(manifest: &Manifest) -> Self {
        let contributions = manifest.contributions.iter().map(|spec| spec.types.as_ref().map(|types| &types.output));
        let services = manifest.provides.iter().map(|spec| Some(&spec.types.output));
        Self {
            contributions: contributions.map(OutputType::new).collect(),
            services: services.map(OutputType::new).collect(),
        }
    }

    /// Why this JSON is not what the contribution at the index is declared to be.
    pub(crate) fn check_contribution(&self, index: u32, json: &[u8]) -> Result<(), String> {
        self.contributions.get(index as usize).map_or(Ok(()), |output| output.check(json))
    }

    /// The same for the answer of the service at the index.
    pub(crate) fn check_service(&self, index: u32, json: &[u8]) -> Result<(), String> {
        self.services.get(index as usize).map_or(Ok(()), |output| output.check(json))
    }
}

/// `None` where nothing is declared, or no schema: there is nothing to compare with.
struct OutputType(Option<Validator>);

impl OutputType {
    fn new(schema: Option<&Value>) -> Self {
        Self(schema.and_then(|schema| jsonschema::validator_for(schema).ok()))
    }

    /// The reason has no values: they are the plugin's, and may be large.
    fn check(&self, json: &[u8]) -> Result<(), String> {
        let Some(validator) = &self.0 else { return Ok(()) };
        let value: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        validator.validate(&value).map_err(|error| match error.instance_path().to_string() {
            path if path.is_empty() => error.masked().to_string(),
            path => format!("{path}: {}", error.masked()),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_of_the_declared_type_is_refused_without_its_values() {
        let schema = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
        let output = OutputType::new(Some(&schema));
        assert_eq!(output.check(br#"{"count":3}"#), Ok(()));
        assert_eq!(output.check(br#"{"count":"secret"}"#).unwrap_err(), r#"/count: value is not of type "integer""#);
        assert_eq!(output.check(b"[]").unwrap_err(), r#"value is not of type "object""#);
        assert!(output.check(b"{").is_err());
        for undeclared in [None, Some(&Value::Null)] {
            assert_eq!(OutputType::new(undeclared).check(b"{"), Ok(()));
        }
    }
}
