//! `[database]`: where the data is stored. Rule: a password comes from the environment or from a file of its own, is never
//! printed, and no message here repeats a URL.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;

use super::{
    problem::{Problem, Source},
    sources::Sources,
    validator::Validator,
};

const URL: &str = "database.url";
const URL_FILE: &str = "database.url_file";
const LISTEN_URL: &str = "database.listen_url";
const READ_URLS: &str = "database.read_urls";

/// The database.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DatabaseConfig {
    /// `sqlite:PATH` or `postgres://…`; without it `gateway.db` in `data_dir`. One with a password is accepted from the
    /// environment only (`GATEWAY_DATABASE__URL`).
    #[serde(skip_serializing)]
    #[schemars(with = "Option<String>", example = "sqlite:./data/gateway.db")]
    pub url: Option<SecretString>,
    /// A file whose content is the URL: the other way to hand over a password.
    #[schemars(example = "/run/secrets/database_url")]
    pub url_file: Option<PathBuf>,
    /// Whether a write is on the disk before it is acknowledged ("full"), or may be lost in a power cut ("normal"). PostgreSQL's
    /// `synchronous_commit` follows it.
    pub synchronous: Synchronous,
    /// SQLite: threads that read.
    #[schemars(range(min = 1, max = 256))]
    pub read_connections: usize,
    /// SQLite: most writes that share one commit.
    #[schemars(range(min = 1, max = 10_000))]
    pub write_group_max: usize,
    /// Longest life of one transaction.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub transaction_timeout_ms: u64,
    /// Longest time for one statement.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub statement_timeout_ms: u64,
    /// A statement that takes as long at the database is logged, without its values, and counted; 0 for none. The time that it
    /// waited for a connection or for its turn is not in it.
    #[schemars(range(max = 3_600_000))]
    pub slow_statement_ms: u64,
    /// PostgreSQL: how old a cached response may be. With 0 it is never older than a write that was acknowledged.
    #[schemars(range(min = 0, max = 1000))]
    pub staleness_ms: u64,
    /// PostgreSQL: most connections.
    #[schemars(range(min = 2, max = 1000))]
    pub pool_max: u32,
    /// PostgreSQL: whether statements stay prepared on their connection. Set it to false behind a pooler that gives each
    /// transaction another connection and does not know prepared statements (PgBouncer before 1.21).
    pub prepared: bool,
    /// PostgreSQL: the URL of a connection on which other gateways are listened to (`LISTEN`): the server itself, never a pooler
    /// that gives each transaction another connection. Without it, or with an empty text, the gateway listens to nobody and looks
    /// twice a second for what others wrote. As for `url`, one with a password is accepted from the environment only
    /// (`GATEWAY_DATABASE__LISTEN_URL`).
    #[serde(skip_serializing)]
    #[schemars(with = "Option<String>", example = "postgres://user@host:5432/name")]
    pub listen_url: Option<SecretString>,
    /// PostgreSQL: URLs of standbys (streaming replication) to which reads of GET requests may go. A read goes there when the standby
    /// has everything that a cached response would have to have: see `staleness_ms`. With `staleness_ms = 0` only those of clients
    /// that send `X-Service-Position` do. A standby that is away or behind is no error: `url` answers then. As for `url`, one with a
    /// password is accepted from the environment only (`GATEWAY_DATABASE__READ_URLS`, divided by commas).
    #[serde(skip_serializing)]
    #[schemars(with = "Vec<String>", example = ["postgres://user@standby:5432/name"])]
    pub read_urls: Vec<SecretString>,
}

/// What SQLite waits for at a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Synchronous {
    #[default]
    Full,
    Normal,
}

/// Where the data is stored, read from the URL.
#[derive(Debug, Clone)]
pub enum DatabaseTarget {
    /// One file.
    Sqlite(PathBuf),
    /// A server; the URL may hold a password.
    Postgres(SecretString),
}

/// Why a database URL is refused. It never repeats the URL, which may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DatabaseUrlError {
    #[error("the URL begins with neither sqlite: nor postgres://")]
    UnknownScheme,
    #[error("the SQLite URL names no file")]
    NoPath,
    #[error("an SQLite database in memory cannot be shared by the gateway's reader and writer threads")]
    InMemory,
    #[error("the SQLite URL has parameters after \"?\"")]
    Parameters,
    #[error("the PostgreSQL URL is malformed")]
    Malformed,
}

impl DatabaseUrlError {
    fn hint(self) -> &'static str {
        match self {
            Self::UnknownScheme => "write sqlite:./data/gateway.db or postgres://user@host/name",
            Self::NoPath => "write the file after the scheme: sqlite:./data/gateway.db",
            Self::InMemory => "name a file; for a trial, one in a temporary folder",
            Self::Parameters => "remove them; the keys of [database] hold what can be set",
            Self::Malformed => "write postgres://user@host:5432/name, with special characters percent-encoded",
        }
    }
}

impl Default for DatabaseConfig {
    fn default() -> Self {
        Self {
            url: None,
            url_file: None,
            synchronous: Synchronous::Full,
            read_connections: 4,
            write_group_max: 128,
            transaction_timeout_ms: 5000,
            statement_timeout_ms: 5000,
            slow_statement_ms: 250,
            staleness_ms: 0,
            pool_max: 16,
            prepared: true,
            listen_url: None,
            read_urls: Vec::new(),
        }
    }
}

