//! Commands and flags. Rule: a flag means the same for every command, so that `gateway check` judges what `gateway run`
//! would use.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::{
    exit_code,
    report_arguments::{PluginReportArguments, plugin_name},
    verify_arguments::VerifyCommand,
};
use gateway_config::Overrides;

/// Serves the HTTP interface that the installed plugins make up
///
/// Configuration: defaults, then the file, then environment variables (GATEWAY_HTTP__LISTEN sets http.listen), then flags.
#[derive(Debug, Clone, Parser)]
#[command(name = "gateway", version, after_help = exit_code::HELP, propagate_version = false)]
pub struct Cli {
    /// What to do; without it: run
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Configuration that is stronger than the environment and the file
    #[command(flatten)]
    pub overrides: Overrides,

    /// Print JSON for programs instead of tables for people
    #[arg(long, global = true)]
    pub json: bool,
}

impl Cli {
    /// The command that was given, or `run`.
    pub fn command_or_run(&self) -> Command {
        self.command.clone().unwrap_or(Command::Run)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Start the gateway and serve until SIGTERM or Ctrl-C; SIGHUP reads the configuration again
    Run,
    /// Write the documented configuration, a data folder and the gateway's key for a new gateway; overwrite nothing
    Init(NewGateway),
    /// Check the configuration and every plugin, tell all problems at once, and start nothing
    Check,
    /// Say how the running gateway does: whether it is ready, and which plugins and jobs are not well
    ///
    /// Exit codes: 0 ready, 4 writes cannot be kept, 5 a plugin that must serve does not, 1 no gateway answers.
    Status(AdminListener),
    /// Look at the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look at plugins, and switch them in the running gateway
    #[command(subcommand)]
    Plugins(PluginsCommand),
    /// Look at the transactions that the running gateway sends
    #[command(subcommand)]
    Tx(TxCommand),
    /// Bring the database up to date for the gateway and every enabled plugin, then end
    Migrate,
    /// Copy the whole database into one file, while the gateway serves or not, and check the copy
    ///
    /// The configuration and all keys (`[signers]`, `[secrets]`) are not in it: keep copies of them apart.
    Backup(BackupFile),
    /// Put a backup in the place of the database of a gateway that is stopped
    ///
    /// What the database held is kept beside it. The configuration and all keys (`[signers]`, `[secrets]`) are not in a backup.
    Restore(BackupFile),
    /// Record that the database of a gateway that is stopped is now an older one, which another program has put there
    ///
    /// `gateway restore` records it itself. Plugins that keep promises of the time in between wait after it: x402 takes no payment
    /// for 65 minutes.
    MarkRestored,
    /// Check a document that a gateway signed, without trusting the gateway
    #[command(subcommand)]
    Verify(VerifyCommand),
    /// Print the OpenAPI document of the gateway with its enabled plugins
    Openapi,
    /// Print the versions of the gateway and of its plugin interface
    Version,
    /// Print completions for a shell, such as: gateway completions bash > /etc/bash_completion.d/gateway
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages of all commands into a folder
    Man {
        /// The folder, which is made if it is not there
        dir: PathBuf,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum ConfigCommand {
    /// Print every key with its value in effect and where it comes from; secrets and what only plugins read are not shown
    Show {
        /// Only what is not a default
        #[arg(long)]
        set: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum TxCommand {
    /// List what is neither final nor failed, and why it waits
    ///
    /// Exit codes: 0 nothing is held up, 1 something is, or no gateway answers.
    List(TransactionList),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct TransactionList {
    /// The newest in any state instead
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub listener: AdminListener,
}

/// Where a new gateway is to be.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct NewGateway {
    /// The folder that gets config/gateway.toml and data
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

/// Which gateway to ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct AdminListener {
    /// The operator's listener of the running gateway [default: admin.listen of the configuration]
    #[arg(long, value_name = "URL")]
    pub admin: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum PluginsCommand {
    /// Write a new plugin into a folder of its own: a table, three routes, a job and tests that work as they are
    ///
    /// Needs no configuration and no running gateway, and overwrites nothing.
    New(NewPlugin),
    /// List the plugins as the running gateway has them; without one, as it would start them. With a name: one plugin in full
    List(PluginList),
    /// Print a table that a plugin of the running gateway has for its operator; without names: which tables there are
    ///
    /// Short: gateway PLUGIN REPORT, such as gateway payin addresses --funded. With --json each row is an object.
    Report(PluginReportArguments),
    /// Say what one library file is, what it asks for and offers, and whether this gateway would load it
    ///
    /// To say what it offers, the library is loaded: its static constructors and its description of itself run.
    Inspect(LibraryFile),
    /// Let the running gateway serve a plugin, now and after every start, whatever the configuration says
    Enable(PluginTarget),
    /// Let the running gateway take a plugin off, now and after every start, whatever the configuration says
    Disable(PluginTarget),
    /// Start a plugin again that was fenced or failed
    Resume(PluginTarget),
    /// Let a plugin's index of the chain begin anew: its derived tables are emptied and filled again
    Reindex(PluginTarget),
    /// Map a library and say so, for a gateway that waits for it: a file, its sha256 and `data_dir`
    #[command(hide = true)]
    TryLoad { arguments: Vec<OsString> },
    /// Drop everything that a plugin which is gone left in the database, after saying what and asking
    ///
    /// Gone is a plugin without a file in the folder that the running gateway has not loaded. The activity log and the journal of
    /// transactions stay.
    Purge(PluginPurge),
}

/// The plugin to write, and where.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct NewPlugin {
    /// The name of the plugin: a-z, 0-9 and _, first a letter, 2 to 31 characters
    pub name: String,
    /// The folder that gets the plugin's folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// The folder plugin-api of a copy of the gateway's repository [default: the published version]
    #[arg(long, value_name = "PATH")]
    pub plugin_api: Option<PathBuf>,
}

/// Which plugins to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct PluginList {
    /// The name of one plugin
    #[arg(value_parser = plugin_name)]
    pub name: Option<String>,
    /// The operator's listener of the running gateway [default: admin.listen of the configuration]
    #[arg(long, value_name = "URL")]
    pub admin: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct LibraryFile {
    /// The library file
    pub file: PathBuf,
    /// Read the file and load nothing: not what it offers
    #[arg(long)]
    pub no_load: bool,
}

/// Which plugin to purge.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct PluginPurge {
    #[command(flatten)]
    pub target: PluginTarget,
    /// Do not ask: for scripts
    #[arg(long)]
    pub yes: bool,
}

/// A file that holds a copy of the database.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct BackupFile {
    /// The file of the backup
    pub file: PathBuf,
    /// Backup: overwrite the file if it exists. Restore: replace a database that holds data
    #[arg(long)]
    pub force: bool,
}

/// Which plugin of which gateway.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct PluginTarget {
    /// The name of the plugin, as `gateway plugins list` prints it
    #[arg(value_parser = plugin_name)]
    pub name: String,
    /// The operator's listener of the running gateway [default: admin.listen of the configuration]
    #[arg(long, value_name = "URL")]
    pub admin: Option<String>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::verify_arguments::AuditFile;

    fn parse(line: &str) -> Cli {
        Cli::try_parse_from(line.split(' ')).unwrap()
    }

    fn target(name: &str, admin: Option<&str>) -> PluginTarget {
        PluginTarget { name: name.to_owned(), admin: admin.map(str::to_owned) }
    }

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn without_a_command_it_runs() {
        let cli = parse("gateway --listen 127.0.0.1:9");
        assert_eq!(cli.command_or_run(), Command::Run);
        assert_eq!(cli.overrides.listen.as_deref(), Some("127.0.0.1:9"));
    }

    #[test]
    fn flags_stand_before_or_after_the_command() {
        for line in ["gateway --json -c a.toml plugins list", "gateway plugins list --config a.toml --json"] {
            let cli = parse(line);
            assert_eq!(cli.command_or_run(), Command::Plugins(PluginsCommand::List(PluginList::default())));
            assert_eq!(cli.overrides.config, Some(PathBuf::from("a.toml")));
            assert!(cli.json);
        }
    }

    #[test]
    fn every_command_is_known() {
        for (name, command) in [
            ("run", Command::Run),
            ("check", Command::Check),
            ("migrate", Command::Migrate),
            ("openapi", Command::Openapi),
            ("version", Command::Version),
            ("init a/b", Command::Init(NewGateway { dir: PathBuf::from("a/b") })),
            ("status --admin [::1]:1", Command::Status(AdminListener { admin: Some("[::1]:1".to_owned()) })),
            (
                "tx list --all",
                Command::Tx(TxCommand::List(TransactionList { all: true, ..TransactionList::default() })),
            ),
            ("config show --set", Command::Config(ConfigCommand::Show { set: true })),
            ("completions bash", Command::Completions { shell: Shell::Bash }),
            ("man pages", Command::Man { dir: PathBuf::from("pages") }),
            ("plugins enable forum", Command::Plugins(PluginsCommand::Enable(target("forum", None)))),
            ("plugins disable my_1", Command::Plugins(PluginsCommand::Disable(target("my_1", None)))),
            (
                "plugins resume forum --admin http://[::1]:1",
                Command::Plugins(PluginsCommand::Resume(target("forum", Some("http://[::1]:1")))),
            ),
            ("backup a.db", Command::Backup(BackupFile { file: PathBuf::from("a.db"), force: false })),
            ("restore a.db --force", Command::Restore(BackupFile { file: PathBuf::from("a.db"), force: true })),
            (
                "plugins inspect x.so",
                Command::Plugins(PluginsCommand::Inspect(LibraryFile { file: PathBuf::from("x.so"), no_load: false })),
            ),
            (
                "plugins new notes --dir a --plugin-api b",
                Command::Plugins(PluginsCommand::New(NewPlugin {
                    name: "notes".to_owned(),
                    dir: PathBuf::from("a"),
                    plugin_api: Some(PathBuf::from("b")),
                })),
            ),
            (
                "plugins list forum",
                Command::Plugins(PluginsCommand::List(PluginList { name: Some("forum".to_owned()), admin: None })),
            ),
            (
                "verify audit a.jsonl --agent 7",
                Command::Verify(VerifyCommand::Audit(AuditFile {
                    file: PathBuf::from("a.jsonl"),
                    signer: None,
                    agent: Some(7),
                })),
            ),
            (
                "plugins purge forum --yes",
                Command::Plugins(PluginsCommand::Purge(PluginPurge { target: target("forum", None), yes: true })),
            ),
        ] {
            assert_eq!(parse(&format!("gateway {name}")).command_or_run(), command);
        }
    }

    #[test]
    fn a_wrong_line_is_a_usage_error() {
        for line in [
            "gateway plugins",
            "gateway plugins inspect",
            "gateway plugins new",
            "gateway plugins enable",
            "gateway plugins purge",
            "gateway plugins purge ../jobs",
            "gateway plugins disable ../jobs",
            "gateway start",
            "gateway backup",
            "gateway verify",
            "gateway verify audit a --signer 0x12",
            "gateway restore",
            "gateway mark-restored file",
            "gateway --port 80",
        ] {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
            assert_eq!(error.exit_code(), i32::from(exit_code::ExitCode::Usage.code()), "{line}");
        }
    }

    #[test]
    fn help_names_each_exit_code() {
        let help = Cli::command().render_long_help().to_string();
        for code in exit_code::ExitCode::ALL {
            let line = format!("{}  {}", code.code(), code.meaning());
            assert!(help.contains(&line), "{line:?} is missing in\n{help}");
        }
    }

    #[test]
    fn a_database_url_is_not_in_debug_output() {
        let cli = parse("gateway --database-url postgres://u:hunter2@h/d");
        assert!(!format!("{cli:?}").contains("hunter2"));
    }
}
