//! What cannot be done is refused with a reason, and leaves everything as it was.

use super::{Tables, back_up, restore, run, small_setup_on};
use crate::{
    crash::{SmallDisk, execute},
    e2e::Site,
    storage::Engine,
};
use gateway_tests::process::{CommandOutput, LIMIT, Setup};
use plugin_testing::Wallet;
use rstest::rstest;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
use std::{collections::BTreeMap, fs, path::Path};

fn assert_refused(ended: &CommandOutput, code: i32, part: &str) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{part}: {ended:?}");
    assert!(ended.stderr.contains(part), "expected {part:?}: {}", ended.stderr);
}

/// A stopped gateway with one thread.
async fn with_thread(engine: Engine) -> Setup {
    let setup = small_setup_on(engine).await;
    let mut gateway = setup.start().await.unwrap();
    Site::of(&gateway).open_thread(&Wallet::new(1), "One").await;
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    setup
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_file_that_cannot_be_written_is_named(#[case] engine: Engine) {
    let setup = with_thread(engine).await;
    let file = back_up(&setup, "first").await;
    let first = fs::read(&file).unwrap();
    let again = run(&setup, &["backup", file.to_str().unwrap()]).await;
    assert_refused(&again, 1, "exists already");
    assert_eq!(fs::read(&file).unwrap(), first);
    let forced = run(&setup, &["backup", file.to_str().unwrap(), "--force"]).await;
    assert_eq!(forced.code, Some(0), "{forced:?}");

    let before = names(setup.folder());
    for (target, part) in [
        (setup.folder().join("no/such/folder/x"), "its folder does not exist"),
        (setup.folder().to_owned(), "it is a folder"),
        ("/proc/x.backup".into(), "/proc/x.backup cannot be written"),
    ] {
        assert_refused(&run(&setup, &["backup", target.to_str().unwrap()]).await, 1, part);
    }
    if let Some(disk) = SmallDisk::mount() {
        disk.fill();
        let target = disk.path().join("x");
        assert_refused(&run(&setup, &["backup", target.to_str().unwrap()]).await, 1, "cannot be written");
        assert_eq!(names(disk.path()), ["ballast"], "nothing half is left");
    }
    assert_eq!(names(setup.folder()), before, "nothing half is left");
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_database_that_is_served_is_not_replaced(#[case] engine: Engine) {
    let setup = small_setup_on(engine).await;
    let mut gateway = setup.start().await.unwrap();
    Site::of(&gateway).open_thread(&Wallet::new(1), "One").await;
    let file = back_up(&setup, "file").await;
    assert_refused(&restore(&setup, &file, &["--force"]).await, 4, "stop it first");
    assert_eq!(Site::of(&gateway).get("/api/forum/threads").await.json()["total"], 1);
    gateway.kill().await.unwrap();
    // On PostgreSQL the server notices a moment later.
    let restores = async || restore(&setup, &file, &["--force"]).await.code == Some(0);
    plugin_testing::TestGateway::eventually(LIMIT, "it is replaced", restores).await;
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn what_is_no_sound_backup_is_not_restored(#[case] engine: Engine) {
    let setup = with_thread(engine).await;
    let file = back_up(&setup, "file").await;
    let sound = fs::read(&file).unwrap();
    let old = Tables::read(&setup).await;
    let folder = setup.folder().to_owned();
    let bad = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let mut holed = sound.clone();
    let (start, end) = (sound.len() / 3, sound.len() / 3 * 2);
    holed[start..end].fill(0x5a);
    let files = [
        (bad("text", b"Dear diary, today"), "neither a SQLite database nor an archive"),
        (bad("empty", b""), "neither a SQLite database nor an archive"),
        (bad("cut", &sound[..sound.len() / 2]), "is no backup of a gateway"),
        (bad("short", &sound[..40]), "is no backup of a gateway"),
        (bad("holed", &holed), "is no backup of a gateway"),
        (folder.join("nothing"), "cannot be read"),
    ];
    for (file, part) in files {
        assert_refused(&restore(&setup, &file, &["--force"]).await, 1, part);
    }
    let (other, kind) = match engine {
        Engine::Sqlite => (Engine::Postgres, "SQLite"),
        Engine::Postgres => (Engine::Sqlite, "PostgreSQL"),
    };
    let other = small_setup_on(other).await;
    assert_refused(&restore(&other, &file, &[]).await, 1, &format!("the backup is of {kind}"));
    assert_eq!(Tables::read(&setup).await, old, "nothing was touched");
}

#[tokio::test]
async fn a_backup_of_a_later_version_waits_for_it() {
    let setup = with_thread(Engine::Sqlite).await;
    let file = back_up(&setup, "file").await;
    let note = async |row: &str| {
        // Changed here, it is no longer what its manifest says.
        let _ = fs::remove_file(file.with_file_name("file.manifest.json"));
        let mut backup = SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
        let insert =
            format!("INSERT INTO _migrations (plugin, version, name, checksum, applied_at) VALUES ({row}, 'x', 1)");
        backup.execute(AssertSqlSafe(insert)).await.unwrap();
        backup.close().await.unwrap();
    };
    note("'agents', 1, 'create'").await;
    let fresh = small_setup_on(Engine::Sqlite).await;
    let restored = restore(&fresh, &file, &[]).await;
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert!(restored.stdout.contains("agents has data in it"), "{restored:?}");

    note("'forum', 99, 'from_tomorrow'").await;
    let fresh = small_setup_on(Engine::Sqlite).await;
    assert_refused(
        &restore(&fresh, &file, &[]).await,
        4,
        "forum migration 99 (from_tomorrow) was applied by a later one",
    );
    let fresh = small_setup_on(Engine::Sqlite).await;
    let file = back_up(&setup, "other").await;
    fs::remove_file(file.with_file_name("other.manifest.json")).unwrap();
    let mut backup = SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
    let next = "INSERT INTO _migrations SELECT plugin, max(version) + 1, 'from_tomorrow', 'x', 1 FROM _migrations WHERE plugin = 'host'";
    backup.execute(next).await.unwrap();
    backup.close().await.unwrap();
    assert_refused(&restore(&fresh, &file, &[]).await, 4, "the database is newer than this build of host");
    assert!(!fresh.folder().join("data/gateway.db").exists());
}

#[tokio::test]
async fn where_no_database_is_nothing_is_backed_up() {
    let setup = small_setup_on(Engine::Sqlite).await;
    assert_refused(&run(&setup, &["backup", "x"]).await, 4, "there is no database at");
    assert!(!setup.folder().join("data/gateway.db").exists(), "none is made for it");
}

#[tokio::test]
async fn without_its_programs_postgresql_is_not_backed_up() {
    let setup = with_thread(Engine::Postgres).await;
    let ended = setup.run_with(&["backup", "x"], &[("PATH", "/nowhere")]).unwrap();
    assert_refused(&ended, 1, "install the package postgresql-client");
}

/// psql refuses half way, while more data is to come than a pipe holds.
#[tokio::test]
async fn what_postgresql_refuses_changes_nothing() {
    let setup = with_thread(Engine::Postgres).await;
    let rows = "INSERT INTO host_audit (at_ms, who, action, subject, outcome)
        SELECT n, repeat(md5(n::text), 20), 'x', '', '' FROM generate_series(1, 5000) n";
    execute(&setup, rows.to_owned()).await;
    let file = back_up(&setup, "file").await;
    let fresh = small_setup_on(Engine::Postgres).await;
    execute(&fresh, "CREATE TYPE host_job_runs AS ENUM ('in the way')".to_owned()).await;
    assert_refused(&restore(&fresh, &file, &[]).await, 4, "psql failed: ERROR:");
    assert_eq!(Tables::read(&fresh).await, Tables(BTreeMap::new()));
}
