//! The query of a client.

use super::{parser, release::Release, version};
use plugin_api::response::Problem;

pub(crate) const SINCE_PATTERN: &str = r"^[0-9a-zA-Z.\-]{1,32}$";
pub(crate) const LIMIT_DEFAULT: usize = 20;
pub(crate) const LIMIT_MAX: usize = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Json,
    Markdown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangelogQuery {
    pub since: Option<String>,
    pub limit: usize,
    pub format: Format,
}

impl ChangelogQuery {
    /// Parses the part of the URL after `?`. Empty values count as absent; an invalid `limit` is the default, as everywhere.
    pub fn parse(query: &str) -> Result<Self, Problem> {
        let mut parsed = Self { since: None, limit: LIMIT_DEFAULT, format: Format::Json };
        for (name, value) in form_urlencoded::parse(query.as_bytes()).filter(|(_, value)| !value.is_empty()) {
            match name.as_ref() {
                "since" => parsed.since = Some(parse_since(&value)?),
                "limit" => parsed.limit = parse_limit(&value),
                "format" => parsed.format = parse_format(&value)?,
                _ => {}
            }
        }
        Ok(parsed)
    }

    /// Whether the release is newer than `since`. What is unreleased always is.
    pub(super) fn matches(&self, release: &Release) -> bool {
        let Some(since) = self.since.as_deref() else { return true };
        if release.unreleased {
            return true;
        }
        if parser::is_date(since) {
            return release.date.as_deref().is_none_or(|date| date > since);
        }
        version::compare(&release.version, since.trim_start_matches('v')).is_gt()
    }
}

fn parse_since(value: &str) -> Result<String, Problem> {
    let is_valid =
        value.len() <= 32 && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    let refusal = || {
        Problem::new(400, "bad_since", "since is neither a version nor a day")
            .hint("send for example since=0.5.0 or since=2026-01-31")
    };
    is_valid.then(|| value.to_owned()).ok_or_else(refusal)
}

fn parse_limit(value: &str) -> usize {
    match value.trim().parse::<i64>() {
        Ok(0) | Err(_) => LIMIT_DEFAULT,
        Ok(limit) => usize::try_from(limit).unwrap_or(1).clamp(1, LIMIT_MAX),
    }
}

fn parse_format(value: &str) -> Result<Format, Problem> {
    match value {
        "json" => Ok(Format::Json),
        "markdown" => Ok(Format::Markdown),
        _ => Err(Problem::new(400, "bad_format", "format is json or markdown").hint("leave format away to get JSON")),
    }
}
