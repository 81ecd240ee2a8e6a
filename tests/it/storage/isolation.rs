//! Which statements a plugin may send. The tables of others exist and have rows: what is wrongly let through succeeds.

use super::*;
use rstest::rstest;

async fn database_with_rows(engine: Engine) -> TestDatabase {
    let db = TestDatabase::with_notes(engine).await;
    db.write(vec![
        statement("CREATE TABLE agents_cards (id BIGINT, body TEXT)", []),
        statement("INSERT INTO agents_cards (id, body) VALUES (1, 'secret')", []),
        statement("CREATE VIEW agents_v1 AS SELECT id FROM agents_cards", []),
        statement("CREATE TABLE plain (id BIGINT)", []),
        note(1, "one"),
        note(2, "two"),
    ])
    .await
    .unwrap();
    db
}

/// Runs it as the plugin `forum`; a rollback keeps the cases apart.
async fn run(db: &TestDatabase, sql: &str) -> Result<Vec<StatementResult>, StorageError> {
    let transaction = db.forum();
    let answer = transaction.run(vec![statement(sql, [])]).await;
    transaction.rollback().await;
    answer
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_uses_its_own_tables_and_published_views(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = database_with_rows(engine).await;
    for sql in [
        "SELECT id, body FROM forum_notes WHERE id = 1 -- a comment",
        "SELECT n.id FROM FORUM_NOTES n JOIN agents_v1 a ON a.id = n.id;",
        "SELECT \"id\" FROM \"forum_notes\" /* another */",
        "WITH top AS (SELECT id FROM forum_notes) SELECT count(*) FROM top",
        "WITH a AS (SELECT 1 AS id), b AS (SELECT id FROM a) SELECT * FROM b UNION SELECT * FROM a",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) FROM n",
        "SELECT (SELECT max(id) FROM agents_v1), exists (SELECT 1 FROM forum_notes)",
        "INSERT INTO forum_notes (id, body) SELECT id + 10, body FROM forum_notes",
        "INSERT INTO forum_notes (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
        "UPDATE forum_notes SET body = 'x' FROM agents_v1 a WHERE a.id = forum_notes.id RETURNING forum_notes.id",
        "DELETE FROM forum_notes WHERE id IN (SELECT id FROM agents_v1)",
        "SELECT coalesce(lower(body), ''), row_number() OVER (PARTITION BY body ORDER BY id) FROM forum_notes",
        "SELECT count(*) FILTER (WHERE id > 1) FROM forum_notes GROUP BY body HAVING count(*) > 0",
        "SELECT cast(id AS TEXT), CASE WHEN id > 1 THEN 'a' ELSE 'b' END FROM forum_notes ORDER BY 1 LIMIT 2 OFFSET 0",
        "SELECT id FROM forum_notes WHERE (id, body) > (0, '') AND body LIKE '%;--''/*%' ESCAPE '!'",
        "VALUES (1, 'a'), (2, 'b')",
    ] {
        let answer = run(&db, sql).await;
        assert!(answer.is_ok(), "{sql}: {answer:?}");
    }
}

const OTHERS_TABLE: &str = "forum reads only its own tables (forum_…) and published views, not agents_cards";
const OTHER_VERB: &str = "only SELECT, INSERT, UPDATE and DELETE are allowed";
const CONTROL: &str = "statements that control transactions, files or the server are not allowed";
/// The parser's own message follows.
const NOT_UNDERSTOOD: &str = "not understood: ";

