//! What the plugin does for others: the payment service, and contributions to extension points.

mod audit;
mod cv;
mod examine;
mod facilitator;
mod payments;
mod points;
mod refusal;
mod reserve;
mod vault;

pub use audit::audit_lines;
pub use cv::cv_claims;
pub use examine::{Examined, examine};
pub use facilitator::{BlockedQueue, Facilitator, FundedAccount, ROLE, facilitator, open_vault, vault_address};
pub use payments::{check, end, offer, paid_since, settle_at_once, settle_when_full, take};
pub use points::{counters, discovery, health, status};
pub use refusal::{Refusal, Stop};
pub use reserve::reserve;
pub use vault::read_account;
