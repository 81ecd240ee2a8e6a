//! `simulate`: plays runs, each in a process of its own, twice, and compares their traces.

use gateway_simulate::{Fault, Report, Settings, machine};
use gateway_storage::SimulationCounts;
use std::{
    env,
    num::NonZero,
    process::{Command, ExitCode},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

const USAGE: &str =
    "cargo xtask simulate [--seeds N] [--seed S] [--weeks W] [--days D] [--gateways G] [--all-plugins] [--fault NAME] [--trace] [--faults]

  --seeds N      plays the seeds 1 to N (10)
  --seed S       plays this seed alone
  --weeks W      how long each run is (2)
  --days D       the same in days
  --gateways G   1 on SQLite, or more on one simulated PostgreSQL (each seed is played with 1 and with 3)
  --all-plugins  runs the plugins beside them, too, that no client writes to, and reads what they answer; each seed is played once
  --fault NAME   plants this fault: a run that finds it is a success
  --faults       plants every fault in turn
  --list         lists the faults
  --trace        prints what happens, with SIMULATE_LOG=info what gateways log as well";

/// How many gateways each seed is played with.
const GATEWAYS: [usize; 2] = [1, 3];

/// Of a run that found something, and of one that could not be played.
const FOUND: u8 = 3;
const GATEWAYS_MAX: usize = 16;
const BROKEN: u8 = 4;

#[derive(Clone)]
struct Options {
    seeds: Vec<u64>,
    days: u64,
    gateways: Option<usize>,
    fault: Option<Fault>,
    all_plugins: bool,
    all_faults: bool,
    is_traced: bool,
    is_list: bool,
    is_help: bool,
    /// Plays one run in this process.
    is_child: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let options = match parse(&arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("simulate: {error}\n\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    if options.is_help {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    if options.is_list {
        for fault in Fault::ALL {
            println!("{:<26} {}", fault.name(), fault.summary());
        }
        return ExitCode::SUCCESS;
    }
    if options.is_child {
        return play(&options);
    }
    let result = if options.all_faults { plant_all(&options) } else { play_seeds(&options) };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("simulate: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        seeds: (1..=10).collect(),
        days: 14,
        gateways: None,
        fault: None,
        all_plugins: false,
        all_faults: false,
        is_traced: false,
        is_list: false,
        is_help: false,
        is_child: false,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().cloned().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text:?} is no number"));
        match argument.as_str() {
            "--seeds" => options.seeds = (1..=number(value()?)?).collect(),
            "--seed" => options.seeds = vec![number(value()?)?],
            "--weeks" => options.days = number(value()?)? * 7,
            "--days" => options.days = number(value()?)?,
            "--gateways" => {
                let gateways = number(value()?)?;
                options.gateways = Some(usize::try_from(gateways).unwrap_or(usize::MAX).clamp(1, GATEWAYS_MAX));
            }
            "--fault" => {
                let name = value()?;
                let fault =
                    Fault::of_name(&name).ok_or_else(|| format!("there is no fault {name:?}; --list names them"))?;
                options.fault = Some(fault);
            }
            "--all-plugins" => options.all_plugins = true,
            "--faults" => options.all_faults = true,
            "--trace" => options.is_traced = true,
            "--list" => options.is_list = true,
            "-h" | "--help" => options.is_help = true,
            "--child" => options.is_child = true,
            other => return Err(format!("there is no option {other:?}")),
        }
    }
    if options.all_plugins && (options.fault.is_some() || options.all_faults) {
        return Err("a planted fault has the plugins that it is about: leave --all-plugins out".to_owned());
    }
    Ok(options)
}

/// One run in this process.
fn play(options: &Options) -> ExitCode {
    let seed = options.seeds.first().copied().unwrap_or_default();
    let settings = Settings {
        seed,
        days: options.days,
        gateways: options.gateways.unwrap_or(1),
        fault: options.fault,
        all_plugins: options.all_plugins,
        is_traced: options.is_traced,
    };
    if let Ok(filter) = env::var("SIMULATE_LOG") {
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
    let code = match gateway_simulate::run(&settings) {
        Ok(report) => {
            print_report(&report);
            if report.violations.is_empty() { 0 } else { FOUND }
        }
        Err(error) => {
            eprintln!("simulate: {error}");
            BROKEN
        }
    };
    ExitCode::from(code)
}

fn print_report(report: &Report) {
    let Report { writes, drips, payouts, vouchers, calls, orders, referrals, kills, events, switches, .. } = report;
    for violation in &report.violations {
        println!("found: {violation}");
    }
    println!(
        "{writes} writes, {drips} drips, {kills} kills, {payouts} payouts, {vouchers} vouchers, {calls} calls, {orders} orders, {referrals} referrals, {events} events, \
         {switches} turns"
    );
    if let Some(SimulationCounts { commits, conflicts, lost_commit_answers, late_commits, .. }) = &report.database {
        println!(
            "database: {commits} commits, {conflicts} conflicts, {lost_commit_answers} lost answers of COMMIT, {late_commits} late"
        );
    }
    println!("trace {}", report.trace);
}

/// What a run printed, and whether it found something.
struct RunOutput {
    output: String,
    has_found: bool,
}

fn play_apart(options: &Options, seed: u64, gateways: usize) -> Result<RunOutput, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["--child", "--seed", &seed.to_string(), "--days", &options.days.to_string()]);
    command.args(["--gateways", &gateways.to_string()]);
    if let Some(fault) = options.fault {
        command.args(["--fault", fault.name()]);
    }
    if options.all_plugins {
        command.arg("--all-plugins");
    }
    if options.is_traced {
        command.arg("--trace");
    }
    machine::fix_addresses(&mut command);
    let ended = command.output().map_err(|error| error.to_string())?;
    let output = String::from_utf8_lossy(&ended.stdout).into_owned();
    let code = ended.status.code().and_then(|code| u8::try_from(code).ok());
    match code {
        Some(0) => Ok(RunOutput { output, has_found: false }),
        Some(FOUND) => Ok(RunOutput { output, has_found: true }),
        _ => {
            let errors = String::from_utf8_lossy(&ended.stderr);
            Err(format!("{} ended with {}: {errors}\n{output}", replay(options, seed, gateways), ended.status))
        }
    }
}

