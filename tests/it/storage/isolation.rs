//! Which statements a plugin may send. The tables of others exist and have rows: what is wrongly let through succeeds.

use super::*;
use rstest::rstest;

async fn house(engine: Engine) -> House {
    let house = House::with_notes(engine).await;
    house
        .write(vec![
            statement("CREATE TABLE agents_cards (id BIGINT, body TEXT)", []),
            statement("INSERT INTO agents_cards (id, body) VALUES (1, 'secret')", []),
            statement("CREATE VIEW agents_v1 AS SELECT id FROM agents_cards", []),
            statement("CREATE TABLE plain (id BIGINT)", []),
            note(1, "one"),
            note(2, "two"),
        ])
        .await
        .unwrap();
    house
}

/// Runs it as the plugin `forum`; a rollback keeps the cases apart.
async fn run(house: &House, sql: &str) -> Result<Vec<Outcome>, StorageError> {
    let transaction = house.forum();
    let answer = transaction.run(vec![statement(sql, [])]).await;
    transaction.rollback().await;
    answer
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_uses_its_own_tables_and_published_views(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let house = house(engine).await;
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
        let answer = run(&house, sql).await;
        assert!(answer.is_ok(), "{sql}: {answer:?}");
    }
}

#[rstest]
#[case::other_table("SELECT * FROM agents_cards")]
#[case::join("SELECT * FROM forum_notes n, agents_cards c")]
#[case::quoted("SELECT * FROM \"agents_cards\"")]
#[case::upper_case("SELECT * FROM AGENTS_CARDS")]
#[case::quoted_upper_case("SELECT * FROM \"Forum_notes\"")]
#[case::no_prefix("SELECT * FROM plain")]
#[case::in_subquery("SELECT id FROM forum_notes WHERE id IN (SELECT id FROM agents_cards)")]
#[case::in_table("SELECT id FROM forum_notes WHERE id IN agents_cards")]
#[case::scalar_subquery("SELECT (SELECT body FROM agents_cards)")]
#[case::exists("SELECT 1 WHERE EXISTS (SELECT 1 FROM agents_cards)")]
#[case::union("SELECT body FROM forum_notes UNION ALL SELECT body FROM agents_cards")]
#[case::order_by("SELECT id FROM forum_notes ORDER BY (SELECT max(id) FROM agents_cards)")]
#[case::limit("SELECT id FROM forum_notes LIMIT (SELECT max(id) FROM agents_cards)")]
#[case::having("SELECT count(*) FROM forum_notes HAVING count(*) > (SELECT count(*) FROM agents_cards)")]
#[case::window("SELECT sum((SELECT max(id) FROM agents_cards)) OVER () FROM forum_notes")]
#[case::insert_select("INSERT INTO forum_notes (body) SELECT body FROM agents_cards")]
#[case::update_from("UPDATE forum_notes SET body = c.body FROM agents_cards c")]
#[case::update_set("UPDATE forum_notes SET body = (SELECT body FROM agents_cards)")]
#[case::upsert(
    "INSERT INTO forum_notes (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET body = (SELECT body FROM agents_cards)"
)]
#[case::returning("DELETE FROM forum_notes RETURNING (SELECT body FROM agents_cards)")]
#[case::cte_body("WITH x AS (SELECT * FROM agents_cards) SELECT * FROM x")]
#[case::cte_of_own_name("WITH agents_cards AS (SELECT * FROM agents_cards) SELECT * FROM agents_cards")]
#[case::cte_out_of_reach("SELECT * FROM (WITH agents_cards AS (SELECT 1) SELECT 1) x, agents_cards")]
#[case::cte_as_target("WITH agents_cards AS (SELECT 1) DELETE FROM agents_cards")]
#[case::cte_as_update_target("WITH agents_cards AS (SELECT 1) UPDATE agents_cards SET id = 2")]
#[case::insert("INSERT INTO agents_cards (id) VALUES (2)")]
#[case::write_to_view("DELETE FROM agents_v1")]
#[case::nested_join("SELECT * FROM (forum_notes JOIN agents_cards ON true)")]
#[case::text_as_name("SELECT * FROM 'agents_cards'")]
#[case::parenthesised("SELECT * FROM forum_notes, (agents_cards)")]
#[case::only("SELECT * FROM ONLY agents_cards")]
#[case::derived("SELECT * FROM (SELECT * FROM agents_cards) x")]
#[case::schema_sqlite("SELECT * FROM main.forum_notes")]
#[case::schema_postgres("SELECT * FROM public.forum_notes")]
#[case::catalogue_sqlite("SELECT * FROM sqlite_master")]
#[case::catalogue_postgres("SELECT * FROM pg_class")]
#[case::record("SELECT * FROM _migrations")]
#[case::pragma_function("SELECT * FROM pragma_table_info('agents_cards')")]
#[case::table_command("TABLE agents_cards")]
#[case::table_in_union("SELECT id, body FROM forum_notes UNION TABLE agents_cards")]
#[case::select_into("SELECT * INTO forum_copy FROM forum_notes")]
#[case::two_statements("SELECT 1; DELETE FROM agents_cards")]
#[case::two_semicolons("SELECT 1;;")]
#[case::empty("")]
#[case::only_comment("-- nothing")]
#[case::question_mark("SELECT ?")]
#[case::named_placeholder("SELECT :name")]
#[case::at_placeholder("SELECT @name")]
#[case::pragma("PRAGMA writable_schema = 1")]
#[case::create("CREATE TABLE forum_more (id BIGINT)")]
#[case::drop("DROP TABLE forum_notes")]
#[case::attach("ATTACH 'x.db' AS x")]
#[case::commit("COMMIT")]
#[case::set("SET statement_timeout = 0")]
#[case::copy("COPY forum_notes TO '/tmp/x'")]
#[case::explain("EXPLAIN SELECT * FROM agents_cards")]
#[case::do_block("DO 'BEGIN END'")]
#[case::call("CALL something()")]
#[case::notify("NOTIFY channel")]
#[case::or_rollback("INSERT OR ROLLBACK INTO forum_notes (id) VALUES (1)")]
#[case::function_of_catalogue("SELECT pg_sleep(1)")]
#[case::function_qualified("SELECT pg_catalog.lower('A')")]
#[case::function_quoted("SELECT \"pg_sleep\"(1)")]
#[case::function_runs_sql("SELECT ts_rewrite(to_tsquery('a'), 'SELECT body, body FROM agents_cards')")]
#[case::function_xml("SELECT query_to_xml('SELECT * FROM agents_cards', true, true, '')")]
#[case::function_extension("SELECT load_extension('x')")]
#[case::function_in_from("SELECT * FROM pg_ls_dir('.')")]
#[case::function_setting("SELECT set_config('statement_timeout', '0', false)")]
#[case::nested_comment("SELECT 1 /* /* */ , (SELECT body FROM agents_cards) -- */")]
#[case::dollar_quote("SELECT $$ x $$")]
#[case::escaped_text("SELECT E'\\' , (SELECT body FROM agents_cards) --'")]
#[case::unicode_text("SELECT U&'\\0041'")]
#[case::bracket("SELECT [id] FROM [agents_cards]")]
#[case::backtick("SELECT `id` FROM `agents_cards`")]
#[case::not_ascii("SELECT 1 AS ä")]
#[case::broken_match("SELECT id FROM forum_notes WHERE body MATCH")]
#[case::broken("SELEC 1")]
#[tokio::test(flavor = "multi_thread")]
async fn everything_else_is_refused(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine, #[case] sql: &str) {
    let house = house(engine).await;
    // Twice: the second answer comes from the cache.
    for _ in 0..2 {
        let answer = run(&house, sql).await;
        let Err(StorageError::Statement(reason)) = answer else {
            panic!("{sql}: {answer:?}");
        };
        assert!(!reason.contains('\n') && !reason.is_empty(), "{reason:?}");
    }
    let read = house.database.read(&plugin_scope("forum"), statement(sql, [])).await;
    assert!(matches!(read, Err(StorageError::Statement(_))), "{sql}: {read:?}");
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
    let house = House::new(engine).await;
    for scope in [Scope::Host, plugin_scope("forum")] {
        let answer = house.database.read(&scope, statement(sql, params.clone())).await;
        assert!(matches!(answer, Err(StorageError::Statement(_))), "{sql}: {answer:?}");
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn placeholders_are_reused_and_in_any_order(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let house = House::new(engine).await;
    let sql = "SELECT cast($3 AS TEXT), cast($1 AS BIGINT), cast($2 AS TEXT), cast($3 AS TEXT), '$4 ?'";
    let params = [Value::Int(1), text("two"), text("three")];
    let rows = house.database.read(&plugin_scope("forum"), statement(sql, params)).await.unwrap();
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
    let house = House::new(engine).await;
    let answer = house.database.read(&plugin_scope("forum"), statement(&make(), [])).await;
    assert!(matches!(answer, Err(StorageError::Statement(_))), "{answer:?}");
}

#[rstest]
#[case("host")]
#[case("sqlite")]
#[case("pg")]
#[tokio::test(flavor = "multi_thread")]
async fn a_reserved_name_owns_nothing(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine, #[case] name: &str) {
    let house = House::new(engine).await;
    for table in ["host_keys", "sqlite_master", "pg_class"] {
        let sql = format!("SELECT * FROM {table}");
        let answer = house.database.read(&plugin_scope(name), statement(&sql, [])).await;
        assert!(matches!(answer, Err(StorageError::Statement(_))), "{answer:?}");
    }
    let answer = house.migrate(name, &[]).await;
    assert!(matches!(answer, Err(StorageError::Migration(_))), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn full_text_search_works_on_sqlite() {
    let house = House::new(Engine::Sqlite).await;
    let sql = "CREATE TABLE forum_posts (id {{id}}, body TEXT NOT NULL);
        CREATE VIRTUAL TABLE forum_search USING fts5(body, content='forum_posts', content_rowid='id', tokenize = 'porter')";
    house.migrate("forum", &[migration(1, sql)]).await.unwrap();
    let transaction = house.forum();
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
    let read = |search: &'static str| house.database.read(&scope, statement(sql, [text(search), Value::Int(0)]));
    assert_eq!(values(&read("run*").await.unwrap()), [[Value::Int(1), text("<running> jobs")]]);
    let error = read("\"unclosed").await.unwrap_err();
    assert_eq!(error, StorageError::Statement("the search expression is not valid".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn full_text_search_works_on_postgres() {
    let house = House::new(Engine::Postgres).await;
    let sql = "CREATE TABLE forum_posts (id {{id}}, body TEXT NOT NULL,
            words TSVECTOR GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
        CREATE INDEX forum_posts_words ON forum_posts USING gin (words)";
    house.migrate("forum", &[migration(1, sql)]).await.unwrap();
    house.write(vec![statement("INSERT INTO forum_posts (body) VALUES ('running jobs')", [])]).await.unwrap();
    let sql = "SELECT id, ts_headline('english', body, q, 'StartSel=<, StopSel=>') FROM forum_posts,
            websearch_to_tsquery('english', $1) q
        WHERE words @@ q AND words @@ to_tsquery('english', 'run:*') ORDER BY ts_rank(words, q) DESC";
    let answer = house.database.read(&plugin_scope("forum"), statement(sql, [text("run")])).await;
    // A function in FROM is a table function: only those of the list.
    assert!(matches!(answer, Err(StorageError::Statement(_))), "{answer:?}");
    let sql = "SELECT id, ts_headline('english', body, websearch_to_tsquery('english', $1), 'StartSel=<, StopSel=>')
        FROM forum_posts WHERE words @@ websearch_to_tsquery('english', $1) AND words @@ to_tsquery('english', 'run:*')
        ORDER BY ts_rank(words, websearch_to_tsquery('english', $1)) DESC";
    let rows = house.database.read(&plugin_scope("forum"), statement(sql, [text("run")])).await.unwrap();
    assert_eq!(values(&rows), [[Value::Int(1), text("<running> jobs")]]);
}
