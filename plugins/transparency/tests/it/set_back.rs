//! A database that is not the one that this gateway published checkpoints of: the log stops.

use super::{audit, checkpoint, close, gateways, kept, publish, run_job, set_back, signed, stop_reason};

#[tokio::test]
async fn an_older_backup_stops_the_log_until_the_right_database_is_back() {
    for gateway in gateways().await {
        publish(&gateway, 5).await;
        signed(&gateway, 5).await;
        publish(&gateway, 2).await;
        let published = signed(&gateway, 7).await;
        set_back(&gateway, 5).await;
        let reason = stop_reason(&gateway).await;
        assert!(reason.contains("size 7 was published, and the database has 5 entries"), "{reason}");

        // Also when other events take the place of those that are gone, and after a restart.
        let gateway = gateway.restart().await;
        publish(&gateway, 4).await;
        run_job(&gateway).await;
        assert_eq!(stop_reason(&gateway).await, reason);
        assert_eq!(gateway.rows("SELECT max(size) FROM transparency_checkpoints").await, ["Int(5)"]);
        assert_eq!(kept(&gateway), published);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_database_without_the_log_stops_it() {
    for gateway in gateways().await {
        publish(&gateway, 2).await;
        signed(&gateway, 2).await;
        for table in ["origins", "checkpoints", "leaves", "tiles"] {
            gateway.execute(&format!("DELETE FROM transparency_{table}")).await;
        }
        assert!(stop_reason(&gateway).await.contains("the database has no log"));
        run_job(&gateway).await;
        assert!(stop_reason(&gateway).await.contains("the database has no log"));
        close(gateway).await;
    }
}

#[tokio::test]
async fn hashes_that_somebody_changed_stop_the_log() {
    for gateway in gateways().await {
        publish(&gateway, 3).await;
        signed(&gateway, 3).await;
        let before = audit(&gateway).await;
        let changed = if gateway.dialect() == "sqlite" { "zeroblob(96)" } else { "decode(repeat('00', 96), 'hex')" };
        gateway.execute(&format!("UPDATE transparency_tiles SET hashes = {changed}")).await;
        // The next run of the job looks, and so does each probe.
        let health = super::health(&gateway).await;
        assert!(health["reason"].as_str().unwrap().contains("another root at that size"), "{health}");
        stop_reason(&gateway).await;
        assert_eq!(before.checkpoint.size(), 3);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_database_that_goes_on_is_no_contradiction() {
    for gateway in gateways().await {
        publish(&gateway, 3).await;
        signed(&gateway, 3).await;
        let first = audit(&gateway).await;
        let old = kept(&gateway);
        publish(&gateway, 3).await;
        signed(&gateway, 6).await;
        // As if another gateway had signed the newer one, while this one was away.
        let gateway = gateway.restart_after(|config| {
            std::fs::write(config.data_dir.join("files/transparency/checkpoint"), &old).unwrap();
        });
        let gateway = gateway.await;
        audit(&gateway).await.continues(&first.checkpoint);
        assert_eq!(kept(&gateway), checkpoint(&gateway).await);
        close(gateway).await;
    }
}
