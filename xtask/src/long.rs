//! `cargo xtask fuzz`, `abuse`, `mutate`, `reorgs`, `kills` and `prove`: tests that say more the longer they run. CI runs the
//! fuzz targets for a second each, some scripts, some thousand mutated requests, a few kills, some changed bytes, and no
//! measurement. Rule: all are tests, so that a change that breaks them fails CI.

use crate::{Failure, clients, devnet, postgres::Cluster, process, profile::Profile, repository, tck};
use std::process::Command;

const FUZZ_SECONDS: u64 = 60;
/// Packages with fuzz targets. Named, so that nextest does not start a hundred programs to ask for their tests.
const FUZZED: [&str; 6] =
    ["gateway-config", "gateway-envelope", "gateway-http", "gateway-plugins", "gateway-storage", "gateway-tests"];
const ABUSE_SECONDS: u64 = 5;
const REORG_SCRIPTS: u64 = 250;
const KILLS: u64 = 300;
const FLIPS: u64 = 100_000;
const PROVEN_AGENTS: u64 = 200;
const PROVEN_QUOTES: u64 = 1000;
const PROVEN_CHAINS: u64 = 7;
const PROVEN_WALLETS: u64 = 10_000;
const MUTANTS: u64 = 1_000_000;

/// `[TARGET] [SECONDS]`, in the development profile, whose checks find more.
pub fn fuzz(arguments: &[String]) -> Result<(), Failure> {
    let (target, seconds) = match arguments {
        [] => ("", FUZZ_SECONDS),
        [one] => one.parse().map_or((one.as_str(), FUZZ_SECONDS), |seconds| ("", seconds)),
        [target, seconds] => (target.as_str(), number(seconds)?),
        _ => return Err("`cargo xtask fuzz` takes a target and a number of seconds".to_owned()),
    };
    if !target.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
        return Err(format!("{target:?} is no fuzz target: its name has small letters and _ only"));
    }
    let mut nextest = nextest("dev")?;
    let packages = FUZZED.map(|package| format!("package({package})")).join(" | ");
    let filterset = format!("({packages}) & test(/(^|::)fuzz::.*{target}/)");
    nextest.args(["--filterset", &filterset, "--success-output", "never"]);
    nextest.env("BOLERO_RANDOM_TEST_TIME_MS", (seconds * 1000).to_string());
    process::run(&mut nextest)
}

/// `[SECONDS]` of each measurement; becomes a section of BENCHMARKS.md.
pub fn abuse(arguments: &[String]) -> Result<(), Failure> {
    let seconds = match arguments {
        [] => ABUSE_SECONDS,
        [seconds] => number(seconds)?,
        _ => return Err("`cargo xtask abuse` takes a number of seconds".to_owned()),
    };
    let profile = Profile::or("release");
    let mut nextest = nextest(&profile.name)?;
    nextest.env("ABUSE_SECONDS", seconds.to_string());
    // The numbers of a debug build mean nothing: a moment shows that it works.
    if profile.name == "dev" {
        nextest.env("ABUSE_ROUNDS", "1").env("ABUSE_SECONDS", "0.2");
    } else {
        nextest.env("ABUSE_REPORT", repository::root()?.join("BENCHMARKS.md"));
    }
    nextest.args(["--run-ignored", "only", "--no-capture", "--filterset", "test(/^http_abuse::measure::/)"]);
    process::run(&mut nextest)
}

/// `[SCRIPTS] [SEED]`: so many on each database. The same seed plays the same scripts.
pub fn reorgs(arguments: &[String]) -> Result<(), Failure> {
    let (scripts, seed) = match arguments {
        [] => (REORG_SCRIPTS, 1),
        [scripts] => (number(scripts)?, 1),
        [scripts, seed] => (number(scripts)?, number(seed)?),
        _ => return Err("`cargo xtask reorgs` takes a number of scripts and a seed".to_owned()),
    };
    devnet::install(&repository::root()?)?;
    let cluster = Cluster::start()?;
    let mut nextest = nextest("dev")?;
    nextest.args(["--no-capture", "--filterset", "test(/^anvil::property::/)"]);
    nextest.env("GATEWAY_TEST_SCRIPTS", scripts.to_string()).env("GATEWAY_TEST_SEED", seed.to_string());
    process::run(nextest.env("GATEWAY_TEST_POSTGRES", cluster.url()))
}

/// `[COUNT]` of kills on each database.
pub fn kills(arguments: &[String]) -> Result<(), Failure> {
    let count = match arguments {
        [] => KILLS,
        [count] => number(count)?,
        _ => return Err("`cargo xtask kills` takes a number of kills".to_owned()),
    };
    devnet::install(&repository::root()?)?;
    let cluster = Cluster::start()?;
    let mut nextest = nextest("dev")?;
    // CI runs the short ones of these as well, with fewer kills.
    let filterset = "test(/^tx::kills::/) | test(/^crash::kill::/) | test(/^payments::(kills|thousands)::/) | test(/^entry::(kills|payouts)::/) | test(/^payin::kills::/) | test(/^webhooks::kills::/)";
    nextest.args(["--run-ignored", "all", "--no-capture", "--filterset", filterset]);
    process::run(nextest.env("KILLS", count.to_string()).env("GATEWAY_TEST_POSTGRES", cluster.url()))
}

