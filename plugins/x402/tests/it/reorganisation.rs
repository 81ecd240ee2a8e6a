//! A reorganisation takes back what the vault's logs said, and the state with it.

use crate::{
    FMX, VAULT, account, becomes, builders, chain, deposited, draft::Draft, each, finish, post, read, settle, settled,
    skipped, start, state, unlock_requested, waits, withdrawn,
};
use plugin_api::{Address, Hash256};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

#[tokio::test]
async fn a_settlement_that_is_undone_is_submitted_again() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        settle(gateway, &draft).await;
        gateway.clock().advance(Duration::from_secs(30)).await;
        let tx = waits(chain, gateway, 1).await.remove(0);
        becomes(gateway, &draft, "submitted").await;
        chain.mine(vec![settled(&draft, tx.hash)]);
        gateway.indexed(chain).await;
        assert_eq!(state(gateway, &draft).await.0, "settled");
        chain.reorg(1);
        chain.hold(true);
        chain.mine_empty(2);
        gateway.indexed(chain).await;
        assert_eq!(state(gateway, &draft).await, ("submitted".to_owned(), json!(null), json!(null)));
        chain.hold(false);
        chain.mine(vec![settled(&draft, tx.hash)]);
        gateway.indexed(chain).await;
        assert_eq!(state(gateway, &draft).await.0, "settled");
    })
    .await;
}

#[tokio::test]
async fn the_logs_decide_about_voided_vouchers_too() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 1, 1);
        settle(gateway, &draft).await;
        gateway.execute("UPDATE x402_vouchers SET state = 'voided', reason = 'it failed'").await;
        assert_eq!(state(gateway, &draft).await.0, "voided");
        chain.mine(vec![settled(&draft, [7; 32])]);
        gateway.indexed(chain).await;
        assert_eq!(state(gateway, &draft).await.0, "settled");
        chain.reorg(1);
        chain.mine_empty(2);
        gateway.indexed(chain).await;
        assert_eq!(state(gateway, &draft).await, ("voided".to_owned(), json!(null), json!("it failed")));
    })
    .await;
}

#[tokio::test]
async fn another_payee_amount_or_reference_skips_the_voucher() {
    each(json!({}), async |chain, gateway| {
        let drafts: Vec<Draft> = (1..=4).map(|nonce| Draft::new(gateway, nonce, nonce)).collect();
        for draft in &drafts {
            settle(gateway, draft).await;
        }
        chain.mine(vec![
            settled(&Draft { payee: Address([9; 20]), ..drafts[0].clone() }, [7; 32]),
            settled(&Draft { amount: drafts[1].amount - 1, ..drafts[1].clone() }, [7; 32]),
            settled(&Draft { reference: Hash256([9; 32]), ..drafts[2].clone() }, [7; 32]),
            settled(&drafts[3], [7; 32]),
        ]);
        gateway.indexed(chain).await;
        for draft in &drafts[..3] {
            assert_eq!(state(gateway, draft).await.0, "skipped");
        }
        assert_eq!(state(gateway, &drafts[3]).await.0, "settled");
    })
    .await;
}

/// All derived rows.
async fn derived(gateway: &TestGateway) -> Vec<Vec<String>> {
    let mut tables = Vec::new();
    for (table, key) in [
        ("settled", "payer, nonce"),
        ("skipped", "tx, log_index"),
        ("accounts", "payer"),
        ("deposits", "tx, log_index"),
        ("payees", "payee"),
        ("paid", "payer"),
        ("totals", "id"),
    ] {
        tables.push(gateway.rows(&format!("SELECT * FROM x402_{table} ORDER BY {key}")).await);
    }
    tables
}

#[tokio::test]
async fn an_abandoned_branch_leaves_nothing() {
    for place in 0..builders(&chain().await, &json!({})).await.len() {
        let chain = chain().await;
        let gateway = start(builders(&chain, &json!({})).await.remove(place), &chain).await;
        let (draft, other) = (Draft::new(&gateway, 1, 1), Draft::new(&gateway, 1, 2));
        let payer = draft.payer();
        chain.mine(vec![deposited(payer, FMX), settled(&draft, [1; 32]), skipped(&draft, "expired", [1; 32])]);
        gateway.indexed(&chain).await;
        let before = derived(&gateway).await;
        let unlock = account("UnlockRequested(address indexed payer, uint64 at)", &[json!(payer), json!(u64::MAX)]);
        // No deeper than what the index can undo.
        for logs in [
            vec![deposited(payer, FMX), settled(&other, [2; 32])],
            vec![skipped(&other, "bad signature", [2; 32]), unlock],
            vec![withdrawn(payer, 5), deposited(Wallet::new(9).address().parse().unwrap(), 7)],
        ] {
            chain.mine(logs);
        }
        gateway.indexed(&chain).await;
        assert_ne!(derived(&gateway).await, before);
        chain.reorg(3);
        chain.mine_empty(4);
        gateway.indexed(&chain).await;
        assert_eq!(derived(&gateway).await, before);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn accounts_follow_from_the_events() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 30, 1);
        let payer = draft.payer();
        chain.mine(vec![deposited(payer, FMX), unlock_requested(payer, 77), settled(&draft, [1; 32])]);
        gateway.indexed(chain).await;
        let select = format!("SELECT balance, unlock_at, settled_count FROM x402_accounts WHERE payer = '{payer}'");
        let row = async || gateway.rows(&select).await.remove(0);
        let left = FMX - draft.amount;
        assert_eq!(row().await, format!("Text(\"{left}\") Int(77) Int(1)"));
        chain.mine(vec![withdrawn(payer, 5)]);
        gateway.indexed(chain).await;
        assert_eq!(row().await, format!("Text(\"{}\") Int(0) Int(1)", left - 5), "a withdrawal locks again");
        let payee = gateway.rows("SELECT payee, volume, settled_count FROM x402_payees_v1").await;
        assert_eq!(payee, [format!("Text(\"{}\") Text(\"{}\") Int(1)", draft.payee, draft.amount)]);
    })
    .await;
}

