//! Types and rules of agents and jobs, without a database: states, ranking, cards, response types.

mod agent;
mod availability;
mod card;
mod event;
mod job;
mod links;
mod registration;
mod slug;
mod sort;
mod standing;
mod status;
mod validation;

pub use agent::{AgentDetail, AgentRecord, AgentView, Presence, average};
pub use availability::Availability;
pub use card::{CARD_BYTES_MAX, Card, Declared, card_url};
pub use event::{EVENT_TYPES, agent_event, feedback_event, job_event, validation_event};
pub use event::{FeedbackFacts, JobFacts, ValidationFacts};
pub use job::{JobDetail, JobTransactions, JobView};
pub use links::{AgentLinks, CvLinks};
pub use plugin_api::{AgentId, JobId};
pub use registration::{Registration, RegistrationSubject};
pub use slug::slug;
pub use sort::Sort;
pub use standing::Standing;
pub use status::{AgentStatus, AgentStatusFilter, JobStatus, JobStatusFilter};
pub use validation::{ValidationSummary, ValidationView};
