//! How commands end: what they print, and with which exit code.

use crate::{exit_code::ExitCode, output::problems_text};
use gateway_config::Problems;
use std::fmt::Display;

pub(crate) fn config_problems(problems: &Problems) -> ExitCode {
    eprintln!("{}", problems_text(problems));
    ExitCode::Config
}

pub(crate) fn failure(code: ExitCode, error: &impl Display) -> ExitCode {
    eprintln!("gateway: {error}");
    code
}

/// The given code, unless the answer could not be printed.
pub(crate) fn printed(outcome: std::io::Result<()>, code: ExitCode) -> ExitCode {
    match outcome {
        Ok(()) => code,
        Err(error) => failure(ExitCode::Failure, &error),
    }
}