#[tokio::test]
async fn a_settlement_is_an_event_when_it_is_deep_enough() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(gateway, 1, 7);
        let block = chain.mine(vec![settled(&draft, [1; 32])]);
        chain.mine_empty(3);
        gateway.indexed(chain).await;
        let events = gateway.events().await;
        let event = events.iter().find(|event| event.kind == "x402.settled").expect("the event");
        assert_eq!(event.actor, Some(draft.payer().to_string()));
        let subject = event.subject.as_ref().map(|subject| (subject.kind.clone(), subject.id.clone()));
        assert_eq!(subject, Some(("x402".to_owned(), format!("{}:7", draft.payer()))));
        let expected = json!({
            "payer": draft.payer(), "payee": draft.payee, "amount": draft.amount.to_string(), "fee": (draft.amount / 100).to_string(),
            "nonce": "7", "ref": draft.reference, "tx": Hash256([1; 32]), "block": block, "contract": VAULT, "event": "Settled",
        });
        let data: Value = serde_json::from_str(&event.data.to_string()).unwrap();
        assert_eq!(data, expected);
        let answer = post(gateway, "/api/x402/verify", &draft.payment()).await;
        assert_eq!(answer["isValid"], false);
        assert_eq!(read(gateway, "/api/stats").await["x402Settlements"], 1);
    })
    .await;
}

/// What payees and payers of the settlements have in sum: as it is kept, and counted from the rows.
async fn sums(gateway: &TestGateway) -> [Vec<String>; 4] {
    let wei = |column: &str| format!("cast(cast(sum(cast({column} AS BIGINT)) AS BIGINT) AS TEXT)");
    let by = |party: &str, sums: &str| {
        format!("SELECT {party}, {sums}, count(*) FROM x402_settled GROUP BY {party} ORDER BY {party}")
    };
    [
        gateway.rows("SELECT payee, volume, fees, settled_count FROM x402_payees ORDER BY payee").await,
        gateway.rows("SELECT payer, volume, settled_count FROM x402_paid ORDER BY payer").await,
        gateway.rows(&by("payee", &format!("{}, {}", wei("amount"), wei("fee")))).await,
        gateway.rows(&by("payer", &wei("amount"))).await,
    ]
}

#[tokio::test]
async fn sums_equal_a_recount_of_the_settlements() {
    each(json!({}), async |chain, gateway| {
        let mut drafts: Vec<Draft> = (1..=4).map(|nonce| Draft::new(gateway, nonce % 2 + 1, nonce)).collect();
        // One pays himself, and one another payee.
        drafts[1].payee = drafts[1].payer();
        drafts[2].payee = Address([9; 20]);
        let mut all = Vec::new();
        for draft in &drafts {
            chain.mine(vec![settled(draft, [1; 32])]);
            gateway.indexed(chain).await;
            let [received, paid, counted_received, counted_paid] = sums(gateway).await;
            assert_eq!((&received, &paid), (&counted_received, &counted_paid));
            all.push((received, paid));
        }
        assert_eq!((all[3].0.len(), all[3].1.len()), (3, 2));
        chain.reorg(2);
        chain.mine(vec![settled(&Draft { amount: 300, ..Draft::new(gateway, 3, 9) }, [2; 32])]);
        chain.mine_empty(2);
        gateway.indexed(chain).await;
        let [received, paid, counted_received, counted_paid] = sums(gateway).await;
        assert_eq!((&received, &paid), (&counted_received, &counted_paid), "after a reorganisation");
        assert!(!all.contains(&(received, paid)));
        chain.reorg(3);
        chain.mine_empty(4);
        gateway.indexed(chain).await;
        let [received, paid, ..] = sums(gateway).await;
        assert_eq!((received, paid), all[1], "what the other blocks added is gone");
    })
    .await;
}
