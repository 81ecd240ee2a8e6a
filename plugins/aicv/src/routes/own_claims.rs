//! The claims of this plugin: the agent's state, its contributions to the commons, and who endorses it.

use crate::{
    Aicv,
    model::{
        AGENT_STATE, CONTRIBUTION, CheckedClaim, Kind, RegistryState, asserted, claim_id, complete, state_evidence,
    },
    store::{
        contributions,
        endorsements::{self, Endorsement},
    },
};
use plugin_api::{
    Address, AgentId, HostError, RequestContext,
    point::{CvClaim, CvLog, CvRecord, members},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Endorsements in a record.
const ENDORSEMENTS_MAX: i64 = 50;
/// The agent's work and its life in the registry are other claims.
const OTHER_TYPES: [&str; 3] = ["job.", "agent.", "chain."];

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
        evidence: state_evidence(agent, registry?, chain_id),
        also_evidence: Vec::new(),
        block: None,
    })
}

/// Types of activity that are contributions, of all plugins that are on.
pub fn contribution_types(records: &[(String, CvRecord)]) -> BTreeSet<String> {
    let types = records.iter().flat_map(|(_, record)| &record.activity_types);
    types.filter(|kind| !OTHER_TYPES.iter().any(|prefix| kind.starts_with(prefix))).take(200).cloned().collect()
}

/// One claim for each type that the owner published, and the sum of their numbers.
pub async fn contributions(
    cx: &RequestContext<Aicv>,
    agent: AgentId,
    owner: Address,
    types: &BTreeSet<String>,
) -> Result<(Vec<CheckedClaim>, i64), HostError> {
    // No document names a route that nobody serves.
    let [is_served] = cx.serves(["/api/activity"]).await?;
    let counts: BTreeMap<String, i64> = contributions::count(&cx.db(), owner, types).await?;
    let claim = |(activity, count): (&String, &i64)| {
        let kind = Kind::find(CONTRIBUTION)?;
        let fields = complete(kind, members([("kind", json!(activity)), ("count", json!(count))]))?;
        let source =
            is_served.then(|| format!("{}/api/activity?type={activity}&actor={owner}", cx.environment().base_url));
        let note = "events that this address signed, counted in the gateway's log".to_owned();
        asserted(kind, claim_id(agent, &format!("commons:{activity}")), None, fields, source, Some(note))
    };
    Ok((counts.iter().filter_map(claim).collect(), counts.values().sum()))
}

/// Endorsements as a contribution, which is checked like those of others.
pub async fn endorsements(cx: &RequestContext<Aicv>, agent: AgentId) -> Result<CvRecord, HostError> {
    let db = cx.db();
    let totals = endorsements::totals(&db, agent).await?;
    let live = endorsements::live(&db, agent, ENDORSEMENTS_MAX).await?;
    let more = u64::try_from(totals.live).unwrap_or_default().saturating_sub(live.len() as u64);
    let summary = json!({
        "total": totals.total, "live": totals.live, "revoked": totals.total - totals.live, "paymentBacked": totals.paid,
    });
    Ok(CvRecord {
        covers: vec!["Endorsement".to_owned()],
        claims: live.into_iter().map(endorsement).collect(),
        left_out: [("Endorsement".to_owned(), more)].into(),
        summary: members([("endorsements", summary)]),
        activity_types: crate::chain::EVENT_TYPES.map(str::to_owned).into(),
    })
}

fn endorsement(given: Endorsement) -> CvClaim {
    let job = Some(given.evidence_job_id).filter(|job| *job > 0);
    CvClaim {
        kind: "Endorsement".to_owned(),
        id: format!("endorsement:{}", given.id),
        stated_at: Some(given.endorsed_at),
        fields: members([
            ("endorsementId", json!(given.id)),
            ("fromAgentId", json!(given.from_agent_id)),
            ("endorser", json!(given.endorser)),
            ("capability", json!(given.capability)),
            ("weight", json!(given.weight)),
            ("basis", json!(given.basis)),
            ("paymentBacked", json!(given.basis == 1)),
            ("evidenceJobId", job.map_or(Value::Null, Value::from)),
            ("evidenceAmountWei", json!(given.evidence_amount)),
            ("uri", json!(given.uri)),
        ]),
        logs: vec![CvLog::new("endorsements", "Endorsed", given.tx)],
        source: None,
        note: None,
    }
}
