//! A plugin's tables, brought up to date step by step.

use super::*;
use gateway_storage::AppliedMigration;
use rstest::rstest;

const NOTES: &str = "CREATE TABLE forum_notes (id {{id}}, body TEXT NOT NULL, raw {{blob}});
    CREATE UNIQUE INDEX forum_notes_body ON forum_notes (body) WHERE body <> ''";
const VOTES: &str = "ALTER TABLE forum_notes ADD COLUMN votes BIGINT NOT NULL DEFAULT 0;
    UPDATE forum_notes SET votes = 1 WHERE body = 'kept';
    CREATE VIEW forum_v1 AS SELECT id, votes FROM forum_notes;
    CREATE VIEW jobs_v1 AS SELECT id FROM forum_notes";

async fn tables(db: &TestDatabase) -> Vec<String> {
    let sql = match db.database.dialect() {
        gateway_storage::Dialect::Sqlite => "SELECT name FROM sqlite_master WHERE name LIKE 'forum%' ORDER BY name",
        gateway_storage::Dialect::Postgres => {
            "SELECT relname FROM pg_class WHERE relname LIKE 'forum%' AND relkind IN ('r', 'v', 'i') ORDER BY relname"
        }
    };
    let rows = db.rows(sql).await;
    rows.iter().map(|row| format!("{:?}", row[0])).collect()
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn migrations_apply_once_and_keep_the_data(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let mut db = TestDatabase::new(engine).await;
    let first = db.migrate("forum", &[migration(1, NOTES)]).await.unwrap();
    assert_eq!(first, MigrationReport { applied: vec![1], earlier: 0 });
    db.write(vec![statement("INSERT INTO forum_notes (body, raw) VALUES ('kept', $1)", [blob(&[0, 255])])])
        .await
        .unwrap();
    // Their order in the list does not matter.
    let both = [migration(2, VOTES), migration(1, NOTES)];
    let second = db.migrate("forum", &both).await.unwrap();
    assert_eq!(second, MigrationReport { applied: vec![2], earlier: 1 });
    db.reopen().await;
    let third = db.migrate("forum", &both).await.unwrap();
    assert_eq!(third, MigrationReport { applied: vec![], earlier: 2 });
    let rows = db.rows("SELECT id, body, raw, votes FROM forum_notes").await;
    assert_eq!(rows, [[Value::Int(1), text("kept"), blob(&[0, 255]), Value::Int(1)]]);
    assert_eq!(db.rows("SELECT * FROM jobs_v1").await.len(), 1);

    let status = db.database.migration_status(Some("forum")).await.unwrap();
    let versions: Vec<u32> = status.iter().map(|applied| applied.version).collect();
    assert_eq!(versions, [1, 2]);
    let AppliedMigration { plugin, name, checksum, applied_at, .. } = &status[0];
    assert_eq!((plugin.as_str(), name.as_str(), checksum.len()), ("forum", "step_1", 64));
    assert!(*applied_at > 1_700_000_000);
    assert_eq!(db.database.migration_status(None).await.unwrap().len(), 2);
    assert!(db.database.migration_status(Some("kb")).await.unwrap().is_empty());
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_number_that_is_the_key_holds_all_64_bits_once(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::new(engine).await;
    let table = "CREATE TABLE forum_x (id BIGINT NOT NULL PRIMARY KEY, body TEXT)";
    db.migrate("forum", &[migration(1, table)]).await.unwrap();
    let insert = |id| statement("INSERT INTO forum_x (id, body) VALUES ($1, 'b')", [Value::Int(id)]);
    let ids = [i64::MIN, -1, 0, 1, i64::MAX];
    db.write(ids.map(insert).to_vec()).await.unwrap();
    db.write(vec![insert(i64::MAX)]).await.unwrap_err();
    let rows = db.rows("SELECT id FROM forum_x ORDER BY id").await;
    assert_eq!(rows, ids.map(|id| [Value::Int(id)]));
    if engine == Engine::Sqlite {
        let made = db.rows("SELECT type FROM sqlite_master WHERE tbl_name = 'forum_x'").await;
        assert_eq!(made, [[text("table")]], "no index stands between the key and the row");
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_failing_migration_leaves_everything_as_it_was(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::new(engine).await;
    let broken = [
        migration(1, NOTES),
        migration(2, "CREATE TABLE forum_more (id BIGINT); INSERT INTO forum_missing (id) VALUES (1)"),
    ];
    // Twice: nothing of the first attempt stands in the way, no lock stays behind.
    for _ in 0..2 {
        let error = db.migrate("forum", &broken).await.unwrap_err().to_string();
        assert!(error.starts_with("forum migration 2 (step_2) failed: "), "{error}");
        assert!(error.contains("forum_missing"), "{error}");
        assert!(tables(&db).await.is_empty());
        assert!(db.database.migration_status(None).await.unwrap().is_empty());
    }
    let mended = [migration(1, NOTES), migration(2, "CREATE TABLE forum_more (id BIGINT)")];
    assert_eq!(db.migrate("forum", &mended).await.unwrap().applied, [1, 2]);
}

const DUPLICATES: &str = "CREATE TABLE forum_notes (id BIGINT, body TEXT);
    INSERT INTO forum_notes VALUES (1, 'the same'), (2, 'the same')";

/// Message, place, constraint and code, as the database has them, behind number and name of the migration.
#[rstest]
#[case::table(
    "CREATE TABLE forum_more (id BIGINT);\n    INSERT INTO forum_missing (id) VALUES (1)",
    "no such table: forum_missing (line 2, column 5: INSERT INTO forum_missing (id) VALUES (1); code 1)",
    "relation \"forum_missing\" does not exist (line 2, column 17: forum_missing (id) VALUES (1); code 42P01)"
)]
#[case::column(
    "UPDATE forum_notes SET nope = 1",
    "no such column: nope (line 1, column 1: UPDATE forum_notes SET nope = 1; code 1)",
    "column \"nope\" of relation \"forum_notes\" does not exist (line 1, column 24: nope = 1; code 42703)"
)]
#[case::constraint(
    "CREATE UNIQUE INDEX forum_u ON forum_notes (body)",
    "UNIQUE constraint failed: forum_notes.body (line 1, column 1: CREATE UNIQUE INDEX forum_u ON forum_notes (body); code 2067)",
    "could not create unique index \"forum_u\" (table forum_notes; code 23505)"
)]
#[case::value(
    "CREATE TABLE forum_more (id BIGINT CHECK (id <> 'x')); INSERT INTO forum_more SELECT body FROM forum_notes",
    "",
    "invalid input syntax for type bigint: \"x\" (line 1, column 49: 'x')); INSERT INTO forum_more SELECT body FROM forum_notes; code 22P02)"
)]
#[tokio::test(flavor = "multi_thread")]
async fn a_failing_migration_is_told_in_the_databases_words(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
    #[case] sql: &str,
    #[case] sqlite: &str,
    #[case] postgres: &str,
) {
    let words = if engine == Engine::Sqlite { sqlite } else { postgres };
    if words.is_empty() {
        return;
    }
    let db = TestDatabase::new(engine).await;
    let error = db.migrate("forum", &[migration(1, DUPLICATES), migration(2, sql)]).await.unwrap_err();
    assert_eq!(error, StorageError::Migration(format!("forum migration 2 (step_2) failed: {words}")));
}

