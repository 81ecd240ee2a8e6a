//! What the faucet decides, without database and chain.

mod budget;
mod puzzle;
mod view;

pub use budget::{Budget, DAY_S};
pub use puzzle::{POW_CHARS_MAX, is_solved};
pub use view::{DripView, FaucetView, NewDrip, Pow};
