//! The project's chores, `cargo xtask COMMAND`. Rule: no dependencies but one that has none (the template of a plugin), so that this
//! builds in seconds on a fresh machine and never changes the features of the crates it builds.

mod author_times;
mod bench;
mod clients;
mod conflicts;
mod deb;
mod dev;
mod dev_chain;
mod devnet;
mod dist;
mod long;
mod new_plugin;
#[cfg(test)]
mod packages;
mod postgres;
mod process;
mod profile;
mod repository;
mod scratch;
mod simulate;
mod suite;
mod tck;
mod test;
mod usage;

use std::process::ExitCode;

/// Why a chore could not be done, in a sentence that says what to do.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let (name, rest) = match arguments {
        [] => ("help", arguments),
        [name, rest @ ..] => (name.as_str(), rest),
    };
    let name = if matches!(name, "-h" | "--help") { "help" } else { name };
    let command = usage::COMMANDS.iter().find(|command| command.name == name);
    let command = command.ok_or_else(|| format!("there is no command {name:?}\n\n{}", usage::text()))?;
    (command.run)(rest)
}