/// The command that plays the run again.
fn replay(options: &Options, seed: u64, gateways: usize) -> String {
    let fault = options.fault.map(|fault| format!(" --fault {}", fault.name())).unwrap_or_default();
    let plugins = if options.all_plugins { " --all-plugins" } else { "" };
    format!("cargo xtask simulate --seed {seed} --days {} --gateways {gateways}{plugins}{fault}", options.days)
}

/// With how many gateways a seed is played.
fn gateways(options: &Options) -> Vec<usize> {
    match (options.gateways, options.fault) {
        (Some(gateways), _) => vec![gateways],
        (None, Some(fault)) => vec![fault.gateways()],
        (None, None) => GATEWAYS.to_vec(),
    }
}

fn play_seeds(options: &Options) -> Result<(), String> {
    for seed in &options.seeds {
        for gateways in gateways(options) {
            if play_seed(options, *seed, gateways)? {
                return Ok(());
            }
        }
    }
    match options.fault {
        Some(fault) => Err(format!("{} was not found", fault.name())),
        None => Ok(()),
    }
}

/// Whether it has found the planted fault. Twice, but with all plugins.
fn play_seed(options: &Options, seed: u64, gateways: usize) -> Result<bool, String> {
    let play = || play_apart(options, seed, gateways);
    let (first, second) = thread::scope(|scope| {
        // With all plugins two runs of a seed are not always one: see README.
        let second = (!options.all_plugins).then(|| scope.spawn(play));
        let first = play();
        let second = second.map(|second| second.join().unwrap_or_else(|_| Err("a thread has ended badly".to_owned())));
        (first, second.transpose())
    });
    let (first, second) = (first?, second?);
    let noun = if gateways == 1 { "gateway" } else { "gateways" };
    print!("seed {seed}, {gateways} {noun}: {}", first.output);
    if let Some(second) = second.filter(|second| second.output != first.output) {
        let command = replay(options, seed, gateways);
        return Err(format!("two runs of one seed differ: {command}\n{}{}", first.output, second.output));
    }
    match (first.has_found, options.fault) {
        (true, Some(fault)) => {
            println!("{} is found", fault.name());
            Ok(true)
        }
        (true, None) => Err(format!("found something; play it again with: {}", replay(options, seed, gateways))),
        (false, _) => Ok(false),
    }
}

/// As many at the same time as the machine has processors.
fn plant_all(options: &Options) -> Result<(), String> {
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let plant_next = || -> Result<(), String> {
        while let Some(fault) = Fault::ALL.get(next.fetch_add(1, Relaxed)) {
            match plant(options, *fault)? {
                Some(line) => println!("{line}"),
                None => missed.lock().unwrap_or_else(PoisonError::into_inner).push(fault.name()),
            }
        }
        Ok(())
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let planting: Vec<_> = (0..processors).map(|_| scope.spawn(plant_next)).collect();
        planting
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread has ended badly".to_owned())))
    })?;
    let missed = missed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if missed.is_empty() { Ok(()) } else { Err(format!("not found: {}", missed.join(", "))) }
}

/// What the first seed says that finds it.
fn plant(options: &Options, fault: Fault) -> Result<Option<String>, String> {
    let options = Options { fault: Some(fault), ..options.clone() };
    let gateways = options.gateways.unwrap_or(fault.gateways());
    for seed in &options.seeds {
        let RunOutput { output, has_found } = play_apart(&options, *seed, gateways)?;
        if has_found {
            let line = output.lines().find(|line| line.starts_with("found:")).unwrap_or_default();
            return Ok(Some(format!("{}: seed {seed} {line}", fault.name())));
        }
    }
    Ok(None)
}
