//! What clients see: gateways of one database, each of them there, or away until it was started again.

use crate::{
    configuration::ConfigTemplate,
    database::Database,
    dice::Dice,
    fault::Fault,
    machine,
    replica::{Part, Replica, Request},
    stored::StoredRows,
    trace::Trace,
};
use http::HeaderMap;
use plugin_testing::Value;
use std::{
    cell::{Cell, RefCell},
    fs, io,
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};
use tempfile::TempDir;
use tokio::sync::{mpsc::UnboundedReceiver, watch};

/// How long a client waits for a response.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How long a gateway may take to start, in simulated time.
const START_LIMIT: Duration = Duration::from_secs(120);
const WAL_HEADER_BYTES: u64 = 32;

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }
}

pub struct Site {
    template: ConfigTemplate,
    pub database: Database,
    fault: Option<Fault>,
    trace: Trace,
    folder: TempDir,
    places: Vec<Place>,
    /// How many gateways serve.
    serving: watch::Sender<usize>,
    /// Requests that were sent to it.
    pub sent: watch::Sender<u64>,
    /// Drips that it acknowledged, and payouts that came.
    pub granted: watch::Sender<u64>,
    transport: RefCell<Dice>,
    /// Where the last request went.
    last_place: Cell<usize>,
}

/// Where one gateway runs after the other.
struct Place {
    replica: RefCell<Option<Rc<Replica>>>,
    /// Counts starts and ends: odd while one serves.
    life: watch::Sender<u64>,
    kills: Cell<u64>,
}

impl Place {
    fn new() -> Self {
        Self { replica: RefCell::default(), life: watch::channel(0).0, kills: Cell::new(0) }
    }

    fn is_away(&self) -> bool {
        self.life.borrow().is_multiple_of(2)
    }
}

impl Site {
    pub fn new(
        template: ConfigTemplate,
        (database, count): (Database, usize),
        fault: Option<Fault>,
        trace: Trace,
        dice: Dice,
    ) -> io::Result<Self> {
        // In memory where there is such a folder: what is written is not kept anyway.
        let shared = Path::new("/dev/shm");
        // The same seed makes the same random name, which another process may have at this moment.
        let prefix = format!("simulate-{:010}-", std::process::id());
        let folder =
            if shared.is_dir() { TempDir::with_prefix_in(prefix, shared) } else { TempDir::with_prefix(prefix) };
        let folder = folder?;
        let site = Self {
            template,
            database,
            fault,
            trace,
            folder,
            places: (0..count).map(|_| Place::new()).collect(),
            serving: watch::channel(0).0,
            sent: watch::channel(0).0,
            granted: watch::channel(0).0,
            transport: RefCell::new(dice),
            last_place: Cell::new(0),
        };
        (0..count).try_for_each(|place| fs::create_dir(site.data_dir(place)))?;
        if site.has_power_failures() {
            fs::create_dir(site.synced())?;
            fs::create_dir(site.synced_of(&site.data_dir(0)))?;
            if fault != Some(Fault::DiskDoesNotSync) {
                machine::keep_synced(site.folder.path(), &site.synced());
            }
        }
        Ok(site)
    }

    pub fn count(&self) -> usize {
        self.places.len()
    }

    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Of the gateway that runs there now.
    fn data_dir(&self, place: usize) -> PathBuf {
        self.folder.path().join(format!("data-{place}-{}", self.places[place].kills.get()))
    }

    /// What the database of several gateways has is on another machine. No fault of payments is about the disk.
    fn has_power_failures(&self) -> bool {
        !self.database.is_shared() && self.template.workload.has_forum()
    }

    fn synced(&self) -> PathBuf {
        self.folder.path().join("synced")
    }

    /// What a power failure leaves of a folder.
    fn synced_of(&self, data_dir: &Path) -> PathBuf {
        self.synced().join(data_dir.file_name().unwrap_or_default())
    }

    /// SQLite's, which one gateway alone has.
    fn database_file(&self) -> PathBuf {
        self.data_dir(0).join("gateway.db")
    }

    pub fn stored(&self) -> Result<StoredRows, String> {
        let (is_shared, workload) = (self.database.is_shared(), self.template.workload);
        self.database.look(&self.database_file(), |connection| StoredRows::read(connection, is_shared, workload))
    }

