//! One run: days of clients, kills and faults of the database and the chain, with a check after each.

use crate::{
    chain_actor::ChainActor,
    database::Database,
    database_actor::DatabaseActor,
    dice::Dice,
    drip_client::DripClient,
    fault::Fault,
    ledger::{Caps, Ledger},
    log_reader::LogReader,
    machine,
    pause_actor::PauseActor,
    replica::{Setup, faucet_settings},
    site::Site,
    stored::StoredRows,
    thread_reader::ThreadReader,
    trace::Trace,
    writer::Writer,
};
use gateway_storage::SimulationCounts;
use plugin_testing::Wallet;
use std::{cell::RefCell, rc::Rc, thread, time::Duration};
use tokio::task::{JoinSet, LocalSet};

/// 2026-01-01 00:00:00 UTC.
const EPOCH_MS: i64 = 1_767_225_600_000;
const DAY: Duration = Duration::from_secs(86_400);
const WRITERS: u64 = 4;
const WRITES: u64 = 6;
const READERS: u64 = 2;
const READS: u64 = 12;
const DRIP_CLIENTS: u64 = 4;
/// What one of them asks for, which is more than a client gets, and what the others do.
const DRIPS_MANY: u64 = 8;
const DRIPS_FEW: u64 = 2;
const CAPS: Caps = Caps { per_day: 12, ip_per_day: 3, drip_wei: 500_000_000_000_000_000, write_interval_ms: 1000 };
/// How long acknowledged drips may take until they are in blocks, once nothing fails any more.
const PAID_WITHIN: Duration = Duration::from_secs(400);
/// How often four blocks are waited for until the index has the agents of the chain.
const INDEX_TURNS: usize = 10;
/// How long events may take to reach a reader.
const READ_WITHIN: Duration = Duration::from_secs(120);
/// Most turns that others get between a request and the kill that it leads to.
const TURNS_MAX: u64 = 600;
/// How often a gateway is started that the database does not let start.
const STARTS_MAX: u64 = 20;

#[derive(Clone, Debug)]
pub struct Settings {
    pub seed: u64,
    pub days: u64,
    /// One runs on SQLite, several share a simulated PostgreSQL.
    pub gateways: usize,
    pub fault: Option<Fault>,
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
    pub kills: u64,
    /// What happened at the simulated PostgreSQL, if there was one.
    pub database: Option<SimulationCounts>,
    /// Empty when nothing is wrong.
    pub violations: Vec<String>,
}

