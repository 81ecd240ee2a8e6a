//! One file per job, named after it.

pub mod publish_root;
pub mod sign_checkpoint;
