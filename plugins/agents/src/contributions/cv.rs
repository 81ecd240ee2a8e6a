//! Claims for an agent's credential: its registration, jobs, feedback and validations, how it answers, and what it declares.

use crate::{
    Agents,
    model::{EVENT_TYPES, JobStatus, card_url},
    store::{
        cards, labelled,
        record::{self, RecordAgent, RecordFeedback, RecordJob, RecordValidation, Sums},
    },
};
use futures_util::future::{try_join, try_join3, try_join4};
use plugin_api::{
    Address, AgentId, HostError, PluginContext,
    point::{CvClaim, CvClaimsInput, CvLog, CvRecord, members},
};
use serde_json::{Value, json};

const KINDS: [&str; 6] = ["Registration", "EscrowJob", "Feedback", "Validation", "Reliability", "Capability"];
/// Of feedback and of validations.
const NEWEST_MAX: u32 = 50;

pub async fn cv_claims(cx: PluginContext<Agents>, input: CvClaimsInput) -> Result<CvRecord, HostError> {
    let CvClaimsInput { agent_id, owner, claims_max } = input;
    let covers = KINDS.map(str::to_owned).into();
    let db = cx.db();
    let Some(agent) = record::agent(&db, agent_id).await? else {
        return Ok(CvRecord { covers, ..CvRecord::default() });
    };
    let facts = try_join3(
        record::jobs(&db, agent_id, claims_max),
        record::feedback(&db, agent_id, NEWEST_MAX),
        record::validations(&db, agent_id, NEWEST_MAX),
    );
    let labelled = async { labelled::of_record(&db, agent_id, &cx.labelled_addresses().await?).await };
    let sums = try_join4(
        record::sums(&db, agent_id),
        labelled,
        cards::uptime(&db, agent_id),
        record::validations_by(&db, agent_id, owner),
    );
    let ((jobs, feedback, validations), (sums, labelled, uptime, own_validations)) = try_join(facts, sums).await?;
    let uptime = json!(uptime);
    let left_out = CvRecord::left_out([
        ("EscrowJob", sums.jobs, jobs.len()),
        ("Feedback", sums.feedback, feedback.len()),
        ("Validation", sums.validations, validations.len()),
    ]);
    let base_url = &cx.environment().base_url;
    let mut claims = vec![registration(agent_id, owner, &agent)];
    claims.extend(jobs.iter().map(job));
    claims.extend(feedback.iter().map(one_feedback));
    claims.extend(validations.iter().map(|validation| one_validation(owner, validation)));
    claims.push(reliability(agent_id, base_url, &agent, &sums, &uptime));
    claims.extend(capability(&cx.environment().brand.marker, &agent));
    let Sums { feedback: total, paid_feedback: paid, validations: validated, scored, response_sum, .. } = sums;
    let average = (scored > 0).then(|| (2 * response_sum + scored).div_euclid(2 * scored));
    let summary = members([
        ("jobsSettled", json!(sums.settled)),
        (
            "armsLength",
            json!({
                "paidJobsCompleted": agent.paid_jobs - labelled.paid_jobs, "zeroValueJobs": sums.zero_value - labelled.zero_value,
                "distinctPayers": agent.payers - labelled.payers, "ratedPaidJobs": sums.rated_paid - labelled.rated_paid,
            }),
        ),
        ("unratedCompletions", json!(sums.unrated)),
        ("escrowEarnedWei", json!(sums.payouts)),
        ("escrowFeesWei", json!(sums.fees)),
        ("feedback", json!({ "total": total, "paymentBacked": paid, "unbacked": total - paid })),
        (
            "validations",
            json!({ "total": validated, "scored": scored, "avgResponse": average, "selfAttested": own_validations }),
        ),
        ("uptime", uptime),
    ]);
    let activity_types = EVENT_TYPES.map(str::to_owned).into();
    Ok(CvRecord { covers, claims, left_out, summary, activity_types, ..CvRecord::default() }.within_bounds())
}

/// What was registered, the event tells; who registered it may not be its owner today.
fn registration(id: AgentId, owner: Address, agent: &RecordAgent) -> CvClaim {
    let fields = [("agentId", json!(id)), ("name", json!(agent.name))];
    let note = format!("the event is not indexed yet; the owner today is {owner}");
    CvClaim::new("Registration", "registration", fields)
        .stated(agent.registered_at)
        .proved_by([CvLog::new("registry", "AgentRegistered", None)])
        .asserted(format!("/api/agents/{id}"), note)
}

