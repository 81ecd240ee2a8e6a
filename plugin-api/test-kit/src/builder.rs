//! What a gateway under test is started with.

use crate::{Database, TestGateway, library, process::Process, program};
use serde_json::{Map, Value, json};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

impl TestGateway {
    /// SQLite, no plugins, no limits per IP.
    pub fn builder() -> Builder {
        Builder::new(None)
    }

    /// The same on a new PostgreSQL database; `None` without `GATEWAY_TEST_POSTGRES`.
    pub async fn postgres_builder() -> Option<Builder> {
        Some(Builder::new(Some(Database::create().await?)))
    }

    /// One gateway with these plugins on SQLite and, when `GATEWAY_TEST_POSTGRES` is set, one on PostgreSQL.
    pub async fn each_database(plugins: &[&str]) -> Vec<Self> {
        let mut builders = vec![Self::builder()];
        builders.extend(Self::postgres_builder().await);
        let mut gateways = Vec::new();
        for builder in builders {
            gateways.push(plugins.iter().fold(builder, |builder, plugin| builder.plugin(plugin)).start().await);
        }
        gateways
    }
}

/// Builder of a [`TestGateway`].
pub struct Builder {
    program: Option<PathBuf>,
    plugins: Vec<String>,
    settings: Value,
    database: Option<Database>,
}

impl Builder {
    fn new(database: Option<Database>) -> Self {
        // Free ports, no limits per IP, no delay before refusals.
        let settings = json!({
            "data_dir": "data",
            "http": { "listen": "127.0.0.1:0", "tarpit_ms": 0 },
            "admin": { "listen": "127.0.0.1:0" },
            "limits": { "allow": ["127.0.0.1"] },
            "plugins": { "dir": "plugins" },
        });
        Self { program: None, plugins: Vec::new(), settings, database }
    }

    /// A plugin by name: that of the package under test, or one that came with the gateway.
    pub fn plugin(mut self, name: &str) -> Self {
        self.plugins.push(name.to_owned());
        self
    }

    /// Sets `[plugins.<name>]`: the plugin's own keys, and `grants`, which the operator writes there.
    pub fn config(self, name: &str, settings: Value) -> Self {
        settings
            .as_object()
            .into_iter()
            .flatten()
            .fold(self, |builder, (key, value)| builder.set(&format!("plugins.{name}.{key}"), value.clone()))
    }

    /// Any other key of the gateway's configuration, such as `http.body_bytes_max` or `chains.main.rpc`.
    pub fn set(mut self, key: &str, value: Value) -> Self {
        let mut place = &mut self.settings;
        for part in key.split('.') {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            place = &mut place[part];
        }
        *place = value;
        self
    }

    /// Another program than that of `GATEWAY_BIN` or PATH, for example an older release.
    pub fn program(mut self, gateway: impl Into<PathBuf>) -> Self {
        self.program = Some(gateway.into());
        self
    }

    /// Starts the gateway and waits until it is ready; fails the test when a plugin does not serve.
    pub async fn start(mut self) -> TestGateway {
        for plugin in self.plugins.clone() {
            self = self.set(&format!("plugins.{plugin}.enabled"), json!(true));
        }
        let program = self.program.clone().unwrap_or_else(program::find);
        let folder = self.write(&program);
        let url = self.database.as_ref().map(|database| ("GATEWAY_DATABASE__URL", database.url.as_str()));
        let process = Process::start(&program, folder, url.as_slice()).await;
        let gateway = TestGateway::new(process, self.database);
        gateway.wait_until_ready(&self.plugins).await;
        gateway
    }

    /// The folder of the gateway: its configuration, and the plugins that it is to load.
    fn write(&self, program: &Path) -> TempDir {
        let folder = tempfile::Builder::new().prefix("gateway-test-").tempdir();
        let folder = folder.unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        let toml = toml::to_string(&self.settings).unwrap_or_else(|error| panic!("the configuration: {error}"));
        let plugins = folder.path().join("plugins");
        let mut written = fs::write(folder.path().join("gateway.toml"), toml).and_then(|()| fs::create_dir(&plugins));
        for plugin in &self.plugins {
            let library = library::find(plugin, program);
            let name = library.file_name().unwrap_or_default();
            written = written.and_then(|()| symlink(&library, plugins.join(name)));
        }
        written.unwrap_or_else(|error| panic!("{}: {error}", folder.path().display()));
        folder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_sections() {
        let builder = Builder::new(None).config("notes", json!({ "keep_s": 1 })).set("http.tarpit_ms", json!(5));
        let builder = builder.set("chains.main.rpc", json!(["http://127.0.0.1:8545"]));
        let toml = toml::to_string(&builder.settings).unwrap();
        for part in
            ["[plugins.notes]\nkeep_s = 1\n", "tarpit_ms = 5\n", "[chains.main]\nrpc = [\"http://127.0.0.1:8545\"]\n"]
        {
            assert!(toml.contains(part), "{toml}");
        }
        assert!(toml.contains("listen = \"127.0.0.1:0\""), "{toml}");
    }
}
