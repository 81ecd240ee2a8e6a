//! Events of ArbiterPool: cases.

use super::{block, publish};
use crate::{
    Economy,
    deployment::ARBITER_POOL,
    store::{directory, disputes},
};
use plugin_api::{Address, ChainEvent, Definition, HostError, PluginContext, Tx, chain_int};
use serde::Deserialize;
use serde_json::json;

pub const OPENED_TYPE: &str = "case.opened";
pub const CLOSED_TYPE: &str = "case.closed";

const OPENED: &str =
    "CaseOpened(uint256 indexed caseId, uint256 indexed jobId, address indexed opener, string evidenceURI)";
const EVIDENCE: &str = "EvidenceSubmitted(uint256 indexed caseId, address indexed by, string uri)";
const VOTED: &str = "Voted(uint256 indexed caseId, address indexed arbiter, uint16 clientBps)";
const CLOSED: &str = "CaseClosed(uint256 indexed caseId, uint256 indexed jobId, uint16 clientBps)";

pub fn subscribe(definition: Definition<Economy>) -> Definition<Economy> {
    definition
        .on_chain_event(ARBITER_POOL, OPENED, &[disputes::TABLE], opened)
        .on_chain_event(ARBITER_POOL, EVIDENCE, &[disputes::TABLE, disputes::EVIDENCE_TABLE], evidence_submitted)
        .on_chain_event(ARBITER_POOL, VOTED, &[disputes::TABLE], voted)
        .on_chain_event(ARBITER_POOL, CLOSED, &[disputes::TABLE], closed)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    #[serde(deserialize_with = "chain_int")]
    case_id: i64,
    #[serde(deserialize_with = "chain_int")]
    job_id: i64,
    opener: Address,
    #[serde(rename = "evidenceURI")]
    evidence_uri: String,
}

async fn opened(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Opened>) -> Result<(), HostError> {
    let Opened { case_id, job_id, opener, evidence_uri } = &event.args;
    let row = disputes::NewCase {
        id: *case_id,
        job_id: *job_id,
        opener: *opener,
        evidence_uri,
        opened_at: event.time_s,
        tx_opened: event.tx,
        block: block(&event),
    };
    disputes::insert(&tx, row)?;
    let job = directory::job(&tx, *job_id).await?;
    let data = json!({
        "caseId": case_id, "jobId": job_id, "opener": opener, "evidenceURI": evidence_uri,
        "agentId": job.agent_id, "agentName": job.agent_name, "client": job.client,
    });
    publish(&tx, &event, OPENED_TYPE, Some(*opener), ("case", case_id.to_string()), data)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evidence {
    #[serde(deserialize_with = "chain_int")]
    case_id: i64,
    by: Address,
    uri: String,
}

async fn evidence_submitted(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Evidence>) -> Result<(), HostError> {
    let Evidence { case_id, by, uri } = &event.args;
    let row =
        disputes::NewEvidence { case_id: *case_id, by: *by, uri, ts: event.time_s, tx: event.tx, block: block(&event) };
    disputes::add_evidence(&tx, row)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Voted {
    #[serde(deserialize_with = "chain_int")]
    case_id: i64,
}

async fn voted(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Voted>) -> Result<(), HostError> {
    disputes::count_vote(&tx, event.args.case_id, block(&event))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Closed {
    #[serde(deserialize_with = "chain_int")]
    case_id: i64,
    #[serde(deserialize_with = "chain_int")]
    job_id: i64,
    client_bps: u16,
}

async fn closed(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Closed>) -> Result<(), HostError> {
    let Closed { case_id, job_id, client_bps } = event.args;
    disputes::close(&tx, case_id, client_bps, event.time_s, block(&event))?;
    let data = json!({ "caseId": case_id, "jobId": job_id, "clientBps": client_bps });
    publish(&tx, &event, CLOSED_TYPE, None, ("case", case_id.to_string()), data)
}
