//! The commands, as data: what runs and what the help says read the same list.

use crate::{Failure, author_times, bench, conflicts, dev, devnet, dist, long, new_plugin, simulate, test};

pub struct Command {
    pub name: &'static str,
    pub arguments: &'static str,
    pub summary: &'static str,
    pub run: fn(&[String]) -> Result<(), Failure>,
}

pub const COMMANDS: &[Command] = &[
    Command {
        name: "dev",
        arguments: "[OPTIONS] [-- ARGS…]",
        summary: "Build gateway and plugins and serve them on 127.0.0.1:8080 with a chain (more with --help)",
        run: dev::run,
    },
    Command {
        name: "devnet",
        arguments: "[OPTIONS]",
        summary: "Run a chain with every contract until it is stopped (more with --help)",
        run: devnet::run,
    },
    Command {
        name: "test",
        arguments: "[FILTER]",
        summary: "Everything CI runs; with FILTER only the tests of that plugin, or those with it in their path",
        run: test::run,
    },
    Command {
        name: "new-plugin",
        arguments: "NAME",
        summary: "Write plugins/NAME: a table, three routes, a job and tests that work as they are",
        run: new_plugin::run,
    },
    Command {
        name: "dist",
        arguments: "[DIR]",
        summary: "Build a folder in DIR, else in dist/, with gateway, plugins and configuration for another machine, and a Debian package",
        run: dist::run,
    },
    Command {
        name: "bench",
        arguments: "[JOB…]",
        summary: "Measure the gateway beside its peers; all jobs make BENCHMARKS.md, --help shows the options",
        run: bench::run,
    },
    Command {
        name: "abuse",
        arguments: "[SECONDS]",
        summary: "Measure what clients that behave feel of clients that do not, for each kind of abuse",
        run: long::abuse,
    },
    Command {
        name: "kills",
        arguments: "[COUNT]",
        summary: "Kill a gateway COUNT times while it writes and while it sends transactions, and look what came of both",
        run: long::kills,
    },
    Command {
        name: "conflicts",
        arguments: "[PLUGIN]",
        summary: "Run the tests of all plugins on a PostgreSQL on which every write has a conflict and runs a second time",
        run: conflicts::run,
    },
    Command {
        name: "prove",
        arguments: "[FLIPS] [SEED]",
        summary: "Let two verifiers judge the credentials of 200 agents, and FLIPS changed bytes of them, 100,000 if not said; run the compatibility kit of A2A",
        run: long::prove,
    },
    Command {
        name: "mutate",
        arguments: "[COUNT] [SEED]",
        summary: "Send COUNT wrong requests, a million if not said, and what schemathesis makes up; look for faults and growing memory",
        run: long::mutate,
    },
    Command {
        name: "fuzz",
        arguments: "[TARGET] [SECONDS]",
        summary: "Run the fuzz targets (or those with TARGET in their name) for SECONDS each, 60 if not said",
        run: long::fuzz,
    },
    Command {
        name: "reorgs",
        arguments: "[SCRIPTS] [SEED]",
        summary: "Compare the index with a fresh one after random scripts on a real node, 250 on each database if not said",
        run: long::reorgs,
    },
    Command {
        name: "simulate",
        arguments: "[OPTIONS]",
        summary: "Play weeks of one gateway and of three, with kills and a database and a chain that fail, from seeds, and compare what came of it (more with --help)",
        run: simulate::run,
    },
    Command {
        name: "author-times",
        arguments: "[GATEWAY]",
        summary: "Measure how long authors of plugins wait for green tests: outside with the program GATEWAY, and here",
        run: author_times::run,
    },
    Command { name: "help", arguments: "", summary: "Print this text", run: help },
];

pub fn text() -> String {
    let mut text = "usage: cargo xtask COMMAND\n".to_owned();
    for command in COMMANDS {
        let call = format!("{} {}", command.name, command.arguments);
        text.push_str(&format!("\n  {call:<24} {}", command.summary));
    }
    text.push_str("\n\nWith CI=true, `test` runs the steps after a failed one too.");
    text
}

fn help(_: &[String]) -> Result<(), Failure> {
    println!("{}", text());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_the_help() {
        for command in COMMANDS {
            assert!(text().contains(&format!("\n  {}", command.name)), "{}", command.name);
        }
    }
}
