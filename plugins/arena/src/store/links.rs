//! Jobs that cite challenges: a derived table, written by handlers of chain events only.

use crate::model::{AgentId, ChallengeId, JobId};
use plugin_api::{Address, HostError, Tx, sql};

pub struct Link {
    pub job_id: JobId,
    pub challenge: ChallengeId,
    pub client: Address,
    pub agent_id: AgentId,
    pub requested_at: i64,
}

pub fn insert(tx: &Tx, link: Link) -> Result<(), HostError> {
    let insert = sql("INSERT INTO arena_links (job_id, challenge_id, client, agent_id, requested_at) \
            VALUES ($1, $2, $3, $4, $5)");
    let Link { job_id, challenge, client, agent_id, requested_at } = link;
    tx.defer(insert.bind(job_id).bind(challenge).bind(client).bind(agent_id).bind(requested_at))
}
