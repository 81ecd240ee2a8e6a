//! The contracts' events, the events of the activity log, and the response types with what depends on the time of reading.

pub mod contracts;
mod event;
mod stream;
mod view;

pub use event::{AccountEvent, CaseEvent, JobParties, LaunchEvent, StreamCancellation, SubscriptionEvent};
pub use stream::{StreamStatus, StreamView};
pub use view::{AccountView, CaseStatus, DisputeView, EvidenceView, PlanView, SubView, TokenView};
