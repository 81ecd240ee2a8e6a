//! A disk without room. Needs the right to mount a small file system; without it the test says so and proves nothing.

use super::Views;
use crate::{
    crash::{SmallDisk, Write, send, small_setup},
    e2e::THREADS,
};
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Value, Wallet};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_told_and_ends_by_itself() {
    let Some(disk) = SmallDisk::mount() else { return };
    let setup = small_setup().set("database.url", format!("sqlite:{}", disk.path().join("gateway.db").display()));
    let gateway = setup.start().await.unwrap();
    let views = Views::of(&gateway);
    views.becomes_ready(true).await;

    disk.fill();
    let report = views.becomes_ready(false).await;
    assert!(report["database"].as_str().unwrap().contains("the disk is full"), "{report}");
    views.is_alive().await;
    assert!(views.degraded().await.contains(&"db".to_owned()));
    assert!(views.page().await.contains("the disk is full"), "the operator's page says it");
    // What the log's file has room for is still written.
    let wallet = Wallet::new(1);
    let refused = async || {
        let answer: Option<(u16, String, Value)> = send(&views.public, &Write::thread(&wallet, "no room")).await;
        answer.is_some_and(|(status, _, body)| status == 503 && body["error"].to_string().contains("disk"))
    };
    TestGateway::eventually(LIMIT, "writes are refused with the reason", refused).await;
    assert_eq!(views.public.get(THREADS).await.status, 200, "reads go on");
    views.becomes_ready(false).await;

    disk.clear();
    views.becomes_ready(true).await;
    let answer = send(&views.public, &Write::thread(&wallet, "room again")).await;
    assert_eq!(answer.unwrap().0, 201);
    assert!(!views.degraded().await.contains(&"db".to_owned()));
    assert!(!views.page().await.contains("the disk is full"), "the operator's page says no more of it");
}