struct Run {
    settings: Settings,
    site: Rc<Site>,
    chain: ChainActor,
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
    let chain = ChainActor::start(trace.clone()).await?;
    let forgets_per_mille = settings.fault.map_or(0, Fault::forgotten_commits_per_mille);
    let database = Database::new(settings.gateways, settings.seed, forgets_per_mille)?;
    let setup = Setup {
        database_url: database.url(),
        rpc_urls: chain.urls(),
        chain_id: chain.id(),
        faucet: faucet_settings(CAPS.per_day, CAPS.ip_per_day),
    };
    let site = Site::new(setup, (database, settings.gateways), settings.fault, trace.clone(), dice.fork(1));
    let site = site.map_err(|error| error.to_string())?;
    let streams = vec![Vec::new(); settings.gateways];
    let (ledger, threads) = (Rc::new(RefCell::new(Ledger { streams, ..Ledger::default() })), Rc::default());
    let mut run = Run { settings, site: Rc::new(site), chain, ledger, threads, trace, dice, kills: 0 };
    for place in 0..run.site.count() {
        run.site.start(place).await?;
    }
    run.site.plant()?;
    let mut violations = Vec::new();
    let mut readers = JoinSet::new();
    for place in 0..run.site.count() {
        let reader = LogReader {
            site: run.site.clone(),
            place,
            ledger: run.ledger.clone(),
            trace: run.trace.clone(),
            dice: run.dice.fork(4 + 1_000_000 * place as u64),
            kept: None,
        };
        readers.spawn_local(reader.run());
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
    /// A busy while at a random hour, then the rest of the day at once.
    async fn day(&mut self, day: u64) -> Result<Vec<String>, String> {
        let started_ms = machine::now_ms();
        let hour = self.dice.below(20);
        machine::suspend(Duration::from_secs(hour * 3600));
        self.trace.record("day", &day.to_string());
        let mut faults = JoinSet::new();
        faults.spawn_local(self.chain.clone().run(self.dice.fork(100 + day)));
        let mut database_dice = self.dice.fork(10_000_000 + day);
        if self.site.database.is_shared() {
            self.site.database.disturb(&mut database_dice);
            let database = DatabaseActor { site: self.site.clone(), trace: self.trace.clone() };
            faults.spawn_local(database.run(database_dice));
            let pauses = PauseActor { site: self.site.clone(), trace: self.trace.clone() };
            faults.spawn_local(pauses.run(self.dice.fork(30_000_000 + day)));
        }
        let mut clients = self.clients(day);
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

    fn clients(&mut self, day: u64) -> JoinSet<()> {
        let mut clients = JoinSet::new();
        for number in 0..WRITERS {
            let writer = Writer {
                site: self.site.clone(),
                ledger: self.ledger.clone(),
                threads: self.threads.clone(),
                trace: self.trace.clone(),
                name: format!("writer{number}"),
                wallet: Wallet::new(number),
                dice: self.dice.fork(1000 + day * 100 + number),
                count: WRITES,
            };
            clients.spawn_local(writer.run());
        }
        for number in 0..READERS {
            let reader = ThreadReader {
                site: self.site.clone(),
                ledger: self.ledger.clone(),
                threads: self.threads.clone(),
                trace: self.trace.clone(),
                name: format!("threads{number}"),
                dice: self.dice.fork(20_000_000 + day * 100 + number),
                count: READS,
            };
            clients.spawn_local(reader.run());
        }
        for number in 0..DRIP_CLIENTS {
            let drip_client = DripClient {
                site: self.site.clone(),
                ledger: self.ledger.clone(),
                trace: self.trace.clone(),
                name: format!("drips{number}"),
                first: 1000 + (day * DRIP_CLIENTS + number) * DRIPS_MANY,
                ip: u8::try_from(number + 1).unwrap_or(u8::MAX),
                dice: self.dice.fork(1050 + day * 100 + number),
                count: if number == 0 { DRIPS_MANY } else { DRIPS_FEW },
            };
            clients.spawn_local(drip_client.run());
        }
        clients
    }

    /// Kills the gateway some turns after a request was sent or a drip was answered, and starts it again; now and then it is killed
    /// while it starts, too. The inner error says that it does not start.
    async fn kill_and_start(&mut self) -> Result<Result<(), String>, String> {
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

    /// Ends the faults of the chain, waits for what has to come, then compares everything.
    async fn settle(&mut self) -> Result<Vec<String>, String> {
        let paid = async {
            loop {
                self.chain.heal();
                if self.chain.is_idle() && self.chain.has_paid(&self.ledger) {
                    break;
                }
                tokio::time::sleep(Duration::from_secs(7)).await;
            }
        };
        // If they are not paid by then, the comparison says which.
        let _ = tokio::time::timeout(PAID_WITHIN, paid).await;
        let mut stored = self.after_blocks().await?;
        for _ in 0..INDEX_TURNS {
            if stored.waiting == 0 && stored.check_agents(&self.chain.agents()).is_none() {
                break;
            }
            stored = self.after_blocks().await?;
        }
        let last = stored.event_ids.last().copied();
        let read = async {
            while self.ledger.borrow().read_by_all() < last {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        let is_read = tokio::time::timeout(READ_WITHIN, read).await.is_ok();
        let ledger = self.ledger.borrow();
        let mut violations = ledger.violations.clone();
        violations.extend(stored.check(&ledger, true));
        violations.extend(stored.check_agents(&self.chain.agents()));
        violations.extend(ledger.check_caps(&CAPS));
        violations.extend(ledger.check_streams(&stored.event_ids));
        violations.extend(self.chain.check(&ledger, CAPS.drip_wei, true));
        if !is_read && violations.is_empty() {
            violations.push(format!("the stream did not send event {last:?}"));
        }
        if let Some((trace, counts)) = self.site.database.trace() {
            self.trace.record("database", &format!("{trace:016x} {counts:?}"));
            // Nothing that is found would prove anything.
            if counts.unexpected > 0 {
                return Err("the simulated PostgreSQL is wrong".to_owned());
            }
        }
        for violation in &violations {
            self.trace.record("violation", violation);
        }
        let (writes, drips) = (stored.write_count(), ledger.drips.len());
        self.trace.record("stored", &format!("{writes} writes, {drips} drips, events up to {last:?}"));
        Ok(violations)
    }

    /// What is stored when the newest blocks so far are confirmed.
    async fn after_blocks(&self) -> Result<StoredRows, String> {
        for _ in 0..4 {
            self.chain.heal();
            tokio::time::sleep(Duration::from_secs(7)).await;
        }
        self.site.stored()
    }

    fn report(&self, violations: Vec<String>) -> Report {
        let ledger = self.ledger.borrow();
        Report {
            trace: self.trace.digest(),
            events: self.trace.lines(),
            switches: machine::switches(),
            writes: ledger.writes.len(),
            drips: ledger.drips.len(),
            kills: self.kills,
            database: self.site.database.trace().map(|(_, counts)| counts),
            violations,
        }
    }
}
