//! Search indexes find the same rows on both databases: those that contain the text, whatever was written since.

use super::*;
use plugin_api::{Search, SearchIndex};
use proptest::{prelude::*, test_runner::TestRunner};
use rstest::rstest;

const TABLE: &str =
    "CREATE TABLE forum_notes (id {{id}}, title TEXT NOT NULL, body TEXT, votes BIGINT NOT NULL DEFAULT 0);
    INSERT INTO forum_notes (title, body) VALUES ('from before', 'the index')";
const INDEX: &str = "{{search_index forum_notes (title, body)}}";
const NOTES: SearchIndex = SearchIndex::new("forum_notes", &["title", "body"]);

impl TestDatabase {
    async fn with_search(engine: Engine) -> Self {
        let db = Self::new(engine).await;
        db.migrate("forum", &[migration(1, TABLE), migration(2, INDEX)]).await.unwrap();
        db
    }

    async fn found(&self, needle: &str) -> Vec<i64> {
        self.found_by(&NOTES, needle).await
    }

    async fn found_by(&self, index: &SearchIndex, needle: &str) -> Vec<i64> {
        let dialect = match self.database.dialect() {
            gateway_storage::Dialect::Sqlite => "sqlite",
            gateway_storage::Dialect::Postgres => "postgres",
        };
        let search = Search::in_dialect(dialect, needle).unwrap();
        let select = index.select("id", &search).push(" ORDER BY id").into();
        let rows = self.database.read(&plugin_scope("forum"), select).await.unwrap();
        values(&rows).iter().map(|row| int(&row[0])).collect()
    }

