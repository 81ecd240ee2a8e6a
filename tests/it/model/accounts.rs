//! A plugin whose one route runs operations of each kind that a transaction is for: an insert that a constraint refuses, a blind
//! update, a read with a decision and writes, a decision about rows that it does not write, and a refusal behind writes.

use plugin_api::{
    ApiError, ConfigError, Definition, HandlerError, HostError, HostErrorCode, HostHandle, Json, JsonBody, JsonSchema,
    Migration, NoConfig, Plugin, Query as _, RequestContext, Route, Tx, abi::PluginModule_Ref, host::Identity, sql,
    stream::EventBuilder,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub const OPERATIONS: &str = "/api/accounts/operations";
pub const EVENT: &str = "accounts.done";

/// `moves` counts the operations that changed a balance: a lost update shows in it.
const MIGRATION: &str = "
CREATE TABLE accounts_accounts (
    name TEXT NOT NULL PRIMARY KEY,
    pair BIGINT NOT NULL,
    balance BIGINT NOT NULL,
    moves BIGINT NOT NULL
);
CREATE TABLE accounts_transfers (
    number BIGINT NOT NULL PRIMARY KEY,
    from_name TEXT NOT NULL,
    to_name TEXT NOT NULL,
    amount BIGINT NOT NULL
);
CREATE TABLE accounts_totals (name TEXT NOT NULL PRIMARY KEY, accounts BIGINT NOT NULL);
";

struct Accounts;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Operation {
    /// Counts the accounts in a row that all of these operations read and write.
    Open {
        name: String,
        pair: i64,
        balance: i64,
    },
    Deposit {
        name: String,
        amount: i64,
    },
    /// Only what the account has.
    Transfer {
        from: String,
        to: String,
        amount: i64,
    },
    /// Only what both accounts of the pair have together; the other one is not written.
    Withdraw {
        name: String,
        amount: i64,
    },
    /// Writes and publishes, and then refuses.
    Spoil {
        name: String,
        amount: i64,
    },
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct NewOperation {
    /// No two operations have the same.
    pub number: i64,
    pub operation: Operation,
}

#[derive(Debug, ApiError)]
pub enum AccountsError {
    #[api(409, "taken", "there is an account of this name", hint = "take another name")]
    Taken,
    #[api(404, "unknown", "there is no account of this name", hint = "open it")]
    Unknown,
    #[api(409, "insufficient", "the balance is not enough", hint = "deposit")]
    Insufficient,
    #[api(422, "spoiled", "as the test wished", hint = "none")]
    Spoiled,
}

impl Identity for Accounts {
    const NAME: &'static str = "accounts";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Moves numbers between accounts";
}

impl Plugin for Accounts {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([Route::post(OPERATIONS, run_operation).public()])
            .migrations([Migration::new(1, "create", MIGRATION)])
            .publishes(&[EVENT])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

/// Not by `export_plugin!`: one binary has room for one plugin's exported symbols.
pub fn plugin_module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Accounts>()
}

type OperationResult = Result<Value, HandlerError<AccountsError>>;

async fn run_operation(
    cx: RequestContext<Accounts>,
    JsonBody(new): JsonBody<NewOperation>,
) -> Result<Json<Value>, HandlerError<AccountsError>> {
    let done = cx
        .write(async move |tx| {
            let done = match &new.operation {
                Operation::Open { name, pair, balance } => open(tx, name, *pair, *balance).await?,
                Operation::Deposit { name, amount } => deposit(tx, name, *amount).await?,
                Operation::Transfer { from, to, amount } => transfer(tx, new.number, (from, to), *amount).await?,
                Operation::Withdraw { name, amount } => withdraw(tx, name, *amount).await?,
                Operation::Spoil { name, amount } => deposit(tx, name, *amount).await?,
            };
            EventBuilder::new(EVENT, &json!({ "number": new.number, "done": done })).publish(tx)?;
            match new.operation {
                Operation::Spoil { .. } => Err(AccountsError::Spoiled.into()),
                _ => Ok(done),
            }
        })
        .await?;
    Ok(Json(done))
}

async fn open(tx: &Tx, name: &str, pair: i64, balance: i64) -> OperationResult {
    let count: Option<i64> = tx.row(sql("SELECT accounts FROM accounts_totals WHERE name = 'all'")).await?;
    let insert = sql("INSERT INTO accounts_accounts (name, pair, balance, moves) VALUES ($1, $2, $3, 0)");
    tx.execute(insert.bind(name).bind(pair).bind(balance)).await.map_err(taken)?;
    let accounts = count.unwrap_or_default() + 1;
    let total = match count {
        None => sql("INSERT INTO accounts_totals (name, accounts) VALUES ('all', $1)"),
        Some(_) => sql("UPDATE accounts_totals SET accounts = $1 WHERE name = 'all'"),
    };
    tx.execute(total.bind(accounts)).await?;
    Ok(json!({ "accounts": accounts }))
}

fn taken(error: HostError) -> HandlerError<AccountsError> {
    if error.is(HostErrorCode::Constraint) { AccountsError::Taken.into() } else { error.into() }
}

async fn deposit(tx: &Tx, name: &str, amount: i64) -> OperationResult {
    let update =
        sql("UPDATE accounts_accounts SET balance = balance + $2, moves = moves + 1 WHERE name = $1 RETURNING balance");
    let balance: Option<i64> = tx.row(update.bind(name).bind(amount)).await?;
    Ok(json!({ "balance": balance.ok_or(AccountsError::Unknown)? }))
}

async fn transfer(tx: &Tx, number: i64, (from, to): (&str, &str), amount: i64) -> OperationResult {
    let (from_balance, from_moves) = account(tx, from).await?;
    let (to_balance, to_moves) = account(tx, to).await?;
    if from_balance < amount {
        return Err(AccountsError::Insufficient.into());
    }
    // What was read decides what is written: a transaction that did not see another one's write would undo it.
    for (name, balance, moves) in
        [(from, from_balance - amount, from_moves + 1), (to, to_balance + amount, to_moves + 1)]
    {
        let update = sql("UPDATE accounts_accounts SET balance = $2, moves = $3 WHERE name = $1");
        tx.execute(update.bind(name).bind(balance).bind(moves)).await?;
    }
    let insert = sql("INSERT INTO accounts_transfers (number, from_name, to_name, amount) VALUES ($1, $2, $3, $4)");
    tx.execute(insert.bind(number).bind(from).bind(to).bind(amount)).await?;
    Ok(json!({ "from": from_balance - amount, "to": to_balance + amount }))
}

async fn account(tx: &Tx, name: &str) -> Result<(i64, i64), HandlerError<AccountsError>> {
    let found = tx.row(sql("SELECT balance, moves FROM accounts_accounts WHERE name = $1").bind(name)).await?;
    Ok(found.ok_or(AccountsError::Unknown)?)
}

async fn withdraw(tx: &Tx, name: &str, amount: i64) -> OperationResult {
    let of_pair = "SELECT CAST(sum(balance) AS BIGINT) FROM accounts_accounts
        WHERE pair = (SELECT pair FROM accounts_accounts WHERE name = $1)";
    let together: Option<i64> = tx.one(sql(of_pair).bind(name)).await?;
    if together.ok_or(AccountsError::Unknown)? < amount {
        return Err(AccountsError::Insufficient.into());
    }
    deposit(tx, name, -amount).await
}
