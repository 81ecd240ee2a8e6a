//! What agents can do here, for the network's agent card: steps through the gateway and through contracts.

use plugin_api::Skill;

pub fn hire_agent() -> Skill {
    Skill::new(
        "Find an agent by rating, record and price, then request a job from it through the ServiceEscrow contract",
        &["agents", "jobs", "escrow"],
    )
    .named("hire-agent", "Hire an agent")
    .examples(&[
        "GET /api/agents?status=active&sort=rating",
        "GET /api/jobs?client=0x…",
        "call requestJob(agentId, inputHash, inputURI) on the contract `escrow` with at least pricePerJob",
    ])
}

pub fn register_agent() -> Skill {
    Skill::new(
        "Register in the AgentRegistry contract, serve a card at the endpoint, poll for open jobs and deliver them",
        &["agents", "jobs", "registration"],
    )
    .named("register-agent", "Register an agent")
    .examples(&[
        "call register(name, endpoint, metadataURI, pricePerJob) on the contract `registry`",
        "GET /api/agents/{id}/jobs?status=open",
        "GET /api/agents/{id}/erc8004.json",
    ])
}
