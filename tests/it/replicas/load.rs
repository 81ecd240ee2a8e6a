//! Writes and streams on both gateways, one of which is killed in the middle.

use super::Pair;
use crate::{
    crash::{Dice, Ledger, Load, Stored, Write, send, sequenced},
    e2e::{Part, Site},
};
use plugin_testing::Wallet;
use std::ops::ControlFlow;

const LAST: &str = "the last word";

/// Ids of all events up to the last write; `visit` decides after each event whether to resume at another gateway.
async fn listen(first: &Site, mut visit: impl FnMut(usize) -> ControlFlow<Site>) -> Vec<i64> {
    let mut stream = first.follow("/api/stream?sinceId=0", None).await;
    let mut ids = Vec::new();
    loop {
        let Part::Event(event) = stream.next().await.expect("the stream goes on") else { continue };
        ids.push(event.id);
        if event.data.to_string().contains(LAST) {
            return ids;
        }
        if let ControlFlow::Break(next) = visit(ids.len()) {
            let position = event.id.to_string();
            stream = next.follow("/api/stream", Some(position.as_bytes())).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_of_both_tell_all_writes_in_order_and_a_kill_loses_none() {
    let mut pair = Pair::start(|setup| setup.set("activity.ring_events", 16)).await;
    let sites = pair.sites.clone();
    let [_, killed] = &mut pair.gateways;
    let wallets: Vec<Wallet> = (0..10).map(Wallet::new).collect();
    let (dice, mut ledger) = (Dice::new(), Ledger::default());

    let writes = async {
        let load = Load::new(&sites, "both");
        let kill = async {
            load.reached(300).await;
            killed.kill().await.unwrap();
            load.reached(450).await;
            load.end();
        };
        let (written, ()) = tokio::join!(load.run(&wallets, &dice, Vec::new()), kill);
        ledger.writes.extend(written);
        let mut retry = Load::new(&sites[..1], "one");
        retry.only_retries = true;
        let unanswered = ledger.take_unknown();
        eprintln!("{} writes got no answer", unanswered.len());
        ledger.writes.extend(retry.run(&wallets, &dice, unanswered).await);
        let mut last = Write::thread(&Wallet::new(100), LAST);
        last.outcome = crate::crash::Outcome::Acknowledged;
        assert_eq!(send(&sites[0], &last).await.unwrap().0, 201);
        ledger.writes.push(last);
    };
    let stay = listen(&sites[0], |_| ControlFlow::Continue(()));
    // Changes between the gateways every few events, and long before the kill stays at the one that is not killed.
    let change = listen(&sites[1], |seen| match seen {
        ..200 if seen % 7 == 0 => ControlFlow::Break(sites[seen / 7 % 2].clone()),
        200 => ControlFlow::Break(sites[0].clone()),
        _ => ControlFlow::Continue(()),
    });
    let ((), stayed, changed) = tokio::join!(writes, stay, change);

    sequenced(&pair.setups[0]).await;
    let kept = Stored::read(&pair.setups[0]).await;
    ledger.compare(&kept);
    assert_eq!(stayed, kept.event_ids, "at one gateway");
    assert_eq!(changed, kept.event_ids, "at one and the other");
    ledger.replay(&pair.sites[0], &kept).await;

    // The killed gateway starts again and has the same rows.
    let gateway = pair.setups[1].start().await.unwrap();
    let kept = Stored::read(&pair.setups[1]).await;
    ledger.replay(&Site::of(&gateway), &kept).await;
    ledger.compare(&Stored::read(&pair.setups[0]).await);
}
