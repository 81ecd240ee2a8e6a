//! A thread that works on the SQLite file has ended, as by a fault of the gateway itself: only a restart mends that. PostgreSQL has
//! no such thread.

use crate::e2e::Site;
use gateway::Gateway;
use gateway_admin::Admin;
use gateway_clock::Clock;
use gateway_config::Config;
use gateway_storage::Database;
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, json};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    task::{Context, Wake, Waker},
};
use tokio_util::sync::CancellationToken;

/// The waker of somebody who waits for the database: its thread panics when it has the answer.
struct PanickingWaker;

impl Wake for PanickingWaker {
    fn wake(self: Arc<Self>) {
        panic!("a fault of the test");
    }
}

async fn end_writer_thread(database: &Database) {
    let waker = Waker::from(Arc::new(PanickingWaker));
    // Runs on the thread that writes.
    let waiting = loop {
        let mut asked = Box::pin(database.migration_status(None));
        if asked.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            break asked;
        }
        // The answer was there at once, so nobody is woken.
        tokio::task::yield_now().await;
    };
    let has_ended = async || database.check_threads().is_err();
    TestGateway::eventually(LIMIT, "the thread has ended", has_ended).await;
    drop(waiting);
}

#[tokio::test]
async fn without_a_thread_of_the_database_the_gateway_is_not_alive() {
    let data_dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.data_dir = data_dir.path().to_owned();
    config.admin.listen = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let admin = Admin::bind(&config.admin).await.unwrap().unwrap();
    let operator = Site::at(&admin.url());
    let bound = SocketAddr::from((Ipv4Addr::LOCALHOST, 8080));
    let gateway = Gateway::start(config, Clock::System, bound, Vec::new()).await.unwrap();
    tokio::spawn(admin.serve(gateway.clone(), None, CancellationToken::new()));
    let live = operator.get("/live").await;
    assert_eq!((live.status, live.json()), (200, json!({ "ok": true })));

    end_writer_thread(&gateway.database).await;
    let live = operator.get("/live").await;
    let reason = "the database failed: a database thread has ended";
    assert_eq!((live.status, live.json()), (503, json!({ "ok": false, "reason": reason })));
    let is_unready = async || operator.get("/ready").await.status == 503;
    TestGateway::eventually(LIMIT, "it is not ready either", is_unready).await;
}
