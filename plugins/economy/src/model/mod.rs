//! Response types of each record, with the members that depend on the time of reading.

mod account;
mod dispute;
mod stream;
mod subscription;
mod token;

pub use account::AccountView;
pub use dispute::{CaseStatus, DisputeView, EvidenceView};
pub use stream::{Flow, StreamStatus, StreamView, claimable, status};
pub use subscription::{PlanView, SubView};
pub use token::TokenView;
