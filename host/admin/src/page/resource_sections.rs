//! What the gateway has in use, how its limits do, the other gateways on its database, and its log level.

use super::{html::Html, sections};
use gateway::{ReplicaReport, Resources, differing_plugins};
use gateway_storage::StorageError;
use std::collections::BTreeMap;

/// Levels that the page offers; others go through `PUT /log-level`.
const LEVELS: [&str; 4] = ["error", "warn", "info", "debug"];

/// Writes nothing while no other gateway has the database.
pub(super) fn replicas(page: &mut Html, replicas: &Result<Vec<ReplicaReport>, StorageError>) {
    if replicas.as_ref().is_ok_and(|replicas| replicas.len() < 2) {
        return;
    }
    page.table("Replicas", &["Gateway", "State", "Version", "Last report", "Plugins that are not everywhere the same"]);
    let all = sections::rows(page, replicas, 5);
    let differing = differing_plugins(all);
    for replica in all {
        page.raw("<tr><th scope=\"row\">");
        page.text(&replica.address);
        page.raw("</th><td>");
        match (replica.is_silent, replica.is_this) {
            (true, _) => page.badge("bad", "silent"),
            (false, true) => page.badge("good", "this one"),
            (false, false) => page.badge("good", "answers"),
        }
        page.raw("</td>");
        page.cell(&replica.version);
        page.cell(&format!("{} s ago", replica.seen_ago_ms.max(0) / 1000));
        let state = |name: &&str| {
            let state = replica.plugins.get(*name).map_or("not there", String::as_str);
            format!("{name}: {state}")
        };
        page.raw("<td class=\"words\">");
        page.text(&differing.iter().map(state).collect::<Vec<_>>().join(", "));
        page.raw("</td></tr>");
    }
    page.end_table();
}

pub(super) fn resources(
    page: &mut Html,
    resources: &Resources,
    (queues, refusals): (&BTreeMap<String, f64>, &BTreeMap<String, u64>),
) {
    page.table("Resources and limits", &["What", "Now", "At most"]);
    for (operation, open) in &resources.streams {
        row(page, &format!("open streams of {operation}"), &open.to_string(), &resources.streams_max.to_string());
    }
    let database = &resources.database;
    for (what, bytes) in [("database file", database.file_bytes), ("write-ahead log", database.wal_bytes)] {
        if let Some(bytes) = bytes {
            row(page, what, &mebibytes(bytes), "");
        }
    }
    if let Some(bytes) = database.free_disk_bytes {
        row(page, "free on the disk of the database", &mebibytes(bytes), "");
    }
    if let Some(pool) = &database.pool {
        let busy = pool.open.saturating_sub(pool.idle);
        row(page, "busy connections to the database", &busy.to_string(), &pool.max.to_string());
        row(page, "calls that wait for a connection", &pool.waiting.to_string(), "");
    }
    for (queue, tasks) in queues {
        row(page, &format!("tasks of {queue}"), &tasks.to_string(), "");
    }
    for (limit, refused) in refusals {
        row(page, &format!("refused by the limit {limit} since the start"), &refused.to_string(), "");
    }
    page.end_table();
}

fn row(page: &mut Html, what: &str, now: &str, most: &str) {
    page.raw("<tr><th scope=\"row\">");
    page.text(what);
    page.raw("</th>");
    page.cell(now);
    page.cell(most);
    page.raw("</tr>");
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1024 * 1024))
}

/// Writes nothing where the log of the process is another's.
pub(super) fn log_level(page: &mut Html, level: &str) {
    if level.is_empty() {
        return;
    }
    page.table("Log", &["Level", "Until the next start"]);
    page.raw("<tr>");
    page.cell(level);
    page.raw("<td class=\"buttons\">");
    for offered in LEVELS {
        page.raw("<button type=\"button\" data-log-level=\"");
        page.raw(offered);
        page.raw("\" aria-label=\"log ");
        page.raw(offered);
        page.raw("\">");
        page.raw(offered);
        page.raw("</button>");
    }
    page.raw("</td></tr>");
    page.end_table();
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use gateway_storage::{DatabaseResources, PoolStatus};

    fn replica(address: &str, is_silent: bool, forum: &str) -> ReplicaReport {
        let plugins = [("forum", forum), ("hello", "serving")];
        ReplicaReport {
            address: address.to_owned(),
            version: "0.6.0".to_owned(),
            since_ms: 0,
            seen_ms: 0,
            seen_ago_ms: 4_000,
            is_silent,
            is_this: address == "a:1",
            plugins: plugins.map(|(name, state)| (name.to_owned(), state.to_owned())).into(),
        }
    }

    #[test]
    fn replicas_show_what_is_not_the_same_everywhere() {
        let mut page = Html::new();
        let all = [replica("a:1", false, "serving"), replica("b<1", false, "disabled"), replica("c:1", true, "fenced")];
        replicas(&mut page, &Ok(all.to_vec()));
        let text = page.into_string();
        for part in ["this one", "silent", "b&lt;1", "forum: serving", "forum: disabled", "4 s ago"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("hello"), "{text}");
        let mut alone = Html::new();
        replicas(&mut alone, &Ok(vec![replica("a:1", false, "serving")]));
        assert_eq!(alone.into_string(), "");
        assert!(differing_plugins(&[replica("a:1", false, "serving"), replica("c:1", true, "fenced")]).is_empty());
    }

    #[test]
    fn streams_room_and_refusals_are_told() {
        let database = DatabaseResources {
            wal_bytes: Some(1),
            free_disk_bytes: Some(3 << 20),
            pool: Some(PoolStatus { max: 16, open: 5, idle: 2, waiting: 4 }),
            ..DatabaseResources::default()
        };
        let shown = Resources { streams: vec![("stream_activity".to_owned(), 7)], streams_max: 500, database };
        let mut page = Html::new();
        let queues = BTreeMap::from([("webhooks webhooks_queue waiting".to_owned(), 42.0)]);
        resources(&mut page, &shown, (&queues, &BTreeMap::from([("search".to_owned(), 12)])));
        let text = page.into_string();
        for part in [
            "open streams of stream_activity</th><td>7</td><td>500",
            "1 MiB",
            "3 MiB",
            "<td>3</td><td>16",
            "limit search",
            "waiting</th><td>42",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
