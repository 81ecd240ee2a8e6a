//! One file per job, and the handler of the queue.

pub mod deliver;
pub mod follow_log;
pub mod prune_deliveries;
pub mod reseal_secrets;
