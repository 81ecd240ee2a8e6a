//! Row counts are the numbers of rows on both databases, whatever was written since.

use super::*;
use futures_util::future::join_all;
use gateway_storage::Isolation;
use rstest::rstest;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

const TABLE: &str = "CREATE TABLE forum_notes (id {{id}}, kind TEXT NOT NULL, online BIGINT NOT NULL, body TEXT);
    INSERT INTO forum_notes (kind, online) VALUES ('a', 0), ('a', 0), ('b', 1);
    CREATE TABLE forum_votes (id {{id}}, note_id BIGINT NOT NULL REFERENCES forum_notes (id) ON DELETE CASCADE);
    CREATE INDEX forum_votes_note ON forum_votes (note_id);";
const COUNTS: &str = "{{row_counts forum_notes (kind, online)}}\n{{row_counts forum_votes ()}}";

impl TestDatabase {
    async fn with_counts(engine: Engine) -> Self {
        let db = Self::new(engine).await;
        db.migrate("forum", &[migration(1, TABLE), migration(2, COUNTS)]).await.unwrap();
        db
    }

    async fn assert_counts(&self) {
        let counted =
            "SELECT kind, online, row_count FROM forum_notes_counts WHERE row_count <> 0 ORDER BY kind, online";
        let there = "SELECT kind, online, count(*) FROM forum_notes GROUP BY kind, online ORDER BY kind, online";
        assert_eq!(self.rows(counted).await, self.rows(there).await);
        let votes = self.rows("SELECT row_count FROM forum_votes_counts").await;
        assert_eq!(votes, self.rows("SELECT count(*) FROM forum_votes").await);
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn every_write_is_counted(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_counts(engine).await;
    db.assert_counts().await;
    for write in [
        "INSERT INTO forum_notes (kind, online) VALUES ('c', 0), ('a', 1), ('c', 0)",
        "UPDATE forum_notes SET online = 1 - online WHERE kind = 'a'",
        "UPDATE forum_notes SET body = 'x', kind = kind",
        "INSERT INTO forum_notes (id, kind, online) VALUES (1, 'd', 0) \
         ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, online = excluded.online",
        "INSERT INTO forum_notes (id, kind, online) VALUES (1, 'e', 0) ON CONFLICT (id) DO NOTHING",
        "INSERT INTO forum_votes (note_id) VALUES (1), (1), (2), (3)",
        "DELETE FROM forum_votes WHERE note_id = 3",
        "DELETE FROM forum_notes WHERE id = 1",
        "DELETE FROM forum_notes",
        "INSERT INTO forum_notes (kind, online) VALUES ('a', 0)",
    ] {
        db.write(vec![statement(write, [])]).await.unwrap();
        db.assert_counts().await;
        db.database.compact_row_counts().await.unwrap();
        db.assert_counts().await;
    }
    assert_eq!(db.rows("SELECT count(*) FROM forum_votes").await[0][0], Value::Int(0), "votes go with their notes");
    let transaction = db.forum();
    transaction.run(vec![statement("INSERT INTO forum_notes (kind, online) VALUES ('z', 0)", [])]).await.unwrap();
    transaction.rollback().await;
    db.assert_counts().await;
}

/// What a statement says of conflicts is not said of the counts.
#[tokio::test(flavor = "multi_thread")]
async fn replaced_rows_are_counted_once() {
    let db = TestDatabase::with_counts(Engine::Sqlite).await;
    for verb in ["INSERT OR REPLACE", "INSERT OR IGNORE", "UPDATE OR REPLACE"] {
        let write = match verb {
            "UPDATE OR REPLACE" => format!("{verb} forum_notes SET id = 2 WHERE id = 3"),
            _ => format!("{verb} INTO forum_notes (id, kind, online) VALUES (1, 'a', 0), (9, 'b', 1)"),
        };
        db.write(vec![statement(&write, [])]).await.unwrap();
        db.assert_counts().await;
    }
}

/// What `assert_counts` compares, on one snapshot: how many counts are in one of the two only, and the difference.
const WRONG: &str = "SELECT 'notes', count(*) FROM (
        SELECT * FROM (SELECT kind, online, row_count FROM forum_notes_counts WHERE row_count <> 0
            EXCEPT SELECT kind, online, count(*) FROM forum_notes GROUP BY kind, online) AS counted
        UNION ALL SELECT * FROM (SELECT kind, online, count(*) FROM forum_notes GROUP BY kind, online
            EXCEPT SELECT kind, online, row_count FROM forum_notes_counts) AS there) AS wrong
    UNION ALL SELECT 'votes', (SELECT row_count FROM forum_votes_counts) - (SELECT count(*) FROM forum_votes)";

const WRITERS: i64 = 8;
const WRITES: i64 = 60;

impl TestDatabase {
    async fn assert_counts_at_once(&self) {
        assert_eq!(self.rows(WRONG).await, [[text("notes"), Value::Int(0)], [text("votes"), Value::Int(0)]]);
    }

