//! What labelled addresses are part of the totals: their agents, the jobs of these, the jobs that they paid for, and validations of their
//! agents.

use crate::model::JobStatus;
use plugin_api::{AgentId, HostError, Query, Sql, Tx, Wei, point::LabelledAddresses, sql};
use serde::Deserialize;

/// Key of the only row.
const ROW: i64 = 1;
/// Jobs of one statement.
const JOBS_MAX: i64 = 20_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct LabelledTotals {
    pub agents: i64,
    pub active: i64,
    pub jobs: i64,
    pub jobs_completed: i64,
    pub volume: Wei,
    pub fees: Wei,
    pub validations: i64,
}

pub async fn find(db: &impl Query) -> Result<LabelledTotals, HostError> {
    let select = sql("SELECT agents, active, jobs, jobs_completed, volume, fees, validations FROM agents_labelled \
         WHERE id = $1");
    Ok(db.row(select.bind(ROW)).await?.unwrap_or_default())
}

pub async fn store(tx: &Tx, labelled: &LabelledTotals) -> Result<(), HostError> {
    let LabelledTotals { agents, active, jobs, jobs_completed, volume, fees, validations } = labelled.clone();
    let columns = "agents, active, jobs, jobs_completed, volume, fees, validations";
    let store = Sql::upsert("agents_labelled", "id", columns);
    tx.execute(store.bind((ROW, agents, active, jobs, jobs_completed, volume, fees, validations))).await.map(drop)
}

/// Counts them anew, some jobs at a time.
pub async fn count(db: &impl Query, all: &[LabelledAddresses]) -> Result<LabelledTotals, HostError> {
    if all.is_empty() {
        return Ok(LabelledTotals::default());
    }
    let is_owner = format!("NOT ({})", LabelledAddresses::leave_out(all, "a.owner"));
    let is_client = format!("NOT ({})", LabelledAddresses::leave_out(all, "j.client"));
    let agents =
        format!("SELECT count(*), cast(coalesce(sum(a.active), 0) AS BIGINT) FROM agents_agents a WHERE {is_owner}");
    let (agents, active) = db.one(sql(agents)).await?;
    let validations = format!(
        "SELECT count(*) FROM agents_validations v JOIN agents_agents a ON a.id = v.agent_id \
         WHERE v.response IS NOT NULL AND {is_owner}"
    );
    let validations = db.one(sql(validations)).await?;
    let mut counted = LabelledTotals { agents, active, validations, ..LabelledTotals::default() };
    let last: i64 = db.one::<Option<i64>>(sql("SELECT max(id) FROM agents_jobs")).await?.unwrap_or(0);
    let jobs = format!(
        "SELECT j.status, j.amount, j.fee FROM agents_jobs j LEFT JOIN agents_agents a ON a.id = j.agent_id \
         WHERE j.id > $1 AND j.id <= $2 AND ({is_client} OR {is_owner})"
    );
    let mut after = 0;
    while after < last {
        let until = after.saturating_add(JOBS_MAX);
        let rows: Vec<(JobStatus, Wei, Option<Wei>)> = db.rows(sql(jobs.clone()).bind((after, until))).await?;
        rows.into_iter().for_each(|(status, amount, fee)| counted.add_job(status, amount, fee));
        after = until;
    }
    Ok(counted)
}

/// What labelled clients are part of an agent's record.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelledClients {
    /// How many of them paid, and for how many jobs.
    pub payers: i64,
    pub paid_jobs: i64,
    pub zero_value: i64,
    pub rated_paid: i64,
}

/// Finds the rows of labelled clients by their addresses: an agent may have any number of clients.
pub async fn of_record(
    db: &impl Query,
    agent: AgentId,
    all: &[LabelledAddresses],
) -> Result<LabelledClients, HostError> {
    if all.is_empty() {
        return Ok(LabelledClients::default());
    }
    let views: Vec<String> = all.iter().map(|labelled| format!("SELECT address FROM {}", labelled.view)).collect();
    let labelled = views.join(" UNION ");
    let payers = format!(
        "SELECT count(*), cast(coalesce(sum(jobs), 0) AS BIGINT) FROM agents_payers \
         WHERE agent_id = $1 AND payer IN ({labelled})"
    );
    let (payers, paid_jobs) = db.one(sql(payers).bind(agent)).await?;
    let clients = format!(
        "SELECT cast(coalesce(sum(zero_value), 0) AS BIGINT), cast(coalesce(sum(rated_paid), 0) AS BIGINT) \
         FROM agents_clients WHERE agent_id = $1 AND client IN ({labelled})"
    );
    let (zero_value, rated_paid) = db.one(sql(clients).bind(agent)).await?;
    Ok(LabelledClients { payers, paid_jobs, zero_value, rated_paid })
}

impl LabelledTotals {
    fn add_job(&mut self, status: JobStatus, amount: Wei, fee: Option<Wei>) {
        self.jobs += 1;
        if matches!(status, JobStatus::Completed | JobStatus::Resolved) {
            self.jobs_completed += i64::from(status == JobStatus::Completed);
            self.volume = self.volume.saturating_add(amount);
            self.fees = self.fees.saturating_add(fee.unwrap_or(Wei::ZERO));
        }
    }
}
