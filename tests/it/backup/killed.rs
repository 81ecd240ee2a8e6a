//! A restore that is killed at any moment: the old database is there, or the new one.

use super::{Tables, back_up, restore, small_setup_on};
use crate::{
    crash::{Dice, sequenced},
    e2e::Site,
    storage::Engine,
};
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Wallet};
use rstest::rstest;
use std::time::Duration;

#[rstest]
#[case(Engine::Sqlite, 15)]
#[case(Engine::Postgres, 6)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_restore_leaves_the_old_or_the_new(#[case] engine: Engine, #[case] kills: u32) {
    let setup = small_setup_on(engine).await;
    let mut gateway = setup.start().await.unwrap();
    Site::of(&gateway).open_thread(&Wallet::new(1), "In the backup").await;
    let file = back_up(&setup, "file").await;
    let fresh = small_setup_on(engine).await;
    assert_eq!(restore(&fresh, &file, &[]).await.code, Some(0));
    let new = Tables::read(&fresh).await.without_own_traces();
    Site::of(&gateway).open_thread(&Wallet::new(2), "After the backup").await;
    sequenced(&setup).await;
    gateway.kill().await.unwrap();
    let old = Tables::read(&setup).await.without_own_traces();
    assert_ne!(old, new);

    let started = std::time::Instant::now();
    restore_when_free(&fresh, &file).await;
    let whole = started.elapsed();
    let mut dice = Dice::new();
    let mut became_new = 0;
    for _ in 0..kills {
        let mut child = setup.spawn(&["restore", file.to_str().unwrap(), "--force"]).unwrap();
        let moment_us = u64::try_from(whole.as_micros()).unwrap();
        // A random moment is what is tested.
        tokio::time::sleep(Duration::from_micros(dice.below(moment_us))).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let found = settled(&setup, &old, &new).await;
        if found == new {
            became_new += 1;
        }
    }
    eprintln!("{became_new} of {kills} restores came through, one takes {whole:?}");
    restore_when_free(&setup, &file).await;
    assert_eq!(Tables::read(&setup).await.without_own_traces(), new);
    let unfinished = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().contains("unfinished");
    let left = std::fs::read_dir(setup.folder().join("data")).unwrap().flatten().any(unfinished);
    assert!(!left, "what was left is cleared away");
    let gateway = setup.start().await.unwrap();
    assert_eq!(Site::of(&gateway).get("/api/forum/threads").await.json()["total"], 1);
}

/// The tables, once they are old or new; psql may outlive its parent for a moment.
async fn settled(setup: &gateway_tests::process::Setup, old: &Tables, new: &Tables) -> Tables {
    let found = Tables::read(setup).await.without_own_traces();
    assert!(found == *old || found == *new, "neither the old nor the new: {found:?}");
    found
}

/// On PostgreSQL the server notices a moment later that a killed client is gone.
async fn restore_when_free(setup: &gateway_tests::process::Setup, file: &std::path::Path) {
    let done = async || {
        let ended = restore(setup, file, &["--force"]).await;
        assert!(ended.code == Some(0) || ended.stderr.contains("stop it first"), "{ended:?}");
        ended.code == Some(0)
    };
    TestGateway::eventually(LIMIT, "it is restored", done).await;
}