    /// A note and a vote, and of other notes of the writer one that changes and one that goes. `false` when it conflicted with another one.
    async fn try_write(&self, writer: i64, number: i64) -> bool {
        let scope = plugin_scope("forum").with_isolation(Isolation::Serializable);
        let transaction = self.database.begin(scope);
        let id = 1000 * (writer + 1) + number;
        let kind = text(["a", "b", "c"][usize::try_from(number % 3).unwrap()]);
        let insert = "INSERT INTO forum_notes (id, kind, online) VALUES ($1, $2, 0)";
        let statements = vec![
            statement(insert, [Value::Int(id), kind]),
            statement("INSERT INTO forum_votes (note_id) VALUES ($1)", [Value::Int(id)]),
            statement("UPDATE forum_notes SET online = 1 WHERE id = $1", [Value::Int(id - 1)]),
            statement("DELETE FROM forum_notes WHERE id = $1 AND id % 5 = 0", [Value::Int(id - 2)]),
        ];
        let written = match transaction.run(statements).await {
            Ok(_) => transaction.commit(Vec::new()).await,
            Err(error) => Err(error),
        };
        match written {
            Ok(_) => true,
            Err(StorageError::Conflict(_)) => false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Writers, readers, and on PostgreSQL two replicas that compact, all at the same time.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn the_counts_are_right_at_each_moment(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let db = TestDatabase::with_counts(engine).await;
    let are_written = AtomicBool::new(false);
    let write = |writer| {
        let db = &db;
        async move {
            for number in 0..WRITES {
                while !db.try_write(writer, number).await {}
            }
        }
    };
    let writes = async {
        join_all((0..WRITERS).map(write)).await;
        are_written.store(true, SeqCst);
    };
    let compact = async || {
        while !are_written.load(SeqCst) {
            db.database.compact_row_counts().await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    let read = async {
        while !are_written.load(SeqCst) {
            db.assert_counts_at_once().await;
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(writes, compact(), compact(), read);
    db.assert_counts().await;
    let expected = (0..WRITES).filter(|number| number % 5 != 0 || *number >= WRITES - 2).count();
    let there = i64::try_from(expected).unwrap() * WRITERS + 3;
    assert_eq!(db.rows("SELECT count(*) FROM forum_notes").await, [[Value::Int(there)]]);
}

/// More changes than a sum should have, and two that compact them at once: no row is counted twice or lost.
#[tokio::test(flavor = "multi_thread")]
async fn two_compactions_at_once_make_few_rows() {
    let db = TestDatabase::with_counts(Engine::Postgres).await;
    for round in 1..=20 {
        let notes =
            "INSERT INTO forum_notes (kind, online) SELECT 'k' || i % 7, i % 2 FROM generate_series(1, 300) AS i";
        let votes = "INSERT INTO forum_votes (note_id) SELECT 1 FROM generate_series(1, 300) AS i";
        db.write(vec![statement(notes, []), statement(votes, [])]).await.unwrap();
        let (one, other) = tokio::join!(db.database.compact_row_counts(), db.database.compact_row_counts());
        one.and(other).unwrap();
        db.assert_counts().await;
        // One that began before the other had ended may leave sums beside the new ones; the next compaction takes them too.
        for (table, keys) in [("forum_notes_count_changes", 16), ("forum_votes_count_changes", 1)] {
            let rows = int(&db.rows(&format!("SELECT count(*) FROM {table}")).await[0][0]);
            assert!(rows < 2 * keys + 100, "{rows} rows of {table} in round {round}");
        }
    }
    let gone = "DELETE FROM forum_notes";
    db.write(vec![statement(gone, [])]).await.unwrap();
    db.database.compact_row_counts().await.unwrap();
    db.assert_counts().await;
    assert_eq!(db.rows("SELECT count(*) FROM forum_notes_counts").await, [[Value::Int(0)]]);
    assert_eq!(db.rows("SELECT row_count FROM forum_votes_counts").await, [[Value::Int(0)]], "one row in any case");
}

/// The statements of `COUNTS` by version 0.6.0.
const OLD_FORM: &str = "DROP VIEW forum_notes_counts; DROP VIEW forum_votes_counts;
    DROP TRIGGER forum_notes_counts_write ON forum_notes; DROP TRIGGER forum_notes_counts_update ON forum_notes;
    DROP TRIGGER forum_votes_counts_write ON forum_votes;
    DROP FUNCTION forum_notes_counts_keep(); DROP FUNCTION forum_votes_counts_keep();
    DROP TABLE forum_notes_count_changes; DROP TABLE forum_votes_count_changes;
    CREATE TABLE forum_notes_counts AS SELECT kind, online, count(*) AS row_count FROM forum_notes GROUP BY kind, online;
    CREATE UNIQUE INDEX forum_notes_counts_key ON forum_notes_counts (kind, online);
    CREATE FUNCTION forum_notes_counts_keep() RETURNS trigger LANGUAGE plpgsql AS ' BEGIN
        IF TG_OP <> ''INSERT'' THEN UPDATE forum_notes_counts SET row_count = row_count - 1
            WHERE kind = old.kind AND online = old.online; END IF;
        IF TG_OP <> ''DELETE'' THEN INSERT INTO forum_notes_counts (kind, online, row_count) SELECT new.kind, new.online, 0
            WHERE NOT EXISTS (SELECT 1 FROM forum_notes_counts c WHERE c.kind = new.kind AND c.online = new.online);
            UPDATE forum_notes_counts SET row_count = row_count + 1 WHERE kind = new.kind AND online = new.online; END IF;
        RETURN NULL; END ';
    CREATE TRIGGER forum_notes_counts_write AFTER INSERT OR DELETE ON forum_notes
        FOR EACH ROW EXECUTE FUNCTION forum_notes_counts_keep();
    CREATE TRIGGER forum_notes_counts_update AFTER UPDATE OF kind, online ON forum_notes FOR EACH ROW
        WHEN (new.kind <> old.kind OR new.online <> old.online) EXECUTE FUNCTION forum_notes_counts_keep();
    CREATE TABLE forum_votes_counts AS SELECT count(*) AS row_count FROM forum_votes;
    CREATE FUNCTION forum_votes_counts_keep() RETURNS trigger LANGUAGE plpgsql AS ' BEGIN
        IF TG_OP <> ''INSERT'' THEN UPDATE forum_votes_counts SET row_count = row_count - 1; END IF;
        IF TG_OP <> ''DELETE'' THEN UPDATE forum_votes_counts SET row_count = row_count + 1; END IF; RETURN NULL; END ';
    CREATE TRIGGER forum_votes_counts_write AFTER INSERT OR DELETE ON forum_votes
        FOR EACH ROW EXECUTE FUNCTION forum_votes_counts_keep();";
const SOME_WRITES: &str = "INSERT INTO forum_notes (kind, online) VALUES ('a', 1), ('new', 0);
    INSERT INTO forum_votes (note_id) VALUES (1), (2); UPDATE forum_notes SET online = 1 WHERE id = 1;
    DELETE FROM forum_notes WHERE kind = 'b'";

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_an_earlier_version_goes_on_counting() {
    let db = TestDatabase::with_counts(Engine::Postgres).await;
    db.database.execute_batch(OLD_FORM).await.unwrap();
    db.database.execute_batch(SOME_WRITES).await.unwrap();
    db.assert_counts().await;
    let kinds =
        "SELECT CAST(relkind AS TEXT) FROM pg_class WHERE relname IN ('forum_notes_counts', 'forum_votes_counts')";
    assert_eq!(db.rows(kinds).await, [[text("r")], [text("r")]]);
    let migrations = [migration(1, TABLE), migration(2, COUNTS)];
    let written =
        db.rows("SELECT kind, online, row_count FROM forum_notes_counts WHERE row_count <> 0 ORDER BY 1, 2").await;

    // A view of the plugin that reads the numbers is not dropped with them: nothing is changed.
    db.database.execute_batch("CREATE VIEW forum_v1 AS SELECT row_count FROM forum_votes_counts").await.unwrap();
    assert!(db.migrate("forum", &migrations).await.is_err());
    assert_eq!(db.rows(kinds).await, [[text("r")], [text("r")]]);
    db.database.execute_batch("DROP VIEW forum_v1").await.unwrap();

    // Several replicas start at once, and again.
    let starts = join_all((0..3).map(|_| db.migrate("forum", &migrations))).await;
    assert!(starts.iter().all(|start| start.as_ref().is_ok_and(|report| report.applied.is_empty())), "{starts:?}");
    assert_eq!(db.rows(kinds).await, [[text("v")], [text("v")]]);
    assert_eq!(db.rows("SELECT kind, online, row_count FROM forum_notes_counts ORDER BY 1, 2").await, written);
    db.database.execute_batch(SOME_WRITES).await.unwrap();
    db.assert_counts().await;
    db.database.compact_row_counts().await.unwrap();
    db.assert_counts().await;
}
