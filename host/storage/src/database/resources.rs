//! What the database takes: room on the disk, or connections.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseResources {
    /// SQLite: the file on the disk, and the log of what is not in it yet.
    pub file_bytes: Option<u64>,
    pub wal_bytes: Option<u64>,
    /// SQLite: what the gateway's user may still write on that disk.
    pub free_disk_bytes: Option<u64>,
    /// PostgreSQL.
    pub pool: Option<PoolStatus>,
}

/// The connections to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStatus {
    pub max: usize,
    pub open: usize,
    pub idle: usize,
    /// Callers without one.
    pub waiting: usize,
}
