//! Escrow jobs and what was delivered.

use crate::model::{Job, Output};
use plugin_api::{Hash256, HostError, JobId, Query, format, sql};
use serde_json::json;

pub async fn find(db: &impl Query, job: JobId) -> Result<Option<Job>, HostError> {
    let find =
        "SELECT job_id, agent_id, client, status, by_agent, output_hash, output_uri FROM jobs_v1 WHERE job_id = $1";
    db.row(sql(find).bind(job)).await
}

/// What the agent delivered: the payload, or where it is when this gateway does not store it as a text.
pub async fn output(db: &impl Query, job: &Job) -> Result<Output, HostError> {
    let uri = job.output_uri.as_deref().unwrap_or_default();
    let stored = match payload(uri) {
        Some(hash) => {
            let read = db.run(sql("SELECT bytes FROM payloads_v2 WHERE hash = $1").bind(hash)).await?;
            let bytes: Option<(&[u8],)> = read.first()?;
            bytes.and_then(|(bytes,)| std::str::from_utf8(bytes).ok()).map(Output::of)
        }
        None => None,
    };
    Ok(stored.unwrap_or_else(|| Output::Data(json!({ "outputURI": job.output_uri, "outputHash": job.output_hash }))))
}

/// The payload that a URI `fmx://payload/<hash>` names.
fn payload(uri: &str) -> Option<Hash256> {
    const PREFIX: &str = "fmx://payload/";
    let prefix = uri.get(..PREFIX.len()).filter(|prefix| prefix.eq_ignore_ascii_case(PREFIX))?;
    format::payload_hash(&uri[prefix.len()..])
}
