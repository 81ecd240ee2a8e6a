//! The gateway's secrets: opened when the first plugin that asks for them starts.

use super::{
    call::{self, SecretResponse},
    key_record,
    keyring::Keyring,
    master_key::MasterKey,
};
use gateway_clock::Clock;
use gateway_config::{Config, SecretsConfig};
use gateway_signers::private_file;
use gateway_storage::{Database, DatabaseSettings};
use plugin_api::abi::{HostError, HostErrorCode};
use secrecy::SecretString;
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};
use tokio::sync::OnceCell;

/// Name of the generated key's file in `data_dir`.
pub(crate) const KEY_FILE: &str = "secrets.key";
/// Gateways that start at once on a new database agree after one more look.
const TRIES_MAX: usize = 3;

pub struct Secrets {
    config: SecretsConfig,
    key_file: PathBuf,
    database: Database,
    clock: Clock,
    keyring: OnceCell<Keyring>,
    refusal: OnceLock<String>,
}

/// A master key and where it came from.
struct SourcedKey {
    key: MasterKey,
    source: String,
    is_new: bool,
}

impl Secrets {
    pub fn new(config: &Config, database: Database, clock: Clock) -> Self {
        let key_file = config.secrets.key_file.clone().unwrap_or_else(|| config.data_dir.join(KEY_FILE));
        let config = config.secrets.clone();
        Self { config, key_file, database, clock, keyring: OnceCell::new(), refusal: OnceLock::new() }
    }

    /// Opens the keys, and generates one for a database that never had one. The error says what the operator can do.
    pub async fn open(&self) -> Result<(), String> {
        match self.refusal.get() {
            Some(reason) => Err(reason.clone()),
            None => self.keyring.get_or_try_init(|| self.load()).await.map(drop),
        }
    }

    /// From now on [`Self::open`] fails with this reason: for a dry run, whose database is another one.
    pub fn refuse(&self, reason: String) {
        let _ = self.refusal.set(reason);
    }

    /// Why [`Self::open`] would fail, with a database that is not open here. Generates and records nothing.
    pub async fn find_fault(config: &Config, database: DatabaseSettings) -> Option<String> {
        // That the database is away is a finding of its own.
        let recorded = key_record::peek(database).await.unwrap_or_default();
        let key_file = config.secrets.key_file.clone().unwrap_or_else(|| config.data_dir.join(KEY_FILE));
        let found = configured_keys(&config.secrets, &key_file).and_then(|found| match found {
            Some((newest, older)) => check_recorded(&newest, &older, &recorded),
            None => check_may_generate(&config.secrets, &key_file, &recorded),
        });
        found.err()
    }

    /// Answers a plugin's call of the capability.
    pub fn call(&self, plugin: &str, request: &[u8], body: &[u8]) -> Result<SecretResponse, HostError> {
        let Some(keyring) = self.keyring.get() else {
            // The plugin's constructor: nothing is open before its migrations.
            return Err(HostError::new(HostErrorCode::Unavailable, "the secrets are not open yet"));
        };
        call::run(keyring, plugin, request, body)
    }

    async fn load(&self) -> Result<Keyring, String> {
        let unread = |error| format!("the database does not say which secrets key it has: {error}");
        let mut generated = None;
        for _ in 0..TRIES_MAX {
            let recorded = key_record::read(&self.database).await.map_err(unread)?;
            let (newest, older) = self.open_or_generate(&recorded)?;
            if newest.is_new {
                generated = Some(newest.key.id());
            }
            if let Err(reason) = check_recorded(&newest, &older, &recorded) {
                // Another gateway was first: a file that opens nothing must not look like the key.
                if generated == Some(newest.key.id()) {
                    let _ = std::fs::remove_file(&self.key_file);
                }
                return Err(reason);
            }
            if recorded.contains(&newest.key.id().to_string()) {
                tracing::info!(key = %newest.key.id(), source = newest.source, "the secrets of plugins are open");
                return Ok(Keyring::new(newest.key, older));
            }
            let now_s = self.clock.now_ms().div_euclid(1000);
            key_record::add(&self.database, &recorded, newest.key.id(), now_s).await.map_err(unread)?;
        }
        Err("other gateways on this database change its secrets key at the same time: start again".to_owned())
    }

