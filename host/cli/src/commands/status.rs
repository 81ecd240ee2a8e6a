//! `gateway status`: how the running gateway does, and which others are on its database, by its operator's listener.
//!
//! The exit code is for scripts: 0 while it is ready, 5 while a plugin that must serve does not, 4 while writes cannot be kept.

use super::admin_client::admin_client;
use super::exit::{failure, printed};
use super::runtime::with_runtime;
use crate::arguments::AdminListener;
use crate::exit_code::ExitCode;
use crate::output::{Output, printable};
use crate::replica_table::replica_table;
use gateway::ReplicaReport;
use gateway_admin::client::{AdminClient, ClientError};
use gateway_config::Overrides;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) fn run(output: Output, listener: &AdminListener, overrides: &Overrides) -> ExitCode {
    let client = match admin_client(listener.admin.as_deref(), overrides) {
        Ok(client) => client,
        Err(code) => return code,
    };
    match with_runtime(fetch_status(&client)) {
        Ok(Ok(status)) => printed(output.print(&status, |_| text(&client.url(), &status)), code(&status)),
        Ok(Err(error)) => failure(ExitCode::Failure, &error),
        Err(code) => code,
    }
}

async fn fetch_status(client: &AdminClient) -> Result<Value, ClientError> {
    let get = async |path: &str| -> Result<Value, ClientError> { Ok(client.get(path).await?.body) };
    let (ready, plugins, jobs, replicas) =
        tokio::try_join!(get("/ready"), get("/plugins"), get("/jobs"), get("/replicas"))?;
    Ok(json!({ "ready": ready, "plugins": plugins, "jobs": jobs, "replicas": replicas }))
}

fn code(status: &Value) -> ExitCode {
    match &status["ready"] {
        ready if ready["ok"] == true => ExitCode::Ok,
        ready if !ready["database"].is_null() => ExitCode::Database,
        ready if ready["plugins"].as_array().is_some_and(|plugins| !plugins.is_empty()) => ExitCode::Plugin,
        _ => ExitCode::Failure,
    }
}

/// What is well is counted, what is not is named.
fn text(url: &str, status: &Value) -> String {
    let ready = &status["ready"];
    let mut lines = vec![format!("gateway    {url}")];
    lines.push(format!("ready      {}", if ready["ok"] == true { "yes" } else { "no" }));
    lines.extend(ready["database"].as_str().map(|reason| format!("           database: {}", printable(reason))));
    let required = ready["plugins"].as_array().into_iter().flatten().filter_map(Value::as_str);
    lines.extend(required.map(|reason| format!("           {}", printable(reason))));
    let plugins = status["plugins"].as_array().map(Vec::as_slice).unwrap_or_default();
    lines.push(format!("plugins    {}", counted(plugins.iter().map(|plugin| printable_member(plugin, "state")))));
    let off = plugins.iter().filter(|plugin| plugin["state"] != "serving");
    lines.extend(off.map(|plugin| {
        let (name, state, reason) =
            (printable_member(plugin, "name"), printable_member(plugin, "state"), printable_member(plugin, "reason"));
        format!("           {name}: {state}{}", if reason.is_empty() { String::new() } else { format!(" ({reason})") })
    }));
    let jobs = status["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_failing = |job: &&Value| job["lastResult"].as_str().is_some_and(|result| result != "ok");
    let failing: Vec<_> = jobs.iter().filter(is_failing).collect();
    lines.push(format!("jobs       {}, {} failing", jobs.len(), failing.len()));
    lines.extend(failing.iter().map(|job| {
        let error = printable_member(job, "lastError");
        format!("           {} of {}: {error}", printable_member(job, "job"), printable_member(job, "plugin"))
    }));
    lines.extend(replica_lines(&status["replicas"]));
    lines.join("\n")
}

fn replica_lines(replicas: &Value) -> Vec<String> {
    // Null while the database does not tell them.
    let Ok(replicas) = Vec::<ReplicaReport>::deserialize(replicas) else {
        return vec!["replicas   unknown".to_owned()];
    };
    let silent = replicas.iter().filter(|replica| replica.is_silent).count();
    let table = replica_table(&replicas);
    let count = format!("replicas   {}, {silent} silent", replicas.len());
    std::iter::once(count).chain(table.lines().map(|line| format!("           {line}"))).collect()
}

fn printable_member(value: &Value, member: &str) -> String {
    printable(value[member].as_str().unwrap_or_default())
}

/// `26 serving, 3 disabled`: the most frequent first.
fn counted(words: impl Iterator<Item = String>) -> String {
    let mut counts = BTreeMap::new();
    words.for_each(|word| *counts.entry(word).or_insert(0_usize) += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if counts.is_empty() {
        return "none".to_owned();
    }
    counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}
