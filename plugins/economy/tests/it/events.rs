//! Events of the activity log that are published from chain events.

use super::{address, finish, fixture, gateways, time_of};
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, Value, json};

/// The published events of a chain whose first block has these logs: type, actor, about, time and data.
async fn published(gateway: &TestGateway) -> Vec<Value> {
    let events = gateway.events().await.into_iter();
    events
        .map(|event| {
            let about = event.subject.map(|subject| format!("{} {}", subject.kind, subject.id));
            json!([event.kind, event.actor, about, event.ts, event.data])
        })
        .collect()
}

/// Data with the event's position on the chain.
fn placed(mut data: Value, log: &ScriptedLog, block: u64, contract: &str, event: &str) -> Value {
    let place = json!({ "tx": log.tx.to_string(), "block": block, "contract": contract, "event": event });
    data.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
    data
}

/// Time until which the streams and subscriptions of these tests are paid.
fn paid_through() -> u64 {
    u64::try_from(time_of(0)).unwrap() + 100
}

/// One log of each kind, each in a transaction of its own.
fn logs() -> Vec<ScriptedLog> {
    let until = paid_through();
    let logs = [
        fixture::agent(4, 40, "four"),
        fixture::job(9, 4, 31),
        fixture::account(40, 0x60),
        fixture::opened(1, "7", "705", 100),
        fixture::cancelled(1, 11, "90", "8", "607"),
        fixture::plan(5, 20, "1000", 3600),
        fixture::subscribed(6, 5, 10, until),
        fixture::case_opened(2, 9, 31),
        fixture::case_closed(2, 9, 8500),
        fixture::launched(4, 0x70, "FOUR"),
        fixture::bought(0x70, "1"),
    ];
    logs.into_iter().enumerate().map(|(place, log)| log.in_transaction(&format!("tx {place}"))).collect()
}

/// The published events of logs in one block.
struct LogEvents {
    logs: Vec<ScriptedLog>,
    block: u64,
}

impl LogEvents {
    #[expect(clippy::too_many_arguments, reason = "a row of a table")]
    fn row(
        &self,
        place: usize,
        kind: &str,
        actor: Option<u64>,
        about: &str,
        contract: &str,
        event: &str,
        data: Value,
    ) -> Value {
        let data = placed(data, &self.logs[place], self.block, contract, event);
        json!([kind, actor.map(address), about, time_of(self.block), data])
    }
}

fn of_accounts_and_streams(told: &LogEvents) -> Vec<Value> {
    let start = time_of(0);
    vec![
        told.row(
            2,
            "account.created",
            Some(40),
            &format!("account {}", address(0x60)),
            "accountFactory",
            "AccountCreated",
            json!({ "owner": address(40), "account": address(0x60) }),
        ),
        told.row(
            3,
            "stream.opened",
            Some(10),
            "stream 1",
            "streamPay",
            "StreamOpened",
            json!({ "streamId": 1, "payer": address(10), "payee": address(11), "ratePerSec": "7", "deposit": "705",
                "start": start, "stop": start + 100 }),
        ),
        told.row(
            4,
            "stream.cancelled",
            Some(11),
            "stream 1",
            "streamPay",
            "StreamCancelled",
            json!({ "streamId": 1, "payer": address(10), "payee": address(11), "toPayee": "90", "toPayer": "607", "fee": "8" }),
        ),
    ]
}

fn of_subscriptions(told: &LogEvents) -> Vec<Value> {
    let until = paid_through();
    vec![
        told.row(
            5,
            "plan.created",
            Some(20),
            "plan 5",
            "streamPay",
            "PlanCreated",
            json!({ "planId": 5, "payee": address(20), "pricePerPeriod": "1000", "period": 3600,
                "metadataURI": "fmx://plan/5 ä😀'\"" }),
        ),
        told.row(
            6,
            "sub.created",
            Some(10),
            "sub 6",
            "streamPay",
            "Subscribed",
            json!({ "subId": 6, "planId": 5, "payer": address(10), "payee": address(20), "periods": 3, "paidThrough": until }),
        ),
    ]
}

fn of_disputes_and_tokens(told: &LogEvents) -> Vec<Value> {
    vec![
        told.row(
            7,
            "case.opened",
            Some(31),
            "case 2",
            "arbiterPool",
            "CaseOpened",
            json!({ "caseId": 2, "jobId": 9, "opener": address(31), "evidenceURI": "fmx://case/2 \u{fffd} ä😀'\"",
                "agentId": 4, "agentName": "four", "client": address(31) }),
        ),
        told.row(
            8,
            "case.closed",
            None,
            "case 2",
            "arbiterPool",
            "CaseClosed",
            json!({ "caseId": 2, "jobId": 9, "clientBps": 8500 }),
        ),
        told.row(
            9,
            "token.launched",
            Some(40),
            &format!("token {}", address(0x70)),
            "tokenFactory",
            "Launched",
            json!({ "token": address(0x70), "agentId": 4, "agentName": "four", "symbol": "FOUR" }),
        ),
    ]
}

#[tokio::test]
async fn each_kind_of_event_is_published_once_with_its_block_and_time() {
    let chain = ScriptedChain::start().await;
    let logs = logs();
    let block = chain.mine(logs.clone());
    let confirmed = chain.mine_empty(3);
    assert_eq!((block, confirmed), (1, 4));
    let told = LogEvents { logs, block };
    let expected = [of_accounts_and_streams(&told), of_subscriptions(&told), of_disputes_and_tokens(&told)].concat();
    for gateway in gateways(&chain).await {
        TestGateway::eventually(std::time::Duration::from_secs(60), "the events are public", || async {
            gateway.events().await.len() >= expected.len()
        })
        .await;
        // As texts: the order of the members is part of the log.
        assert_eq!(json!(published(&gateway).await).to_string(), json!(expected).to_string());
        finish(gateway).await;
    }
}
