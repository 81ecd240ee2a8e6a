//! What readers get of each record, and what of it follows from the time of reading.

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
