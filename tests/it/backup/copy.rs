//! Backup and restore: every acknowledged write is in the file, and a gateway starts from the file.

use super::{Tables, back_up, restore, run, small_setup_on};
use crate::{
    crash::{Dice, Ledger, Load, Outcome, StoredRows, sequenced},
    e2e::{Site, THREADS},
    storage::Engine,
};
use gateway_tests::process::LIMIT;
use plugin_testing::{Wallet, json};
use reqwest::Method;
use rstest::rstest;

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_before_is_in_it_and_every_write_is_whole(#[case] engine: Engine) {
    let setup = small_setup_on(engine).await;
    let gateway = setup.start().await.unwrap();
    let sites = [Site::of(&gateway)];
    let wallets: Vec<Wallet> = (0..6).map(Wallet::new).collect();
    let (dice, mut ledger) = (Dice::new(), Ledger::default());
    let before = Load::new(&sites, "before");
    let end = async {
        before.reached(300).await;
        before.end();
    };
    ledger.writes = tokio::join!(before.run(&wallets, &dice, Vec::new()), end).0;
    let promised: Vec<String> = ledger
        .writes
        .iter()
        .filter(|write| write.outcome == Outcome::Acknowledged)
        .map(|write| write.text.clone())
        .collect();

    let during = Load::new(&sites, "during");
    let copying = async {
        during.reached(50).await;
        let file = back_up(&setup, "under load").await;
        let seen = during.acknowledged.load(std::sync::atomic::Ordering::Relaxed) as u64;
        assert!(seen > 50, "others wrote meanwhile");
        // The backup did not block writers.
        during.reached(seen + 50).await;
        during.end();
        file
    };
    let (written, file) = tokio::join!(during.run(&wallets, &dice, Vec::new()), copying);
    assert_eq!(during.refused(), 0, "no write was refused because of the backup");
    ledger.writes.extend(written);

    let fresh = small_setup_on(engine).await;
    let restored = restore(&fresh, &file, &[]).await;
    assert_eq!(restored.code, Some(0), "{restored:?}");
    let kept = StoredRows::read(&fresh).await;
    kept.check();
    let lost: Vec<&String> = promised.iter().filter(|text| !kept.authors.contains_key(*text)).collect();
    assert!(lost.is_empty(), "acknowledged before the backup and not in it: {lost:?}");
    assert!(kept.authors.len() < ledger.writes.len(), "what came after it is not in it");
    assert!(kept.event_ids.is_sorted_by(|one, next| one < next));
    assert!((1..).zip(&kept.event_ids).all(|(number, id)| number == *id), "an event is missing: {:?}", kept.event_ids);

    // It is a gateway like any other, and goes on counting where the backup ended.
    let copy = fresh.start().await.unwrap();
    let site = Site::of(&copy);
    site.open_thread(&Wallet::new(99), "After the restore").await;
    sequenced(&fresh).await;
    let ids = StoredRows::read(&fresh).await.event_ids;
    assert!(ids.last() > kept.event_ids.last() && ids.len() == kept.authors.len() + 1, "{ids:?}");
    let audit = Site::at(copy.admin_url()).get("/audit").await.json();
    assert_eq!((&audit[0]["action"], &audit[0]["subject"]), (&json!("restore"), &json!("under load")), "{audit}");
    let audit = Site::at(gateway.admin_url()).get("/audit").await.json();
    assert_eq!((&audit[0]["action"], &audit[0]["subject"]), (&json!("backup"), &json!("under load")), "{audit}");
    assert!(audit[0]["who"].as_str().unwrap().starts_with("command line, uid "), "{audit}");
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn every_table_comes_back_as_it_was(#[case] engine: Engine) {
    let setup = small_setup_on(engine).await.set("plugins.hello.enabled", true);
    let mut gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    let first = site.open_thread(&Wallet::new(1), "Ünïcode 'quoted' \\ \"twice\"\tand a tab").await;
    site.reply(&Wallet::new(2), first, "line one\nline two").await;
    let desk = Site::at(gateway.admin_url());
    let switched = desk.request(Method::POST, "/plugins/hello/disable").header("x-gateway-admin", "1").send().await;
    assert_eq!(switched.unwrap().status(), 200);
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    let file = back_up(&setup, "all.backup").await;
    let original = Tables::read(&setup).await.without_own_traces();
    assert!(
        original.rows("forum_posts").len() == 2 && original.rows("host_plugin_switches").len() == 1,
        "{original:?}"
    );

    let fresh = small_setup_on(engine).await.set("plugins.hello.enabled", true);
    let ended = run(&fresh, &["restore", file.to_str().unwrap(), "--json"]).await;
    let told = ended.json().unwrap();
    assert_eq!((ended.code, &told["kept"], &told["unknownPlugins"]), (Some(0), &json!(null), &json!([])), "{told}");
    assert_eq!(Tables::read(&fresh).await.without_own_traces(), original);

    let gateway = fresh.start().await.unwrap();
    let site = Site::of(&gateway);
    assert_eq!(site.get(&format!("{THREADS}/{first}")).await.json()["postCount"], 2);
    assert_eq!(site.get("/api/hello/world").await.status, 404, "what an operator decided is part of it");
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn what_is_replaced_is_kept(#[case] engine: Engine) {
    let setup = small_setup_on(engine).await;
    let mut gateway = setup.start().await.unwrap();
    Site::of(&gateway).open_thread(&Wallet::new(1), "In the backup").await;
    let file = back_up(&setup, "one.backup").await;
    Site::of(&gateway).open_thread(&Wallet::new(2), "After the backup").await;
    sequenced(&setup).await;
    // Its write-ahead log holds rows that the database file does not have yet.
    gateway.kill().await.unwrap();
    let old = Tables::read(&setup).await;
    assert_eq!(old.rows("forum_threads").len(), 2);

    let refused = restore(&setup, &file, &[]).await;
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    assert_eq!(Tables::read(&setup).await, old);

    let ended = restore(&setup, &file, &["--force", "--json"]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(Tables::read(&setup).await.rows("forum_threads").len(), 1);
    let kept = ended.json().unwrap()["kept"].as_str().unwrap().to_owned();
    let aside = match kept.strip_prefix("schema ") {
        Some(schema) => Tables::of_schema(setup.get("database.url").unwrap(), schema).await,
        None => Tables::of_file(std::path::Path::new(&kept)).await,
    };
    assert!(kept.to_lowercase().contains("before"), "{kept}");
    assert_eq!(aside, old);

    // A later backup does not contain the data that was set aside.
    let gateway = setup.start().await.unwrap();
    assert_eq!(Site::of(&gateway).get(THREADS).await.json()["total"], 1);
    drop(gateway);
    let again = back_up(&setup, "two.backup").await;
    let fresh = small_setup_on(engine).await;
    assert_eq!(restore(&fresh, &again, &[]).await.code, Some(0));
    assert_eq!(Tables::read(&fresh).await.rows("forum_threads").len(), 1);
}

#[tokio::test]
async fn what_root_restores_belongs_to_the_user_of_the_gateway() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    const NOBODY: u32 = 65_534;
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("SKIPPED: only root can restore for somebody else");
        return;
    }
    let setup = small_setup_on(Engine::Sqlite).await;
    let gateway = setup.start().await.unwrap();
    let file = back_up(&setup, "file").await;
    drop(gateway);
    let fresh = small_setup_on(Engine::Sqlite).await;
    let folder = fresh.folder().join("data");
    std::fs::create_dir(&folder).unwrap();
    chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
    assert_eq!(restore(&fresh, &file, &[]).await.code, Some(0));
    for name in ["gateway.db", "gateway.db.lock"] {
        let metadata = folder.join(name).metadata().unwrap();
        assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o777), (NOBODY, NOBODY, 0o600), "{name}");
    }
}
