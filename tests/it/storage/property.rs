//! Both databases return every value as it was stored.

use super::*;
use proptest::{prelude::*, test_runner::TestRunner};

const TABLE: &str = "CREATE TABLE forum_cells (
    id BIGINT PRIMARY KEY, i BIGINT, r DOUBLE PRECISION, t TEXT, b {{blob}})";

fn or_null(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop_oneof![1 => Just(Value::Null), 4 => value]
}

fn row() -> impl Strategy<Value = Vec<Value>> {
    let real = any::<f64>().prop_filter("PostgreSQL knows NaN, SQLite does not", |real| !real.is_nan());
    let words = any::<String>().prop_map(|words| words.replace('\0', ""));
    (
        or_null(any::<i64>().prop_map(Value::Int)),
        or_null(real.prop_map(Value::Real)),
        or_null(words.prop_map(|words| text(&words))),
        or_null(prop::collection::vec(any::<u8>(), 0..64).prop_map(|bytes| blob(&bytes))),
    )
        .prop_map(|(i, r, t, b)| vec![i, r, t, b])
}

async fn store_and_read(db: &TestDatabase, rows: &[Vec<Value>]) -> (Vec<u64>, Vec<Vec<Value>>) {
    let insert = "INSERT INTO forum_cells (id, i, r, t, b) VALUES ($1, $2, $3, $4, $5)";
    let mut statements = vec![statement("DELETE FROM forum_cells", [])];
    for (id, row) in (0..).zip(rows) {
        let params = std::iter::once(Value::Int(id)).chain(row.clone());
        statements.push(statement(insert, params));
    }
    let transaction = db.forum();
    let outcomes = transaction.run(statements).await.unwrap();
    transaction.commit(vec![]).await.unwrap();
    let changes = outcomes[1..].iter().map(|outcome| outcome.changes).collect();
    let found = db.rows("SELECT i, r, t, b FROM forum_cells ORDER BY id").await;
    (changes, found)
}

#[test]
fn both_databases_keep_values_alike() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let databases = runtime.block_on(async {
        let databases = (TestDatabase::new(Engine::Sqlite).await, TestDatabase::new(Engine::Postgres).await);
        for db in [&databases.0, &databases.1] {
            db.migrate("forum", &[migration(1, TABLE)]).await.unwrap();
        }
        databases
    });
    let strategy = prop::collection::vec(row(), 1..8);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
    let outcome = runner.run(&strategy, |rows| {
        let ones = vec![1; rows.len()];
        for db in [&databases.0, &databases.1] {
            let (changes, found) = runtime.block_on(store_and_read(db, &rows));
            prop_assert_eq!(&found, &rows);
            prop_assert_eq!(&changes, &ones);
        }
        Ok(())
    });
    runtime.block_on(async {
        databases.0.database.close().await;
        databases.1.database.close().await;
    });
    outcome.unwrap();
}