/// Statements and how the gateway's own check refuses them. A database would run most of these, and refuse the others in words of its
/// own, so that a test for any error would pass without the check.
const REFUSED: &[(&str, &str)] = &[
    ("SELECT * FROM agents_cards", OTHERS_TABLE),
    ("SELECT * FROM forum_notes n, agents_cards c", OTHERS_TABLE),
    ("SELECT * FROM \"agents_cards\"", OTHERS_TABLE),
    ("SELECT * FROM AGENTS_CARDS", OTHERS_TABLE),
    ("SELECT * FROM \"Forum_notes\"", "\"Forum_notes\": names of tables and functions are a-z, 0-9 and _"),
    ("SELECT * FROM plain", "forum reads only its own tables (forum_…) and published views, not plain"),
    ("SELECT id FROM forum_notes WHERE id IN (SELECT id FROM agents_cards)", OTHERS_TABLE),
    ("SELECT id FROM forum_notes WHERE id IN agents_cards", NOT_UNDERSTOOD),
    ("SELECT (SELECT body FROM agents_cards)", OTHERS_TABLE),
    ("SELECT 1 WHERE EXISTS (SELECT 1 FROM agents_cards)", OTHERS_TABLE),
    ("SELECT body FROM forum_notes UNION ALL SELECT body FROM agents_cards", OTHERS_TABLE),
    ("SELECT id FROM forum_notes ORDER BY (SELECT max(id) FROM agents_cards)", OTHERS_TABLE),
    ("SELECT id FROM forum_notes LIMIT (SELECT max(id) FROM agents_cards)", OTHERS_TABLE),
    ("SELECT count(*) FROM forum_notes HAVING count(*) > (SELECT count(*) FROM agents_cards)", OTHERS_TABLE),
    ("SELECT sum((SELECT max(id) FROM agents_cards)) OVER () FROM forum_notes", OTHERS_TABLE),
    ("INSERT INTO forum_notes (body) SELECT body FROM agents_cards", OTHERS_TABLE),
    ("UPDATE forum_notes SET body = c.body FROM agents_cards c", OTHERS_TABLE),
    ("UPDATE forum_notes SET body = (SELECT body FROM agents_cards)", OTHERS_TABLE),
    (
        "INSERT INTO forum_notes (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET body = (SELECT body FROM agents_cards)",
        OTHERS_TABLE,
    ),
    ("DELETE FROM forum_notes RETURNING (SELECT body FROM agents_cards)", OTHERS_TABLE),
    ("WITH x AS (SELECT * FROM agents_cards) SELECT * FROM x", OTHERS_TABLE),
    ("WITH agents_cards AS (SELECT * FROM agents_cards) SELECT * FROM agents_cards", OTHERS_TABLE),
    ("SELECT * FROM (WITH agents_cards AS (SELECT 1) SELECT 1) x, agents_cards", OTHERS_TABLE),
    (
        "WITH agents_cards AS (SELECT 1) DELETE FROM agents_cards",
        "forum writes only its own tables (forum_…), not agents_cards",
    ),
    (
        "WITH agents_cards AS (SELECT 1) UPDATE agents_cards SET id = 2",
        "forum writes only its own tables (forum_…), not agents_cards",
    ),
    ("INSERT INTO agents_cards (id) VALUES (2)", "forum writes only its own tables (forum_…), not agents_cards"),
    ("DELETE FROM agents_v1", "forum writes only its own tables (forum_…), not agents_v1"),
    ("SELECT * FROM (forum_notes JOIN agents_cards ON true)", OTHERS_TABLE),
    ("SELECT * FROM 'agents_cards'", OTHERS_TABLE),
    ("SELECT * FROM forum_notes, (agents_cards)", NOT_UNDERSTOOD),
    ("SELECT * FROM ONLY agents_cards", "forum reads only its own tables (forum_…) and published views, not only"),
    ("SELECT * FROM (SELECT * FROM agents_cards) x", OTHERS_TABLE),
    ("SELECT * FROM main.forum_notes", "main.forum_notes: names are not qualified with a schema here"),
    ("SELECT * FROM public.forum_notes", "public.forum_notes: names are not qualified with a schema here"),
    ("SELECT * FROM sqlite_master", "forum reads only its own tables (forum_…) and published views, not sqlite_master"),
    ("SELECT * FROM pg_class", "forum reads only its own tables (forum_…) and published views, not pg_class"),
    ("SELECT * FROM _migrations", "forum reads only its own tables (forum_…) and published views, not _migrations"),
    (
        "SELECT * FROM pragma_table_info('agents_cards')",
        "forum reads only its own tables (forum_…) and published views, not pragma_table_info",
    ),
    ("TABLE agents_cards", NOT_UNDERSTOOD),
    ("SELECT id, body FROM forum_notes UNION TABLE agents_cards", "TABLE and MERGE are not allowed"),
    ("SELECT * INTO forum_copy FROM forum_notes", "SELECT INTO is not allowed"),
    ("SELECT 1; DELETE FROM agents_cards", "one statement at a time: ; is not allowed inside"),
    ("SELECT 1;;", "one statement at a time: ; is not allowed inside"),
    ("", "the statement is empty"),
    ("-- nothing", "the statement is empty"),
    ("SELECT ?", "placeholders are $1, $2, …; ? is not allowed"),
    ("SELECT :name", "the character ':' is not allowed here"),
    ("SELECT @name", "the character '@' is not allowed here"),
    ("PRAGMA writable_schema = 1", OTHER_VERB),
    ("CREATE TABLE forum_more (id BIGINT)", OTHER_VERB),
    ("DROP TABLE forum_notes", OTHER_VERB),
    ("ATTACH 'x.db' AS x", CONTROL),
    ("COMMIT", CONTROL),
    ("SET statement_timeout = 0", OTHER_VERB),
    ("COPY forum_notes TO '/tmp/x'", CONTROL),
    ("EXPLAIN SELECT * FROM agents_cards", OTHER_VERB),
    ("DO 'BEGIN END'", NOT_UNDERSTOOD),
    ("CALL something()", OTHER_VERB),
    (
        "INSERT OR ROLLBACK INTO forum_notes (id) VALUES (1)",
        "conflict clause ROLLBACK is not allowed: use ABORT or IGNORE",
    ),
    ("SELECT pg_sleep(1)", "the function pg_sleep is not allowed"),
    ("SELECT pg_catalog.lower('A')", "the function pg_catalog.lower is not allowed"),
    ("SELECT \"pg_sleep\"(1)", "the function \"pg_sleep\" is not allowed"),
    (
        "SELECT ts_rewrite(to_tsquery('a'), 'SELECT body, body FROM agents_cards')",
        "the function ts_rewrite is not allowed",
    ),
    ("SELECT query_to_xml('SELECT * FROM agents_cards', true, true, '')", "the function query_to_xml is not allowed"),
    ("SELECT load_extension('x')", "the function load_extension is not allowed"),
    ("SELECT * FROM pg_ls_dir('.')", "forum reads only its own tables (forum_…) and published views, not pg_ls_dir"),
    ("SELECT set_config('statement_timeout', '0', false)", "the function set_config is not allowed"),
    ("SELECT 1 /* /* */ , (SELECT body FROM agents_cards) -- */", "comments inside comments are not allowed"),
    ("SELECT $$ x $$", "placeholders are $1, $2, …"),
    ("SELECT E'\\' , (SELECT body FROM agents_cards) --'", "texts with a prefix (E'…', U&'…', …) are not allowed"),
    ("SELECT U&'\\0041'", "texts with a prefix (E'…', U&'…', …) are not allowed"),
    ("SELECT `id` FROM `agents_cards`", "the character '`' is not allowed here"),
    ("SELECT 1 AS ä", "the character 'ä' is not allowed here"),
    ("SELECT id FROM forum_notes WHERE body MATCH", NOT_UNDERSTOOD),
    ("SELEC 1", NOT_UNDERSTOOD),
];

