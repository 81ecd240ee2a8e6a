//! The process's limit of open files. A shell's or a unit's soft limit is often 1,024, which some thousand idle clients use up.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the soft limit to the hard one; returns what holds then.
pub(crate) fn raise_limit() -> u64 {
    match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((soft, hard)) if soft < hard => match setrlimit(Resource::RLIMIT_NOFILE, hard, hard) {
            Ok(()) => hard,
            Err(error) => {
                tracing::warn!(%error, soft, hard, "the limit of open files cannot be raised");
                soft
            }
        },
        Ok((soft, _)) => soft,
        Err(error) => {
            tracing::warn!(%error, "the limit of open files cannot be read");
            u64::MAX
        }
    }
}
