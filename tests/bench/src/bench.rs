//! One run: its options, the programs of the servers, and the databases that several jobs share.

use crate::{
    forum,
    load::{self, Load, Requests},
    options::{Options, Scale},
    peers,
    server::{Server, Site},
    signing,
};
use anyhow::{Context as _, Result, ensure};
use gateway_tests::plugin_copies;
use rusqlite::Connection;
use serde_json::Value;
use std::{
    cell::{OnceCell, RefCell},
    env, fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Of every gateway here.
const SECRETS_KEY: &str = "5555555555555555555555555555555555555555555555555555555555555556";

/// The plugins that are off until an operator wants them.
pub const WITH_HELLO: (&str, &str) = ("plugins.hello.enabled", "true");
const WITH_PAYIN: (&str, &str) = ("plugins.payin.enabled", "true");

/// The file of a server's database, in its folder.
pub const FORUM: &str = "forum.db";
/// Longer than it takes to fill a database.
const FILLING_LIMIT: Duration = Duration::from_secs(600);
/// For the past of a scripted chain.
const INDEX_LIMIT: Duration = Duration::from_secs(600);
const INDEX_POLL: Duration = Duration::from_millis(50);
const SIGNED_AT_ONCE: usize = 1000;
const FORUM_READY: &str = "/api/forum/threads?limit=1";

pub struct Bench {
    pub scale: Scale,
    pub with_peers: bool,
    gateway: Option<PathBuf>,
    /// The same with another gateway.
    beside: Option<Box<Bench>>,
    folder: TempDir,
    forum: OnceCell<PathBuf>,
    /// Peers that this machine lacks, each with the reason.
    absent: RefCell<Vec<String>>,
}

/// How SQLite writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    Full,
    Normal,
}

impl Synchronous {
    /// As the gateway's configuration says it.
    pub fn setting(self) -> (&'static str, &'static str) {
        ("database.synchronous", self.name())
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Normal => "normal",
        }
    }
}

impl Bench {
    pub fn new(options: &Options) -> Result<Self> {
        let beside = options.beside.as_deref().map(|file| Self::of(options, Some(file), None)).transpose();
        let beside = beside.context("--beside")?.map(Box::new);
        Self::of(options, options.gateway.as_deref(), beside).context("--gateway")
    }

    fn of(options: &Options, gateway: Option<&Path>, beside: Option<Box<Self>>) -> Result<Self> {
        Ok(Self {
            scale: options.scale(),
            with_peers: !options.no_peers,
            gateway: gateway.map(fs::canonicalize).transpose()?,
            beside,
            folder: tempfile::Builder::new().prefix("gateway-bench-").tempdir()?,
            forum: OnceCell::new(),
            absent: RefCell::default(),
        })
    }

    /// The gateway to measure, with every plugin and its configuration.
    fn gateway_command(&self, site: &Site, settings: &[(&str, &str)]) -> Result<Command> {
        let mut command = match &self.gateway {
            Some(program) => plain(program),
            None => peer("gateway")?,
        };
        if self.gateway.is_some() {
            // On a loaded machine it would take requests before its slowest plugin serves.
            command.args(["run", "--strict"]);
        }
        let plugins = self.plugin_dir()?.display().to_string();
        let every_plugin = [("plugins.dir", plugins.as_str()), WITH_HELLO, WITH_PAYIN];
        Self::configure(&mut command, site, &[&every_plugin, settings].concat());
        Ok(command)
    }

    /// The configuration of every gateway here: limits count, but so high that they do not throttle the load of one machine.
    pub fn configure(command: &mut Command, site: &Site, settings: &[(&str, &str)]) {
        let (listen, data_dir) = (site.address.to_string(), site.data_dir());
        plugin_copies::lend(&data_dir);
        let data_dir = data_dir.display().to_string();
        let defaults = [
            ("data_dir", data_dir.as_str()),
            ("http.listen", &listen),
            ("http.connections_max", "8192"),
            ("http.connections_per_ip_max", "8192"),
            ("admin.listen", "off"),
            ("limits.per_ip_per_minute", "4000000000"),
            ("limits.searches_per_ip_per_minute", "4000000000"),
            ("limits.commons_writes_per_ip_per_minute", "4000000000"),
            ("limits.streams_max", "8192"),
            ("limits.streams_per_ip_max", "8192"),
            // A copy of a database is opened with the key that sealed in it.
            ("secrets.key", SECRETS_KEY),
            // Written some time after the start, these pages would add events and search results.
            ("plugins.kb.network_pages", "false"),
        ];
        for (key, value) in defaults.iter().chain(settings) {
            command.env(format!("GATEWAY_{}", key.replace('.', "__").to_uppercase()), value);
        }
    }