/// Statements that the check reads in the dialect of the database, with the reasons on SQLite and on PostgreSQL.
const REFUSED_BY_DIALECT: &[(&str, &str, &str)] = &[
    ("NOTIFY channel", NOT_UNDERSTOOD, OTHER_VERB),
    ("SELECT [id] FROM [agents_cards]", "the character '[' is not allowed here", NOT_UNDERSTOOD),
];

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn everything_else_is_refused_by_the_gateway_itself(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = database_with_rows(engine).await;
    let of_dialect = REFUSED_BY_DIALECT
        .iter()
        .map(|(sql, sqlite, postgres)| (*sql, if engine == Engine::Sqlite { *sqlite } else { *postgres }));
    let mut wrong = Vec::new();
    for (sql, reason) in REFUSED.iter().copied().chain(of_dialect) {
        let is_meant = |error: Option<&StorageError>| matches!(error, Some(StorageError::Statement(text)) if text.starts_with(reason) && !text.contains('\n'));
        // Twice: the second answer comes from the cache of checked statements.
        for _ in 0..2 {
            let answer = run(&db, sql).await;
            if !is_meant(answer.as_ref().err()) {
                wrong.push(format!("{sql}: {answer:?}"));
            }
        }
        let read = db.database.read(&plugin_scope("forum"), statement(sql, [])).await;
        if !is_meant(read.as_ref().err()) {
            wrong.push(format!("{sql}, outside a transaction: {read:?}"));
        }
    }
    assert!(wrong.is_empty(), "not refused, or for another reason:\n  {}", wrong.join("\n  "));
}

