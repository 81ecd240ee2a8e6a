//! Request payloads, and their checked forms. Whether a URL is public is checked separately, by the gateway.

use super::{ComputeSpec, ToolKind};
use crate::error::ToolsError;
use plugin_api::{JsonSchema, Wei, format};
use serde::Deserialize;
use serde_json::{Map, Number, Value};

const NAME_CHARS_MAX: usize = 64;
pub const DESCRIPTION_CHARS_MAX: usize = 2000;
/// Size as JSON without white space.
pub const SCHEMA_BYTES_MAX: usize = 32_768;
const GPU_CHARS_MAX: usize = 64;
const REGION_CHARS_MAX: usize = 64;
const VRAM_GB_MAX: f64 = 100_000.0;

/// Payload of `tool.publish`. The members of `compute` may stand at the top as well.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewTool {
    /// `^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$`. A second tool of this name and owner takes the place of the first.
    name: String,
    kind: ToolKind,
    /// Public http or https address; that of compute is its endpoint unless said.
    #[serde(default)]
    url: Option<String>,
    /// At most 2000 characters.
    #[serde(default)]
    description: Option<String>,
    /// A JSON object, at most 32,768 bytes.
    #[serde(default)]
    schema: Option<Map<String, Value>>,
    #[serde(default)]
    compute: Option<NewCompute>,
    #[serde(flatten)]
    #[schemars(flatten)]
    at_top: NewCompute,
}

/// What is for rent; for the kind `compute`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
struct NewCompute {
    /// 1 to 64 characters.
    gpu: Option<String>,
    /// 0 to 100000.
    vram_gb: Option<Number>,
    /// Wei.
    price_per_second: Option<Wei>,
    /// At most 64 characters.
    region: Option<String>,
    /// Public http or https address; that of the tool unless said.
    endpoint: Option<String>,
}

/// A checked tool; whether its URLs are public is checked separately.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDraft {
    pub name: String,
    pub kind: ToolKind,
    pub url: String,
    pub description: String,
    pub schema: Option<Map<String, Value>>,
    pub compute: Option<ComputeDraft>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ComputeDraft {
    pub spec: ComputeSpec,
    pub vram_gb: f64,
}

impl ToolDraft {
    /// Every URL of the tool, with the name of its member.
    pub fn urls(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let endpoint = self.compute.as_ref().map(|compute| compute.spec.endpoint.as_str());
        std::iter::once(("url", self.url.as_str())).chain(endpoint.map(|url| ("endpoint", url)))
    }
}

impl NewTool {
    pub fn check(self) -> Result<ToolDraft, ToolsError> {
        if !is_name(&self.name) {
            return Err(ToolsError::Name);
        }
        let description = self.description.unwrap_or_default();
        if format::utf16_len(&description) > DESCRIPTION_CHARS_MAX {
            return Err(ToolsError::Description);
        }
        let bytes = self.schema.as_ref().map_or(Ok(0), |schema| serde_json::to_string(schema).map(|text| text.len()));
        match bytes {
            Ok(bytes) if bytes > SCHEMA_BYTES_MAX => return Err(ToolsError::SchemaTooLarge { bytes }),
            Ok(_) => {}
            Err(_) => return Err(ToolsError::Schema),
        }
        let url = present(self.url);
        let compute = match self.kind {
            ToolKind::Compute => Some(self.compute.unwrap_or_default().or(self.at_top).check(url.as_deref())?),
            _ => None,
        };
        let endpoint = compute.as_ref().map(|compute| compute.spec.endpoint.clone());
        let url = url.or(endpoint).ok_or(ToolsError::NoUrl)?;
        Ok(ToolDraft { name: self.name, kind: self.kind, url, description, schema: self.schema, compute })
    }
}

impl NewCompute {
    /// Fills missing members from `other`.
    fn or(self, other: Self) -> Self {
        Self {
            gpu: self.gpu.or(other.gpu),
            vram_gb: self.vram_gb.or(other.vram_gb),
            price_per_second: self.price_per_second.or(other.price_per_second),
            region: self.region.or(other.region),
            endpoint: self.endpoint.or(other.endpoint),
        }
    }

