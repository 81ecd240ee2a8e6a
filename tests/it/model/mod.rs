//! Both databases against one model: a plugin whose writes run again after conflicts, and random scripts of its operations.
//!
//! The rule that is tested: a plugin's transactions are as if they ran one after the other, and a refused one leaves nothing. One
//! after the other they give the same answers, rows and events on SQLite and PostgreSQL as in the model; at the same time, what
//! holds after every order of them holds.

mod accounts;
mod concurrent;
mod reference;
mod script;
mod sequential;

use accounts::{EVENT, NewOperation, OPERATIONS};
use gateway_tests::postgres;
use plugin_testing::{TestGateway, Value};

/// The database is a file, or the address of a PostgreSQL database.
async fn start(url: Option<&str>) -> TestGateway {
    let url = url.map(str::to_owned);
    let builder = TestGateway::builder().plugin(accounts::plugin_module());
    builder.configure(|config| config.database.url = url.map(Into::into)).start().await
}

async fn postgres_url() -> String {
    postgres::fresh_database().await.unwrap()
}

/// What came back: what was done, or status and code of the refusal.
async fn run(gateway: &TestGateway, new: &NewOperation) -> Result<Value, (u16, String)> {
    let body = serde_json::to_string(new).unwrap();
    let answer = gateway.send("POST", OPERATIONS, &[("content-type", "application/json")], body).await;
    if answer.is_success() { Ok(answer.json()) } else { Err((answer.status, answer.code())) }
}

/// The rows of all tables, each with the name of its table.
async fn rows(gateway: &TestGateway) -> Vec<String> {
    let mut all = Vec::new();
    for (name, select) in [
        ("account", "SELECT name, pair, balance, moves FROM accounts_accounts"),
        ("transfer", "SELECT number, from_name, to_name, amount FROM accounts_transfers"),
        ("total", "SELECT name, accounts FROM accounts_totals"),
    ] {
        all.extend(gateway.rows(select).await.into_iter().map(|row| format!("{name} {row}")));
    }
    all.sort();
    all
}

/// Ids and data of all events, oldest first.
async fn events(gateway: &TestGateway) -> Vec<(i64, Value)> {
    let events = gateway.events().await;
    assert!(events.iter().all(|event| event.kind == EVENT), "{events:?}");
    events.into_iter().map(|event| (event.id, event.data)).collect()
}
