//! `cargo xtask test`: everything CI runs, the quick checks first. The list below is the whole truth.

use crate::{
    Failure, clients, devnet,
    postgres::Cluster,
    process, repository,
    scratch::Scratch,
    suite::{Outcome, Step, Suite},
};
use std::{fs, num::NonZero, path::Path, process::Command, thread, time::Duration};

/// Published for authors of plugins, in this order.
pub const PACKAGES: [&str; 6] = [
    "plugin-api-macros",
    "plugin-api",
    "request-signing",
    "plugin-test-kit",
    "gateway-audit-verify",
    "gateway-cv-verify",
];

const STEPS: &[Step] = &[
    Step::always("tools", tools),
    Step::always("folder", create_scratch),
    Step::whole("formatting", formatting),
    Step::whole("cargo-deny", dependencies),
    // With clippy's lints. Tests start the binary and load the libraries that this makes. With a filter nextest builds what tests
    // need, which leaves out the benchmarks.
    Step::whole("clippy, build", build),
    Step::whole("doctests", doctests),
    Step::whole("rustdoc", documentation),
    Step::always("clients", install_clients),
    Step::whole("devnet", dev_network),
    // Alone, because they build: tests beside them would find libraries and programs half written.
    Step::whole("chores", chores),
    Step::always("postgresql", start_postgres),
    Step::whole("plugins", plugins),
    Step::always("nextest", nextest),
    Step::whole("gateways", gateways).before_minutes(66),
    // What takes longest: many plugins, kills, outages, random scripts. With the steps before it is everything.
    Step::whole("long tests", long_tests).before_minutes(50),
    // A build of its own: the program under test has no simulation in it.
    Step::whole("simulation", simulation).before_minutes(70),
];

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let filter = match arguments {
        [] => None,
        [filter] => Some(filter.clone()),
        _ => return Err("`cargo xtask test` takes one filter at most".to_owned()),
    };
    let suite = Suite::new(repository::root()?, filter, is_ci());
    // CI tells everything in one run; a developer wants the first failure now.
    // It becomes part of an expression, whose operators are not for this place.
    if let Some(filter) = suite.filter.as_ref().filter(|filter| !filter.chars().all(is_plain)) {
        return Err(format!("{filter:?} is no part of a name: use cargo nextest run with its --filterset"));
    }
    suite.run(STEPS)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-:/".contains(character)
}

/// Cargo in the repository: a subcommand, then its arguments. CI takes the lock file as it is.
fn cargo(suite: &Suite, subcommand: &[&str], arguments: &[&str]) -> Command {
    let mut cargo = process::cargo();
    cargo.current_dir(&suite.root).args(subcommand);
    if is_ci() {
        cargo.arg("--locked");
    }
    cargo.args(arguments);
    cargo
}

fn is_ci() -> bool {
    std::env::var_os("CI").is_some()
}

fn passed(command: &mut Command) -> Result<Outcome, Failure> {
    process::run(command).map(|()| Outcome::Passed)
}

/// Programs that every test needs, and those of the clients, with their Debian packages.
const TOOLS: [(&str, &str); 2] = [("cc", "gcc"), ("setpriv", "util-linux")];
const CLIENT_TOOLS: [(&str, &str); 3] = [("node", "nodejs"), ("npm", "npm"), ("python3", "python3")];

/// Whether only a plugin's own tests run, which have no clients of other languages.
fn is_plugin(suite: &Suite) -> bool {
    suite.filter.as_ref().is_some_and(|filter| suite.root.join("plugins").join(filter).is_dir())
}

fn needed_tools(suite: &Suite) -> impl Iterator<Item = (&'static str, &'static str)> {
    TOOLS.into_iter().chain(CLIENT_TOOLS.into_iter().filter(|_| !is_plugin(suite)))
}

/// Says early, and all at once, what this machine lacks.
fn tools(suite: &mut Suite) -> Result<Outcome, Failure> {
    let mut lacking: Vec<Failure> =
        needed_tools(suite).filter_map(|(program, package)| process::need(program, package).err()).collect();
    lacking.extend(crate::postgres::programs().err());
    if process::find("cargo-nextest").is_none() {
        lacking.push("cargo-nextest is not installed: cargo install cargo-nextest --locked".to_owned());
    }
    if suite.filter.is_none() && process::find("clippy-driver").is_none() {
        lacking.push("clippy is not installed: rustup component add clippy".to_owned());
    }
    if lacking.is_empty() { Ok(Outcome::Passed) } else { Err(lacking.join("\n   ")) }
}

/// A step of its own, which says where the files are.
fn create_scratch(suite: &mut Suite) -> Result<Outcome, Failure> {
    let scratch = Scratch::create("files")?;
    println!("   {}", scratch.path().display());
    suite.scratch = Some(scratch);
    Ok(Outcome::Passed)
}

