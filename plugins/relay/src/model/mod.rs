//! What is relayed, without database and chain.

mod call;
mod contracts;
mod revert;
mod salt;
mod view;

pub use call::{Call, CallBody, GAS_MAX, execute_fields};
pub use contracts::{ACCOUNT_FACTORY, ACCOUNT_IMPL, CREATE, IS_ACCOUNT, NONCE, PREDICT, TARGETS};
pub use revert::plain_reason;
pub use salt::Salt;
pub use view::{AccountView, CallView, Domain, Limits, NewAccount, RelayView, Signing, TypeField};
