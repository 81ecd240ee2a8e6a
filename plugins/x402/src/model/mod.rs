//! Vouchers and payments: their forms, rules and states. Nothing here reads the database or the chain.

pub mod contracts;
mod names;
pub mod number;
mod payment;
mod request;
mod rules;
mod state;
mod terms;
mod view;
mod voucher;

pub use names::Names;
pub use payment::Payment;
pub use request::FacilitatorBody;
pub use rules::{Funds, FundsProblem, Requirement, check_price, check_terms};
pub use state::{EXPIRED, Exposure, OVERDUE, Outcome, State, VoucherRow, is_payers_doing};
pub use terms::{LIFE_MAX_S, LIFE_MIN_S, LIFE_S, Offered, RESOURCE_CHARS_MAX, terms, version_of};
pub use view::{
    BatchLimits, Kind, PayerView, SettleResponse, Settlement, Supported, VerifyResponse, VoucherLimits, VoucherView,
    receipt,
};
pub use voucher::{Voucher, voucher_types};
