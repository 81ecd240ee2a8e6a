//! Flags of the command line that override the configuration. Rule: values stay text here, so that a wrong one is
//! reported together with all other problems.

use std::path::PathBuf;

use clap::Args;
use secrecy::{ExposeSecret, SecretString};

/// Configuration from the command line.
#[derive(Debug, Clone, Default, Args)]
pub struct Overrides {
    /// The configuration file [default: $GATEWAY_CONFIG, else config/gateway.toml here or beside the binary]
    #[arg(long, short, global = true, value_name = "PATH")]
    pub config: Option<PathBuf>,

    /// Address of the public listener (http.listen)
    #[arg(long, global = true, value_name = "IP:PORT", help_heading = HEADING)]
    pub listen: Option<String>,

    /// Address of the operator's listener, or "off" (admin.listen)
    #[arg(long, global = true, value_name = "IP:PORT", help_heading = HEADING)]
    pub admin_listen: Option<String>,

    /// Folder for everything that is kept (data_dir)
    #[arg(long, global = true, value_name = "DIR", help_heading = HEADING)]
    pub data_dir: Option<String>,

    /// Folder with the plugin libraries (plugins.dir)
    #[arg(long, global = true, value_name = "DIR", help_heading = HEADING)]
    pub plugins_dir: Option<String>,

    /// Do not start when any plugin that is on fails to serve (plugins.strict)
    #[arg(long, global = true, help_heading = HEADING)]
    pub strict: bool,

    /// sqlite:PATH or postgres://…, without a password (database.url)
    #[arg(long, global = true, value_name = "URL", help_heading = HEADING)]
    pub database_url: Option<SecretString>,

    /// Level, then exceptions by target: info,gateway=debug (log.level)
    #[arg(long, global = true, value_name = "LEVEL", help_heading = HEADING)]
    pub log_level: Option<String>,
}

const HEADING: &str = "Configuration (stronger than environment and file)";

impl Overrides {
    /// Key, flag and value of every flag that is set.
    pub(super) fn set_values(&self) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
        let url = self.database_url.as_ref().map(ExposeSecret::expose_secret);
        [
            ("http.listen", "--listen", self.listen.as_deref()),
            ("admin.listen", "--admin-listen", self.admin_listen.as_deref()),
            ("data_dir", "--data-dir", self.data_dir.as_deref()),
            ("plugins.dir", "--plugins-dir", self.plugins_dir.as_deref()),
            ("plugins.strict", "--strict", self.strict.then_some("true")),
            ("database.url", "--database-url", url),
            ("log.level", "--log-level", self.log_level.as_deref()),
        ]
        .into_iter()
        .filter_map(|(key, flag, value)| value.map(|value| (key, flag, value)))
    }
}
