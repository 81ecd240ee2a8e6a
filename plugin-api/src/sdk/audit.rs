//! The extension point of the audit export: lines about an agent from the plugins that own the facts.
//!
//! The rule: a contribution reads a bounded number of rows, from where the export begins, so that an agent with a million lines costs
//! what one with a thousand does.

use super::{Address, AgentId, HostError, Query, Sql, point::Point, sql};
use crate::manifest::{ActivityRecord, ActivityRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::RawValue};

/// What plugins know of an agent and its owner, for the signed export `/api/agents/{id}/audit.jsonl`.
pub const AUDIT: Point<AuditInput, AuditLines> = Point::new("audit");

/// What a contribution holds at most: half of what the gateway takes from one plugin.
const CONTRIBUTION_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Events that one statement reads; the data of each is limited, too.
const EVENTS_AT_ONCE: usize = 250;

/// The place of a line among all lines. Lines are in the order of the members: the time first, the id last.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditPosition {
    /// Unix seconds.
    pub ts: i64,
    /// 0 for a line that is not of the chain.
    pub block: i64,
    /// Of the log in its block.
    pub log_index: i64,
    /// `commons`, `webhook`, `x402`, or one of the plugin's own. Lines of the kind `chain` are the gateway's.
    pub kind: String,
    /// Tells lines apart that have the rest in common. Compared by its bytes, so a number has leading zeros: [`AuditLine::numbered`].
    pub id: String,
}

/// Which lines an export needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditInput {
    pub agent_id: AgentId,
    /// Of today.
    pub owner: Address,
    /// The first Unix second that counts.
    pub from_s: Option<i64>,
    /// The last one.
    pub to_s: Option<i64>,
    /// The first block that counts. With it, or with the last one, only lines of the chain do.
    pub from_block: Option<i64>,
    pub to_block: Option<i64>,
    /// Only lines behind this place.
    pub after: Option<AuditPosition>,
    /// As many lines as the export has at most: the first ones of each plugin are enough.
    pub limit: u32,
}

/// A line of the export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditLine {
    pub at: AuditPosition,
    /// What the line says beside its number, kind, time, agent and signer.
    pub members: Map<String, Value>,
}

/// The first lines that an input asks for, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AuditLines {
    pub lines: Vec<AuditLine>,
    /// Whether others follow them.
    pub more: bool,
}

impl AuditInput {
    /// Whether only lines of the chain count.
    pub fn is_by_block(&self) -> bool {
        self.from_block.is_some() || self.to_block.is_some()
    }

    /// Where lines of this kind begin that have no block: time and id. Those behind both count.
    pub fn start(&self, kind: &str) -> (i64, String) {
        let from_s = self.from_s.unwrap_or(0);
        let Some(after) = &self.after else { return (from_s, String::new()) };
        let start = match (0, 0, kind).cmp(&(after.block, after.log_index, after.kind.as_str())) {
            std::cmp::Ordering::Less => (after.ts.saturating_add(1), String::new()),
            std::cmp::Ordering::Equal => (after.ts, after.id.clone()),
            std::cmp::Ordering::Greater => (after.ts, String::new()),
        };
        if start.0 < from_s { (from_s, String::new()) } else { start }
    }

    /// Where lines of this kind begin that have one: time, block and index of the log. Those behind all three count.
    pub fn start_on_chain(&self, kind: &str) -> (i64, i64, i64) {
        let from_s = self.from_s.unwrap_or(0);
        let Some(after) = self.after.as_ref().filter(|after| after.ts >= from_s) else { return (from_s, -1, -1) };
        // The line of another kind about the same log comes later.
        let log_index = if kind > after.kind.as_str() { after.log_index - 1 } else { after.log_index };
        (after.ts, after.block, log_index)
    }

    /// The last second that counts.
    pub fn end_s(&self) -> i64 {
        self.to_s.unwrap_or(i64::MAX)
    }

    /// Lines of the kind `commons`: the events of the activity log of these types (whole names) that the owner caused.
    pub async fn events(&self, db: &impl Query, types: &[&str]) -> Result<AuditLines, HostError> {
        if self.is_by_block() || types.is_empty() {
            return Ok(AuditLines::default());
        }
        let (ts, id) = self.start(COMMONS);
        let mut start = (ts, id.parse().unwrap_or(0));
        let (mut lines, mut bytes, mut more) = (Vec::new(), 0, true);
        while more && lines.len() < self.limit as usize && bytes < CONTRIBUTION_BYTES_MAX {
            let rows: Vec<ActivityRecord<Box<RawValue>>> = db.rows(self.select_events(types, start)).await?;
            more = rows.len() == EVENTS_AT_ONCE;
            for event in rows.into_iter().map(ActivityRow::from) {
                start = (event.ts, event.id);
                bytes += event.data.get().len();
                lines.push(event_line(event));
            }
        }
        Ok(AuditLines { lines, more }.first(self.limit))
    }