#[rstest]
#[case::missing("SELECT $1", vec![])]
#[case::too_many("SELECT 1", vec![Value::Int(1)])]
#[case::hole("SELECT $1, $3", vec![Value::Int(1), Value::Int(2)])]
#[case::hole_with_all("SELECT $1, $3", vec![Value::Int(1), Value::Int(2), Value::Int(3)])]
#[case::zero("SELECT $0", vec![Value::Int(1)])]
#[case::leading_zero("SELECT $01", vec![Value::Int(1)])]
#[case::huge("SELECT $99999999999", vec![Value::Int(1)])]
#[case::nul("SELECT cast($1 AS TEXT)", vec![text("a\0b")])]
#[case::not_a_number("SELECT cast($1 AS DOUBLE PRECISION)", vec![Value::Real(f64::NAN)])]
#[tokio::test(flavor = "multi_thread")]
async fn parameters_fit_the_placeholders(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
    #[case] sql: &str,
    #[case] params: Vec<Value>,
) {
    let db = TestDatabase::new(engine).await;
    for scope in [Scope::Host, plugin_scope("forum")] {
        let answer = db.database.read(&scope, statement(sql, params.clone())).await;
        assert!(matches!(answer, Err(StorageError::Statement(_))), "{sql}: {answer:?}");
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn placeholders_are_reused_and_in_any_order(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::new(engine).await;
    let sql = "SELECT cast($3 AS TEXT), cast($1 AS BIGINT), cast($2 AS TEXT), cast($3 AS TEXT), '$4 ?'";
    let params = [Value::Int(1), text("two"), text("three")];
    let rows = db.database.read(&plugin_scope("forum"), statement(sql, params)).await.unwrap();
    let expected = [text("three"), Value::Int(1), text("two"), text("three"), text("$4 ?")];
    assert_eq!(values(&rows), [expected]);
}

/// Deep or long texts end as an error, never as an overflow of the stack.
#[rstest]
#[case::chain(|| format!("SELECT 1{}", " OR 1".repeat(50_000)))]
#[case::parentheses(|| format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000)))]
#[case::nots(|| format!("SELECT {} true", "NOT ".repeat(900)))]
#[case::subqueries(|| format!("{}1{}", "SELECT * FROM (".repeat(2_000), ")".repeat(2_000)))]
#[case::unions(|| format!("SELECT 1{}", " UNION SELECT 1".repeat(5_000)))]
#[case::long(|| format!("SELECT '{}'", "x".repeat(300_000)))]
#[tokio::test(flavor = "multi_thread")]
async fn excess_is_refused(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine, #[case] make: fn() -> String) {
    let db = TestDatabase::new(engine).await;
    let answer = db.database.read(&plugin_scope("forum"), statement(&make(), [])).await;
    assert!(matches!(answer, Err(StorageError::Statement(_))), "{answer:?}");
}

#[rstest]
#[case("host")]
#[case("sqlite")]
#[case("pg")]
#[tokio::test(flavor = "multi_thread")]
async fn a_reserved_name_owns_nothing(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine, #[case] name: &str) {
    let db = TestDatabase::new(engine).await;
    for table in ["host_keys", "sqlite_master", "pg_class"] {
        let sql = format!("SELECT * FROM {table}");
        let answer = db.database.read(&plugin_scope(name), statement(&sql, [])).await;
        assert!(matches!(answer, Err(StorageError::Statement(_))), "{answer:?}");
    }
    let answer = db.migrate(name, &[]).await;
    assert!(matches!(answer, Err(StorageError::Migration(_))), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn full_text_search_works_on_sqlite() {
    let db = TestDatabase::new(Engine::Sqlite).await;
    let sql = "CREATE TABLE forum_posts (id {{id}}, body TEXT NOT NULL);
        CREATE VIRTUAL TABLE forum_search USING fts5(body, content='forum_posts', content_rowid='id', tokenize = 'porter')";
    db.migrate("forum", &[migration(1, sql)]).await.unwrap();
    let transaction = db.forum();
    transaction
        .run(vec![
            statement("INSERT INTO forum_posts (id, body) VALUES (1, 'running jobs')", []),
            statement("INSERT INTO forum_search (rowid, body) VALUES ($1, $2)", [Value::Int(1), text("running jobs")]),
        ])
        .await
        .unwrap();
    transaction.commit(vec![]).await.unwrap();
    let sql = "SELECT p.id, snippet(forum_search, 0, '<', '>', '…', 8) FROM forum_search
        JOIN forum_posts p ON p.id = forum_search.rowid
        WHERE forum_search MATCH $1 AND p.id > $2 ORDER BY bm25(forum_search)";
    let scope = plugin_scope("forum");
    let read = |search: &'static str| db.database.read(&scope, statement(sql, [text(search), Value::Int(0)]));
    assert_eq!(values(&read("run*").await.unwrap()), [[Value::Int(1), text("<running> jobs")]]);
    let error = read("\"unclosed").await.unwrap_err();
    assert_eq!(error, StorageError::Statement("the search expression is not valid".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn full_text_search_works_on_postgres() {
    let db = TestDatabase::new(Engine::Postgres).await;
    let sql = "CREATE TABLE forum_posts (id {{id}}, body TEXT NOT NULL,
            words TSVECTOR GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
        CREATE INDEX forum_posts_words ON forum_posts USING gin (words)";
    db.migrate("forum", &[migration(1, sql)]).await.unwrap();
    db.write(vec![statement("INSERT INTO forum_posts (body) VALUES ('running jobs')", [])]).await.unwrap();
    let sql = "SELECT id, ts_headline('english', body, q, 'StartSel=<, StopSel=>') FROM forum_posts,
            websearch_to_tsquery('english', $1) q
        WHERE words @@ q AND words @@ to_tsquery('english', 'run:*') ORDER BY ts_rank(words, q) DESC";
    let answer = db.database.read(&plugin_scope("forum"), statement(sql, [text("run")])).await;
    // A function in FROM is a table function: only those of the list.
    assert!(matches!(answer, Err(StorageError::Statement(_))), "{answer:?}");
    let sql = "SELECT id, ts_headline('english', body, websearch_to_tsquery('english', $1), 'StartSel=<, StopSel=>')
        FROM forum_posts WHERE words @@ websearch_to_tsquery('english', $1) AND words @@ to_tsquery('english', 'run:*')
        ORDER BY ts_rank(words, websearch_to_tsquery('english', $1)) DESC";
    let rows = db.database.read(&plugin_scope("forum"), statement(sql, [text("run")])).await.unwrap();
    assert_eq!(values(&rows), [[Value::Int(1), text("<running> jobs")]]);
}
