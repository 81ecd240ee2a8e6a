//! The database restarts under load, as an operator restarts it and as a power cut does.

use super::{ReconnectingReader, Replicas, THREE, send_unanswered_again, write_last};
use crate::crash::{Dice, Ledger, Load, StoredRows};
use gateway_tests::{postgres::PrivatePostgres, process::LIMIT};
use plugin_testing::{TestGateway, Wallet};
use rstest::rstest;

const RESTARTS: u64 = 3;
/// Before each restart.
const WRITES: u64 = 80;
const LAST: &str = "the last word";

#[rstest]
#[case::stopped(PrivatePostgres::stop)]
#[case::crashed(PrivatePostgres::crash)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_of_the_database_lose_and_double_nothing(
    #[case] leave: fn(&mut PrivatePostgres) -> anyhow::Result<()>,
) {
    let mut server = PrivatePostgres::start().unwrap();
    let url = server.create_database().await.unwrap();
    let mut replicas = Replicas::start_on(&url, THREE, |setup| setup.set("database.listen_url", &url)).await;
    let wallets: Vec<Wallet> = (0..8).map(Wallet::new).collect();
    let (dice, mut ledger) = (Dice::new(), Ledger::default());
    let mut readers = [ReconnectingReader::default(), ReconnectingReader::default()];

    let sites = replicas.sites.clone();
    let writes = async {
        for restart in 0..RESTARTS {
            let load = Load::new(&sites, format!("restart {restart}"));
            let leaving = async {
                load.reached(WRITES).await;
                leave(&mut server).unwrap();
                // Somebody writes while it is away.
                TestGateway::eventually(LIMIT, "a write is refused", async || load.refused() > 0).await;
                load.end();
                server.start_again().unwrap();
            };
            let load_dice = dice.fork(restart);
            let (written, ()) = tokio::join!(load.run(&wallets, &load_dice, Vec::new()), leaving);
            ledger.writes.extend(written);
            // While it recovers, clients repeat what got no answer.
            send_unanswered_again(&sites, &mut ledger, &wallets, &dice).await;
        }
        write_last(&sites[0], &mut ledger, LAST).await;
    };
    let reversed: Vec<_> = sites.iter().rev().cloned().collect();
    let [stay, change] = &mut readers;
    tokio::join!(writes, stay.read_to(&sites, LAST, usize::MAX), change.read_to(&reversed, LAST, 9));

    for gateway in &mut replicas.gateways {
        assert!(gateway.is_running());
    }
    let stored = StoredRows::read_sequenced(&replicas.setups[0]).await;
    ledger.compare(&stored);
    for reader in &readers {
        assert_eq!(reader.ids, stored.event_ids, "in {} streams", reader.streams);
    }
    for site in &sites {
        ledger.replay(site, &stored).await;
    }
}
