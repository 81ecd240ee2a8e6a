//! SQLite when the disk really refuses to write.

use super::*;
use std::process::Command;

const CHILD: &str = "GATEWAY_TEST_FULL_DISK";

/// Lets this process's files grow to that size only; the hard limit stays, so that it can be raised again.
fn limit_file_size(limit: &str) {
    let changed = Command::new("prlimit")
        .arg(format!("--fsize={limit}:"))
        .args(["--pid", &std::process::id().to_string()])
        .status()
        .unwrap();
    assert!(changed.success());
}

/// Not a test of its own: the process that the test below starts, with the signal for too large files ignored.
#[tokio::test(flavor = "multi_thread")]
async fn write_to_a_full_disk() {
    if std::env::var(CHILD).is_err() {
        return;
    }
    let mut db = TestDatabase::with_notes(Engine::Sqlite).await;
    db.write(vec![note(1, "before")]).await.unwrap();
    let log = db.directory.path().join("gateway.db-wal");
    limit_file_size(&std::fs::metadata(log).unwrap().len().to_string());

    // The pages are written at COMMIT: the statements themselves succeed.
    let transaction = db.forum();
    transaction.run(vec![note(2, "during")]).await.unwrap();
    let error = transaction.commit(vec![]).await.unwrap_err();
    assert!(matches!(error, StorageError::Unavailable(_)), "{error:?}");
    let writers = (10..30).map(|id| {
        let transaction = db.forum();
        tokio::spawn(async move { transaction.commit(last(note(id, "during"))).await })
    });
    for writer in writers.collect::<Vec<_>>() {
        let error = writer.await.unwrap().unwrap_err();
        assert!(matches!(error, StorageError::Unavailable(_)), "{error:?}");
    }
    assert_eq!(db.note_ids().await, [1]);

    limit_file_size("unlimited");
    db.write(vec![note(3, "after")]).await.unwrap();
    db.reopen().await;
    assert_eq!(db.note_ids().await, [1, 3]);
    println!("the full disk was survived");
}

#[test]
fn a_commit_that_the_disk_refuses_is_not_acknowledged() {
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["storage::failure::write_to_a_full_disk", "--exact", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{failed}");
    assert!(said.contains("the full disk was survived"), "{said}{failed}");
}

/// What a crash left in the log is replayed, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_log_is_ignored() {
    let mut db = TestDatabase::with_notes(Engine::Sqlite).await;
    db.write(vec![note(1, "one")]).await.unwrap();
    let log = db.directory.path().join("gateway.db-wal");
    let saved = db.directory.path().join("saved.db");
    std::fs::copy(db.path(), &saved).unwrap();
    // A torn write at the end of the log, as a power cut leaves it.
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.extend_from_slice(&[7; 3000]);
    std::fs::write(db.directory.path().join("saved.db-wal"), bytes).unwrap();
    db.settings = DatabaseSettings::new(format!("sqlite:{}", saved.display()));
    db.reopen().await;
    assert_eq!(db.note_ids().await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_no_utf8_is_read_with_a_mark() {
    let db = TestDatabase::with_notes(Engine::Sqlite).await;
    db.write(vec![statement("INSERT INTO forum_notes (id, body) VALUES (1, cast(x'61ff62' AS TEXT))", [])])
        .await
        .unwrap();
    assert_eq!(db.rows("SELECT body FROM forum_notes").await, [[text("a\u{fffd}b")]]);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_files_are_the_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let db = TestDatabase::with_notes(Engine::Sqlite).await;
    for name in ["gateway.db", "gateway.db-wal"] {
        let file = std::fs::metadata(db.directory.path().join(name)).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[rstest::rstest]
#[case("mysql://localhost/x", true)]
#[case("sqlite:", true)]
#[case("sqlite::memory:", true)]
#[case("sqlite:/does/not/exist/gateway.db", false)]
#[case("postgres://user:secret@localhost:1/nothing", false)]
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_address_is_refused_without_quoting_it(#[case] url: &str, #[case] can_never_work: bool) {
    let mut settings = DatabaseSettings::new(url);
    settings.statement_timeout_ms = 500;
    let Err(error) = Database::open(settings).await else {
        panic!("{url} was opened");
    };
    let expected = if can_never_work {
        matches!(error, StorageError::Settings(_))
    } else {
        matches!(error, StorageError::Unavailable(_))
    };
    assert!(expected, "{error:?}");
    assert!(!error.to_string().contains("secret"), "{error}");
}
