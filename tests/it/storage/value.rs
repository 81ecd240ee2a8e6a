//! Values on their way in and out: the same on both databases.

use super::*;
use rstest::rstest;

const COLUMNS: &str = "CREATE TABLE forum_cells (
    i BIGINT, small SMALLINT, medium INTEGER, r DOUBLE PRECISION, t TEXT, b {{blob}})";

async fn database_with_values(engine: Engine) -> TestDatabase {
    let db = TestDatabase::new(engine).await;
    db.migrate("forum", &[migration(1, COLUMNS)]).await.unwrap();
    db
}

async fn round_trip(db: &TestDatabase, column: &str, value: Value) -> Value {
    let transaction = db.forum();
    let insert = format!("INSERT INTO forum_cells ({column}) VALUES ($1) RETURNING {column}");
    let outcomes = transaction.run(vec![statement(&insert, [value])]).await.unwrap();
    transaction.rollback().await;
    values(&outcomes[0].rows)[0][0].clone()
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn values_come_back_as_they_went_in(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = database_with_values(engine).await;
    let all_bytes: Vec<u8> = (0..=255).collect();
    let cases = [
        ("i", Value::Int(i64::MIN)),
        ("i", Value::Int(i64::MAX)),
        ("i", Value::Int(0)),
        ("small", Value::Int(-32_768)),
        ("medium", Value::Int(2_147_483_647)),
        ("r", Value::Real(f64::MAX)),
        ("r", Value::Real(f64::MIN_POSITIVE)),
        ("r", Value::Real(-0.1)),
        ("r", Value::Real(f64::INFINITY)),
        ("t", text("")),
        ("t", text("ä€😀\u{202e}'\"\\ \n\t$1 ?")),
        // 256-bit numbers travel as text and stay exact.
        ("t", text("115792089237316195423570985008687907853269984665640564039457584007913129639935")),
        ("t", text("18446744073709551615")),
        ("b", blob(b"")),
        ("b", blob(&all_bytes)),
    ];
    for (column, value) in cases {
        assert_eq!(round_trip(&db, column, value.clone()).await, value, "{column}");
    }
}

/// The same text with other types of parameters each time: prepared statements must not mix them up.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn null_goes_into_every_column_before_and_after_values(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let db = database_with_values(engine).await;
    for (column, value) in [
        ("i", Value::Int(1)),
        ("small", Value::Int(2)),
        ("medium", Value::Int(3)),
        ("r", Value::Real(4.5)),
        ("t", text("five")),
        ("b", blob(b"six")),
    ] {
        for value in [Value::Null, value.clone(), Value::Null, value] {
            assert_eq!(round_trip(&db, column, value.clone()).await, value, "{column}");
        }
    }
    // An integer fits a column of reals, whatever the statement carried before.
    assert_eq!(round_trip(&db, "r", Value::Int(7)).await, Value::Real(7.0));
}

#[rstest]
#[case("SELECT 1 = 1, 1 = 2, EXISTS (SELECT 1)", vec![Value::Int(1), Value::Int(0), Value::Int(1)])]
#[case("SELECT count(*), sum(i), max(i), length('ab') FROM forum_cells", vec![Value::Int(3), Value::Int(6), Value::Int(3), Value::Int(2)])]
#[case("SELECT sum(i) FROM forum_cells WHERE i > 100", vec![Value::Null])]
#[case("SELECT cast(sum(r) AS TEXT) FROM forum_cells", vec![text("1.5")])]
#[case("SELECT lower('ABC') || 'd', 7 / 2, 7 % 2, NULL", vec![text("abcd"), Value::Int(3), Value::Int(1), Value::Null])]
#[tokio::test(flavor = "multi_thread")]
async fn expressions_have_the_same_type(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
    #[case] sql: &str,
    #[case] expected: Vec<Value>,
) {
    let db = database_with_values(engine).await;
    let fill = "INSERT INTO forum_cells (i, r) VALUES (1, 0.5), (2, 0.5), (3, 0.5)";
    db.write(vec![statement(fill, [])]).await.unwrap();
    let rows = db.database.read(&plugin_scope("forum"), statement(sql, [])).await.unwrap();
    assert_eq!(values(&rows), [expected]);
}

#[rstest]
#[case("SELECT cast('1.5' AS NUMERIC)", "numeric")]
#[case("SELECT cast('99999999999999999999' AS NUMERIC)", "numeric")]
#[case("SELECT now()", "timestamptz")]
#[case("SELECT cast('6ba7b810-9dad-11d1-80b4-00c04fd430c8' AS UUID)", "uuid")]
#[tokio::test(flavor = "multi_thread")]
async fn types_that_sqlite_lacks_are_refused_with_the_way_out(#[case] sql: &str, #[case] named: &str) {
    let db = TestDatabase::new(Engine::Postgres).await;
    for _ in 0..2 {
        let answer = db.database.read(&Scope::Host, statement(sql, [])).await;
        let Err(StorageError::Statement(reason)) = answer else {
            panic!("{answer:?}");
        };
        assert!(reason.contains(named) && reason.contains("cast it to text"), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_text_and_void_is_null_on_postgres() {
    let db = TestDatabase::new(Engine::Postgres).await;
    let sql = "SELECT cast('{\"a\": 1}' AS JSONB), cast('[1]' AS JSON), pg_notify('x', 'y')";
    let expected = [text("{\"a\": 1}"), text("[1]"), Value::Null];
    assert_eq!(db.rows(sql).await, [expected]);
}

/// The texts of errors go into logs and to plugins: names yes, values no.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn errors_hold_no_values(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![note(424_242, "hunter2")]).await.unwrap();
    let cases = [
        note(424_242, "hunter2"),
        statement("SELECT cast('1' AS BIGINT) + json_extract($1, '$')", [text("hunter2")]),
        statement("INSERT INTO forum_notes (id) VALUES (cast($1 AS BIGINT)), (1), (1)", [text("hunter2")]),
    ];
    for statement in cases {
        let transaction = db.database.begin(Scope::Host);
        let error = transaction.run(vec![statement]).await.unwrap_err().to_string();
        assert!(!error.contains("hunter2") && !error.contains("424242"), "{error}");
    }
}
