//! One run: days of clients, kills and faults of the database and the chain, with a check after each.

mod clients;
mod reading;
mod settle;

use crate::{
    chain_actor::ChainActor,
    configuration::{ChainServers, ConfigTemplate, Workload, faucet_settings},
    database::Database,
    database_actor::DatabaseActor,
    deposit_chain::DepositChain,
    dice::Dice,
    fault::Fault,
    ledger::{Caps, Ledger},
    log_reader::LogReader,
    machine,
    pause_actor::PauseActor,
    payout_watcher::PayoutWatcher,
    referral_book::ReferralBook,
    site::Site,
    trace::Trace,
};
use gateway_storage::SimulationCounts;
use std::{cell::RefCell, rc::Rc, thread, time::Duration};
use tokio::task::{JoinSet, LocalSet};

/// 2026-01-01 00:00:00 UTC.
const EPOCH_MS: i64 = 1_767_225_600_000;
const DAY: Duration = Duration::from_secs(86_400);
const CAPS: Caps = Caps { per_day: 12, ip_per_day: 3, drip_wei: 500_000_000_000_000_000, write_interval_ms: 1000 };
/// Most turns that others get between a request and the kill that it leads to.
const TURNS_MAX: u64 = 600;
const KILL_AFTER_MS_MAX: u64 = 25_000;
/// How often a gateway is started that the database does not let start.
const STARTS_MAX: u64 = 20;

#[derive(Clone, Debug)]
pub struct Settings {
    pub seed: u64,
    pub days: u64,
    /// One runs on SQLite, several share a simulated PostgreSQL.
    pub gateways: usize,
    pub fault: Option<Fault>,
    /// Whether all plugins run, also those that no client writes to.
    pub all_plugins: bool,
    /// Whether the trace is printed.
    pub is_traced: bool,
}

#[derive(Clone, Debug)]
pub struct Report {
    /// SHA-256 of the trace.
    pub trace: String,
    pub events: u64,
    /// How often another thread got the turn.
    pub switches: u64,
    pub writes: usize,
    pub drips: usize,
    pub payouts: usize,
    pub vouchers: usize,
    pub calls: usize,
    pub orders: usize,
    pub referrals: usize,
    pub kills: u64,
    /// What happened at the simulated PostgreSQL, if there was one.
    pub database: Option<SimulationCounts>,
    /// Empty when nothing is wrong.
    pub violations: Vec<String>,
}

struct Run {
    settings: Settings,
    workload: Workload,
    site: Rc<Site>,
    chain: ChainActor,
    deposits: DepositChain,
    ledger: Rc<RefCell<Ledger>>,
    threads: Rc<RefCell<Vec<i64>>>,
    trace: Trace,
    dice: Dice,
    kills: u64,
}

/// Plays the run of this seed: once in a process, whose clock, threads and random numbers are simulated from then on.
pub fn run(settings: &Settings) -> Result<Report, String> {
    machine::start(settings.seed, EPOCH_MS);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    let report = LocalSet::new().block_on(&runtime, Box::pin(play(settings.clone())));
    // What gateways that were killed hold is never given back, so nothing is closed either.
    std::mem::forget(runtime);
    report
}

async fn play(settings: Settings) -> Result<Report, String> {
    let (trace, dice) = (Trace::new(settings.is_traced), Dice::new(settings.seed).fork(3));
    let accepts_all = settings.fault == Some(Fault::SignaturesNotVerified);
    let chain = ChainActor::start(trace.clone(), accepts_all).await?;
    let forgets_per_mille = settings.fault.map_or(0, Fault::forgotten_commits_per_mille);
    let database = Database::new(settings.gateways, settings.seed, forgets_per_mille)?;
    let deposits = DepositChain::start(trace.clone()).await;
    let workload = settings.fault.map_or(Workload::All, Fault::workload);
    // A few fewer than there may be.
    let referral_budget = usize::try_from(settings.days).unwrap_or(usize::MAX).saturating_add(1);
    let template = ConfigTemplate {
        database_url: database.url(),
        main: ChainServers { urls: chain.urls(), chain_id: chain.id() },
        deposits: ChainServers { urls: deposits.urls(), chain_id: deposits.id() },
        faucet: faucet_settings(CAPS.per_day, CAPS.ip_per_day),
        referral_budget,
        workload,
        has_bystanders: settings.all_plugins,
    };
    let site = Site::new(template, (database, settings.gateways), settings.fault, trace.clone(), dice.fork(1));
    let site = site.map_err(|error| error.to_string())?;
    let referrals = ReferralBook::with_budget(referral_budget);
    let streams = vec![Vec::new(); settings.gateways];
    let (ledger, threads) = (Rc::new(RefCell::new(Ledger { streams, referrals, ..Ledger::default() })), Rc::default());
    let site = Rc::new(site);
    let mut run = Run { settings, workload, site, chain, deposits, ledger, threads, trace, dice, kills: 0 };
    for place in 0..run.site.count() {
        run.site.start(place).await?;
    }
    run.site.plant()?;
    let mut violations = Vec::new();
    let mut readers = JoinSet::new();
    for place in 0..run.site.count() {
        let client = run.client(format!("reader{place}"), 4 + 1_000_000 * place as u64);
        let reader = LogReader { client, place, kept: None };
        readers.spawn_local(reader.run());
    }
    if workload.has_payments() || workload.has_referrals() {
        readers.spawn_local(run.payout_watcher().run());
    }
    for day in 0..run.settings.days {
        violations = run.day(day).await?;
        if !violations.is_empty() {
            break;
        }
    }
    Ok(run.report(violations))
}

