//! Where the gateways of a run store: one gateway in a file of SQLite, several on one simulated PostgreSQL.

use crate::{dice::Dice, machine};
use gateway_storage::{Faults, SimulatedPostgres, SimulationCounts};
use rusqlite::{Connection, OpenFlags};
use std::{cell::RefCell, path::Path, time::Duration};

/// Waits for the gateway's own writes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);
/// How late a COMMIT without an answer may take effect.
const COMMIT_LATE_MAX: Duration = Duration::from_secs(2);

pub struct Database {
    server: Option<SimulatedPostgres>,
    /// Of each client of the server, in the order in which they connected, the place of its gateway.
    owners: RefCell<Vec<usize>>,
    /// COMMITs that the server forgets, of a planted fault.
    forgets_per_mille: u32,
}

impl Database {
    pub fn new(gateways: usize, seed: u64, forgets_per_mille: u32) -> Result<Self, String> {
        let start = || SimulatedPostgres::start(seed, machine::now_ms).map_err(|error| error.to_string());
        let server = (gateways > 1).then(start).transpose()?;
        Ok(Self { server, owners: RefCell::default(), forgets_per_mille })
    }

    /// None for a file of the gateway's own.
    pub fn url(&self) -> Option<String> {
        self.server.as_ref().map(SimulatedPostgres::url)
    }

    pub fn is_shared(&self) -> bool {
        self.server.is_some()
    }

    /// What is committed. `file` is SQLite's.
    pub fn look<T>(&self, file: &Path, look: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, String> {
        let looked = match &self.server {
            Some(server) => return server.look(look).map_err(|error| format!("the database cannot be read: {error}")),
            None => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Connection::open_with_flags(file, flags).and_then(|connection| {
                    connection.busy_timeout(LOCK_TIMEOUT)?;
                    // One snapshot for all.
                    connection.execute_batch("BEGIN")?;
                    look(&connection)
                })
            }
        };
        looked.map_err(|error| format!("the database cannot be read: {error}"))
    }

    /// Changes what is stored, past the gateways.
    pub fn tamper(&self, file: &Path, sql: &str) -> Result<(), String> {
        let changed = match &self.server {
            Some(server) => server.tamper(sql).map_err(|error| error.to_string()),
            None => Connection::open(file)
                .and_then(|connection| {
                    connection.busy_timeout(LOCK_TIMEOUT)?;
                    connection.execute_batch(sql)
                })
                .map_err(|error| error.to_string()),
        };
        changed.map_err(|error| format!("the database cannot be changed: {error}"))
    }

    /// From now on the server runs statements in which this part is replaced.
    pub fn alter_statements(&self, parts: &[(&'static str, &'static str)]) {
        if let Some(server) = &self.server {
            server.alter_statements(parts);
        }
    }

    /// The clients that nobody owns yet are of the gateway that starts there: one starts at a time.
    pub fn claim_clients(&self, place: usize) {
        if let Some(server) = &self.server {
            self.owners.borrow_mut().resize(server.clients().len(), place);
        }
    }

    /// As the server notices that a gateway was killed.
    pub fn disconnect(&self, place: usize) {
        self.claim_clients(place);
        let Some(server) = &self.server else { return };
        let clients = server.clients();
        for (client, _) in clients.into_iter().zip(&*self.owners.borrow()).filter(|(_, owner)| **owner == place) {
            server.disconnect(client);
        }
    }

    /// The server fails from now on, each day in another way.
    pub fn disturb(&self, dice: &mut Dice) {
        let Some(server) = &self.server else { return };
        let mut per_mille = |most: u64| u32::try_from(dice.below(most + 1)).unwrap_or(0);
        server.set_faults(Faults {
            conflict: per_mille(40),
            connection_lost: per_mille(6),
            commit_answer_lost: per_mille(40),
            commit_lost: per_mille(20),
            commit_late: per_mille(20),
            commit_late_max: COMMIT_LATE_MAX,
            commit_forgotten: self.forgets_per_mille,
            notification_lost: per_mille(200),
            notification_late_max: Duration::from_millis(300),
            latency_max: Duration::from_micros(u64::from(per_mille(4000))),
        });
    }

    pub fn set_away(&self, is_away: bool) {
        if let Some(server) = &self.server {
            server.set_away(is_away);
        }
    }

    /// Nothing of the server fails any more; what it commits late still comes.
    pub fn heal(&self) {
        if let Some(server) = &self.server {
            server.set_faults(Faults::default());
            server.set_away(false);
        }
    }

    /// A number that follows from everything that the server was asked, and what happened there.
    pub fn trace(&self) -> Option<(u64, SimulationCounts)> {
        self.server.as_ref().map(|server| (server.trace_hash(), server.counts()))
    }
}
