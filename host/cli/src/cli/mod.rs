//! The command line: what can be typed, how answers are printed, how the process ends. Rule: nothing here does the work;
//! `main` reads a `Cli`, calls the host, and prints through `Output`.

mod args;
mod exit;
mod output;
mod table;

pub use self::{
    args::{BackupFile, Cli, Command, PluginsCommand, Switch},
    exit::ExitCode,
    output::{Output, problems_text},
    table::{Cell, Colour, Table},
};
