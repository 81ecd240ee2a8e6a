//! Claims for an agent's credential: streams and plans of its owner, disputes of its jobs, its tokens.

use crate::{
    Economy,
    model::contracts::{ARBITER_POOL, STREAM_PAY, TOKEN_FACTORY},
    store::record::{self, RecordDispute, RecordPlan, RecordStream, RecordToken},
};
use plugin_api::{
    Hash256, HostError, PluginContext,
    point::{CvClaim, CvClaimsInput, CvLog, CvRecord, members},
};
use serde_json::json;

const KINDS: [&str; 5] = ["Stream", "StreamPayment", "SubscriptionPlan", "Dispute", "TokenLaunch"];
/// A client with this share or more has won.
const HALF_BPS: i64 = 5000;

pub async fn cv_claims(cx: PluginContext<Economy>, input: CvClaimsInput) -> Result<CvRecord, HostError> {
    let CvClaimsInput { agent_id, owner, claims_max } = input;
    let db = cx.db();
    let incoming = record::streams(&db, true, owner, claims_max).await?;
    let outgoing = record::streams(&db, false, owner, claims_max).await?;
    let plans = record::plans(&db, owner, cx.now_s(), claims_max).await?;
    let disputes = record::disputes(&db, agent_id, claims_max).await?;
    let tokens = record::tokens(&db, agent_id, claims_max).await?;
    let (cases, open, lost) = record::dispute_sums(&db, agent_id).await?;
    let streams = record::count_streams(&db, true, owner).await?;
    let paid_streams = record::count_streams(&db, false, owner).await?;
    let (plan_count, token_count) =
        (record::count_plans(&db, owner).await?, record::count_tokens(&db, agent_id).await?);
    let [stream, stream_payment, plan_kind, dispute_kind, launch] = KINDS;
    let left_out = CvRecord::left_out([
        (stream, streams, incoming.len()),
        (stream_payment, paid_streams, outgoing.len()),
        (plan_kind, plan_count, plans.len()),
        (dispute_kind, cases, disputes.len()),
        (launch, token_count, tokens.len()),
    ]);
    let claims = incoming.iter().map(|stream| one_stream("Stream", "stream", stream));
    let claims = claims.chain(outgoing.iter().map(|stream| one_stream("StreamPayment", "stream:out", stream)));
    let claims = claims.chain(plans.iter().filter_map(plan)).chain(disputes.iter().map(dispute));
    let summary = members([
        ("streams", json!(streams)),
        ("subscriptionPlans", json!(plan_count)),
        ("disputes", json!({ "total": cases, "open": open, "lostByAgent": lost })),
        ("tokensLaunched", json!(token_count)),
    ]);
    Ok(CvRecord {
        covers: KINDS.map(str::to_owned).into(),
        claims: claims.chain(tokens.iter().map(token)).collect(),
        left_out,
        summary,
        activity_types: crate::chain::EVENT_TYPES.map(str::to_owned).into(),
        ..CvRecord::default()
    }
    .within_bounds())
}

/// Deposit and end are those of the event: a stream may have been topped up since.
fn one_stream(kind: &str, prefix: &str, stream: &RecordStream) -> CvClaim {
    let fields =
        [("streamId", json!(stream.id)), ("claimedWei", json!(stream.claimed)), ("cancelled", json!(stream.cancelled))];
    let opened = CvLog::new(STREAM_PAY, "StreamOpened", stream.tx_opened);
    CvClaim::new(kind, format!("{prefix}:{}", stream.id), fields).proved_by([opened])
}

fn plan(plan: &RecordPlan) -> Option<CvClaim> {
    let fields =
        [("planId", json!(plan.id)), ("active", json!(plan.active)), ("activeSubscribers", json!(plan.subscribers))];
    let created = CvLog::new(STREAM_PAY, "PlanCreated", plan.tx_created.parse::<Hash256>().ok()?);
    let claim = CvClaim::new("SubscriptionPlan", format!("plan:{}", plan.id), fields);
    Some(claim.stated(plan.created_at).proved_by([created]))
}

fn dispute(case: &RecordDispute) -> CvClaim {
    let outcome = match case.result.filter(|_| case.closed) {
        None => "open",
        Some(bps) if bps >= HALF_BPS => "mostly for the client",
        Some(_) => "mostly for the agent",
    };
    let fields = [
        ("caseId", json!(case.id)),
        ("jobId", json!(case.job_id)),
        ("opener", json!(case.opener)),
        ("closed", json!(case.closed)),
        ("clientBps", json!(case.result)),
        ("outcome", json!(outcome)),
        ("evidenceURI", json!(case.evidence_uri)),
    ];
    let opened = CvLog::new(ARBITER_POOL, "CaseOpened", case.tx_opened);
    let closed = case.tx_closed.map(|tx| CvLog::new(ARBITER_POOL, "CaseClosed", tx));
    let claim = CvClaim::new("Dispute", format!("dispute:{}", case.id), fields);
    claim.stated(case.closed_at.unwrap_or(case.opened_at)).proved_by(closed.into_iter().chain([opened]))
}

fn token(token: &RecordToken) -> CvClaim {
    let fields = [
        ("token", json!(token.token)),
        ("buys", json!(token.buys)),
        ("sells", json!(token.sells)),
        ("fmxInWei", json!(token.fmx_in)),
        ("fmxOutWei", json!(token.fmx_out)),
    ];
    let claim = CvClaim::new("TokenLaunch", format!("token:{}", token.token), fields).stated(token.launched_at);
    claim.proved_by([CvLog::new(TOKEN_FACTORY, "Launched", token.tx_launched)])
}
