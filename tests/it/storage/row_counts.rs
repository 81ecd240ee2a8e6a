//! Row counts are the numbers of rows on both databases, whatever was written since.

use super::*;
use rstest::rstest;

const TABLE: &str = "CREATE TABLE forum_notes (id {{id}}, kind TEXT NOT NULL, online BIGINT NOT NULL, body TEXT);
    INSERT INTO forum_notes (kind, online) VALUES ('a', 0), ('a', 0), ('b', 1);
    CREATE TABLE forum_votes (id {{id}}, note_id BIGINT NOT NULL REFERENCES forum_notes (id) ON DELETE CASCADE);";
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