    /// An index of the log has the events of an actor by type and time.
    fn select_events(&self, types: &[&str], (ts, id): (i64, i64)) -> Sql {
        let begin = format!("SELECT {EVENT_COLUMNS} FROM (");
        let all = (0..).zip(types).fold(sql(begin), |all, (position, event_type)| {
            let union = if position == 0 { "" } else { " UNION ALL " };
            let of_type = format!(
                "SELECT {EVENT_COLUMNS} FROM (SELECT {EVENT_COLUMNS} FROM host_activity_v1 \
                 WHERE actor = $1 AND type = $2 AND ts >= $3 AND ts <= $4 AND (ts > $3 OR id > $5) \
                 ORDER BY ts, id LIMIT {EVENTS_AT_ONCE}) AS t{position}"
            );
            let of_type = sql(of_type).bind((self.owner, *event_type, ts, self.end_s(), id));
            all.push(union).push_sql(of_type)
        });
        all.push(&format!(") AS events ORDER BY ts, id LIMIT {EVENTS_AT_ONCE}"))
    }
}

const COMMONS: &str = "commons";
const EVENT_COLUMNS: &str = "id, type, ts, actor, ref_kind, ref_id, data";

fn event_line(event: ActivityRow<Box<RawValue>>) -> AuditLine {
    let data: Value = serde_json::from_str(event.data.get()).unwrap_or_default();
    AuditLine::numbered(
        COMMONS,
        event.ts,
        event.id,
        [
            ("activityId", event.id.into()),
            ("type", event.kind.into()),
            ("actor", event.actor.into()),
            ("ref", json!(event.subject)),
            ("data", data),
        ],
    )
}

impl AuditLine {
    /// A line that is not of the chain, of a record with a number.
    pub fn numbered<const N: usize>(kind: &str, ts: i64, id: i64, members: [(&str, Value); N]) -> Self {
        let at = AuditPosition { ts, kind: kind.to_owned(), id: format!("{id:019}"), ..AuditPosition::default() };
        Self { at, members: super::point::members(members) }
    }

    /// Scheme, host and port of a URL, which is all that an export shows of it: path and query may hold secrets. `None` where the text
    /// is no address of a web server.
    ///
    /// ```
    /// use plugin_api::point::AuditLine;
    ///
    /// assert_eq!(AuditLine::origin("https://me:secret@a.example:8443/hook?key=1").as_deref(), Some("https://a.example:8443"));
    /// assert_eq!(AuditLine::origin("my hook"), None);
    /// ```
    pub fn origin(url: &str) -> Option<String> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
        let is_origin = matches!(scheme.as_str(), "http" | "https") && !host.is_empty() && host.bytes().all(is_host);
        is_origin.then(|| format!("{scheme}://{}", host.to_ascii_lowercase()))
    }
}

impl AuditLines {
    /// The lines of several lists of first lines, in order, as far as none of the lists can have others in between.
    pub fn merge(parts: impl IntoIterator<Item = Self>) -> Self {
        let (mut lines, mut end): (Vec<AuditLine>, Option<AuditPosition>) = (Vec::new(), None);
        for part in parts {
            let last = part.lines.iter().map(|line| &line.at).max().filter(|_| part.more).cloned();
            end = [end, last].into_iter().flatten().min();
            lines.extend(part.lines);
        }
        lines.sort_by(|a, b| a.at.cmp(&b.at));
        if let Some(end) = &end {
            lines.retain(|line| line.at <= *end);
        }
        Self { lines, more: end.is_some() }
    }

