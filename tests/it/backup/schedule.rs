//! Backups that the running gateway makes by itself.

use super::{Tables, restore, small_setup_on};
use crate::{e2e::Site, storage::Engine};
use gateway_tests::process::{GatewayProcess, LIMIT, Setup};
use plugin_testing::{TestGateway, Value, Wallet};
use rstest::rstest;
use std::{fs, path::PathBuf};

async fn service(gateway: &GatewayProcess) -> Value {
    Site::of(gateway).get("/api/status").await.json()["services"]["backup"].clone()
}

/// Names in the folder of the backups, without the manifests.
fn backups(setup: &Setup) -> Vec<PathBuf> {
    let entries = fs::read_dir(setup.folder().join("backups")).into_iter().flatten().flatten();
    let is_backup = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("gateway-") && !name.ends_with(".json")
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_backup).collect();
    found.sort();
    found
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn the_newest_are_kept_and_one_of_them_is_restored(#[case] engine: Engine) {
    let setup = small_setup_on(engine).await;
    let folder = setup.folder().join("backups");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    let setup = setup.set("backup.folder", folder.display()).set("backup.interval_s", 1).set("backup.keep", 2);
    let mut gateway = setup.start().await.unwrap();
    Site::of(&gateway).open_thread(&Wallet::new(1), "In every backup").await;
    let first = || backups(&setup).first().cloned();
    TestGateway::eventually(LIMIT, "the first is made at once", async || first().is_some()).await;
    let oldest = first();
    for _ in 0..2 {
        let before = first();
        TestGateway::eventually(LIMIT, "an old one goes", async || first() != before).await;
    }
    assert!(first() > oldest && backups(&setup).len() <= 3, "{:?}", backups(&setup));
    let told = service(&gateway).await;
    assert_eq!((&told["ok"], &told["enabled"], &told["intervalS"]), (&true.into(), &true.into(), &1.into()), "{told}");
    assert!(told["lastAt"].as_i64() > Some(1_700_000_000), "{told}");
    assert!(gateway.terminate(LIMIT).await.unwrap().success());

    let kept = backups(&setup);
    assert_eq!(kept.len(), 2, "{kept:?}");
    let fresh = small_setup_on(engine).await;
    let ended = restore(&fresh, kept.last().unwrap(), &["--json"]).await;
    assert_eq!((ended.code, &ended.json().unwrap()["checksumVerified"]), (Some(0), &true.into()), "{ended:?}");
    assert_eq!(Tables::read(&fresh).await.rows("forum_threads").len(), 1);
    let mut files: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files.len(), 5, "two, their manifests, and what is not ours: {files:?}");

    // A restart makes none before its time.
    let setup = setup.set("backup.interval_s", 86_400);
    let gateway = setup.start().await.unwrap();
    let is_known = async || service(&gateway).await["lastAt"].is_i64();
    TestGateway::eventually(LIMIT, "the last one is known", is_known).await;
    assert_eq!(backups(&setup), kept);
}

#[tokio::test]
async fn without_a_folder_there_are_none_and_one_that_cannot_be_used_is_told() {
    let setup = small_setup_on(Engine::Sqlite).await.with_config("").unwrap();
    let gateway = setup.start().await.unwrap();
    let off = service(&gateway).await;
    assert_eq!((&off["ok"], &off["enabled"], &off["lastAt"]), (&true.into(), &false.into(), &Value::Null), "{off}");

    // SIGHUP turns them on.
    let (folder, file) = (setup.folder().join("backups"), setup.folder().join("a file"));
    fs::write(&file, "in the way").unwrap();
    setup.write_config(&format!("[backup]\nfolder = \"{}\"\n", folder.display())).unwrap();
    gateway.sighup().unwrap();
    TestGateway::eventually(LIMIT, "one is made", async || backups(&setup).len() == 1).await;

    fs::rename(&folder, setup.folder().join("elsewhere")).unwrap();
    fs::rename(&file, &folder).unwrap();
    setup.write_config(&format!("[backup]\nfolder = \"{}\"\nkeep = 3\n", folder.display())).unwrap();
    gateway.sighup().unwrap();
    let detail = async || service(&gateway).await["detail"].as_str().unwrap_or_default().to_owned();
    // The configuration itself is refused, because no folder can be there.
    let refused = async || setup.log().contains("backup.folder") || detail().await.contains("cannot be used");
    TestGateway::eventually(LIMIT, "it is told", refused).await;
}