impl Run {
    fn payout_watcher(&self) -> PayoutWatcher {
        PayoutWatcher {
            site: self.site.clone(),
            chain: self.chain.clone(),
            deposits: self.deposits.clone(),
            ledger: self.ledger.clone(),
            trace: self.trace.clone(),
        }
    }

    /// A busy while at a random hour, then the rest of the day at once.
    async fn day(&mut self, day: u64) -> Result<Vec<String>, String> {
        let started_ms = machine::now_ms();
        let hour = self.dice.below(20);
        machine::suspend(Duration::from_secs(hour * 3600));
        self.trace.record("day", &day.to_string());
        let mut faults = JoinSet::new();
        faults.spawn_local(self.chain.clone().run(self.dice.fork(100 + day)));
        if self.workload.has_payments() {
            faults.spawn_local(self.deposits.clone().run(self.dice.fork(40_000_000 + day)));
        }
        let mut database_dice = self.dice.fork(10_000_000 + day);
        if self.site.database.is_shared() {
            self.site.database.disturb(&mut database_dice);
            let database = DatabaseActor { site: self.site.clone(), trace: self.trace.clone() };
            faults.spawn_local(database.run(database_dice));
            let pauses = PauseActor { site: self.site.clone(), trace: self.trace.clone() };
            faults.spawn_local(pauses.run(self.dice.fork(30_000_000 + day)));
        }
        let mut clients = JoinSet::new();
        if self.workload.has_forum() {
            self.start_forum_clients(&mut clients, day);
        }
        if self.workload.has_payments() {
            self.start_buyers(&mut clients, day);
            self.start_payers(&mut clients, day);
            self.start_callers(&mut clients, day);
        }
        if self.workload.has_orders() {
            self.start_customers(&mut clients, day);
        }
        if self.workload.has_referrals() {
            self.start_newcomers(&mut clients, day);
        }
        if self.settings.fault == Some(Fault::DiskLosesCommits) {
            self.site.remember_disk().map_err(|error| error.to_string())?;
        }
        let kills = self.site.count() as u64 + self.dice.below(2);
        for _ in 0..kills {
            if let Err(violation) = self.kill_and_start().await? {
                return Ok(vec![violation]);
            }
        }
        while let Some(ended) = clients.join_next().await {
            ended.map_err(|error| format!("a client ended badly: {error}"))?;
        }
        drop(faults);
        self.site.heal();
        let violations = self.settle().await?;
        let left = DAY.saturating_sub(Duration::from_millis(machine::now_ms().abs_diff(started_ms)));
        machine::suspend(left);
        Ok(violations)
    }

    /// Kills the gateway some turns after a request was sent or a drip was answered, and starts it again; now and then it is killed
    /// while it starts, too. The inner error says that it does not start.
    async fn kill_and_start(&mut self) -> Result<Result<(), String>, String> {
        if self.workload.has_vouchers() || self.workload.has_referrals() {
            // They take longer than others, block after block.
            tokio::time::sleep(Duration::from_millis(self.dice.below(KILL_AFTER_MS_MAX))).await;
        }
        let is_on_drip = self.dice.one_in(2);
        let mut counter = if is_on_drip { self.site.granted.subscribe() } else { self.site.sent.subscribe() };
        let target = *counter.borrow() + 1 + if is_on_drip { 0 } else { self.dice.below(10) };
        let _ = tokio::time::timeout(Duration::from_secs(60), counter.wait_for(|count| *count >= target)).await;
        // Few turns more often than many: a write takes some tens.
        let turns_max = self.dice.below(TURNS_MAX);
        for _ in 0..self.dice.below(turns_max) {
            thread::yield_now();
        }
        let place = self.dice.index(self.site.count());
        self.kill(place)?;
        while self.dice.one_in(4) {
            tokio::time::sleep(Duration::from_millis(self.dice.below(3000))).await;
            let moment = Duration::from_millis(self.dice.below(400));
            let started = tokio::time::timeout(moment, self.site.start(place)).await;
            if let Ok(Err(error)) = started
                && !self.site.database.is_shared()
            {
                return Ok(Err(error));
            }
            self.kill(place)?;
        }
        tokio::time::sleep(Duration::from_millis(self.dice.below(5000))).await;
        self.start_again(place).await
    }

    /// As who supervises it: one that finds no database is started again.
    async fn start_again(&mut self, place: usize) -> Result<Result<(), String>, String> {
        for _ in 0..STARTS_MAX {
            let Err(error) = self.site.start(place).await else {
                self.site.plant()?;
                return Ok(Ok(()));
            };
            if !self.site.database.is_shared() {
                return Ok(Err(error));
            }
            self.trace.record("site", &format!("{place} does not start: {error}"));
            self.kill(place)?;
            tokio::time::sleep(Duration::from_millis(self.dice.below(3000))).await;
        }
        Ok(Err(format!("gateway {place} does not start, after {STARTS_MAX} attempts")))
    }

    fn kill(&mut self, place: usize) -> Result<(), String> {
        self.kills += 1;
        self.site.kill(place)
    }

    fn report(&self, violations: Vec<String>) -> Report {
        let ledger = self.ledger.borrow();
        Report {
            trace: self.trace.digest(),
            events: self.trace.lines(),
            switches: machine::switches(),
            writes: ledger.writes.len(),
            drips: ledger.drips.len(),
            payouts: ledger.purchases.payout_count(),
            vouchers: self.chain.vouchers().0.len(),
            calls: self.chain.executed().len(),
            orders: ledger.orders.acknowledged_count(),
            referrals: ledger.referrals.paid_count(),
            kills: self.kills,
            database: self.site.database.trace().map(|(_, counts)| counts),
            violations,
        }
    }
}