    /// What starts the other gateway, if one was named.
    pub fn beside(&self) -> Option<&Self> {
        self.beside.as_deref()
    }

    /// Where the libraries lie that belong to the gateway's program.
    pub fn plugin_dir(&self) -> Result<PathBuf> {
        match self.gateway.as_deref().and_then(Path::parent) {
            Some(folder) => Ok(folder.to_owned()),
            None => gateway_tests::plugins::plugin_dir(),
        }
    }

    pub fn gateway(&self, settings: &[(&str, &str)]) -> Result<Server> {
        let site = Site::new()?;
        let command = self.gateway_command(&site, settings)?;
        Server::start(site, command, "/api/health")
    }

    /// The gateway on a copy of the forum.
    pub fn gateway_with_forum(&self, settings: &[(&str, &str)]) -> Result<Server> {
        self.gateway_on_copy(self.forum()?, settings)
    }

    /// The gateway on a copy of a database that another one made.
    pub fn gateway_on_copy(&self, database: &Path, settings: &[(&str, &str)]) -> Result<Server> {
        let site = Site::new()?;
        fs::copy(database, site.folder.path().join(FORUM))?;
        self.gateway_in(site, settings)
    }

    /// The gateway on the database that lies in the site's folder.
    pub fn gateway_in(&self, site: Site, settings: &[(&str, &str)]) -> Result<Server> {
        let url = format!("sqlite:{}", site.folder.path().join(FORUM).display());
        let command = self.gateway_command(&site, &[&[("database.url", url.as_str())], settings].concat())?;
        Server::start(site, command, "/api/health")
    }

    pub fn axum_with_forum(&self, synchronous: Synchronous) -> Result<Server> {
        peer_on_copy(peer(peers::forum::NAME)?, self.forum()?, synchronous, FORUM_READY)
    }

    /// Nothing on a machine without Node or its packages.
    pub fn fastify_with_forum(&self, synchronous: Synchronous) -> Result<Option<Server>> {
        let command = self.fastify("forum.mjs");
        command.map(|node| peer_on_copy(node, self.forum()?, synchronous, FORUM_READY)).transpose()
    }

