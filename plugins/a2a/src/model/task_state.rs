//! How far a task is.

use super::Dialect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    Working,
    Completed,
    Failed,
    Canceled,
}

impl TaskState {
    pub const fn name(self, dialect: Dialect) -> &'static str {
        match (self, dialect) {
            (Self::Working, Dialect::V1) => "TASK_STATE_WORKING",
            (Self::Completed, Dialect::V1) => "TASK_STATE_COMPLETED",
            (Self::Failed, Dialect::V1) => "TASK_STATE_FAILED",
            (Self::Canceled, Dialect::V1) => "TASK_STATE_CANCELED",
            (Self::Working, _) => "working",
            (Self::Completed, _) => "completed",
            (Self::Failed, _) => "failed",
            (Self::Canceled, _) => "canceled",
        }
    }
}
