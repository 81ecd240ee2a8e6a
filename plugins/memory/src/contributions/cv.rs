//! Claims for an agent's credential: its anchors. Sizes and sums only, no key and no value.

use crate::{
    Memory,
    model::{CONTRACT, MemoryAnchored},
    store::record::{self, RecordAnchor},
};
use plugin_api::{
    Event, HostError, PluginContext,
    point::{CvClaim, CvClaimsInput, CvLog, CvRecord, members},
};
use serde_json::json;

const KIND: &str = "MemoryAnchor";
const NEWEST_MAX: u32 = 25;

pub async fn cv_claims(cx: PluginContext<Memory>, input: CvClaimsInput) -> Result<CvRecord, HostError> {
    let CvClaimsInput { agent_id, owner, .. } = input;
    let db = cx.db();
    let anchors = record::anchors(&db, agent_id, NEWEST_MAX).await?;
    let count = record::anchor_count(&db, agent_id).await?;
    let (keys, bytes, records) = record::size(&db, owner).await?;
    let latest = anchors.first();
    let through = anchors.iter().filter_map(|anchor| anchor.to_seq).max();
    let memory = json!({
        "keys": keys,
        "bytes": bytes,
        "records": records,
        "unanchored": (records - through.unwrap_or_default()).max(0),
        "anchors": count,
        "anchoredThroughSeq": through,
        "latestRoot": latest.map(|anchor| anchor.root),
        "latestAnchorSeq": latest.map(|anchor| anchor.seq),
        "latestAnchorTx": latest.map(|anchor| anchor.tx),
        "latestAnchorBlock": latest.map(|anchor| anchor.block),
        "latestAnchoredAt": latest.map(|anchor| anchor.anchored_at),
    });
    let proofs = format!("{}/api/memory/proof/{agent_id}/{{seq}}", cx.environment().base_url);
    Ok(CvRecord {
        covers: vec![KIND.to_owned()],
        claims: anchors.iter().map(|anchor| claim(&proofs, anchor)).collect(),
        left_out: CvRecord::left_out([(KIND, count, anchors.len())]),
        summary: members([("memory", memory)]),
        activity_types: vec![MemoryAnchored::TYPE.to_owned()],
        ..CvRecord::default()
    }
    .within_bounds())
}

fn claim(proofs: &str, anchor: &RecordAnchor) -> CvClaim {
    let fields = [
        ("anchorSeq", json!(anchor.seq)),
        ("root", json!(anchor.root)),
        ("prevRoot", json!(anchor.prev_root)),
        ("count", json!(anchor.record_count)),
        ("fromSeq", json!(anchor.from_seq)),
        ("toSeq", json!(anchor.to_seq)),
        ("totalRecords", json!(anchor.total_records)),
        ("uri", json!(anchor.uri)),
        ("proofs", json!(proofs)),
    ];
    let claim = CvClaim::new(KIND, format!("memory:{}", anchor.seq), fields).stated(anchor.anchored_at);
    claim.proved_by([CvLog::new(CONTRACT, "MemoryAnchored", anchor.tx)])
}