    async fn change(&self, sql: &str) {
        self.write(vec![statement(sql, [])]).await.unwrap();
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_is_found(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_search(engine).await;
    assert_eq!(db.found("THE INDEX").await, [1], "a row from before the index");
    db.change("INSERT INTO forum_notes (title, body) VALUES ('Wattle', 'golden blossom'), ('x', NULL)").await;
    assert_eq!((db.found("attle").await, db.found("den blos").await), (vec![2], vec![2]));
    db.change("UPDATE forum_notes SET body = 'silver', votes = 1 WHERE id = 2").await;
    db.change("UPDATE forum_notes SET votes = 2").await;
    assert_eq!((db.found("blossom").await, db.found("silver").await), (vec![], vec![2]));
    let upsert = "INSERT INTO forum_notes (id, title, body) VALUES (2, 'bronze', '') \
                  ON CONFLICT (id) DO UPDATE SET title = excluded.title";
    db.change(upsert).await;
    assert_eq!(
        (db.found("wattle").await, db.found("bronze").await, db.found("silver").await),
        (vec![], vec![2], vec![2])
    );
    db.change("DELETE FROM forum_notes WHERE id = 2").await;
    assert_eq!((db.found("bronze").await, db.found("before").await), (vec![], vec![1]));
    // One column of the index, as a list that shows less of the table asks for.
    assert_eq!(db.found_by(&SearchIndex::new("forum_notes", &["title"]), "the index").await, Vec::<i64>::new());
}

/// So many rows that the database rather asks an index than reads them all.
const MANY: &str = "INSERT INTO forum_notes (title, body) WITH RECURSIVE n (i) AS \
    (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT 'note ' || i, 'body ' || i FROM n";

#[rstest]
#[case(Engine::Sqlite, "SCAN forum_notes_search VIRTUAL TABLE INDEX 0:M", "SCAN forum_notes")]
#[case(Engine::Postgres, "Bitmap Index Scan on forum_notes_search", "Seq Scan")]
#[tokio::test(flavor = "multi_thread")]
async fn an_index_answers_a_search(#[case] engine: Engine, #[case] step: &str, #[case] whole: &str) {
    let db = TestDatabase::new(engine).await;
    db.migrate("forum", &[migration(1, TABLE)]).await.unwrap();
    db.change(MANY).await;
    db.migrate("forum", &[migration(1, TABLE), migration(2, INDEX)]).await.unwrap();
    let (dialect, explain) = match engine {
        Engine::Sqlite => ("sqlite", "EXPLAIN QUERY PLAN "),
        Engine::Postgres => ("postgres", "EXPLAIN "),
    };
    let search = Search::in_dialect(dialect, "note 12345").unwrap();
    let explained = plugin_api::sql(explain).push_sql(NOTES.select("id", &search)).into();
    let rows = values(&db.database.read(&Scope::Host, explained).await.unwrap());
    let plan: Vec<&str> = rows.iter().filter_map(|row| text_of(row.last()?)).map(str::trim).collect();
    assert!(plan.iter().any(|found| found.contains(step)), "{plan:#?}");
    let is_whole = |found: &&str| *found == whole || engine == Engine::Postgres && found.contains(whole);
    assert!(!plan.iter().any(is_whole), "{plan:#?}");
}

fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

/// No index knows so short a text.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_short_text_is_looked_for_in_the_newest_rows(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_search(engine).await;
    assert_eq!(db.found("fr").await, [1]);
    db.change("INSERT INTO forum_notes (id, title) VALUES (10001, 'fresh')").await;
    assert_eq!(db.found("fr").await, [10_001], "the first row is no more among the newest 10,000");
    assert_eq!(db.found("from").await, [1]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_indexes_its_own_tables(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_search(engine).await;
    for (index, reason) in [
        ("{{search_index forum_notes (title)}}", "not kb's"),
        ("{{search_index kb_x (a); DROP TABLE forum_notes; --}}", "is not {{search_index"),
    ] {
        let error = db.migrate("kb", &[migration(1, index)]).await.unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert_eq!(db.found("from before").await, [1]);
}

#[test]
fn a_search_finds_the_rows_that_contain_the_text() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let databases = runtime.block_on(async {
        [TestDatabase::with_search(Engine::Sqlite).await, TestDatabase::with_search(Engine::Postgres).await]
    });
    // Both cases, letters of two to four bytes, and what SQL and FTS5 know. A text that is searched is a part of one that is
    // there, and often one letter of it is another.
    let letters = prop::sample::select("aAbBcCéÉßſKИи1 %_\\\"'*😀".chars().collect::<Vec<_>>());
    let word = prop::collection::vec(letters.clone(), 3..24).prop_map(String::from_iter);
    let part = (any::<prop::sample::Index>(), 1..8_usize, prop::option::of((any::<prop::sample::Index>(), letters)));
    let case = (prop::collection::vec((word.clone(), word), 1..8), prop::collection::vec(part, 1..24)).prop_map(
        |(notes, parts)| {
            let all: Vec<char> = notes.iter().flat_map(|(title, body)| title.chars().chain(body.chars())).collect();
            let needle = |(at, length, other): (prop::sample::Index, usize, Option<(prop::sample::Index, char)>)| {
                let start = at.index(all.len());
                let mut needle = all[start..all.len().min(start + length)].to_vec();
                if let Some((at, letter)) = other {
                    *at.get_mut(&mut needle) = letter;
                }
                String::from_iter(needle)
            };
            let needles: Vec<String> = parts.into_iter().map(needle).collect();
            (notes, needles)
        },
    );
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() });
    let outcome = runner.run(&case, |(notes, needles)| {
        runtime.block_on(async {
            for db in &databases {
                let mut statements = vec![statement("DELETE FROM forum_notes", [])];
                for (id, (title, body)) in (1..).zip(&notes) {
                    let insert = "INSERT INTO forum_notes (id, title, body) VALUES ($1, $2, $3)";
                    statements.push(statement(insert, [Value::Int(id), text(title), text(body)]));
                }
                db.write(statements).await.unwrap();
                for needle in &needles {
                    let lower = needle.to_ascii_lowercase();
                    let contains = |text: &String| text.to_ascii_lowercase().contains(&lower);
                    let expected = (1..).zip(&notes).filter(|(_, (title, body))| contains(title) || contains(body));
                    let expected: Vec<i64> = expected.map(|(id, _)| id).collect();
                    prop_assert_eq!(db.found(needle).await, expected, "{} in {:?}", needle, &notes);
                }
            }
            Ok(())
        })
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
