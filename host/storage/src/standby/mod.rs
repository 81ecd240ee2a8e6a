//! Reads of PostgreSQL's standbys, the read replicas: which there are, which one a request reads from, and how far one is behind.

pub(crate) mod read_replicas;
pub(crate) mod read_source;
pub(crate) mod wal_lsn;

pub use read_source::ReadSource;