    /// Starts a gateway on the data. Dropped before its end, the gateway can still be killed.
    pub async fn start(&self, place: usize) -> Result<(), String> {
        let (replica, mut start) =
            Replica::start(&self.template, place, &self.data_dir(place)).map_err(|error| error.to_string())?;
        self.places[place].replica.replace(Some(Rc::new(replica)));
        let part = tokio::time::timeout(START_LIMIT, start.recv()).await;
        self.database.claim_clients(place);
        match part {
            Ok(Some(Part::Started)) => {}
            Ok(Some(Part::Failed(reason))) => return Err(format!("a gateway does not start: {reason}")),
            Ok(other) => return Err(format!("a gateway does not start: {other:?}")),
            Err(_) => return Err(format!("a gateway does not start within {START_LIMIT:?}")),
        }
        self.trace.record("site", &format!("{place} serves"));
        self.places[place].life.send_modify(|life| *life += 1);
        self.serving.send_modify(|serving| *serving += 1);
        Ok(())
    }

    /// The gateway there stands still; clients do not notice.
    pub fn pause(&self, place: usize) {
        if let Some(replica) = &*self.places[place].replica.borrow() {
            replica.pause();
        }
    }

    pub fn resume(&self, place: usize) {
        if let Some(replica) = &*self.places[place].replica.borrow() {
            replica.resume();
        }
    }

    /// No gateway stands still, and nothing of the database fails any more.
    pub fn heal(&self) {
        (0..self.count()).for_each(|place| self.resume(place));
        self.database.heal();
    }

    /// Plants the fault of the run in the database, beside a gateway that has just started.
    pub fn plant(&self) -> Result<(), String> {
        let Some(fault) = self.fault else { return Ok(()) };
        self.database.alter_statements(fault.altered_statements());
        fault.triggers().iter().enumerate().try_for_each(|(number, trigger)| {
            let create = format!("CREATE TRIGGER IF NOT EXISTS planted_{number} {trigger}");
            self.database.tamper(&self.database_file(), &create)
        })
    }

    /// Kills the gateway wherever it is, and keeps what is on its disk.
    pub fn kill(&self, place: usize) -> Result<(), String> {
        let Some(replica) = self.places[place].replica.take() else { return Ok(()) };
        let Ok(replica) = Rc::try_unwrap(replica) else { return Err("somebody still uses a gateway".to_owned()) };
        replica.kill();
        self.database.disconnect(place);
        if !self.places[place].is_away() {
            self.places[place].life.send_modify(|life| *life += 1);
            self.serving.send_modify(|serving| *serving -= 1);
        }
        self.trace.record("site", &format!("{place} killed"));
        self.keep_disk(place).map_err(|error| format!("the disk of a killed gateway cannot be copied: {error}"))
    }

    /// The next gateway gets a copy: the threads of the killed one still have their locks on the files.
    fn keep_disk(&self, place: usize) -> io::Result<()> {
        let before = self.data_dir(place);
        let synced = self.synced_of(&before);
        let loses_power = self.has_power_failures() && self.transport.borrow_mut().one_in(3);
        if loses_power {
            self.trace.record("site", &format!("{place} had no power"));
        }
        self.places[place].kills.update(|kills| kills + 1);
        let image = self.folder.path().join("image");
        let source = match self.fault {
            Some(Fault::DiskLosesCommits) if image.is_dir() => &image,
            _ if loses_power => &synced,
            _ => &before,
        };
        copy_folder(source, &self.data_dir(place))?;
        if self.fault == Some(Fault::DiskCutsLog) {
            cut_log(&self.data_dir(place).join("gateway.db-wal"))?;
        }
        if self.has_power_failures() {
            // What was only in memory has been written by the time of the next failure.
            copy_folder(&self.data_dir(place), &self.synced_of(&self.data_dir(place)))?;
            fs::remove_dir_all(synced)?;
        }
        if let Some(statement) = self.fault.and_then(Fault::at_kill) {
            self.database.tamper(&self.database_file(), statement).map_err(io::Error::other)?;
        }
        fs::remove_dir_all(before)
    }

