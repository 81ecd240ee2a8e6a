//! The commands of the command line. `run` is in `boot.rs`.

mod admin_client;
mod audit;
mod backup;
mod check;
mod config_show;
mod exit;
mod init;
mod inspect;
mod list;
mod manual;
mod mark_restored;
mod migrate;
mod new_plugin;
mod openapi;
mod operate;
mod purge;
mod report;
mod runtime;
mod status;
mod tx_list;
mod verify;

use crate::arguments::{Cli, Command, ConfigCommand, PluginsCommand, TxCommand};
use crate::boot::{self, BootError};
use crate::exit_code::{CommandResult, ExitCode};
use crate::key_secrecy;
use crate::output::Output;
use exit::{config_problems, failure, printed};
use gateway::StartError;
use gateway::lifecycle::OperatorAction;
use gateway_admin::AdminError;
use gateway_config::Config;
use runtime::{with_runtime, with_serving_runtime};
use serde_json::json;

/// Runs the command and says how it ended.
pub fn run(cli: &Cli) -> CommandResult {
    let output = Output::for_stdout(cli.json);
    match cli.command_or_run() {
        Command::Verify(document) => CommandResult::Verified(verify::run(output, &document)),
        command => CommandResult::Command(run_command(cli, output, command)),
    }
}

fn run_command(cli: &Cli, output: Output, command: Command) -> ExitCode {
    if let Command::Plugins(PluginsCommand::List(list)) = &command
        && let Some(code) = list::of_running_gateway(output, list, &cli.overrides)
    {
        return code;
    }
    match command {
        Command::Version => version(output),
        Command::Plugins(PluginsCommand::New(plugin)) => new_plugin::run(output, &plugin),
        Command::Plugins(PluginsCommand::Inspect(library)) => inspect::file(output, &library),
        Command::Plugins(PluginsCommand::TryLoad { arguments }) => {
            match gateway_plugins::library_probe::run(&arguments) {
                Ok(()) => ExitCode::Ok,
                Err(error) => failure(ExitCode::Failure, &error),
            }
        }
        Command::Plugins(PluginsCommand::Purge(purge)) => purge::run(output, &purge, &cli.overrides),
        Command::Plugins(PluginsCommand::Report(arguments)) => report::run(output, &arguments, &cli.overrides),
        Command::Plugins(PluginsCommand::Enable(target)) => {
            operate::run(output, OperatorAction::Enable, &target, &cli.overrides)
        }
        Command::Plugins(PluginsCommand::Disable(target)) => {
            operate::run(output, OperatorAction::Disable, &target, &cli.overrides)
        }
        Command::Plugins(PluginsCommand::Reindex(target)) => {
            operate::run(output, OperatorAction::Reindex, &target, &cli.overrides)
        }
        Command::Plugins(PluginsCommand::Resume(target)) => {
            operate::run(output, OperatorAction::Resume, &target, &cli.overrides)
        }
        Command::Check => check::run(output, &cli.overrides),
        Command::Init(new) => init::run(output, &new),
        Command::Status(listener) => status::run(output, &listener, &cli.overrides),
        Command::Tx(TxCommand::List(list)) => tx_list::run(output, &list, &cli.overrides),
        Command::Config(ConfigCommand::Show { set }) => config_show::run(output, &cli.overrides, set),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { dir } => manual::man(output, &dir),
        command => match Config::load(&cli.overrides) {
            Ok(config) => {
                key_secrecy::forget_keys_in_environment();
                with_config(&command, output, config, cli)
            }
            Err(problems) => config_problems(&problems),
        },
    }
}

fn with_config(command: &Command, output: Output, config: Config, cli: &Cli) -> ExitCode {
    gateway_telemetry::start_logging(&config.log);
    let code = run_with_config(command, output, config, cli);
    gateway_telemetry::flush_log();
    code
}

fn run_with_config(command: &Command, output: Output, config: Config, cli: &Cli) -> ExitCode {
    match command {
        Command::Run => with_serving_runtime(|control, spare| boot::run(config, cli.overrides.clone(), control, spare))
            .map_or_else(|code| code, |ended| ended.map_or_else(|error| boot_error(&error), |()| ExitCode::Ok)),
        Command::Migrate => with_runtime(migrate::run(output, config)).unwrap_or_else(|code| code),
        Command::Openapi => openapi::print(&config),
        Command::Backup(copy) => with_runtime(backup::back_up(output, &config, copy)).unwrap_or_else(|code| code),
        Command::Restore(copy) => with_runtime(backup::restore(output, &config, copy)).unwrap_or_else(|code| code),
        Command::MarkRestored => with_runtime(mark_restored::run(output, &config)).unwrap_or_else(|code| code),
        command => {
            let name = match command {
                Command::Plugins(PluginsCommand::List(list)) => list.name.as_deref(),
                _ => None,
            };
            with_runtime(list::of_folder(output, &config, name)).unwrap_or_else(|code| code)
        }
    }
}

fn version(output: Output) -> ExitCode {
    let (abi_major, abi_minor) = (plugin_api::abi::ABI_MAJOR, plugin_api::abi::ABI_MINOR);
    let facts = json!({ "gateway": env!("CARGO_PKG_VERSION"), "pluginApi": format!("{abi_major}.{abi_minor}") });
    printed(
        output.print(&facts, |_| format!("gateway {}\nplugin API {abi_major}.{abi_minor}", env!("CARGO_PKG_VERSION"))),
        ExitCode::Ok,
    )
}

fn boot_error(error: &BootError) -> ExitCode {
    let code = match error {
        BootError::Bind(_) | BootError::Admin(AdminError::Bind { .. }) => ExitCode::Listen,
        BootError::Open(StartError::Database(_)) => ExitCode::Database,
        BootError::Tls(_)
        | BootError::Admin(AdminError::Tls(_))
        | BootError::Traces(_)
        | BootError::Open(StartError::Brand(_) | StartError::Egress(_) | StartError::DatabaseUrl(_)) => {
            ExitCode::Config
        }
        BootError::Plugins(_) | BootError::Open(StartError::RequiredPlugins(_)) => ExitCode::Plugin,
        BootError::Open(_) | BootError::Signals(_) | BootError::Thread(_) | BootError::Control(_) => ExitCode::Failure,
    };
    failure(code, error)
}
