//! Agents and their jobs, derived from chain events, with the cards that agents serve.
//!
//! README.md has the details. The rule that must not break: rows of the chain follow from its events alone (`chain/`), and an
//! agent's own card never changes them (`jobs/probe_cards.rs`).

#![forbid(unsafe_code)]

mod chain;
mod config;
mod contributions;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

pub use config::Config;

use plugin_api::{
    ConfigError, Definition, Grants, HostHandle, Plugin, Skill, chain::MAIN as MAIN_CHAIN, export_plugin, migrations,
    point,
};

/// The plugin's state in memory.
pub struct Agents {
    config: Config,
    /// When this plugin started: it has probed nothing before.
    started_s: i64,
    sweep: store::probes::Sweep,
}

/// Of jobs, agents, validations and feedback, in the order of their keys.
const PAYLOAD_REFERENCES: [&str; 4] = [
    "SELECT id, input_hash || ' ' || input_uri || ' ' || coalesce(output_hash, '') || ' ' || coalesce(output_uri, '') \
     FROM agents_jobs WHERE id > $1 ORDER BY id LIMIT 1000",
    "SELECT id, endpoint || ' ' || metadata_uri FROM agents_agents WHERE id > $1 ORDER BY id LIMIT 1000",
    "SELECT agent_id, request_uri || ' ' || coalesce(response_uri, '') FROM agents_validations \
     WHERE agent_id = (SELECT min(agent_id) FROM agents_validations WHERE agent_id > $1)",
    "SELECT agent_id, feedback_hash || ' ' || feedback_uri FROM agents_feedback \
     WHERE agent_id = (SELECT min(agent_id) FROM agents_feedback WHERE agent_id > $1)",
];

fn hire_agent() -> Skill {
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

fn register_agent() -> Skill {
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

impl Plugin for Agents {
    type Config = Config;

    fn define() -> Definition<Self> {
        let definition = Definition::new()
            .tag("Agents and jobs")
            .routes([
                routes::list_agents::route(),
                routes::get_agent::route(),
                routes::list_agent_jobs::route(),
                routes::get_agent_registration::route(),
                routes::list_jobs::route(),
                routes::get_job::route(),
            ])
            .migrations(migrations![
                "0001_create",
                "0002_publish_views",
                "0003_keep_agents",
                per_dialect("0004_keep_cards"),
                "0005_list_by_id",
                "0006_find_agents",
                "0007_completed_since",
                "0008_request_validations",
                "0009_count_labelled",
                "0010_keep_sums",
            ])
            .views(&["agents_v1", "jobs_v1", "validations_v1", "feedback_v1"])
            .jobs([
                jobs::count_labelled::job(),
                jobs::probe_cards::job(),
                jobs::prune_probe_days::job(),
                jobs::read_review_window::job(),
                jobs::request_validations::job(),
            ])
            .grants(Grants {
                egress: true,
                chains: vec![MAIN_CHAIN.to_owned()],
                signer_roles: vec![contributions::oracle::ROLE.to_owned()],
                ..Grants::default()
            })
            .publishes(&model::EVENT_TYPES)
            .audits(&model::AUDITED_TYPES)
            .skill(hire_agent())
            .skill(register_agent())
            .contributes_cached(point::AUTHORS, contributions::authors)
            .contributes_cached(point::LEADERBOARD, contributions::leaderboard)
            .contributes(point::CV_CLAIMS, contributions::cv_claims)
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::DISCOVERY, contributions::discovery)
            .references_payloads(&PAYLOAD_REFERENCES)
            .contributes(point::WORK, contributions::work);
        chain::subscribe(definition)
    }

    fn new(config: Config, host: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { config, started_s: host.now_s(), sweep: store::probes::Sweep::default() })
    }
}

export_plugin!(Agents);
