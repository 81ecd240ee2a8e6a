//! One file per route.

pub mod get_payer;
pub mod get_supported;
pub mod settle_payment;
pub mod verify_payment;
