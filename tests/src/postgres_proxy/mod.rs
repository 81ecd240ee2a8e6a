//! A TCP proxy in front of PostgreSQL that breaks connections and causes conflicts where a test wants them, and counts round trips.

mod frames;
mod round_trips;
mod session;
#[cfg(test)]
mod tests;

pub use round_trips::RoundTrip;
pub use session::{Fault, Transaction};

use crate::postgres_address::PostgresAddress;
use anyhow::Result;
use bytes::Bytes;
use frames::FrameSplitter;
use round_trips::{RoundTripCounter, RoundTrips};
use session::{Session, Watch, lock};
use std::{
    collections::HashMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

/// First messages by which a client asks for encryption; the answer is no.
const ENCRYPTION_CODES: [[u8; 4]; 2] = [80_877_103_u32.to_be_bytes(), 80_877_104_u32.to_be_bytes()];
const NO_ENCRYPTION: &[u8] = b"N";

/// Dropping it closes all connections.
pub struct PostgresProxy {
    url: String,
    watch: Arc<Mutex<Watch>>,
    round_trips: RoundTrips,
    task: JoinHandle<()>,
}

impl PostgresProxy {
    /// In front of the server of this database.
    pub async fn start(database_url: &str) -> Result<Self> {
        let server = PostgresAddress::parse(database_url)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = server.through(listener.local_addr()?)?;
        let watch = Arc::<Mutex<Watch>>::default();
        let round_trips = RoundTrips::default();
        let task = tokio::spawn(accept(listener, server, watch.clone(), round_trips.clone()));
        Ok(Self { url, watch, round_trips, task })
    }

    /// The database's address through the proxy.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Watches transactions with the marker in a statement or in a parameter, from now on. The first meets the first fault, the
    /// next one the second, and those after the last fault none.
    pub fn watch(&self, marker: &str, faults: impl IntoIterator<Item = Fault>) {
        let mut watch = lock(&self.watch);
        watch.transactions.clear();
        marker.clone_into(&mut watch.marker);
        watch.faults = faults.into_iter().collect();
    }

    /// PL/pgSQL statements that run in a transaction before it meets a conflict.
    pub fn run_before_conflict(&self, statements: &str) {
        statements.clone_into(&mut lock(&self.watch).before_conflict);
    }

    /// From now on every second SERIALIZABLE transaction of each database meets a conflict at its COMMIT: of those that run one after the
    /// other each runs twice.
    pub fn fail_every_second_commit(&self) {
        lock(&self.watch).commits = Some(HashMap::new());
    }

    /// How many met one since [`Self::fail_every_second_commit`].
    pub fn failed_commits(&self) -> u64 {
        lock(&self.watch).commits.iter().flat_map(HashMap::values).map(|count| count.div_ceil(2)).sum()
    }

    /// The transactions with the marker since [`Self::watch`].
    pub fn transactions(&self) -> Vec<Transaction> {
        lock(&self.watch).transactions.clone()
    }

    /// Over all connections, in the order in which they began.
    pub fn round_trips(&self) -> Vec<RoundTrip> {
        lock(&self.round_trips).clone()
    }
}

impl Drop for PostgresProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: PostgresAddress, watch: Arc<Mutex<Watch>>, round_trips: RoundTrips) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let (server, watch, round_trips) = (server.clone(), watch.clone(), round_trips.clone());
        connections.spawn(async move {
            // The one or the other side is gone, which the other one sees.
            if let Err(error) = pass(client, &server, watch, round_trips).await {
                eprintln!("a connection through the proxy ended: {error:#}");
            }
        });
    }
}

/// Passes messages until one side closes the connection or a fault breaks it. Returning closes both sides.
async fn pass(
    mut client: TcpStream,
    server: &PostgresAddress,
    watch: Arc<Mutex<Watch>>,
    round_trips: RoundTrips,
) -> Result<()> {
    client.set_nodelay(true)?;
    let (mut from_client, mut from_server) = (FrameSplitter::default(), FrameSplitter::default());
    let Some(startup) = startup(&mut client, &mut from_client).await? else { return Ok(()) };
    let mut server = server.connect().await?;
    server.write_all(&startup).await?;
    let (mut session, mut counter) = (Session::new(watch, database(&startup)), RoundTripCounter::new(round_trips));
    loop {
        let passage = tokio::select! {
            read = client.read_buf(from_client.buffer()) => {
                if read? == 0 {
                    return Ok(());
                }
                let frames = from_client.frames()?;
                counter.note_requests(&frames);
                let passage = session.pass_requests(&frames)?;
                server.write_all(&passage.bytes).await?;
                passage
            }
            read = server.read_buf(from_server.buffer()) => {
                if read? == 0 {
                    return Ok(());
                }
                let frames = from_server.frames()?;
                counter.note_answers(&frames);
                let passage = session.pass_answers(&frames);
                client.write_all(&passage.bytes).await?;
                passage
            }
        };
        if passage.is_cut {
            return Ok(());
        }
    }
}

/// The client's first message, after it was told that there is no encryption. `None` when it is gone.
async fn startup(client: &mut TcpStream, splitter: &mut FrameSplitter) -> Result<Option<Bytes>> {
    loop {
        let Some(message) = splitter.startup()? else {
            if client.read_buf(splitter.buffer()).await? == 0 {
                return Ok(None);
            }
            continue;
        };
        if !ENCRYPTION_CODES.iter().any(|code| message.get(4..8) == Some(&code[..])) {
            return Ok(Some(message));
        }
        client.write_all(NO_ENCRYPTION).await?;
    }
}

/// The name of the database in a client's first message.
fn database(startup: &[u8]) -> String {
    let texts = startup.get(8..).unwrap_or_default().split(|byte| *byte == 0);
    let name = texts.skip_while(|text| *text != b"database").nth(1).unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}
