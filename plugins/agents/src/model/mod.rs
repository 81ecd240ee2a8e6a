//! Types and rules of agents and jobs, without a database: statuses, ranking, cards, response types.

mod agent;
mod availability;
mod card;
mod delivery;
mod event;
mod job;
mod links;
mod registration;
mod slug;
mod sort;
mod standing;
mod status;
mod uptime;
mod validation;

pub use agent::{AgentDetail, AgentRecord, AgentView, DetailState, Presence, average};
pub use availability::Availability;
pub use card::{CARD_BYTES_MAX, Card, Declared, card_url};
pub use delivery::{Delivery, names_validator};
pub use event::{
    AUDITED_TYPES, ChainSource, EVENT_TYPES, FeedbackGiven, JobFacts, ValidationDone, ValidationRequested,
};
pub use event::{agent_event, job_event};
pub use job::{JobDetail, JobList, JobRow, JobView};
pub use links::{AgentLinks, CvLinks, ServedDocuments};
pub use registration::{Registration, RegistrationSubject};
pub use slug::slug;
pub use sort::Sort;
pub use standing::Standing;
pub use status::{AgentStatus, JobStatus, status_filter};
pub use uptime::{UPTIME_DAYS, Uptime};
pub use validation::{ValidationSummary, ValidationView};
