//! The manifest beside a backup: with it a restore notices every changed byte.

use super::{Tables, back_up, restore, small_setup_on};
use crate::{e2e::Site, storage::Engine};
use gateway_tests::process::LIMIT;
use plugin_testing::{Value, Wallet};
use rstest::rstest;
use sha2::{Digest as _, Sha256};
use std::{fs, path::Path};

fn manifest_of(backup: &Path) -> std::path::PathBuf {
    backup.with_file_name(format!("{}.manifest.json", backup.file_name().unwrap().to_str().unwrap()))
}

#[rstest]
#[case(Engine::Sqlite, "SQLite")]
#[case(Engine::Postgres, "PostgreSQL")]
#[tokio::test]
async fn a_backup_that_was_changed_is_not_restored(#[case] engine: Engine, #[case] name: &str) {
    let setup = small_setup_on(engine).await;
    let mut gateway = setup.start().await.unwrap();
    Site::of(&gateway).open_thread(&Wallet::new(1), "Paid 1000 coins").await;
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    let file = back_up(&setup, "daily").await;
    let sound = fs::read(&file).unwrap();
    let manifest: Value = serde_json::from_slice(&fs::read(manifest_of(&file)).unwrap()).unwrap();
    assert_eq!((&manifest["file"], &manifest["database"]), (&"daily".into(), &name.into()), "{manifest}");
    assert_eq!(manifest["sha256"], hex::encode(Sha256::digest(&sound)), "as sha256sum prints it");
    assert_eq!(manifest["bytes"], sound.len());
    assert!(manifest["migrations"]["host"].as_u64() > Some(1) && manifest["migrations"]["forum"].as_u64() > Some(0));

    let refused = async |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let fresh = small_setup_on(engine).await;
        let ended = restore(&fresh, &file, &[]).await;
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("checksum") && ended.stderr.contains("daily.manifest.json"), "{ended:?}");
    };
    refused(&[sound.as_slice(), b"\n"].concat()).await;
    if engine == Engine::Sqlite {
        // SQLite's own check has nothing to say about it.
        let at = sound.windows(15).position(|text| text == b"Paid 1000 coins").unwrap();
        let mut richer = sound.clone();
        richer[at + 5] = b'9';
        refused(&richer).await;
    }
    fs::write(&file, &sound).unwrap();
    let fresh = small_setup_on(engine).await;
    let ended = restore(&fresh, &file, &["--json"]).await;
    assert_eq!((ended.code, &ended.json().unwrap()["checksumVerified"]), (Some(0), &true.into()), "{ended:?}");
    assert_eq!(Tables::read(&fresh).await.rows("forum_threads").len(), 1);

    // An older version wrote no manifest; the database's own check is all there is then.
    fs::remove_file(manifest_of(&file)).unwrap();
    let ended = restore(&small_setup_on(engine).await, &file, &[]).await;
    assert!(ended.code == Some(0) && ended.stdout.contains("no manifest is beside it"), "{ended:?}");
}
