//! A disk without room. Needs the right to mount a small file system; without it the test says so and proves nothing.

use super::{Dice, Ledger, Load, Outcome, StoredRows, small_setup};
use crate::e2e::{Site, THREADS};
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Wallet};
use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

/// Several times what the database's log grows to before a checkpoint writes it into the file.
const SIZE_BYTES: usize = 64 * 1024 * 1024;

/// A file system in memory that can be filled up.
pub struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    pub fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={SIZE_BYTES}");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path()).output();
        match mount {
            Ok(output) if output.status.success() => Some(Self { folder }),
            other => {
                eprintln!("SKIPPED: a small tmpfs cannot be mounted here: {other:?}");
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }

    /// Takes what is left to the last byte.
    pub fn fill(&self) {
        let mut file = File::options().create(true).append(true).open(self.ballast()).unwrap();
        for size in [1024 * 1024, 4096, 1] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
    }

    pub fn clear(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a gateway of a failed test may still have it open.
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_writes_are_refused_reads_go_on_and_all_recovers() {
    let Some(disk) = SmallDisk::mount() else { return };
    let setup = small_setup().set("database.url", format!("sqlite:{}", disk.path().join("gateway.db").display()));
    let mut gateway = setup.start().await.unwrap();
    let sites = [Site::of(&gateway)];
    let wallets: Vec<Wallet> = (0..6).map(Wallet::new).collect();
    let (dice, mut ledger) = (Dice::new(), Ledger::default());
    let mut total = 0;
    for round in 0..3 {
        let load = Load::new(&sites, format!("round {round}"));
        let filling = async {
            load.reached(100).await;
            // In the middle of writes; what is in the log's file already goes on for a while.
            disk.fill();
            TestGateway::eventually(LIMIT, "writes are refused", async || load.refused() > 10).await;
            load.end();
        };
        let (written, ()) = tokio::join!(load.run(&wallets, &dice, Vec::new()), filling);
        ledger.writes.extend(written);

        let list = sites[0].get(THREADS).await;
        assert_eq!(list.status, 200, "{}", list.text());
        let seen = list.json()["total"].as_u64().unwrap();
        assert!(seen > total);
        total = seen;
        assert!(gateway.is_running());

        disk.clear();
        let load = Load::new(&sites, format!("room {round}"));
        let end = async {
            load.reached(100).await;
            load.end();
        };
        let retries = ledger.take_unknown();
        let (written, ()) = tokio::join!(load.run(&wallets, &dice, retries), end);
        ledger.writes.extend(written);
        assert_eq!(ledger.count(Outcome::Unknown), 0, "all are answered now");
        ledger.compare(&StoredRows::read(&setup).await);
    }
    let stored = StoredRows::read(&setup).await;
    ledger.replay(&sites[0], &stored).await;
    gateway.kill().await.unwrap();
    let gateway = setup.start().await.unwrap();
    ledger.compare(&StoredRows::read(&setup).await);
    drop(gateway);
}
