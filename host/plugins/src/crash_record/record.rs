//! The record of this process, and what the one of the process before it says.

use super::{
    slot_memory::{self, BYTES, SLOTS},
    start_deaths::{self, DeathsByPlugin, StartAttempt, StartPhase},
};
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{OnceLock, atomic::AtomicU64},
};

const SLOTS_FILE: &str = "slots";
/// Named as in earlier releases: a new one reads the record of an old one that died.
const OPERATIONS_FILE: &str = "places";
const STARTING_FILE: &str = "starting.json";
const DEATHS_FILE: &str = "deaths.json";

/// One per process: it is the process that dies. Commands that do not serve have none.
static RECORD: OnceLock<CrashRecord> = OnceLock::new();

struct CrashRecord {
    folder: PathBuf,
    slots: &'static [AtomicU64],
    free: Mutex<Vec<usize>>,
    operations: Mutex<File>,
    deaths: Mutex<DeathsByPlugin>,
    /// The starts that have not ended. One that takes long does not keep the others waiting.
    starting: Mutex<Vec<StartAttempt>>,
    /// By plugin: what was running when the process before this one died.
    found: BTreeMap<String, BTreeSet<String>>,
}

/// Reads what the last process left in this folder, and begins anew.
pub fn open(data_dir: &Path) -> io::Result<()> {
    let record = CrashRecord::open(data_dir.join("crash"))?;
    for (plugin, operations) in &record.found {
        for operation in operations {
            tracing::warn!(plugin, operation, "was running when the process before this one died");
        }
    }
    // A process that serves opens it once.
    let _ = RECORD.set(record);
    Ok(())
}

/// The process ends as it should.
pub fn close() {
    if let Some(record) = RECORD.get() {
        record.remove(SLOTS_FILE);
        record.remove(OPERATIONS_FILE);
        // A start that hangs did not end this process.
        record.remove(STARTING_FILE);
    }
}

/// What of the plugin was running when the process before this one died.
pub fn running_at_death(plugin: &str) -> Vec<String> {
    let found = RECORD.get().and_then(|record| record.found.get(plugin));
    found.map(|operations| operations.iter().cloned().collect()).unwrap_or_default()
}

/// A slot of the calling thread, with its number.
pub fn take_slot() -> Option<(usize, &'static AtomicU64)> {
    let record = RECORD.get()?;
    let number = record.free.lock().pop()?;
    Some((number, record.slots.get(number)?))
}

pub fn release_slot(number: usize) {
    if let Some(record) = RECORD.get() {
        record.free.lock().push(number);
    }
}

/// The next operation has this name: slots hold its number, counted from 1.
pub fn note_operation(plugin: &str, name: &str) {
    let Some(record) = RECORD.get() else { return };
    let line = format!("{plugin}\t{}\n", name.replace(['\t', '\n', '\r'], " "));
    if let Err(error) = record.operations.lock().write_all(line.as_bytes()) {
        tracing::warn!(plugin, name, %error, "a crash in this operation could not be named");
    }
}

/// A plugin starts; dropped when its code has returned.
pub struct StartMark(StartAttempt);

/// To be called before the plugin's code.
pub fn start_mark(plugin: &str, sha256: Option<&str>, phase: StartPhase) -> StartMark {
    let starting = StartAttempt { plugin: plugin.to_owned(), sha256: sha256.map(str::to_owned), phase };
    if let Some(record) = RECORD.get() {
        record.change_starting(|list| list.push(starting.clone()));
    }
    StartMark(starting)
}

impl Drop for StartMark {
    fn drop(&mut self) {
        if let Some(record) = RECORD.get() {
            record.change_starting(|list| {
                if let Some(index) = list.iter().position(|starting| *starting == self.0) {
                    list.remove(index);
                }
            });
        }
    }
}

/// Why this step of the plugin's start is not tried, if it ended the process too often.
pub fn why_skipped(plugin: &str, sha256: Option<&str>, phase: StartPhase) -> Option<String> {
    RECORD.get()?.deaths.lock().get(plugin)?.why_skipped(sha256, phase)
}

/// It serves, or an operator wants it to be tried again: the deaths before do not count.
pub fn clear(plugin: &str) {
    let Some(record) = RECORD.get() else { return };
    let mut deaths = record.deaths.lock();
    if deaths.remove(plugin).is_some() {
        record.write_deaths(&deaths);
    }
}

