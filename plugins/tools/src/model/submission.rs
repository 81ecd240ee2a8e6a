//! The request payload and its checks.

use super::{ComputeSpec, ToolKind, ToolSpec};
use crate::{
    error::ToolsError,
    limits::{DESCRIPTION_CHARS_MAX, SCHEMA_BYTES_MAX},
};
use plugin_api::{JsonSchema, Wei, format};
use serde::Deserialize;
use serde_json::{Map, Number, Value};

const NAME_CHARS_MAX: usize = 64;
const GPU_CHARS_MAX: usize = 64;
const REGION_CHARS_MAX: usize = 64;
const VRAM_GB_MAX: f64 = 100_000.0;

/// Payload of `tool.publish`. The members of `compute` may stand at the top as well.
#[derive(Deserialize, JsonSchema)]
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
#[derive(Default, Deserialize, JsonSchema)]
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

impl NewTool {
    pub fn check(self) -> Result<ToolSpec, ToolsError> {
        if !is_name(&self.name) {
            return Err(ToolsError::Name);
        }
        let description = self.description.unwrap_or_default();
        if format::utf16_len(&description) > DESCRIPTION_CHARS_MAX {
            return Err(ToolsError::Description);
        }
        let bytes = serde_json::to_string(&self.schema).map_or(usize::MAX, |json| json.len());
        if bytes > SCHEMA_BYTES_MAX {
            return Err(ToolsError::SchemaTooLarge { bytes });
        }
        let url = present(self.url);
        let compute = match self.kind {
            ToolKind::Compute => Some(self.compute.unwrap_or_default().or(self.at_top).check(url.as_deref())?),
            _ => None,
        };
        let endpoint = compute.as_ref().map(|compute| compute.endpoint.clone());
        let url = url.or(endpoint).ok_or(ToolsError::NoUrl)?;
        Ok(ToolSpec { name: self.name, kind: self.kind, url, description, schema: self.schema, compute })
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

    fn check(self, url: Option<&str>) -> Result<ComputeSpec, ToolsError> {
        let (gpu, region) = (self.gpu.unwrap_or_default(), self.region.unwrap_or_default());
        let gpu = format::trimmed(&gpu, 1..=GPU_CHARS_MAX).ok_or(ToolsError::Gpu)?;
        let is_size = |number: &Number| number.as_f64().is_some_and(|size| (0.0..=VRAM_GB_MAX).contains(&size));
        let vram_gb = self.vram_gb.filter(is_size).ok_or(ToolsError::Vram)?;
        let price_per_second = self.price_per_second.ok_or(ToolsError::Price)?;
        let region = format::trimmed(&region, 0..=REGION_CHARS_MAX).ok_or(ToolsError::Region)?;
        let endpoint = present(self.endpoint).or(url.map(str::to_owned)).ok_or(ToolsError::NoUrl)?;
        Ok(ComputeSpec { gpu, vram_gb, price_per_second, region, endpoint })
    }
}

/// Trims the text; `None` when it is blank.
fn present(text: Option<String>) -> Option<String> {
    text.as_deref().and_then(format::given).map(str::to_owned)
}

fn is_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && name.len() <= NAME_CHARS_MAX
        && name.bytes().all(is_inner)
}
