//! PgBouncer in transaction mode between the gateways and the server: no transaction finds its connection changed under it, and
//! streams go on by notifications on a connection of their own, or by polling. With a PgBouncer that knows prepared statements
//! (`GATEWAY_TEST_PGBOUNCER` names one) they are named, and else sent with each call.

use super::{ReconnectingReader, Replicas, THREE, send_unanswered_again, write_last};
use crate::crash::{Dice, Ledger, Load, StoredRows, query};
use gateway_tests::{
    pgbouncer::{PgBouncer, Pool},
    postgres,
    process::{LIMIT, Setup},
};
use plugin_testing::{TestGateway, Wallet};
use rstest::rstest;

/// Fewer than one gateway's own pool.
const SERVERS_MAX: u32 = 4;
const KILLED: usize = 1;
const BEFORE_KILL: u64 = 120;
const WRITES: u64 = 200;
const LAST: &str = "the last word";

/// Connections that wait for what others write.
const LISTENING: &str =
    "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";

#[derive(Clone, Copy, Debug)]
enum Wake {
    Notified,
    Polled,
}

impl Wake {
    fn set(self, setup: Setup, direct: &str) -> Setup {
        match self {
            Self::Notified => setup.set("database.listen_url", direct),
            Self::Polled => setup,
        }
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_pgbouncer_a_kill_loses_nothing_and_streams_have_no_gap(
    #[values(Wake::Notified, Wake::Polled)] wake: Wake,
) {
    let direct = postgres::fresh_database().await.unwrap();
    let bouncer = PgBouncer::start(&direct, SERVERS_MAX).await.unwrap();
    let adjust = |setup: Setup| wake.set(setup.set("database.prepared", bouncer.prepares()), &direct);
    let mut replicas = Replicas::start_on(bouncer.url(), THREE, adjust).await;
    let sites = replicas.sites.clone();
    let wallets: Vec<Wallet> = (0..16).map(Wallet::new).collect();
    let (dice, mut ledger) = (Dice::new(), Ledger::default());
    let mut readers = [ReconnectingReader::default(), ReconnectingReader::default()];

    let survivors = replicas.others(KILLED);
    let killed = &mut replicas.gateways[KILLED];
    let writes = async {
        let load = Load::new(&sites, "pooled");
        let kill = async {
            load.reached(BEFORE_KILL).await;
            clients_share_connections(&bouncer).await;
            killed.kill().await.unwrap();
            load.reached(WRITES).await;
            load.end();
        };
        let (written, ()) = tokio::join!(load.run(&wallets, &dice, Vec::new()), kill);
        ledger.writes.extend(written);
        send_unanswered_again(&survivors, &mut ledger, &wallets, &dice).await;
        write_last(&survivors[0], &mut ledger, LAST).await;
    };
    let from_killed = [&sites[KILLED..=KILLED], &survivors[..]].concat();
    let [stay, lose] = &mut readers;
    tokio::join!(writes, stay.read_to(&survivors, LAST, usize::MAX), lose.read_to(&from_killed, LAST, usize::MAX));

    // Not through the pooler: these queries have prepared statements.
    let direct = replicas.setups[0].clone().set("database.url", &direct);
    let listening = query(&direct, LISTENING).await;
    assert!(listening.is_empty() || matches!(wake, Wake::Notified), "{listening:?}");
    let stored = StoredRows::read_sequenced(&direct).await;
    ledger.compare(&stored);
    for reader in &readers {
        assert_eq!(reader.ids, stored.event_ids);
    }
    ledger.replay(&survivors[0], &stored).await;
    ledger.compare(&StoredRows::read_sequenced(&direct).await);
}

/// Otherwise the pooler would prove nothing.
async fn clients_share_connections(bouncer: &PgBouncer) {
    let is_shared = async || {
        let Some(Pool { mode, clients, servers }) = bouncer.pool().await.unwrap() else { return false };
        assert_eq!(mode, "transaction");
        assert!(servers <= i32::try_from(SERVERS_MAX).unwrap(), "{servers} connections of the server");
        servers < clients
    };
    TestGateway::eventually(LIMIT, "clients share connections of the server", is_shared).await;
}