#[rstest]
#[case::changed(&[(1, "CREATE TABLE forum_other (id BIGINT)")],
    "forum migration 1 (step_1) was changed after it was applied: add a new migration instead")]
#[case::older_build(&[],
    "the database is newer than this build of forum: forum migration 1 (step_1) was applied by a later one")]
#[case::gap(&[(1, NOTES), (3, "SELECT 1")],
    "forum's migrations are numbered 1, 2, 3, …: 2 is missing or 3 is there twice")]
#[case::twice(&[(1, NOTES), (1, NOTES)],
    "forum's migrations are numbered 1, 2, 3, …: 2 is missing or 1 is there twice")]
#[tokio::test(flavor = "multi_thread")]
async fn a_history_that_does_not_fit_is_refused(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
    #[case] list: &[(u32, &str)],
    #[case] expected: &str,
) {
    let db = TestDatabase::new(engine).await;
    db.migrate("forum", &[migration(1, NOTES)]).await.unwrap();
    let list: Vec<_> = list.iter().map(|(version, sql)| migration(*version, sql)).collect();
    let error = db.migrate("forum", &list).await.unwrap_err();
    assert_eq!(error, StorageError::Migration(expected.into()));
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_migrate_at_once(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::new(engine).await;
    let list = [migration(1, NOTES), migration(2, VOTES)];
    let mut gateways = Vec::new();
    for _ in 0..4 {
        gateways.push(Database::open(db.settings.clone()).await.unwrap());
    }
    let scope = plugin_scope("forum");
    let views = ["jobs_v1".to_owned()];
    let schema = MigrationSet { scope: &scope, views: &views, migrations: &list };
    let migrate = |number: usize| gateways[number].migrate(&schema);
    let reports = tokio::join!(migrate(0), migrate(1), migrate(2), migrate(3));
    let applied: usize =
        [reports.0, reports.1, reports.2, reports.3].into_iter().map(|report| report.unwrap().applied.len()).sum();
    assert_eq!(applied, 2);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn the_override_is_for_postgres_only(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::new(engine).await;
    let mut spec = migration(1, "CREATE TABLE forum_lite (id BIGINT)");
    spec.postgres = Some("CREATE TABLE forum_server (id BIGINT)".into());
    db.migrate("forum", &[spec]).await.unwrap();
    let table = match engine {
        Engine::Sqlite => "forum_lite",
        Engine::Postgres => "forum_server",
    };
    assert_eq!(tables(&db).await, [format!("{:?}", text(table))]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn the_gateways_own_migrations_have_no_prefix(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::new(engine).await;
    let list = [migration(1, "CREATE TABLE activity (id {{id}}, body TEXT)")];
    let schema = MigrationSet { scope: &Scope::Host, views: &[], migrations: &list };
    assert_eq!(db.database.migrate(&schema).await.unwrap().applied, [1]);
    assert_eq!(db.database.migration_status(Some("host")).await.unwrap().len(), 1);
}

#[rstest]
#[case::table("CREATE TABLE agents_x (id BIGINT)")]
#[case::no_prefix("CREATE TABLE notes (id BIGINT)")]
#[case::schema("CREATE TABLE public.forum_x (id BIGINT)")]
#[case::temporary("CREATE TEMPORARY TABLE forum_x (id BIGINT)")]
#[case::index_name("CREATE INDEX notes_body ON forum_notes (body)")]
#[case::index_on_other("CREATE INDEX forum_x ON agents_cards (id)")]
#[case::view("CREATE VIEW agents_v2 AS SELECT 1 AS id")]
#[case::view_of_other("CREATE VIEW forum_v1 AS SELECT * FROM agents_cards")]
#[case::reference("CREATE TABLE forum_x (id BIGINT REFERENCES agents_cards (id))")]
#[case::foreign_key("CREATE TABLE forum_x (id BIGINT, FOREIGN KEY (id) REFERENCES agents_cards (id))")]
#[case::added_reference("ALTER TABLE forum_notes ADD COLUMN agent BIGINT REFERENCES agents_cards (id)")]
#[case::deferred("CREATE TABLE forum_x (id BIGINT REFERENCES forum_notes (id) DEFERRABLE INITIALLY DEFERRED)")]
#[case::alter("ALTER TABLE agents_cards ADD COLUMN x BIGINT")]
#[case::rename("ALTER TABLE forum_notes RENAME TO agents_notes")]
#[case::drop("DROP TABLE agents_cards")]
#[case::drop_several("DROP TABLE forum_notes, agents_cards")]
#[case::drop_cascade("DROP TABLE forum_notes CASCADE")]
#[case::insert("INSERT INTO agents_cards (id) VALUES (1)")]
#[case::insert_from("INSERT INTO forum_notes (body) SELECT body FROM agents_cards")]
#[case::create_as("CREATE TABLE forum_x AS SELECT * FROM agents_cards")]
#[case::function("CREATE FUNCTION forum_f() RETURNS BIGINT LANGUAGE sql AS 'SELECT 1'")]
#[case::trigger("CREATE TRIGGER forum_t AFTER INSERT ON forum_notes BEGIN DELETE FROM agents_cards; END")]
#[case::default_function("CREATE TABLE forum_x (id BIGINT DEFAULT pg_backend_pid())")]
#[case::commit("CREATE TABLE forum_x (id BIGINT); COMMIT")]
#[case::begin("BEGIN")]
#[case::savepoint("SAVEPOINT x")]
#[case::pragma("PRAGMA foreign_keys = OFF")]
#[case::attach("ATTACH 'x.db' AS x")]
#[case::vacuum("VACUUM")]
#[case::set("SET search_path = x")]
#[case::grant("GRANT ALL ON forum_notes TO public")]
#[case::extension("CREATE EXTENSION dblink")]
#[case::concurrently("CREATE INDEX CONCURRENTLY forum_x ON forum_notes (body)")]
#[case::virtual_name("CREATE VIRTUAL TABLE agents_search USING fts5(body)")]
#[case::virtual_module("CREATE VIRTUAL TABLE forum_x USING fts5vocab(agents_search, 'row')")]
#[case::virtual_content("CREATE VIRTUAL TABLE forum_x USING fts5(body, content = 'agents_cards')")]
#[case::virtual_content_short("CREATE VIRTUAL TABLE forum_x USING fts5(body, \"cont\" = agents_cards)")]
#[case::placeholder("INSERT INTO forum_notes (body) VALUES ($1)")]
#[case::conflict_rollback("CREATE TABLE forum_x (id BIGINT UNIQUE ON CONFLICT ROLLBACK)")]
#[case::unknown("CREATE TABEL forum_x (id BIGINT)")]
#[tokio::test(flavor = "multi_thread")]
async fn a_migration_stays_inside_its_plugin(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
    #[case] sql: &str,
) {
    let db = TestDatabase::new(engine).await;
    db.write(vec![
        statement("CREATE TABLE agents_cards (id BIGINT PRIMARY KEY, body TEXT)", []),
        statement("CREATE TABLE forum_notes (id BIGINT PRIMARY KEY, body TEXT)", []),
    ])
    .await
    .unwrap();
    let error = db.migrate("forum", &[migration(1, sql)]).await.unwrap_err();
    let StorageError::Migration(text) = &error else {
        panic!("{error:?}");
    };
    // Refused by the check, before the database saw it.
    assert!(text.starts_with("forum migration 1 (step_1): "), "{text}");
}

#[rstest]
#[case::strict("CREATE TABLE forum_x (id INTEGER PRIMARY KEY, body TEXT) STRICT")]
#[case::without_rowid("CREATE TABLE forum_x (id TEXT PRIMARY KEY, n INT) STRICT, WITHOUT ROWID")]
#[case::without_rowid_alone("CREATE TABLE forum_x (id TEXT PRIMARY KEY) WITHOUT ROWID;")]
#[case::generated(
    "CREATE TABLE forum_x (a BIGINT, b BIGINT GENERATED ALWAYS AS (a * 2) VIRTUAL, c TEXT AS (lower(d)), d TEXT)"
)]
#[case::collate(
    "CREATE TABLE forum_x (a TEXT COLLATE NOCASE, b TEXT DEFAULT '', CHECK (length(a) < 10), UNIQUE (a, b))"
)]
#[case::expression_index(
    "CREATE TABLE forum_x (a TEXT); CREATE INDEX forum_i ON forum_x (lower(a) DESC) WHERE a IS NOT NULL"
)]
#[case::fts(
    "CREATE VIRTUAL TABLE IF NOT EXISTS forum_x USING fts5(a, b UNINDEXED, tokenize = \"unicode61 remove_diacritics 2\", prefix='2 3')"
)]
#[case::contentless("CREATE VIRTUAL TABLE forum_x USING fts5(a, content='', contentless_delete=1)")]
#[case::references("CREATE TABLE forum_x (id {{id}}, up BIGINT REFERENCES forum_x (id) ON DELETE CASCADE)")]
#[case::create_as("CREATE TABLE forum_x AS SELECT 1 AS id; DROP TABLE forum_x")]
#[tokio::test(flavor = "multi_thread")]
async fn what_sqlite_offers_can_be_used(#[case] sql: &str) {
    let db = TestDatabase::new(Engine::Sqlite).await;
    db.migrate("forum", &[migration(1, sql)]).await.unwrap();
}