/// `cargo nextest run` whose tests put their files into the folder of this run. Without backtraces: many tests panic on purpose, and each
/// of those programs would read its symbols, hundreds of megabytes, to print one.
fn nextest_run(suite: &Suite, arguments: &[&str]) -> Command {
    let mut nextest = cargo(suite, &["nextest", "run"], arguments);
    nextest.env("RUST_BACKTRACE", "0");
    if let Some(scratch) = &suite.scratch {
        nextest.env("TMPDIR", scratch.path());
    }
    nextest
}

fn formatting(suite: &mut Suite) -> Result<Outcome, Failure> {
    passed(process::cargo().current_dir(&suite.root).args(["fmt", "--all", "--check"]))
}

fn dependencies(suite: &mut Suite) -> Result<Outcome, Failure> {
    if process::find("cargo-deny").is_none() {
        return Ok(Outcome::Skipped("cargo-deny not installed".to_owned()));
    }
    // Not `advisories`, whose database is a git repository that CI does not reach.
    passed(&mut cargo(suite, &["deny"], &["check", "licenses", "bans", "sources"]))
}

/// What `cargo clippy -- -D warnings` sets for `cargo check`. `cargo build` lints with it while it compiles: a check before
/// it would compile everything twice. The steps that follow set it too, or cargo would compile the workspace anew.
const CLIPPY: [(&str, &str); 2] =
    [("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"), ("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__")];

fn build(suite: &mut Suite) -> Result<Outcome, Failure> {
    // The packages of the clients come over the network meanwhile. The step after this finds them installed, or says why not.
    let root = suite.root.clone();
    let clients = thread::spawn(move || install_packages(&root));
    // With --all-targets cargo resolves the features that the tests get, and nothing is compiled twice.
    let built = passed(cargo(suite, &["build"], &["--workspace", "--all-targets"]).envs(CLIPPY));
    let _ = clients.join();
    built
}

fn doctests(suite: &mut Suite) -> Result<Outcome, Failure> {
    passed(cargo(suite, &["test"], &["--workspace", "--doc", "--quiet"]).envs(CLIPPY))
}

/// What docs.rs shows, without a broken link.
fn documentation(suite: &mut Suite) -> Result<Outcome, Failure> {
    let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
    let arguments: Vec<&str> = ["--no-deps", "--quiet"].into_iter().chain(packages).collect();
    passed(cargo(suite, &["doc"], &arguments).envs(CLIPPY).env("RUSTDOCFLAGS", "-Dwarnings"))
}

fn install_clients(suite: &mut Suite) -> Result<Outcome, Failure> {
    if is_plugin(suite) {
        return Ok(Outcome::Skipped("a plugin's own tests have none".to_owned()));
    }
    install_packages(&suite.root).map(|()| Outcome::Passed)
}

fn install_packages(root: &Path) -> Result<(), Failure> {
    clients::install_node(&root.join("tests/clients"))?;
    clients::install_python(root)?;
    devnet::install(root)
}

fn dev_network(suite: &mut Suite) -> Result<Outcome, Failure> {
    devnet::test(&suite.root).map(|()| Outcome::Passed)
}

/// Which tests these are is said in .config/nextest.toml, whose default filter leaves them out.
fn chores(suite: &mut Suite) -> Result<Outcome, Failure> {
    // The package, so that nextest does not start a hundred programs to ask for their tests.
    let filter = "package(gateway-tests) & test(/^e2e::chores::/)";
    let chores = ["--workspace", "--profile", "ci", "--ignore-default-filter", "--filterset", filter];
    passed(nextest_run(suite, &chores).args(["--test-threads", "2"]).envs(CLIPPY))
}

fn start_postgres(suite: &mut Suite) -> Result<Outcome, Failure> {
    let cluster = Cluster::start()?;
    println!("   {}", cluster.url());
    suite.postgres = Some(cluster);
    Ok(Outcome::Passed)
}

/// Which packages are built, and which of their tests run: those of a plugin, or those with the filter in their path.
fn selection(suite: &Suite, filter: &str) -> Vec<String> {
    let (own, any) = (format!("package({filter})"), format!("test(~{filter})"));
    let selection = if is_plugin(suite) {
        // With the crate that names one set of features, so that nothing that was built for the workspace is compiled again.
        vec!["--package", filter, "--package", "gateway-cli", "--filterset", &own]
    } else {
        vec!["--workspace", "--ignore-default-filter", "--filterset", &any]
    };
    selection.into_iter().map(str::to_owned).collect()
}

/// Twice as many as processors: many tests wait, and with half as many again a third of the processors' time was idle.
fn test_threads() -> String {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    (2 * processors).to_string()
}

/// Later than that CI's time does for the plugins' tests on one database.
const BOTH_DATABASES_BEFORE: Duration = Duration::from_mins(30);
/// Tests of whole gateways, and those of them that take longest.
const GATEWAYS: &str = "package(gateway-tests) & binary(it)";
const LONG_TESTS: &str = "package(gateway-tests) & test(/^(all_plugins|anvil|backup|crash|e2e::plugin_outside|load_test|outages|replicas)::/)";