    /// What a disk that loses commits comes back with.
    pub fn remember_disk(&self) -> io::Result<()> {
        let image = self.folder.path().join("image");
        if image.is_dir() {
            fs::remove_dir_all(&image)?;
        }
        copy_folder(&self.data_dir(0), &image)
    }

    /// The response of any gateway; none when it was killed meanwhile, is away or is too slow.
    pub async fn send(&self, request: Request) -> Option<Answer> {
        Self::collect(self.open(request)?).await
    }

    /// As [`Self::send`], of the gateway there.
    pub async fn send_to(&self, place: usize, request: Request) -> Option<Answer> {
        Self::collect(self.open_at(place, request)?).await
    }

    async fn collect(opened: (UnboundedReceiver<Part>, watch::Receiver<u64>)) -> Option<Answer> {
        let (mut parts, mut life) = opened;
        let collect = async {
            let (mut status, mut headers, mut body) = (0, HeaderMap::new(), Vec::new());
            loop {
                match parts.recv().await? {
                    Part::Head(code, sent) => (status, headers) = (code.as_u16(), sent),
                    Part::Data(data) => body.extend_from_slice(&data),
                    Part::End => break,
                    Part::Started | Part::Failed(_) => return None,
                }
            }
            Some(Answer { status, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
        };
        tokio::select! {
            biased;
            _ = life.changed() => None,
            answer = collect => answer,
            () = tokio::time::sleep(PATIENCE) => None,
        }
    }

    /// As [`Self::send`], through what a planted fault puts between client and gateway.
    pub async fn write(&self, request: Request) -> Option<Answer> {
        let is_hit = self.transport.borrow_mut().one_in(8);
        if is_hit && self.fault == Some(Fault::AnswersWithoutWriting) {
            return Some(Answer { status: 201, headers: HeaderMap::new(), body: Value::Null });
        }
        let mut answer = self.send(request).await?;
        if is_hit && answer.status == 201 && self.fault == Some(Fault::RefusesWhatItStores) {
            answer.status = 422;
        }
        Some(answer)
    }

    /// The parts of a response of any gateway that serves, and what changes when that one ends; none while all are away.
    pub fn open(&self, request: Request) -> Option<(UnboundedReceiver<Part>, watch::Receiver<u64>)> {
        let serving: Vec<usize> = (0..self.count()).filter(|place| !self.places[*place].is_away()).collect();
        let place = *serving.get(self.transport.borrow_mut().index(serving.len()))?;
        let is_elsewhere = self.last_place.replace(place) != place;
        if let Some(statement) = self.fault.and_then(Fault::at_another_gateway).filter(|_| is_elsewhere) {
            let changed = self.database.tamper(&self.database_file(), statement);
            changed.unwrap_or_else(|error| self.trace.record("site", &error));
        }
        self.open_at(place, request)
    }

    /// As [`Self::open`], of the gateway there; none while that one is away.
    pub fn open_at(&self, place: usize, request: Request) -> Option<(UnboundedReceiver<Part>, watch::Receiver<u64>)> {
        let place = self.places.get(place).filter(|place| !place.is_away())?;
        let life = place.life.subscribe();
        let parts = place.replica.borrow().as_ref()?.send(request);
        self.sent.send_modify(|sent| *sent += 1);
        Some((parts, life))
    }

    /// Until one serves, and then a moment more, as clients do that found none.
    pub async fn wait_until_back(&self, pause: Duration) {
        // The sender lives as long as the site.
        let _ = self.serving.subscribe().wait_for(|serving| *serving > 0).await;
        tokio::time::sleep(pause).await;
    }
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    let mut entries: Vec<_> = fs::read_dir(from)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&source, &target)?;
        } else if kind.is_file() && !source.to_string_lossy().ends_with("-shm") {
            fs::copy(source, target)?;
        }
    }
    Ok(())
}

/// Takes the last third away.
fn cut_log(log: &Path) -> io::Result<()> {
    let Ok(file) = fs::OpenOptions::new().write(true).open(log) else { return Ok(()) };
    let bytes = file.metadata()?.len();
    file.set_len((bytes - bytes / 3).max(WAL_HEADER_BYTES.min(bytes)))
}