    fn open_or_generate(&self, recorded: &[String]) -> Result<(SourcedKey, Vec<MasterKey>), String> {
        if let Some(found) = configured_keys(&self.config, &self.key_file)? {
            return Ok(found);
        }
        check_may_generate(&self.config, &self.key_file, recorded)?;
        let key = MasterKey::random()?;
        let is_new = private_file::create(&self.key_file, &key.to_hex())?;
        if !is_new {
            // Another process of this machine was first.
            let found = configured_keys(&self.config, &self.key_file)?;
            return found.ok_or_else(|| format!("the file {} came and went", self.key_file.display()));
        }
        tracing::warn!(
            key = %key.id(), file = %self.key_file.display(),
            "no secrets key is set: a new one was made and is kept in the file; back it up, nothing else opens what plugins seal with it"
        );
        let older = older_keys(&self.config)?;
        Ok((SourcedKey { key, source: file_source(&self.key_file), is_new }, older))
    }
}

/// The newest key and the older ones; `None` when no newest one is there.
fn configured_keys(config: &SecretsConfig, key_file: &Path) -> Result<Option<(SourcedKey, Vec<MasterKey>)>, String> {
    let (text, source) = match &config.key {
        Some(text) => (text.clone(), "GATEWAY_SECRETS__KEY".to_owned()),
        None if key_file.symlink_metadata().is_ok() => (read_file(key_file)?, file_source(key_file)),
        None => return Ok(None),
    };
    let key = parse(&text, &source)?;
    Ok(Some((SourcedKey { key, source, is_new: false }, older_keys(config)?)))
}

fn older_keys(config: &SecretsConfig) -> Result<Vec<MasterKey>, String> {
    let of_variable = config.old_keys.iter().map(|text| parse(text, "GATEWAY_SECRETS__OLD_KEYS"));
    let of_files = config.old_key_files.iter().map(|path| parse(&read_file(path)?, &file_source(path)));
    of_variable.chain(of_files).collect()
}

fn read_file(path: &Path) -> Result<SecretString, String> {
    private_file::read(path).map(|text| SecretString::from(text.as_str()))
}

fn parse(text: &SecretString, source: &str) -> Result<MasterKey, String> {
    MasterKey::from_hex(text).map_err(|error| format!("{source} holds no secrets key: {error}"))
}

fn file_source(path: &Path) -> String {
    format!("the file {}", path.display())
}

/// The newest key of the database must be among those of the gateway.
fn check_recorded(newest: &SourcedKey, older: &[MasterKey], recorded: &[String]) -> Result<(), String> {
    let Some(last) = recorded.last() else { return Ok(()) };
    let mut ours = std::iter::once(&newest.key).chain(older).map(|key| key.id().to_string());
    if ours.any(|id| id == *last) {
        return Ok(());
    }
    let (source, id) = (&newest.source, newest.key.id());
    Err(format!(
        "what plugins keep secret in this database is sealed with the secrets key {last}, and {source} holds {id}: put the key {last} \
         there, or list it among the old keys ([secrets] old_key_files)"
    ))
}

fn check_may_generate(config: &SecretsConfig, key_file: &Path, recorded: &[String]) -> Result<(), String> {
    let file = key_file.display();
    if let Some(last) = recorded.last() {
        return Err(format!(
            "what plugins keep secret in this database is sealed with the secrets key {last}, which is not here: copy its file to \
             {file}, or set GATEWAY_SECRETS__KEY"
        ));
    }
    if config.key_file.is_some() {
        return Err(format!("there is no file {file}: [secrets] key_file names the file of a key that exists"));
    }
    Ok(())
}