/// The packages of plugins.
pub fn plugin_packages(root: &Path) -> Result<String, Failure> {
    let entries = fs::read_dir(root.join("plugins")).map_err(|error| format!("plugins: {error}"))?;
    let names = entries.filter_map(Result::ok).filter(|entry| entry.path().join("Cargo.toml").is_file());
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(format!("package(/^({})$/)", names.join("|")))
}

fn plugins(suite: &mut Suite) -> Result<Outcome, Failure> {
    let all = plugin_packages(&suite.root)?;
    if !suite.is_later_than(BOTH_DATABASES_BEFORE) {
        return run_tests(suite, &all);
    }
    run_on(suite, &all, None).map(|()| Outcome::PassedWithout("PostgreSQL: this machine is slow".to_owned()))
}

/// With a filter whatever it selects.
fn nextest(suite: &mut Suite) -> Result<Outcome, Failure> {
    run_tests(suite, &format!("not ({GATEWAYS}) & not {}", plugin_packages(&suite.root)?))
}

fn gateways(suite: &mut Suite) -> Result<Outcome, Failure> {
    run_tests(suite, &format!("{GATEWAYS} & not ({LONG_TESTS})"))
}

fn long_tests(suite: &mut Suite) -> Result<Outcome, Failure> {
    run_tests(suite, LONG_TESTS)
}

/// Those of the suite's filter, or of this expression, on both databases.
fn run_tests(suite: &Suite, all: &str) -> Result<Outcome, Failure> {
    match &suite.postgres {
        Some(cluster) => run_on(suite, all, Some(cluster.url())).map(|()| Outcome::Passed),
        // In CI the tests on SQLite still have something to say, but the step has not passed.
        None => run_on(suite, all, None).and(Err("ran without PostgreSQL".to_owned())),
    }
}

fn run_on(suite: &Suite, all: &str, postgres: Option<&str>) -> Result<(), Failure> {
    let mut nextest = nextest_run(suite, &["--profile", "ci", "--test-threads", &test_threads()]);
    match &suite.filter {
        Some(filter) => nextest.args(selection(suite, filter)),
        None => nextest.args(["--workspace", "--filterset", all]).envs(CLIPPY),
    };
    if let Some(url) = postgres {
        nextest.env("GATEWAY_TEST_POSTGRES", url);
    }
    process::run(&mut nextest)
}

/// Holds the simulated PostgreSQL against the real one, and plays gateways on it.
fn simulation(suite: &mut Suite) -> Result<Outcome, Failure> {
    let Some(cluster) = &suite.postgres else { return Ok(Outcome::Skipped("no PostgreSQL".to_owned())) };
    // With the features that everything else is built with, and without its program.
    let packages =
        ["gateway-storage", "gateway-simulate", "gateway-cli"].into_iter().flat_map(|name| ["--package", name]);
    let features = ["--features", "gateway-storage/simulation,gateway-simulate/simulation"];
    let targets = ["--lib", "--test", "simulated_postgres", "--test", "it", "--test", "machine"];
    let tests = "binary(simulated_postgres) or test(/^simulation::/) or package(gateway-simulate)";
    let mut nextest = nextest_run(suite, &["--profile", "ci"]);
    nextest.args(packages).args(features).args(targets).args(["--filterset", tests]);
    passed(nextest.envs(CLIPPY).env("GATEWAY_TEST_POSTGRES", cluster.url()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_of_plugins_are_found() {
        let packages = plugin_packages(&repository::root().unwrap_or_default()).unwrap_or_default();
        assert!(
            packages.starts_with("package(/^(a2a|activity|agents|") && packages.ends_with("|x402)$/)"),
            "{packages}"
        );
    }

    #[test]
    fn a_plugins_own_tests_need_no_clients() {
        let tools = |filter: Option<&str>| {
            let root = repository::root().unwrap_or_default();
            let suite = Suite::new(root, filter.map(ToOwned::to_owned), false);
            needed_tools(&suite).map(|(program, _)| program).collect::<Vec<_>>()
        };
        assert_eq!(tools(Some("hello")), ["cc", "setpriv"]);
        assert_eq!(tools(Some("e2e::")), ["cc", "setpriv", "node", "npm", "python3"]);
        assert_eq!(tools(None), tools(Some("e2e::")));
    }

    #[test]
    fn the_name_of_a_plugin_builds_and_runs_that_plugin_only() {
        let selected = |filter: &str| {
            let root = repository::root().unwrap_or_default();
            selection(&Suite::new(root, Some(filter.to_owned()), false), filter)
        };
        let plugin = ["--package", "hello", "--package", "gateway-cli", "--filterset", "package(hello)"];
        assert_eq!(selected("hello"), plugin);
        let path = ["--workspace", "--ignore-default-filter", "--filterset", "test(~e2e::)"];
        assert_eq!(selected("e2e::"), path);
    }
}
