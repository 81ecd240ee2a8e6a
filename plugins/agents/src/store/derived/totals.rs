//! Totals that are maintained with each event, so that reads need no count.

use crate::model::AgentStatus;
use plugin_api::{Sql, Wei, sql};
use serde::Deserialize;

/// Totals of the network's jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Totals {
    pub jobs: i64,
    pub jobs_completed: i64,
    /// Sum of the amounts of completed and resolved jobs.
    pub volume: Wei,
    /// Sum of their fees.
    pub fees: Wei,
    /// Validations with a response.
    pub validations: i64,
}

/// Key of the only row.
const ROW: i64 = 1;

pub fn read() -> Sql {
    sql("SELECT jobs, jobs_completed, volume, fees, validations FROM agents_totals WHERE id = $1").bind(ROW)
}

impl Totals {
    pub fn settle(&mut self, amount: Wei, fee: Wei, is_completed: bool) {
        self.volume = self.volume.saturating_add(amount);
        self.fees = self.fees.saturating_add(fee);
        self.jobs_completed += i64::from(is_completed);
    }

    /// Stores the changes of [`Self::settle`].
    pub fn store(&self) -> Sql {
        sql("INSERT INTO agents_totals (id, jobs, jobs_completed, volume, fees, validations) \
             VALUES ($1, 0, $2, $3, $4, 0) ON CONFLICT (id) DO UPDATE SET \
             jobs_completed = excluded.jobs_completed, volume = excluded.volume, fees = excluded.fees")
        .bind(ROW)
        .bind(self.jobs_completed)
        .bind(self.volume)
        .bind(self.fees)
    }
}

pub fn count_job() -> Sql {
    sql("INSERT INTO agents_totals (id, jobs, jobs_completed, volume, fees, validations) \
         VALUES ($1, 1, 0, '0', '0', 0) ON CONFLICT (id) DO UPDATE SET jobs = agents_totals.jobs + 1")
    .bind(ROW)
}

pub fn count_validation() -> Sql {
    sql("INSERT INTO agents_totals (id, jobs, jobs_completed, volume, fees, validations) \
         VALUES ($1, 0, 0, '0', '0', 1) ON CONFLICT (id) DO UPDATE SET validations = agents_totals.validations + 1")
    .bind(ROW)
}

/// Adds `more` to the count of agents with a status.
pub fn count_agents(status: AgentStatus, more: i64) -> Sql {
    sql("INSERT INTO agents_counts (status, agents) VALUES ($1, $2) \
         ON CONFLICT (status) DO UPDATE SET agents = agents_counts.agents + excluded.agents")
    .bind(status)
    .bind(more)
}