impl DatabaseConfig {
    /// The database that `url` names, or `gateway.db` under `data_dir`.
    pub fn target(&self, data_dir: &Path) -> Result<DatabaseTarget, DatabaseUrlError> {
        match &self.url {
            None => Ok(DatabaseTarget::Sqlite(data_dir.join("gateway.db"))),
            Some(url) => parse_url(url),
        }
    }

    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        if let Some(url) = &self.url
            && let Err(error) = parse_url(url)
        {
            let key = if self.url_file.is_some() { URL_FILE } else { URL };
            validator.refuse(key, error.to_string(), error.hint());
        }
        if let Some(url) = self.listen_url.as_ref().filter(|url| !url.expose_secret().is_empty())
            && !matches!(parse_url(url), Ok(DatabaseTarget::Postgres(_)))
        {
            validator.refuse(LISTEN_URL, "it is no PostgreSQL URL".to_owned(), DatabaseUrlError::Malformed.hint());
        }
        self.validate_read_urls(validator);
        if self.statement_timeout_ms > self.transaction_timeout_ms {
            validator.refuse(
                "database.statement_timeout_ms",
                format!(
                    "{} is more than database.transaction_timeout_ms ({})",
                    self.statement_timeout_ms, self.transaction_timeout_ms
                ),
                "a statement is a part of its transaction: lower it, or raise database.transaction_timeout_ms",
            );
        }
    }

    fn validate_read_urls(&self, validator: &mut Validator<'_>) {
        let is_postgres = |url: &SecretString| matches!(parse_url(url), Ok(DatabaseTarget::Postgres(_)));
        if !self.read_urls.iter().all(is_postgres) {
            validator.refuse(READ_URLS, "one is no PostgreSQL URL".to_owned(), DatabaseUrlError::Malformed.hint());
        } else if !self.read_urls.is_empty() && !self.url.as_ref().is_some_and(is_postgres) {
            let hint = "remove it, or set database.url to the server that they follow";
            validator.refuse(READ_URLS, "database.url is no PostgreSQL URL".to_owned(), hint);
        }
    }

    /// Decides between `url` and `url_file`, and reads the file. Of the two, the one from the stronger layer wins.
    pub(super) fn resolve_url(&mut self, sources: &Sources) -> Option<Problem> {
        let path = self.url_file.clone()?;
        if self.url.is_some() {
            let (url, file) = (sources.of(URL), sources.of(URL_FILE));
            if url.layer() == file.layer() {
                let message = format!("{URL} is set as well ({url})");
                return Some(Problem::new(URL_FILE, file, message, "keep one of the two"));
            }
            if url.layer() > file.layer() {
                self.url_file = None;
                return None;
            }
        }
        let refuse = |message| {
            Some(Problem::new(URL_FILE, sources.of(URL_FILE), message, "the file holds the URL and nothing else"))
        };
        match std::fs::read_to_string(&path) {
            Err(error) => refuse(format!("{} cannot be read: {error}", path.display())),
            Ok(text) if text.trim().is_empty() => refuse(format!("{} is empty", path.display())),
            Ok(text) => {
                self.url = Some(SecretString::from(text.trim()));
                None
            }
        }
    }
}

fn parse_url(secret: &SecretString) -> Result<DatabaseTarget, DatabaseUrlError> {
    let url = secret.expose_secret();
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return match Url::parse(url) {
            Ok(_) => Ok(DatabaseTarget::Postgres(secret.clone())),
            Err(_malformed) => Err(DatabaseUrlError::Malformed),
        };
    }
    let path = url.strip_prefix("sqlite:").ok_or(DatabaseUrlError::UnknownScheme)?;
    let path = path.strip_prefix("//").unwrap_or(path);
    match path {
        "" => Err(DatabaseUrlError::NoPath),
        _ if path.starts_with(":memory:") => Err(DatabaseUrlError::InMemory),
        _ if path.contains('?') => Err(DatabaseUrlError::Parameters),
        _ => Ok(DatabaseTarget::Sqlite(PathBuf::from(path))),
    }
}

/// Refuses a password where others can read it: the configuration file, the list of processes. `name` is that of the key in
/// the section.
pub(super) fn check_password_source(name: &str, url: &str, source: &Source) -> Option<Problem> {
    let is_exposed = matches!(source, Source::File(_) | Source::Flag(_));
    let key = format!("database.{name}");
    let or_file = if key == URL { ", or put it into a file and name that in database.url_file" } else { "" };
    let variable = name.to_uppercase();
    (is_exposed && has_password(url)).then(|| {
        Problem::new(
            key,
            source.clone(),
            "the URL holds a password, and others can read it here",
            format!("set it by the environment variable GATEWAY_DATABASE__{variable}{or_file}"),
        )
    })
}

fn has_password(url: &str) -> bool {
    match Url::parse(url) {
        Ok(parsed) => parsed.password().is_some() || parsed.query_pairs().any(|(name, _)| name == "password"),
        // It may still hold one: `name:secret@host`.
        Err(_malformed) => url.split_once("://").is_some_and(|(_, rest)| rest.contains('@')),
    }
}
