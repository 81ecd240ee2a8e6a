//! What a plugin has in the database is found in the catalogue, and dropped as a whole.

use super::*;
use gateway_storage::PluginObjects;
use plugin_api::sql;
use rstest::rstest;

const AGENTS: &str = "CREATE TABLE agents_notes (id {{id}}, kind TEXT NOT NULL, body TEXT NOT NULL);
    CREATE TABLE agents_votes (id {{id}}, note_id BIGINT NOT NULL REFERENCES agents_notes (id));
    CREATE INDEX agents_votes_note ON agents_votes (note_id);
    CREATE VIEW agents_v1 AS SELECT id, body FROM agents_notes;
    CREATE VIEW jobs_v1 AS SELECT v.id FROM agents_votes v JOIN agents_v1 a ON a.id = v.note_id;";
const INDEXES: &str = "{{row_counts agents_notes (kind)}}\n{{search_index agents_notes (body)}}";
const MARKET: &str = "CREATE TABLE market_orders (id {{id}}); CREATE VIEW market_v1 AS SELECT body FROM agents_v1;";
const ROWS: &str = "INSERT INTO agents_notes (kind, body) VALUES ('a', 'a text'), ('b', 'another text');
    INSERT INTO agents_votes (note_id) VALUES (1), (2)";

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).into()
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn everything_of_a_plugin_is_found_and_dropped(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_notes(engine).await;
    let migrations = [migration(1, AGENTS), migration(2, INDEXES)];
    db.migrate("agents", &migrations).await.unwrap();
    db.database.execute_batch(ROWS).await.unwrap();
    let objects = async || PluginObjects::of(&db.database, "agents", &ViewNames::new()).await.unwrap();
    let found = objects().await;
    let (tables, views) = match engine {
        Engine::Sqlite => {
            (names(["agents_notes", "agents_notes_counts", "agents_votes"]), names(["agents_v1", "jobs_v1"]))
        }
        Engine::Postgres => (
            names(["agents_notes", "agents_notes_count_changes", "agents_votes"]),
            names(["agents_notes_counts", "agents_v1", "jobs_v1"]),
        ),
    };
    assert_eq!(found.tables, tables);
    assert_eq!((found.views.clone(), found.dependent_views.clone()), (views, vec![]));
    assert_eq!(found.search_indexes, ["agents_notes_search"]);
    let counters = match engine {
        Engine::Sqlite => {
            names(["agents_notes_counts_delete", "agents_notes_counts_insert", "agents_notes_counts_update"])
        }
        Engine::Postgres => names(["agents_notes_counts_update", "agents_notes_counts_write"]),
    };
    assert!(counters.iter().all(|trigger| found.triggers.contains(trigger)), "{found:?}");
    let functions: &[&str] = if engine == Engine::Postgres { &["agents_notes_counts_keep"] } else { &[] };
    assert_eq!(found.functions, functions);

    db.migrate("market", &[migration(1, MARKET)]).await.unwrap();
    assert_eq!(objects().await.dependent_views, ["market_v1"]);
    db.database.execute_batch("DROP VIEW market_v1").await.unwrap();

    let drops = objects().await.drop_statements(db.database.dialect()).join("; ");
    let forgotten = sql("DELETE FROM _migrations WHERE plugin = $1").bind("agents").into();
    db.database.execute_batch_with(&drops, vec![forgotten]).await.unwrap();
    let left = objects().await;
    assert_eq!(left, PluginObjects::default());
    for table in ["forum_notes", "market_orders"] {
        assert_eq!(db.rows(&format!("SELECT count(*) FROM {table}")).await[0][0], Value::Int(0), "{table} stays");
    }
    // From scratch.
    assert_eq!(db.migrate("agents", &migrations).await.unwrap().applied, [1, 2]);
    assert_eq!(db.rows("SELECT count(*) FROM agents_notes").await[0][0], Value::Int(0));
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn definitions_and_their_statements_are_one_transaction(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let db = TestDatabase::with_notes(engine).await;
    let define = "CREATE TABLE forum_settings (name TEXT NOT NULL PRIMARY KEY, value BIGINT, part DOUBLE PRECISION)";
    let insert = |name: &str, value: Option<i64>| {
        let insert = sql("INSERT INTO forum_settings (part, name, value) VALUES ($3, $1, $2)");
        insert.bind(name).bind(value).bind(0.5).into()
    };
    let twice = vec![insert("a", Some(1)), insert("a", Some(2))];
    db.database.execute_batch_with(define, twice).await.unwrap_err();
    let quoted = "'); DROP TABLE forum_notes; --";
    let both = vec![insert(quoted, Some(7)), insert("b", None)];
    db.database.execute_batch_with(define, both).await.expect("the first one left no table");
    let rows = db.rows("SELECT name, value, part FROM forum_settings ORDER BY name").await;
    let part = Value::Real(0.5);
    assert_eq!(rows[0], [Value::Text(quoted.into()), Value::Int(7), part.clone()]);
    assert_eq!(rows[1], [Value::Text("b".into()), Value::Null, part]);
}
