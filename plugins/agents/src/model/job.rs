//! Response types of a job.

use super::{Availability, JobStatus, ValidationView};
use plugin_api::{Address, AgentId, Hash256, JobId, JsonSchema, Wei};
use serde::{Deserialize, Serialize};

/// A job of the escrow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    #[serde(flatten)]
    pub row: JobRow,
    /// While delivered: until when the client may dispute, unix seconds.
    pub review_deadline: Option<i64>,
    /// While delivered: from when on the agent may claim the payment. The same second.
    pub claimable_at: Option<i64>,
    pub tx: JobTransactions,
}

/// The members of a job that are as in its row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobRow {
    pub id: JobId,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    /// Who requested and pays it.
    pub client: Address,
    /// What is escrowed; may be 0.
    pub amount: Wei,
    pub input_hash: Hash256,
    #[serde(rename = "inputURI")]
    pub input_uri: String,
    /// Null before the delivery.
    pub output_hash: Option<Hash256>,
    #[serde(rename = "outputURI")]
    pub output_uri: Option<String>,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub delivered_at: Option<i64>,
    pub status: JobStatus,
    /// Of a completed job: 1 to 5, or 0 when nobody reviewed it.
    pub rating: Option<u8>,
    #[serde(skip_serializing)]
    #[schemars(skip)]
    tx_requested: Hash256,
    #[serde(skip_serializing)]
    #[schemars(skip)]
    tx_delivered: Option<Hash256>,
    #[serde(skip_serializing)]
    #[schemars(skip)]
    tx_closed: Option<Hash256>,
    /// How long a client may review a delivery.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    review_window_s: i64,
}

impl From<JobRow> for JobView {
    fn from(row: JobRow) -> Self {
        let is_in_review = row.status == JobStatus::Delivered;
        let deadline = row.delivered_at.filter(|_| is_in_review).map(|at| at.saturating_add(row.review_window_s));
        let tx = JobTransactions { requested: row.tx_requested, delivered: row.tx_delivered, closed: row.tx_closed };
        Self { row, review_deadline: deadline, claimable_at: deadline, tx }
    }
}

/// The transactions that moved a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobTransactions {
    pub requested: Hash256,
    pub delivered: Option<Hash256>,
    /// Completed, refunded or resolved it.
    pub closed: Option<Hash256>,
}

/// Jobs, newest first.
#[derive(Serialize, JsonSchema)]
pub struct JobList {
    #[serde(flatten)]
    pub availability: Availability,
}

/// A job with what a validator said of its delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobDetail {
    #[serde(flatten)]
    pub job: JobView,
    pub validation: Option<ValidationView>,
}