impl CrashRecord {
    fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let mut found = running_in(&folder);
        let mut deaths: DeathsByPlugin = start_deaths::read(&folder.join(DEATHS_FILE)).unwrap_or_default();
        let starting: Vec<StartAttempt> = start_deaths::read(&folder.join(STARTING_FILE)).unwrap_or_default();
        for starting in &starting {
            found.entry(starting.plugin.clone()).or_default().insert(format!("its start: {}", starting.phase));
            start_deaths::count(&mut deaths, starting.clone());
        }
        let new_file = |name: &str| {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(true).open(folder.join(name))
        };
        // Another process may still have the old file mapped: it keeps it.
        let _ = fs::remove_file(folder.join(SLOTS_FILE));
        let slots = slot_memory::map(new_file(SLOTS_FILE)?)?;
        let operations = Mutex::new(new_file(OPERATIONS_FILE)?);
        let free = Mutex::new((0..SLOTS).rev().collect());
        let record =
            Self { folder, slots, free, operations, deaths: Mutex::new(deaths), starting: Mutex::default(), found };
        if !starting.is_empty() {
            record.write_deaths(&record.deaths.lock());
            record.remove(STARTING_FILE);
        }
        Ok(record)
    }

    fn change_starting(&self, change: impl FnOnce(&mut Vec<StartAttempt>)) {
        let mut starting = self.starting.lock();
        change(&mut starting);
        if starting.is_empty() {
            return self.remove(STARTING_FILE);
        }
        if let Err(error) = start_deaths::write(&self.folder.join(STARTING_FILE), &*starting) {
            tracing::warn!(%error, "a crash of this start could not be named");
        }
    }

    fn write_deaths(&self, deaths: &DeathsByPlugin) {
        if let Err(error) = start_deaths::write(&self.folder.join(DEATHS_FILE), deaths) {
            tracing::warn!(%error, "how often plugins ended the process is not stored");
        }
    }

    fn remove(&self, file: &str) {
        match fs::remove_file(self.folder.join(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(file, %error, "a file of the crash record stays");
            }
            _ => {}
        }
    }
}

/// By plugin: the operations in the slots of a process that is gone.
fn running_in(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let slots = fs::read(folder.join(SLOTS_FILE)).unwrap_or_default();
    let operations = fs::read_to_string(folder.join(OPERATIONS_FILE)).unwrap_or_default();
    let operations: Vec<&str> = operations.lines().collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let (numbers, _) = slots.get(..BYTES).unwrap_or_default().as_chunks::<8>();
    for value in numbers.iter().copied().map(u64::from_ne_bytes) {
        let index = usize::try_from(value >> 32).ok().and_then(|number| number.checked_sub(1));
        let operation = index.and_then(|index| operations.get(index)).and_then(|line| line.split_once('\t'));
        if let Some((plugin, name)) = operation {
            found.entry(plugin.to_owned()).or_default().insert(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn the_next_process_reads_where_threads_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crash");
        let record = CrashRecord::open(path.clone()).unwrap();
        assert!(record.found.is_empty());
        record.operations.lock().write_all(b"forum\tlist_threads\nbomb\texplode\n").unwrap();
        record.slots[3].store(2 << 32 | 77, Relaxed);
        drop(record);
        let next = CrashRecord::open(path.clone()).unwrap();
        assert_eq!(next.found, BTreeMap::from([("bomb".to_owned(), BTreeSet::from(["explode".to_owned()]))]));
        assert!(next.slots.iter().all(|slot| slot.load(Relaxed) == 0));
        drop(next);
        assert!(CrashRecord::open(path).unwrap().found.is_empty(), "it is told once");
    }

    #[test]
    fn a_start_that_did_not_end_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crash");
        for count in 1..=2 {
            drop(CrashRecord::open(path.clone()).unwrap());
            let starting = StartAttempt { plugin: "bomb".into(), sha256: None, phase: StartPhase::Migration };
            start_deaths::write(&path.join(STARTING_FILE), &[starting]).unwrap();
            let next = CrashRecord::open(path.clone()).unwrap();
            assert_eq!(next.deaths.lock()["bomb"].count, count);
            assert!(!path.join(STARTING_FILE).exists());
        }
    }
}
