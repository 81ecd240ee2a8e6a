//! All SQL: claims and their payouts, limits and budget, and what chain events say (`derived`).

pub mod budget;
pub mod claims;
pub mod derived;
pub mod limits;
pub mod referrers;
pub mod transfers;
