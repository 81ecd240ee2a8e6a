//! Reports of plugins. Rule: no code of a plugin runs on the listener's runtime, and none holds a request up for long.

use super::response::{self, AdminResponse};
use gateway::{Gateway, operators::ReportError};
use http::StatusCode;
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// A plugin reads its tables; the command line waits somewhat longer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const HINT: &str = "GET /reports lists the reports of plugins, with their options";

/// Which reports there are.
pub(crate) async fn list(gateway: &Arc<Gateway>) -> AdminResponse {
    let asked = gateway.clone();
    match in_time(gateway, async move { Ok(asked.reports.list().await) }).await {
        Ok(reports) => response::json(StatusCode::OK, &reports),
        Err(error) => refused(&error),
    }
}

/// Rows of one: `option=NAME` for each option, `offset` for the rows after others.
pub(crate) async fn read(gateway: &Arc<Gateway>, (plugin, report): (&str, &str), query: Option<&str>) -> AdminResponse {
    let Ok((options, offset)) = parse(query.unwrap_or_default()) else {
        let hint = "send offset=NUMBER and option=NAME";
        return response::error(StatusCode::BAD_REQUEST, "bad_query", "the query is not right", hint);
    };
    let (asked, plugin, report) = (gateway.clone(), plugin.to_owned(), report.to_owned());
    match in_time(gateway, async move { asked.reports.read(&plugin, &report, options, offset).await }).await {
        Ok(report) => response::json(StatusCode::OK, &report),
        Err(error) => refused(&error),
    }
}

async fn in_time<T: Send + 'static>(
    gateway: &Gateway,
    work: impl Future<Output = Result<T, ReportError>> + Send + 'static,
) -> Result<T, ReportError> {
    let answer = gateway.runtime.spawn(tokio::time::timeout(ANSWER_TIMEOUT, work)).await;
    match answer {
        Ok(Ok(answer)) => answer,
        // It took too long, or panicked.
        Ok(Err(_)) | Err(_) => Err(ReportError::NoAnswer),
    }
}

/// Names need no percent encoding.
fn parse(query: &str) -> Result<(BTreeSet<String>, u32), &'static str> {
    let (mut options, mut offset) = (BTreeSet::new(), 0);
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("option", name)) => drop(options.insert(name.to_owned())),
            Some(("offset", number)) => offset = number.parse().map_err(|_: std::num::ParseIntError| "no number")?,
            _ => return Err("no such part"),
        }
    }
    Ok((options, offset))
}

fn refused(error: &ReportError) -> AdminResponse {
    let (status, code) = match error {
        ReportError::Unknown => (StatusCode::NOT_FOUND, "unknown_report"),
        ReportError::UnknownOption(_) => (StatusCode::BAD_REQUEST, "unknown_option"),
        ReportError::NoAnswer => (StatusCode::BAD_GATEWAY, "no_answer"),
    };
    response::error(status, code, &error.to_string(), HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_options_and_an_offset() {
        let options = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(parse(""), Ok((options(&[]), 0)));
        assert_eq!(parse("option=funded&offset=500&option=b"), Ok((options(&["b", "funded"]), 500)));
        for query in ["offset=-1", "offset=", "limit=5", "option"] {
            assert!(parse(query).is_err(), "{query}");
        }
    }
}
