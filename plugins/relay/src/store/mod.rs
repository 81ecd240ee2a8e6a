//! The SQL: sponsored calls, accounts, the caps that are counted with them, and what both tables have in common.

pub mod accounts;
pub mod calls;
pub mod caps;
pub mod sends;
