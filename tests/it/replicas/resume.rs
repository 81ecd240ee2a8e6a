//! Readers of the live stream that come back at every position, each time at a replica of chance, while many write.

use super::{ReconnectingReader, Replicas, THREE, send_unanswered_again, write_last};
use crate::{
    crash::{Dice, Ledger, Load, StoredRows, execute, query},
    e2e::Site,
};
use plugin_testing::Wallet;

const WRITERS: u64 = 64;
const WRITES: u64 = 250;
const LAST: &str = "the last word";
/// Turns of a reader before its replicas repeat; a prime, so that they meet other positions then.
const TURNS: usize = 1009;

/// Each transaction waits for a random time between the event and its end. So commits are in another order than events, and the
/// order in which they ended is in a table.
const OUT_OF_ORDER: &str = "
    CREATE TABLE ended (nth BIGINT GENERATED ALWAYS AS IDENTITY, event BIGINT NOT NULL);
    CREATE FUNCTION wait_and_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(random() * 0.03); INSERT INTO ended (event) VALUES (NEW.id); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER wait_and_note AFTER INSERT ON host_activity_outbox DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION wait_and_note()";
/// Events that ended before one that was inserted earlier.
const OVERTAKEN: &str = "SELECT CAST(count(*) AS TEXT) FROM
    (SELECT event, lag(event) OVER (ORDER BY nth) AS before FROM ended) AS pairs WHERE before > event";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_resumes_at_every_position_at_any_replica_misses_and_doubles_nothing() {
    let replicas = Replicas::start(THREE, |setup| setup.set("activity.ring_events", 16)).await;
    execute(&replicas.setups[0], OUT_OF_ORDER.to_owned()).await;
    let wallets: Vec<Wallet> = (0..WRITERS).map(Wallet::new).collect();
    let (dice, mut ledger) = (Dice::new(), Ledger::default());
    let writes = async {
        let load = Load::new(&replicas.sites, "out of order");
        let end = async {
            load.reached(WRITES).await;
            load.end();
        };
        let (written, ()) = tokio::join!(load.run(&wallets, &dice, Vec::new()), end);
        ledger.writes.extend(written);
        send_unanswered_again(&replicas.sites, &mut ledger, &wallets, &dice).await;
        write_last(&replicas.sites[0], &mut ledger, LAST).await;
    };
    // One event of each stream; some; and one that begins when all is written, so that it finds no live end.
    let mut readers = [ReconnectingReader::default(), ReconnectingReader::default()];
    let [each, some] = &mut readers;
    let turns = [0, 1, 2].map(|reader| at_random(&replicas.sites, dice.fork(1000 + reader)));
    tokio::join!(writes, each.read_to(&turns[0], LAST, 1), some.read_to(&turns[1], LAST, 3));
    let mut late = ReconnectingReader::default();
    late.read_to(&turns[2], LAST, 1).await;

    let stored = StoredRows::read_sequenced(&replicas.setups[0]).await;
    ledger.compare(&stored);
    let dense: Vec<i64> = (1..).take(stored.event_ids.len()).collect();
    assert_eq!(stored.event_ids, dense, "positions have no gap");
    for reader in readers.iter().chain([&late]) {
        assert_eq!(reader.ids, dense, "in {} streams", reader.streams);
    }
    assert!(readers[0].streams >= dense.len(), "it resumed at every position");
    let overtaken: usize = query(&replicas.setups[0], OVERTAKEN).await[0][0].parse().unwrap();
    assert!(overtaken > dense.len() / 10, "commits are out of order: {overtaken} of {}", dense.len());
}

fn at_random(sites: &[Site], mut dice: Dice) -> Vec<Site> {
    let site = |_| sites[usize::try_from(dice.below(sites.len() as u64)).unwrap()].clone();
    (0..TURNS).map(site).collect()
}
