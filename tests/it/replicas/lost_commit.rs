//! The connection to the database breaks at every step of a signed write.
//!
//! The rule that is tested: the client gets 201 and the write is stored once, or an error and it is stored at most once; the
//! same request sent again has it stored exactly once. While the server can be reached, a lost answer to COMMIT is no error: the
//! gateway looks for its attempt before it answers.

use crate::{
    crash::{Ledger, Outcome, StoredRows, Write, query, send, small_setup},
    e2e::Site,
};
use gateway_tests::{
    postgres,
    postgres_proxy::{Fault, PostgresProxy, Transaction},
    process::{GatewayProcess, LIMIT, Setup},
};
use plugin_testing::{TestGateway, Wallet};
use std::time::{Duration, Instant};

/// Of one fault. A BEGIN may arrive at the proxy without the statement that shows whose it is; then the write meets no fault.
const TRIES_MAX: usize = 20;
/// Before a request is repeated.
const PAUSE: Duration = Duration::from_millis(5);

const THREADS: &str = "SELECT title FROM forum_threads";

struct Fixture {
    proxy: PostgresProxy,
    /// The database without the proxy.
    direct: Setup,
    site: Site,
    _gateway: GatewayProcess,
    ledger: Ledger,
}

impl Fixture {
    async fn start() -> Self {
        let url = postgres::fresh_database().await.unwrap();
        let proxy = PostgresProxy::start(&url).await.unwrap();
        let setup = small_setup().set("database.url", proxy.url());
        let gateway = setup.start().await.unwrap();
        let direct = setup.set("database.url", url);
        Self { proxy, direct, site: Site::of(&gateway), _gateway: gateway, ledger: Ledger::default() }
    }

    /// A write whose transaction meets the fault. Returns the transaction and the status, if there was an answer.
    async fn write(&mut self, fault: Option<Fault>) -> (Transaction, Option<u16>) {
        let wallet = Wallet::new(self.ledger.writes.len() as u64);
        let mut write = Write::thread(&wallet, "once");
        self.proxy.watch(wallet.address(), fault);
        let status = send(&self.site, &write).await.map(|(status, ..)| status);
        let transaction = self.proxy.transactions().into_iter().next().expect("its signer's address is in it");
        let stored = self.count(&write).await;
        match status {
            Some(201) => assert_eq!(stored, 1, "acknowledged: {fault:?}"),
            Some(503) | None => assert!(stored <= 1, "stored {stored} times: {fault:?}"),
            other => panic!("{other:?} after {fault:?} in {transaction:#?}"),
        }
        self.repeat(&write, status == Some(201)).await;
        assert_eq!(self.count(&write).await, 1, "after it was sent again: {fault:?}");
        write.outcome = Outcome::Acknowledged;
        self.ledger.writes.push(write);
        (transaction, status)
    }

    /// Sends the same request again until it is known to be stored.
    async fn repeat(&self, write: &Write, is_stored: bool) {
        let started = Instant::now();
        loop {
            let (status, code, body) = send(&self.site, write).await.expect("the gateway lives");
            match (status, code.as_str()) {
                (409, "replay") => return,
                (201, _) if !is_stored => return,
                (503, _) if started.elapsed() < LIMIT => tokio::time::sleep(PAUSE).await,
                other => panic!("{other:?} to a repeated write: {body}"),
            }
        }
    }

    async fn count(&self, write: &Write) -> usize {
        query(&self.direct, THREADS).await.iter().filter(|row| row[0] == write.text).count()
    }

    /// Writes until the fault happens; `None` when it never does.
    async fn hit(&mut self, fault: Fault) -> Option<(Transaction, Option<u16>)> {
        for _ in 0..TRIES_MAX {
            let (transaction, status) = self.write(Some(fault)).await;
            if transaction.was_hit {
                return Some((transaction, status));
            }
            assert_eq!(status, Some(201), "nothing happened to it: {fault:?}");
        }
        None
    }

    /// Nothing is stored twice, and each thread has its event, its guard and its opening post.
    async fn audit(&self) {
        self.ledger.compare(&StoredRows::read_sequenced(&self.direct).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_connection_breaks_is_stored_at_most_once_and_once_when_repeated() {
    let mut fixture = Fixture::start().await;
    // The first one prepares statements.
    fixture.write(None).await;
    let (whole, status) = fixture.write(None).await;
    assert_eq!(status, Some(201));
    eprintln!("{whole:#?}");
    let steps = whole.statements.len();
    let answers = whole.answers.len();
    assert_eq!(whole.answers.last().map(String::as_str), Some("COMMIT"));
    let before_statements = (1..=steps).map(Fault::BeforeStatement);
    let before_answers = (1..=answers).map(Fault::BeforeAnswer);
    let mut hits = 0;
    for fault in before_statements.chain(before_answers) {
        match fixture.hit(fault).await {
            Some(_) => hits += 1,
            None => eprintln!("{fault:?} happened to no write"),
        }
    }
    // What comes before the marker may be missed.
    let unmarked = 2 * (whole.marked_at - 1);
    assert!(hits >= steps + answers - unmarked, "{hits} faults of {steps} statements and {answers} answers");
    fixture.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_to_commit_is_answered_with_what_was_committed() {
    let mut fixture = Fixture::start().await;
    for _ in 0..5 {
        let (transaction, status) = fixture.hit(Fault::LostCommit).await.expect("it commits");
        assert_eq!(status, Some(201), "{transaction:#?}");
    }
    fixture.audit().await;
}

/// The first attempt and all that follow lose their connection: at the end the client is told so, or the write is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_that_are_lost_again_and_again_store_one_thread() {
    let mut fixture = Fixture::start().await;
    let wallet = Wallet::new(1000);
    let mut write = Write::thread(&wallet, "again and again");
    fixture.proxy.watch(wallet.address(), [Fault::LostCommit; 4]);
    for _ in 0..4 {
        if let Some((status, code, body)) = send(&fixture.site, &write).await {
            assert!(matches!(status, 201 | 409 | 503), "{status} {code}: {body}");
        }
        assert_eq!(fixture.count(&write).await, 1, "the first one was committed");
    }
    TestGateway::eventually(LIMIT, "it is known to be stored", async || {
        send(&fixture.site, &write).await.is_some_and(|(status, code, _)| (status, code.as_str()) == (409, "replay"))
    })
    .await;
    write.outcome = Outcome::Acknowledged;
    fixture.ledger.writes.push(write);
    fixture.audit().await;
}
