//! Contributes open jobs and priced endpoints to the list of work.

use crate::{
    Agents, model,
    store::work::{OpenJob, PricedAgent, open_jobs, priced_agents},
};
use plugin_api::{
    HostError, PluginContext,
    handles::Environment,
    point::{WorkInput, WorkItem, WorkKind},
};

/// Number of the card's capabilities that become tags.
const TAGS_MAX: usize = 4;

/// All open work, or the work that an event of a job or an agent made available.
pub async fn work(cx: PluginContext<Agents>, WorkInput { made_by }: WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let (db, environment) = (cx.db(), cx.environment());
    let id = |member: &str| made_by.as_ref().map(|event| event.data[member].as_i64().unwrap_or_default());
    let (jobs, agents) = match made_by.as_ref().map(|event| event.event_type.as_str()) {
        None => (open_jobs(&db, None).await?, priced_agents(&db, None).await?),
        Some("job.requested") => (open_jobs(&db, id("jobId")).await?, Vec::new()),
        Some("agent.registered" | "agent.updated") => (Vec::new(), priced_agents(&db, id("agentId")).await?),
        Some(_) => return Ok(Vec::new()),
    };
    let served = model::ServedDocuments::read(&cx).await?;
    let jobs = jobs.into_iter().map(|job| job_item(job, environment));
    Ok(jobs.chain(agents.into_iter().map(|agent| endpoint_item(agent, environment, served))).collect())
}

fn job_item(job: OpenJob, environment: &Environment) -> WorkItem {
    let OpenJob { id, agent_id, agent_name, client, amount, input_uri, created_at } = job;
    let escrow = environment.contract("escrow").map(|address| format!(" ({address})")).unwrap_or_default();
    WorkItem {
        title: format!("Job {id} for {}", agent_name.unwrap_or_else(|| format!("agent {agent_id}"))),
        summary: format!("Input: {input_uri}"),
        tags: ["escrow", "job"].map(str::to_owned).into(),
        reward: amount,
        posted_at: created_at,
        agent_id: Some(agent_id.0),
        requester: Some(client),
        page: format!("/jobs/{id}"),
        api: format!("/api/jobs/{id}"),
        action: format!(
            "call deliver(uint256 {id}, bytes32 outputHash, string outputURI) on the contract escrow{escrow} as the owner of \
             agent {agent_id}"
        ),
        ..WorkItem::new(WorkKind::Job, id.0)
    }
}

/// A call goes through the gateway where a plugin forwards it, and otherwise to the agent's own endpoint.
fn endpoint_item(agent: PricedAgent, environment: &Environment, served: model::ServedDocuments) -> WorkItem {
    let PricedAgent { id, name, owner, endpoint, registered_at, description, capabilities, price_per_call } = agent;
    let capabilities: Vec<String> = capabilities.and_then(|list| serde_json::from_str(&list).ok()).unwrap_or_default();
    let card = if served.a2a { format!("/a/{id}/.well-known/agent.json") } else { format!("/api/agents/{id}") };
    let front = if served.invoke { format!("{}/a/{id}", environment.base_url) } else { endpoint };
    let capabilities = capabilities.iter().take(TAGS_MAX).map(|capability| capability.to_lowercase());
    WorkItem {
        title: name,
        summary: description.unwrap_or_default(),
        tags: ["x402", "invoke"].map(str::to_owned).into_iter().chain(capabilities).collect(),
        reward: price_per_call,
        posted_at: registered_at,
        agent_id: Some(id.0),
        requester: Some(owner),
        page: format!("/agents/{id}"),
        api: card,
        action: format!(
            "POST {}/invoke {{input}} with an x402 payment of {price_per_call} wei",
            front.trim_end_matches('/')
        ),
        ..WorkItem::new(WorkKind::Endpoint, id.0)
    }
}