    /// A script of `peers`; nothing on a machine without Node or its packages.
    pub fn fastify(&self, script: &str) -> Option<Command> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
        if !folder.join("node_modules/better-sqlite3/build/Release/better_sqlite3.node").is_file() {
            self.lacks("Fastify: apt-get install nodejs npm g++ make python3 libnode-dev, then cargo xtask bench");
            return None;
        }
        let mut node = plain(Path::new("node"));
        node.arg(folder.join(script));
        Some(node)
    }

    /// The forum with its threads, made by a gateway from signed writes once in a run.
    pub fn forum(&self) -> Result<&Path> {
        if self.forum.get().is_none() {
            let file = self.folder.path().join(FORUM);
            forum::make(self, &file).context("filling the forum")?;
            let _ = self.forum.set(file);
        }
        self.forum.get().map(PathBuf::as_path).context("the forum was just made")
    }

    /// Where files of this run lie.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn copy_of_forum(&self, folder: &Path) -> Result<PathBuf> {
        let copy = folder.join(FORUM);
        fs::copy(self.forum()?, &copy)?;
        Ok(copy)
    }

    /// A load of this run's length on the connections that read.
    pub fn reads(&self, server: &Server, requests: Requests<'_>) -> Result<load::LoadResult> {
        let load = Load {
            addresses: &[server.address()],
            connections: self.scale.readers,
            pace: None,
            warm_up: self.scale.warm_up,
            duration: self.scale.duration,
            requests,
            status: 200,
            body_bytes_min: 1,
        };
        load.run(&|| server.cpu_time())
    }

    /// Sends so many signed writes, each by a wallet of its own; payloads and requests by their number from 0. They are signed
    /// in parts, so that no signature gets old.
    pub fn write_signed(
        &self,
        gateway: &Server,
        action: &str,
        (count, status): (u64, u16),
        payload: impl Fn(u64) -> Value + Sync,
        request: impl Fn(SocketAddr, u64, &[u8]) -> Vec<u8> + Sync,
    ) -> Result<()> {
        for first in (0..count).step_by(SIGNED_AT_ONCE) {
            let wallets = signing::new_wallets((count - first).min(SIGNED_AT_ONCE as u64));
            let first_wallet = wallets.start;
            let bodies = signing::bodies(action, wallets, |wallet| payload(first + wallet - first_wallet))?;
            let request = |address, number: usize, body: &[u8]| request(address, first + number as u64, body);
            self.write_all(gateway, &bodies, status, request)?;
        }
        Ok(())
    }

    /// Sends a request for each body, many at a time; all must be answered with this status.
    pub fn write_all(
        &self,
        gateway: &Server,
        bodies: &[Vec<u8>],
        status: u16,
        request: impl Fn(SocketAddr, usize, &[u8]) -> Vec<u8> + Sync,
    ) -> Result<()> {
        let address = gateway.address();
        let requests = |number: u64| {
            let number = usize::try_from(number).ok()?;
            Some(request(address, number, bodies.get(number)?))
        };
        let load = Load {
            addresses: &[address],
            connections: self.scale.writers,
            pace: None,
            warm_up: Duration::ZERO,
            duration: FILLING_LIMIT,
            requests: &requests,
            status,
            body_bytes_min: 1,
        };
        load.run(&|| gateway.cpu_time()).map(drop)
    }

    /// Remembers why a peer is missing, once.
    pub fn lacks(&self, peer: &str) {
        let mut absent = self.absent.borrow_mut();
        if !absent.iter().any(|known| known == peer) {
            println!("  without {peer}");
            absent.push(peer.to_owned());
        }
    }

    pub fn absent(&self) -> Vec<String> {
        self.absent.borrow().clone()
    }
}

/// Ends a gateway and keeps its database as one file, without a journal beside it.
pub fn keep(gateway: Server, file: &Path) -> Result<Connection> {
    keep_database(gateway, "data/gateway.db", file)
}

/// The same of a gateway that was started in a folder with a database.
pub fn keep_forum(gateway: Server, file: &Path) -> Result<Connection> {
    keep_database(gateway, FORUM, file)
}

fn keep_database(gateway: Server, name: &str, file: &Path) -> Result<Connection> {
    let folder = gateway.stop()?;
    let database = Connection::open(folder.path().join(name))?;
    database.execute("VACUUM INTO ?1", [file.display().to_string()])?;
    Ok(Connection::open(file)?)
}

/// Waits until the gateway has indexed the main chain up to this block.
pub fn wait_until_indexed(gateway: &Server, head: u64) -> Result<()> {
    let begun = Instant::now();
    loop {
        let (_, _, body) = load::ask(gateway.address(), &load::get(gateway.address(), "/api/health"))?;
        let health: Value = serde_json::from_slice(&body)?;
        if health["indexedBlock"].as_u64() == Some(head) {
            return Ok(());
        }
        ensure!(begun.elapsed() < INDEX_LIMIT, "the chain is not indexed: {}", gateway.log());
        thread::sleep(INDEX_POLL);
    }
}

/// A peer on a copy of a database that a gateway made.
pub fn peer_on_copy(mut peer: Command, database: &Path, synchronous: Synchronous, ready: &str) -> Result<Server> {
    let site = Site::new()?;
    let copy = site.folder.path().join(FORUM);
    fs::copy(database, &copy)?;
    peer.env(peers::LISTEN, site.address.to_string()).env(peers::DATABASE, copy);
    peer.env(peers::SYNCHRONOUS, synchronous.name());
    Server::start(site, peer, ready)
}

/// A program without the gateway's configuration in the environment.
pub fn plain(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GATEWAY_")) {
        command.env_remove(name);
    }
    command
}

/// This program as one of its servers.
pub fn peer(name: &str) -> Result<Command> {
    let mut command = plain(&env::current_exe()?);
    command.args(["--serve", name]);
    Ok(command)
}
