//! Filters of the lists.

use super::ToolKind;
use crate::error::ToolsError;
use plugin_api::{Address, JsonSchema, Wei};
use serde::Deserialize;

/// Query of `GET /api/tools`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolFilter {
    /// A part of name, description or URL; ASCII letters match in either case.
    pub q: String,
    /// `mcp`, `http`, `a2a` or `compute`.
    kind: String,
    /// Address of the owner, in any case.
    owner: String,
    /// `1` or `true`: only tools whose last probe succeeded.
    pub online: Liveness,
}

impl ToolFilter {
    pub fn kind(&self) -> Result<Option<ToolKind>, ToolsError> {
        let unknown = || ToolsError::Kind;
        given(&self.kind).map(|text| ToolKind::parse(text).ok_or_else(unknown)).transpose()
    }

    pub fn owner(&self) -> Result<Option<Address>, ToolsError> {
        given(&self.owner).map(|text| text.parse().map_err(ToolsError::Owner)).transpose()
    }
}

/// Query of `GET /api/compute`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ComputeFilter {
    /// A part of name or description; ASCII letters match in either case.
    pub q: String,
    /// A part of the GPU's name.
    pub gpu: String,
    /// A part of the region.
    pub region: String,
    /// A number: at least so much memory.
    min_vram_gb: String,
    /// Wei: at most this price.
    max_price_per_second: String,
    /// `1` or `true`: only listings whose last probe succeeded.
    pub online: Liveness,
}

impl ComputeFilter {
    pub fn vram_gb_min(&self) -> Result<Option<f64>, ToolsError> {
        let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        given(&self.min_vram_gb).map(|text| number(text).ok_or(ToolsError::VramMin)).transpose()
    }

    pub fn price_max(&self) -> Result<Option<Wei>, ToolsError> {
        given(&self.max_price_per_second).map(|text| text.parse().map_err(ToolsError::PriceMax)).transpose()
    }
}

fn given(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Whether only what is online is wanted. Anything but `1` and `true` wants all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(transparent)]
pub struct Liveness(#[schemars(with = "String")] pub bool);

impl<'de> Deserialize<'de> for Liveness {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self(matches!(text.as_str(), "1" | "true")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_or_refused() {
        let tools =
            |kind: &str, owner: &str| ToolFilter { kind: kind.into(), owner: owner.into(), ..ToolFilter::default() };
        assert!(matches!(tools("", " ").kind(), Ok(None)) && matches!(tools("", " ").owner(), Ok(None)));
        assert_eq!(tools("a2a", "").kind(), Ok(Some(ToolKind::A2a)));
        assert_eq!(tools("rest", "").kind(), Err(ToolsError::Kind));
        assert!(tools("", "0x12").owner().is_err());
        let compute = |vram: &str, price: &str| ComputeFilter {
            min_vram_gb: vram.into(),
            max_price_per_second: price.into(),
            ..ComputeFilter::default()
        };
        assert_eq!(compute("24.5", "").vram_gb_min(), Ok(Some(24.5)));
        for bad in ["much", "NaN", "inf", "1,5"] {
            assert_eq!(compute(bad, "").vram_gb_min(), Err(ToolsError::VramMin), "{bad}");
        }
        assert!(compute("", "1000").price_max().is_ok_and(|price| price.is_some()));
        for bad in ["-1", "1.5", "0x1"] {
            assert!(compute("", bad).price_max().is_err(), "{bad}");
        }
    }
}