/// `[FLIPS] [SEED]` of bytes in credentials. The same seed changes the same bytes.
pub fn prove(arguments: &[String]) -> Result<(), Failure> {
    let (flips, seed) = match arguments {
        [] => (FLIPS, 1),
        [flips] => (number(flips)?, 1),
        [flips, seed] => (number(flips)?, number(seed)?),
        _ => return Err("`cargo xtask prove` takes a number of bytes and a seed".to_owned()),
    };
    let root = repository::root()?;
    // The verifiers are programs of clients.
    clients::install_node(&root.join("tests/clients"))?;
    clients::install_python(&root)?;
    devnet::install(&root)?;
    let cluster = Cluster::start()?;
    let mut nextest = nextest("dev")?;
    let mut proofs = vec![
        "all_plugins::credentials",
        "all_plugins::plugin_removed",
        "colliding",
        "entry::throughput",
        "load_test",
        "payin::named",
        "payments::x402_types",
        "webhooks::crowd",
    ];
    match tck::install(&root) {
        Ok(kits) => {
            proofs.push("payments::tck");
            nextest.env("GATEWAY_TEST_TCK", kits);
        }
        // Only git has it, and a machine may reach the registries alone.
        Err(error) => println!("   without the kit of A2A ({} names a clone of it): {error}", tck::SOURCE_VARIABLE),
    }
    let filterset = format!("test(/^({})::/)", proofs.join("|"));
    nextest.args(["--run-ignored", "all", "--no-capture", "--filterset", &filterset]);
    nextest.env("GATEWAY_TEST_FLIPS", flips.to_string()).env("GATEWAY_TEST_SEED", seed.to_string());
    nextest.env("GATEWAY_TEST_QUOTES", PROVEN_QUOTES.to_string()).env("GATEWAY_TEST_CHAINS", PROVEN_CHAINS.to_string());
    nextest.env("GATEWAY_TEST_WALLETS", PROVEN_WALLETS.to_string()).env("GATEWAY_TEST_POSTGRES", cluster.url());
    process::run(nextest.env("GATEWAY_TEST_AGENTS", PROVEN_AGENTS.to_string()))
}

/// `[COUNT] [SEED]` of requests. The same seed makes the same requests.
pub fn mutate(arguments: &[String]) -> Result<(), Failure> {
    let (count, seed) = match arguments {
        [] => (MUTANTS, 1),
        [count] => (number(count)?, 1),
        [count, seed] => (number(count)?, number(seed)?),
        _ => return Err("`cargo xtask mutate` takes a number of requests and a seed".to_owned()),
    };
    let mut nextest = nextest(&Profile::or("release").name)?;
    let filterset = "test(/^all_plugins::(mutated|schemathesis)::/)";
    nextest.args(["--run-ignored", "only", "--no-capture", "--filterset", filterset]);
    nextest.env("GATEWAY_TEST_MUTANTS", count.to_string()).env("GATEWAY_TEST_SEED", seed.to_string());
    process::run(&mut nextest)
}

fn number(text: &str) -> Result<u64, Failure> {
    text.parse().ok().filter(|seconds| *seconds > 0).ok_or_else(|| format!("{text:?} is no number from 1 on"))
}

/// In the development profile of everything, because all of it is built already; else of what the tests of the whole need.
fn nextest(profile: &str) -> Result<Command, Failure> {
    let mut nextest = process::cargo();
    nextest.current_dir(repository::root()?);
    nextest.args(["nextest", "run", "--cargo-profile", profile, "--profile", "long"]);
    nextest.args(if profile == "dev" { &["--workspace"][..] } else { &["--package", "gateway-tests", "--test", "it"] });
    Ok(nextest)
}

#[cfg(test)]
mod tests {
    use super::FUZZED;
    use crate::repository;
    use std::fs;

    #[test]
    fn every_package_with_fuzz_targets_is_named() {
        let root = repository::root().unwrap();
        let mut fuzzed = Vec::new();
        for folder in ["", "host", "plugin-api", "plugins"] {
            for package in fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()) {
                let roots = ["src/lib.rs", "it/main.rs", "tests/it/main.rs"].map(|file| package.join(file));
                let Ok(manifest) = repository::read(&package.join("Cargo.toml")) else { continue };
                let is_target = |file| fs::read_to_string(file).is_ok_and(|source| source.contains("mod fuzz;"));
                if roots.iter().any(is_target) {
                    let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
                    fuzzed.push(name.trim_matches('"').to_owned());
                }
            }
        }
        fuzzed.sort();
        assert_eq!(fuzzed, FUZZED);
    }
}