    /// The first of them, as many as an input asks for and a contribution may hold.
    pub fn first(self, limit: u32) -> Self {
        let Self { mut lines, more } = Self::merge([self]);
        let mut bytes = 0_usize;
        let fits = |line: &&AuditLine| {
            bytes = bytes.saturating_add(serde_json::to_vec(line).map_or(0, |json| json.len()));
            bytes <= CONTRIBUTION_BYTES_MAX
        };
        // One line is always given: without it the next export would begin at the same place.
        let count = lines.iter().take(limit as usize).take_while(fits).count().max(1);
        let is_cut = count < lines.len();
        lines.truncate(count);
        Self { lines, more: more || is_cut }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn position(ts: i64, (block, log_index): (i64, i64), kind: &str, id: &str) -> AuditPosition {
        AuditPosition { ts, block, log_index, kind: kind.to_owned(), id: id.to_owned() }
    }

    fn input(from_s: Option<i64>, after: Option<AuditPosition>) -> AuditInput {
        let (owner, agent_id) = (Address::ZERO, AgentId(1));
        AuditInput { agent_id, owner, from_s, to_s: None, from_block: None, to_block: None, after, limit: 3 }
    }

    fn lines(ids: &[i64], more: bool) -> AuditLines {
        let line = |id: &i64| AuditLine::numbered("commons", *id / 10, *id, [("activityId", (*id).into())]);
        AuditLines { lines: ids.iter().map(line).collect(), more }
    }

    fn ids(lines: &AuditLines) -> Vec<i64> {
        lines.lines.iter().map(|line| line.members["activityId"].as_i64().unwrap()).collect()
    }

    #[test]
    fn a_source_begins_behind_the_last_line_of_the_export_before() {
        let after = |block, kind, id| input(Some(5), Some(position(7, (block, block), kind, id)));
        assert_eq!(input(None, None).start("commons"), (0, String::new()));
        assert_eq!(input(Some(5), None).start("commons"), (5, String::new()));
        assert_eq!(after(0, "commons", "3").start("commons"), (7, "3".to_owned()));
        assert_eq!(after(0, "commons", "3").start("webhook"), (7, String::new()));
        assert_eq!(after(0, "webhook", "3").start("commons"), (8, String::new()));
        assert_eq!(after(4, "chain", "").start("commons"), (8, String::new()));
        assert_eq!(input(Some(9), Some(position(7, (0, 0), "commons", "3"))).start("commons"), (9, String::new()));
    }

    #[test]
    fn a_source_of_the_chain_begins_behind_the_same_log() {
        let after = |block, log_index, kind| input(None, Some(position(7, (block, log_index), kind, "")));
        assert_eq!(input(Some(5), None).start_on_chain("chain"), (5, -1, -1));
        assert_eq!(after(4, 2, "chain").start_on_chain("chain"), (7, 4, 2));
        assert_eq!(after(4, 2, "chain").start_on_chain("x402"), (7, 4, 1), "its line about this log comes later");
        assert_eq!(after(4, 2, "x402").start_on_chain("chain"), (7, 4, 2));
        assert_eq!(after(0, 0, "commons").start_on_chain("x402"), (7, 0, -1));
    }

    #[test]
    fn a_list_that_goes_on_ends_the_others() {
        let merged = AuditLines::merge([lines(&[30, 10], true), lines(&[41, 20], false), lines(&[25, 60], true)]);
        assert_eq!((ids(&merged), merged.more), (vec![10, 20, 25, 30], true));
        let whole = AuditLines::merge([lines(&[30], false), lines(&[], true), lines(&[20], false)]);
        assert_eq!((ids(&whole), whole.more), (vec![20, 30], false));
    }

    #[test]
    fn a_contribution_is_bounded_in_lines_and_bytes() {
        let first = lines(&[40, 30, 20, 10], false).first(3);
        assert_eq!((ids(&first), first.more), (vec![10, 20, 30], true));
        assert!(!lines(&[30, 20, 10], false).first(3).more);
        let mut long = lines(&[10, 20], false);
        for line in &mut long.lines {
            line.members.insert("data".to_owned(), "x".repeat(CONTRIBUTION_BYTES_MAX).into());
        }
        let first = long.first(3);
        assert_eq!((ids(&first), first.more), (vec![10], true), "a line that is too long stands alone");
    }

    #[test]
    fn an_origin_has_neither_user_nor_path() {
        for (url, origin) in [
            ("https://a.example/x?y#z", Some("https://a.example")),
            ("HTTP://A.example:80", Some("http://a.example:80")),
            ("https://user:secret@a.example?key", Some("https://a.example")),
            ("https://[::1]:8080\\@b/", Some("https://[::1]:8080")),
            ("ftp://a.example", None),
            ("https://", None),
            ("https://a b/", None),
            ("https://a\nb/", None),
            ("secret", None),
        ] {
            assert_eq!(AuditLine::origin(url).as_deref(), origin, "{url}");
        }
    }
}
