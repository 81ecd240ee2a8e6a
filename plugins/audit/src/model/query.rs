//! The query of an export.

use super::{LINES_MAX, SIGNED_LINES_MAX, next::Cursor};
use crate::error::AuditError;
use plugin_api::{
    Address, AgentId, JsonSchema, format,
    point::{AuditInput, AuditPosition},
};
use serde::{Deserialize, Serialize};

/// Smaller bounds are numbers of blocks, others Unix seconds.
const BLOCKS_END: i64 = 1_000_000_000;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExportQuery {
    /// The first block (a number below 1000000000) or Unix second. With a block, only lines of the chain are given.
    #[schemars(with = "Option<u64>")]
    from: Option<String>,
    /// The last block or Unix second.
    #[schemars(with = "Option<u64>")]
    to: Option<String>,
    /// `root` signs the root of all lines, `lines` each line as well.
    #[schemars(with = "Option<Sign>")]
    sign: Option<String>,
    /// Where the export before ended within a second: from the member `next` of its footer.
    after: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "describes the parameter")]
enum Sign {
    Root,
    Lines,
}

/// What is left out, as the footer says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_block: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_block: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_ts: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ts: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Cursor>,
}

/// A query that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportRequest {
    pub filter: Filter,
    pub limit: u32,
    pub signs_lines: bool,
}

impl ExportQuery {
    /// `limit` is what the client asked for, at most [`LINES_MAX`].
    pub fn check(&self, limit: u32) -> Result<ExportRequest, AuditError> {
        let signs_lines = match self.sign.as_deref().and_then(format::given) {
            None | Some("root") => false,
            Some("lines") => true,
            Some(_) => return Err(AuditError::Sign),
        };
        let (from_block, from_ts) = bound("from", self.from.as_deref())?;
        let (to_block, to_ts) = bound("to", self.to.as_deref())?;
        let after = self.after.as_deref().and_then(format::given).map(str::parse).transpose()?;
        let filter = Filter { from_block, to_block, from_ts, to_ts, after };
        Ok(ExportRequest {
            filter,
            limit: limit.min(if signs_lines { SIGNED_LINES_MAX } else { LINES_MAX }),
            signs_lines,
        })
    }
}

/// A bound as block or as Unix seconds.
fn bound(name: &'static str, text: Option<&str>) -> Result<(Option<i64>, Option<i64>), AuditError> {
    let Some(text) = text.and_then(format::given) else { return Ok((None, None)) };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = text.parse().ok().filter(|_| is_number).ok_or(AuditError::Bound(name))?;
    Ok(if number < BLOCKS_END { (Some(number), None) } else { (None, Some(number)) })
}

impl ExportRequest {
    /// What plugins are asked for.
    pub fn input(&self, agent_id: AgentId, owner: Address) -> AuditInput {
        let Filter { from_block, to_block, from_ts: from_s, to_ts: to_s, after } = self.filter.clone();
        let after = after.map(|Cursor(position)| position);
        AuditInput { agent_id, owner, from_s, to_s, from_block, to_block, after, limit: self.limit }
    }

    /// Whether a line of a contribution is one that was asked for.
    pub fn selects(&self, at: &AuditPosition) -> bool {
        let Filter { from_block, to_block, from_ts, to_ts, after } = &self.filter;
        let is_by_block = from_block.is_some() || to_block.is_some();
        let is_in = |value: i64, from: &Option<i64>, to: &Option<i64>| {
            from.is_none_or(|from| value >= from) && to.is_none_or(|to| value <= to)
        };
        is_in(at.ts, from_ts, to_ts)
            && (!is_by_block || (at.block > 0 && is_in(at.block, from_block, to_block)))
            && after.as_ref().is_none_or(|Cursor(after)| at > after)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn query(from: &str, to: &str, sign: &str, after: &str) -> ExportQuery {
        let text = |text: &str| Some(text.to_owned());
        ExportQuery { from: text(from), to: text(to), sign: text(sign), after: text(after) }
    }

    #[test]
    fn a_small_bound_is_a_block_and_a_large_one_a_time() {
        let filter = query("999999999", "1000000000", "", "").check(7).unwrap().filter;
        assert_eq!((filter.from_block, filter.from_ts), (Some(999_999_999), None));
        assert_eq!((filter.to_block, filter.to_ts), (None, Some(1_000_000_000)));
        for bad in ["-1", "NaN", "1.5", "1e9", "0x10", "99999999999999999999", "Infinity"] {
            assert_eq!(query(bad, "", "", "").check(7), Err(AuditError::Bound("from")), "{bad}");
            assert_eq!(query("", bad, "", "").check(7), Err(AuditError::Bound("to")), "{bad}");
        }
    }

    #[test]
    fn signed_lines_are_fewer() {
        assert_eq!(query("", "", "", "").check(1000).unwrap().limit, 1000);
        let signed = query("", "", "lines", "").check(1000).unwrap();
        assert!(signed.signs_lines && signed.limit == 250);
        assert_eq!(query("", "", "lines", "").check(3).unwrap().limit, 3);
        assert_eq!(query("", "", "all", "").check(3), Err(AuditError::Sign));
    }

    #[test]
    fn bounds_by_block_leave_out_what_has_none() {
        let at = |ts, block| AuditPosition { ts, block, ..AuditPosition::default() };
        let by_block = query("5", "", "", "").check(1).unwrap();
        assert!(by_block.selects(&at(1, 5)) && !by_block.selects(&at(1, 4)) && !by_block.selects(&at(1, 0)));
        let by_time = query("", "1000000005", "", "").check(1).unwrap();
        assert!(by_time.selects(&at(1_000_000_005, 0)) && !by_time.selects(&at(1_000_000_006, 9)));
    }
}