    fn check(self, url: Option<&str>) -> Result<ComputeDraft, ToolsError> {
        let gpu = present(self.gpu).filter(|gpu| format::utf16_len(gpu) <= GPU_CHARS_MAX).ok_or(ToolsError::Gpu)?;
        let size = self.vram_gb.as_ref().and_then(Number::as_f64).filter(|size| (0.0..=VRAM_GB_MAX).contains(size));
        let (Some(vram_gb), Some(number)) = (size, self.vram_gb) else { return Err(ToolsError::Vram) };
        let price_per_second = self.price_per_second.ok_or(ToolsError::Price)?;
        let region = present(self.region).unwrap_or_default();
        if format::utf16_len(&region) > REGION_CHARS_MAX {
            return Err(ToolsError::Region);
        }
        let endpoint = present(self.endpoint).or(url.map(str::to_owned)).ok_or(ToolsError::NoUrl)?;
        let spec = ComputeSpec { gpu, vram_gb: number, price_per_second, region, endpoint };
        Ok(ComputeDraft { spec, vram_gb })
    }
}

/// Trims the text; `None` when it is blank.
fn present(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn is_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && name.len() <= NAME_CHARS_MAX
        && name.bytes().all(is_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(payload: Value) -> Result<ToolDraft, ToolsError> {
        serde_json::from_value::<NewTool>(payload).unwrap().check()
    }

    fn with(name: &str, value: Value) -> Value {
        let mut payload = json!({
            "name": "gpu", "kind": "compute", "url": "https://a.example", "gpu": "H100", "vramGb": 80,
            "pricePerSecond": "12", "region": "eu"
        });
        payload[name] = value;
        payload
    }

    #[test]
    fn names_are_those_of_the_network() {
        for name in ["a", "0", "A.b_c-d", &"x".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".a", "-a", "_a", "a b", "ä", "a/b", "a\n", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn compute_may_stand_in_an_object_or_at_the_top() {
        let spec = json!({ "gpu": "H100", "vramGb": 80, "pricePerSecond": "12", "region": "eu" });
        let nested = json!({ "name": "gpu", "kind": "compute", "url": "https://a.example", "compute": spec });
        let draft = check(with("name", json!("gpu"))).unwrap();
        assert_eq!(check(nested).unwrap(), draft);
        let spec = draft.compute.unwrap().spec;
        assert_eq!((spec.endpoint.as_str(), spec.vram_gb.to_string()), ("https://a.example", "80".to_owned()));
    }

    #[test]
    fn url_and_endpoint_stand_in_for_each_other() {
        let mut payload = with("endpoint", json!(" https://e.example "));
        payload.as_object_mut().unwrap().remove("url");
        let draft = check(payload.clone()).unwrap();
        assert_eq!(draft.urls().collect::<Vec<_>>(), [("url", "https://e.example"), ("endpoint", "https://e.example")]);
        payload.as_object_mut().unwrap().remove("endpoint");
        assert_eq!(check(payload), Err(ToolsError::NoUrl));
        assert_eq!(check(json!({ "name": "a", "kind": "mcp" })), Err(ToolsError::NoUrl));
        assert_eq!(check(json!({ "name": "a", "kind": "mcp", "url": " " })), Err(ToolsError::NoUrl));
    }

    #[test]
    fn other_kinds_have_no_compute() {
        assert_eq!(check(with("kind", json!("http"))).unwrap().compute, None);
    }

    #[test]
    fn the_wrong_member_is_named() {
        let long = |chars: usize| json!("x".repeat(chars));
        for (name, value, error) in [
            ("name", json!("a b"), ToolsError::Name),
            ("description", long(2001), ToolsError::Description),
            ("gpu", json!(" "), ToolsError::Gpu),
            ("gpu", long(65), ToolsError::Gpu),
            ("vramGb", json!(-1), ToolsError::Vram),
            ("vramGb", json!(100_000.5), ToolsError::Vram),
            ("vramGb", Value::Null, ToolsError::Vram),
            ("pricePerSecond", Value::Null, ToolsError::Price),
            ("region", long(65), ToolsError::Region),
        ] {
            assert_eq!(check(with(name, value.clone())), Err(error), "{name} {value}");
        }
        for (name, value) in
            [("description", long(2000)), ("gpu", long(64)), ("vramGb", json!(0.5)), ("region", long(64))]
        {
            assert!(check(with(name, value)).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_schema_has_32768_bytes_without_white_space() {
        // {"a":"…"} has eight bytes without the value.
        let of = |chars: usize| check(with("schema", json!({ "a": "x".repeat(chars) })));
        assert!(of(SCHEMA_BYTES_MAX - 8).is_ok());
        assert_eq!(of(SCHEMA_BYTES_MAX - 7), Err(ToolsError::SchemaTooLarge { bytes: SCHEMA_BYTES_MAX + 1 }));
        for no_object in [json!([]), json!("x"), json!(1)] {
            assert!(serde_json::from_value::<NewTool>(with("schema", no_object)).is_err());
        }
    }
}
