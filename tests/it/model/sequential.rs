//! One operation after the other: both databases do at each step what the model does. On PostgreSQL some of the attempts meet
//! conflicts, so that handlers run again.

use super::{accounts::NewOperation, events, postgres_url, reference::Reference, rows, run, script::operation, start};
use crate::crash::Dice;
use gateway_tests::{
    postgres_proxy::{Fault, PostgresProxy},
    process::LIMIT,
};
use plugin_testing::{TestGateway, Value};

/// `GATEWAY_TEST_SCRIPTS` sets another number.
const SCRIPTS: u64 = 3;
const STEPS: i64 = 60;
/// In the plugin's statements, and in no others.
const MARKER: &str = "accounts_";
/// More than the statements of one operation with BEGIN, event and COMMIT.
const STATEMENTS_MAX: u64 = 9;
/// Fewer than the attempts that a write has.
const CONFLICTS_MAX: u64 = 4;

fn scripts() -> u64 {
    std::env::var("GATEWAY_TEST_SCRIPTS").ok().and_then(|count| count.parse().ok()).unwrap_or(SCRIPTS)
}

/// The databases that are compared.
struct Databases {
    sqlite: TestGateway,
    postgres: TestGateway,
    proxy: PostgresProxy,
    /// Attempts that met a conflict.
    conflicts: usize,
}

impl Databases {
    async fn start() -> Self {
        let proxy = PostgresProxy::start(&postgres_url().await).await.unwrap();
        let postgres = start(Some(proxy.url())).await;
        Self { sqlite: start(None).await, postgres, proxy, conflicts: 0 }
    }

    async fn step(&mut self, reference: &mut Reference, new: &NewOperation, dice: &mut Dice) {
        let expected = reference.run(new).map_err(|(status, code)| (status, code.to_owned()));
        assert_eq!(run(&self.sqlite, new).await, expected, "on SQLite: {new:?}");
        let conflicts = (0..dice.below(CONFLICTS_MAX)).map(|_| Fault::Conflict(conflict_at(dice))).collect::<Vec<_>>();
        self.proxy.watch(MARKER, conflicts.clone());
        assert_eq!(run(&self.postgres, new).await, expected, "on PostgreSQL, with {conflicts:?}: {new:?}");
        self.conflicts += self.proxy.transactions().iter().filter(|attempt| attempt.was_hit).count();
        // Those that came too late for an attempt meet nothing else.
        self.proxy.watch(MARKER, None);
        let expected = reference.rows();
        assert_eq!(rows(&self.sqlite).await, expected, "on SQLite, after {new:?}");
        assert_eq!(rows(&self.postgres).await, expected, "on PostgreSQL, after {new:?}");
    }

    /// Ids without a gap in the order of the operations, whatever failed between them.
    async fn compare_events(&self, reference: &Reference) {
        let expected: Vec<(i64, Value)> = (1..).zip(reference.events.iter().cloned()).collect();
        for gateway in [&self.sqlite, &self.postgres] {
            let all_have_ids = async || events(gateway).await.len() >= expected.len();
            TestGateway::eventually(LIMIT, "all events are public", all_have_ids).await;
            assert_eq!(events(gateway).await, expected, "{}", gateway.dialect());
        }
    }

    async fn stop(self) {
        for gateway in [self.sqlite, self.postgres] {
            assert_eq!(gateway.faults().await, Vec::<String>::new());
            gateway.stop().await;
        }
    }
}

/// From the second statement on.
fn conflict_at(dice: &mut Dice) -> usize {
    usize::try_from(2 + dice.below(STATEMENTS_MAX - 1)).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_databases_do_at_each_step_what_the_model_does() {
    let dice = Dice::new();
    for script in 0..scripts() {
        let mut dice = dice.fork(script);
        let (mut databases, mut reference) = (Databases::start().await, Reference::default());
        for number in 1..=STEPS {
            let new = operation(&mut dice, number);
            databases.step(&mut reference, &new, &mut dice).await;
        }
        databases.compare_events(&reference).await;
        assert!(databases.conflicts > 10, "{} attempts met a conflict", databases.conflicts);
        Box::pin(databases.stop()).await;
    }
}
