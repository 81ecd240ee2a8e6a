//! `gateway PLUGIN REPORT`. Which plugins and reports there are, only a running gateway knows, so they are no commands of the command line's
//! own. Rule: what is nearly a command is a mistake, and asks no gateway.

use super::arguments::{Cli, Command, PluginsCommand};
use clap::{
    Parser as _,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::ffi::OsString;

impl Cli {
    /// Of this process; a wrong one ends it.
    pub fn of_command_line() -> Self {
        let line: Vec<OsString> = std::env::args_os().collect();
        Self::of_line(&line).unwrap_or_else(|error| error.exit())
    }

    /// `gateway PLUGIN REPORT` is short for `gateway plugins report PLUGIN REPORT`: which plugins there are, only a running gateway knows. So it
    /// is with the options of a report.
    fn of_line(line: &[OsString]) -> Result<Self, clap::Error> {
        Self::try_parse_from(line).or_else(|error| Self::of_report(line, &error).ok_or(error))
    }

    /// What is nearly a command is a mistake.
    fn of_report(line: &[OsString], error: &clap::Error) -> Option<Self> {
        let mut line = line.to_vec();
        match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
            (ErrorKind::UnknownArgument, _) => {}
            (ErrorKind::InvalidSubcommand, Some(ContextValue::String(plugin)))
                if error.get(ContextKind::SuggestedSubcommand).is_none() =>
            {
                let at = line.iter().position(|word| word == plugin.as_str())?;
                line.splice(at..at, ["plugins", "report"].map(OsString::from));
            }
            _ => return None,
        }
        // Each time one more word is known as an option of the report.
        for _ in 0..=line.len() {
            let error = match Self::try_parse_from(&line) {
                Ok(cli) => return Some(cli).filter(Self::names_report),
                Err(error) => error,
            };
            let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
            let name = option.strip_prefix("--").filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
            let at = line.iter().position(|word| word == option.as_str())?;
            *line.get_mut(at)? = format!("--option={name}").into();
        }
        None
    }

    fn names_report(&self) -> bool {
        let Some(Command::Plugins(PluginsCommand::Report(arguments))) = &self.command else { return false };
        arguments.report.is_some()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::exit_code::ExitCode;
    use crate::report_arguments::PluginReportArguments;

    fn of_line(line: &str) -> Result<Cli, clap::Error> {
        Cli::of_line(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_report_is_named_by_its_plugin() {
        for line in [
            "gateway payin addresses --funded --json --admin http://[::1]:1",
            "gateway --json payin addresses --admin http://[::1]:1 --funded",
            "gateway plugins report payin addresses --funded --admin http://[::1]:1 --json",
            "gateway plugins report payin addresses --option funded --admin http://[::1]:1 --json",
        ] {
            let cli = of_line(line).unwrap();
            let arguments = PluginReportArguments {
                plugin: Some("payin".to_owned()),
                report: Some("addresses".to_owned()),
                options: vec!["funded".to_owned()],
                admin: Some("http://[::1]:1".to_owned()),
            };
            assert_eq!(cli.command, Some(Command::Plugins(PluginsCommand::Report(arguments))), "{line}");
            assert!(cli.json, "{line}");
        }
        let all = of_line("gateway plugins report").unwrap();
        assert_eq!(all.command, Some(Command::Plugins(PluginsCommand::Report(PluginReportArguments::default()))));
    }

    /// What is no command, or nearly one, is no report.
    #[test]
    fn a_mistyped_command_is_a_usage_error() {
        for line in [
            "gateway start",
            "gateway plugin list",
            "gateway tx payin addresses",
            "gateway Payin addresses",
            "gateway payin ../jobs",
            "gateway payin addresses funded",
            "gateway payin addresses --funded&offset=1",
            "gateway payin --funded",
            "gateway tx list --funded",
        ] {
            let error = of_line(line).unwrap_err();
            assert_eq!(error.exit_code(), i32::from(ExitCode::Usage.code()), "{line}");
        }
    }
}
