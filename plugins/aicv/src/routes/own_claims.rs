//! The claims of this plugin: the agent's state, its contributions to the commons, and who endorses it.

use crate::{
    Aicv,
    model::{
        AGENT_STATE, Agent, CONTRIBUTION, CheckedClaim, Kind, RegistryState, asserted, claim_id, complete,
        state_evidence,
    },
    store::endorsements::{self, Endorsement},
};
use plugin_api::{
    Address, AgentId, HostError, RequestContext,
    point::{CvClaim, CvLog, CvRecord, members},
};
use serde_json::json;
use std::collections::BTreeSet;

/// Endorsements in a record.
const ENDORSEMENTS_MAX: i64 = 50;
/// The agent's work and its life in the registry are other claims; of a validation that is asked for the actor is who was named, and not
/// who asked.
const OTHER_TYPES: [&str; 4] = ["job.", "agent.", "chain.", "validation.requested"];

/// The state that the registry answered.
pub fn state(agent: AgentId, state: &RegistryState, registry: Option<Address>, chain_id: u64) -> Option<CheckedClaim> {
    let kind = Kind::find(AGENT_STATE)?;
    let fields = members([
        ("agentId", json!(agent)),
        ("owner", json!(state.owner)),
        ("endpoint", json!(state.endpoint)),
        ("metadataURI", json!(state.metadata_uri)),
        ("pricePerJobWei", json!(state.price_per_job)),
        ("bondWei", json!(state.bond)),
        ("status", json!(state.status)),
    ]);
    Some(CheckedClaim {
        kind,
        id: claim_id(agent, "state"),
        stated_at: None,
        fields: complete(kind, fields)?,
        evidence: state_evidence(agent, registry?, chain_id).ok()?,
        also_evidence: Vec::new(),
        block: None,
        logs: Vec::new(),
    })
}

/// Which of these types of activity are contributions.
pub fn contribution_types<'t>(types: impl Iterator<Item = &'t String>) -> BTreeSet<String> {
    types.filter(|kind| !OTHER_TYPES.iter().any(|prefix| kind.starts_with(prefix))).take(200).cloned().collect()
}

/// How many events of a type the owner published.
pub fn contribution(
    cx: &RequestContext<Aicv>,
    agent: &Agent,
    activity_type: &str,
    count: i64,
    serves_activity: bool,
) -> Option<CheckedClaim> {
    let kind = Kind::find(CONTRIBUTION)?;
    let fields = complete(kind, members([("kind", json!(activity_type)), ("count", json!(count))]))?;
    let (base_url, owner) = (&cx.environment().base_url, agent.owner);
    let source = serves_activity.then(|| format!("{base_url}/api/activity?type={activity_type}&actor={owner}"));
    let note = "events of the gateway's log that name this address as the actor".to_owned();
    asserted(kind, claim_id(agent.agent_id, &format!("commons:{activity_type}")), None, fields, source, Some(note))
}

/// Endorsements as a contribution, which is checked like those of others.
pub async fn endorsements(cx: &RequestContext<Aicv>, agent: AgentId) -> Result<CvRecord, HostError> {
    let db = cx.db();
    let totals = endorsements::totals(&db, agent).await?;
    let live = endorsements::live(&db, agent, ENDORSEMENTS_MAX).await?;
    let left_out = CvRecord::left_out([("Endorsement", totals.live, live.len())]);
    let summary = json!({
        "total": totals.total, "live": totals.live, "revoked": totals.total - totals.live, "paymentBacked": totals.paid,
    });
    Ok(CvRecord {
        covers: vec!["Endorsement".to_owned()],
        claims: live.into_iter().map(endorsement).collect(),
        left_out,
        summary: members([("endorsements", summary)]),
        activity_types: crate::chain::EVENT_TYPES.map(str::to_owned).into(),
        ..CvRecord::default()
    }
    .within_bounds())
}

fn endorsement(given: Endorsement) -> CvClaim {
    let job = Some(given.evidence_job_id).filter(|job| *job > 0);
    let fields = [
        ("endorsementId", json!(given.id)),
        ("fromAgentId", json!(given.from_agent_id)),
        ("endorser", json!(given.endorser)),
        ("capability", json!(given.capability)),
        ("weight", json!(given.weight)),
        ("basis", json!(given.basis)),
        ("paymentBacked", json!(given.basis == 1)),
        ("evidenceJobId", json!(job)),
        ("evidenceAmountWei", json!(given.evidence_amount)),
        ("uri", json!(given.uri)),
    ];
    let claim = CvClaim::new("Endorsement", format!("endorsement:{}", given.id), fields).stated(given.endorsed_at);
    claim.proved_by([CvLog::new("endorsements", "Endorsed", given.tx)])
}