fn job(job: &RecordJob) -> CvClaim {
    let log = |event: &str, tx| CvLog::new("escrow", event, tx);
    let requested = log("JobRequested", job.tx_requested);
    let delivered = job.tx_delivered.map(|tx| log("JobDelivered", tx));
    let settled = match job.status {
        JobStatus::Completed => Some("JobCompleted"),
        JobStatus::Resolved => Some("JobResolved"),
        JobStatus::Refunded => Some("JobRefunded"),
        _ => None,
    };
    let settled = settled.zip(job.tx_closed).map(|(event, tx)| log(event, tx));
    let fields = [
        ("jobId", json!(job.id)),
        ("client", json!(job.client)),
        ("amountWei", json!(job.amount)),
        ("outcome", json!(job.status.name())),
        ("rating", json!(job.rating.filter(|rating| *rating > 0))),
        ("outputHash", json!(job.output_hash)),
        ("inputHash", json!(job.input_hash)),
    ];
    let mut claim = CvClaim::new("EscrowJob", format!("job:{}", job.id), fields);
    if matches!(job.status, JobStatus::Completed | JobStatus::Resolved) {
        claim.fields.extend(members([("payoutWei", json!(job.agent_payout)), ("feeWei", json!(job.fee))]));
    }
    // The deciding event first: the settlement, or the request of a job that is not settled.
    claim.proved_by(settled.into_iter().chain([requested]).chain(delivered))
}

fn one_feedback(given: &RecordFeedback) -> CvClaim {
    let fields = [
        ("client", json!(given.client)),
        ("value", json!(given.value)),
        ("valueDecimals", json!(given.value_decimals)),
        ("tag1", json!(given.tag1)),
        ("tag2", json!(given.tag2)),
        ("feedbackURI", json!(given.feedback_uri)),
        ("paymentBacked", json!(given.is_paid)),
    ];
    let id = format!("feedback:{}:{}", given.client, given.feedback_index);
    let claim = CvClaim::new("Feedback", id, fields).stated(given.given_at);
    claim.proved_by([CvLog::new("reputation8004", "NewFeedback", given.tx)])
}

fn one_validation(owner: Address, validation: &RecordValidation) -> CvClaim {
    let is_own = validation.validator == owner;
    let fields = [
        ("requestHash", json!(validation.request_hash)),
        ("validator", json!(validation.validator)),
        ("validatorTier", json!(if is_own { "self" } else { "independent" })),
        ("jobId", json!(validation.job_id)),
        ("response", json!(validation.response)),
        ("tag", json!(validation.tag.as_deref().unwrap_or_default())),
        ("requestURI", json!(validation.request_uri)),
        ("responseURI", json!(validation.response_uri.as_deref().unwrap_or_default())),
        ("selfAttested", json!(is_own)),
    ];
    let request = CvLog::new("validation8004", "ValidationRequest", validation.tx_request);
    let response = validation.tx_response.map(|tx| CvLog::new("validation8004", "ValidationResponse", tx));
    CvClaim::new("Validation", format!("validation:{}", validation.request_hash), fields)
        .stated(validation.responded_at.unwrap_or(validation.requested_at))
        .proved_by(response.into_iter().chain([request]))
}

fn reliability(id: AgentId, base_url: &str, agent: &RecordAgent, sums: &Sums, uptime: &Value) -> CvClaim {
    let fields = [
        ("uptimePct", uptime["uptimePct"].clone()),
        ("probes", uptime["probes"].clone()),
        ("probeDays", uptime["days"].clone()),
        ("online", json!(agent.online)),
        ("lastSeen", json!(agent.last_seen_ms)),
        ("deliveredJobs", json!(sums.delivered)),
        ("settledJobs", json!(sums.settled)),
    ];
    let source = format!("{base_url}/api/agents/{id}");
    let note = "probes of the agent's card by this gateway, as of the issue";
    CvClaim::new("Reliability", "reliability", fields).asserted(source, note)
}

/// What the card of an agent says; none without a card.
fn capability(marker: &str, agent: &RecordAgent) -> Option<CvClaim> {
    let card: Value = serde_json::from_str(agent.card.as_deref()?).ok()?;
    let capabilities: Value = serde_json::from_str(agent.capabilities.as_deref().unwrap_or("[]")).unwrap_or(json!([]));
    let url = card_url(&agent.endpoint, marker);
    let fields = [
        ("capabilities", capabilities),
        ("model", json!(agent.model)),
        ("version", json!(card["version"].as_str())),
        ("pricePerCallWei", json!(agent.price_per_call)),
        ("card", json!(url)),
    ];
    Some(CvClaim::new("Capability", "capabilities", fields).asserted(url, "what the agent's own card says"))
}