#[rstest]
#[case::generated("CREATE TABLE forum_x (a BIGINT, b BIGINT GENERATED ALWAYS AS (a * 2) STORED)")]
#[case::gin("CREATE TABLE forum_x (a TEXT); CREATE INDEX forum_i ON forum_x USING gin (to_tsvector('simple', a))")]
#[case::partial("CREATE TABLE forum_x (a TEXT); CREATE UNIQUE INDEX forum_i ON forum_x (a) WHERE a <> ''")]
#[case::jsonb("CREATE TABLE forum_x (a JSONB NOT NULL DEFAULT '{}', b NUMERIC(78, 0), c TEXT COLLATE \"C\")")]
#[case::references("CREATE TABLE forum_x (id {{id}}, up BIGINT REFERENCES forum_x (id) ON DELETE CASCADE)")]
#[case::alter(
    "CREATE TABLE forum_x (a TEXT); ALTER TABLE forum_x ALTER COLUMN a SET NOT NULL; ALTER TABLE forum_x ADD CONSTRAINT forum_c CHECK (a <> ''); ALTER TABLE forum_x RENAME COLUMN a TO b; DROP TABLE forum_x"
)]
#[tokio::test(flavor = "multi_thread")]
async fn what_postgres_offers_can_be_used(#[case] sql: &str) {
    let db = TestDatabase::new(Engine::Postgres).await;
    db.migrate("forum", &[migration(1, sql)]).await.unwrap();
}
