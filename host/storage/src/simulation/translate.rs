//! A statement of PostgreSQL as statements of SQLite.
//!
//! The rule: a text is translated once; what its parts leave for each other are temporary tables of the names that its `WITH` gives them.

use super::{catalogue, rewrite::Rewriter};
use crate::{
    check::{StatementInfo, Verb},
    error::StorageError,
};
use sqlparser::{
    ast::{SetExpr, Statement, With},
    dialect::PostgreSqlDialect,
    parser::{Parser, ParserError},
};

/// What a statement does to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Read,
    /// Reads, and keeps others from changing it.
    Lock,
    Write,
}

#[derive(Debug)]
pub(super) struct Translated {
    pub effect: Effect,
    /// Whether the number of changed rows is part of its result.
    pub counts_changes: bool,
    pub work: Work,
}

#[derive(Debug)]
pub(super) enum Work {
    /// `SELECT pg_advisory_xact_lock(…)`, and the text, which two statements share that lock the same.
    Lock(String),
    /// One after the other; the last one gives the result.
    Steps(Vec<Step>),
}

#[derive(Debug)]
pub(super) struct Step {
    pub sql: String,
    /// The temporary table for its rows, with the names of its columns where `WITH` gives them.
    pub into: Option<(String, Vec<String>)>,
}

/// The forms in which the gateway asks for the database's clock.
const CLOCK: [&str; 2] = [
    "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT",
    "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
];
const ADVISORY_LOCK: &str = "SELECT pg_advisory_xact_lock(";
const SHOWN_CHARS: usize = 160;

pub(super) fn translate(sql: &str, info: &StatementInfo) -> Result<Translated, StorageError> {
    let refused = |reason: String| {
        let text: String = sql.chars().take(SHOWN_CHARS).collect();
        StorageError::statement(format!("the simulated PostgreSQL does not run this ({reason}): {text}"))
    };
    let counts_changes = match info.kind.verb {
        Verb::Change => true,
        Verb::Read => false,
        Verb::Other => return Err(refused("it defines something".to_owned())),
    };
    if sql.starts_with(ADVISORY_LOCK) {
        return Ok(Translated { effect: Effect::Lock, counts_changes, work: Work::Lock(sql.to_owned()) });
    }
    if let Some(own) = catalogue::query(sql) {
        let steps = vec![Step { sql: own.to_owned(), into: None }];
        return Ok(Translated { effect: Effect::Read, counts_changes, work: Work::Steps(steps) });
    }
    let text = CLOCK.iter().fold(sql.to_owned(), |text, form| text.replace(form, "sim_now_ms()"));
    // The parser does not know the weakest lock. Locks are of results, so that all of them are alike.
    let text = text.replace(" FOR KEY SHARE", " FOR SHARE");
    let text = with_json_columns(&text).ok_or_else(|| refused("columns of a JSON row".to_owned()))?;
    let parsed = parse(&text).map_err(|error| refused(error.to_string()))?;
    let [statement] = <[Statement; 1]>::try_from(parsed).map_err(|_| refused("it is not one statement".to_owned()))?;
    let mut rewriter = Rewriter::default();
    let steps = steps(statement, &mut rewriter).map_err(refused)?;
    let effect = match (info.kind.reads_only(), rewriter.locks) {
        (false, _) => Effect::Write,
        (true, true) => Effect::Lock,
        (true, false) => Effect::Read,
    };
    Ok(Translated { effect, counts_changes, work: Work::Steps(steps) })
}

/// The parser takes the `ON` of `SELECT … ON CONFLICT` for an alias where no `FROM` or `WHERE` stands between.
fn parse(text: &str) -> Result<Vec<Statement>, ParserError> {
    let parse = |text: &str| Parser::parse_sql(&PostgreSqlDialect {}, text);
    parse(text).or_else(|error| parse(&text.replace("ON CONFLICT", "WHERE TRUE ON CONFLICT")).map_err(|_| error))
}

const JSON_ROW: &str = " FROM jsonb_populate_record(CAST(NULL AS ";

/// `SELECT "a", "b" FROM jsonb_populate_record(CAST(NULL AS t), CAST($1 AS jsonb))`, which undoes a change of a derived table, reads the
/// columns from the JSON themselves.
fn with_json_columns(sql: &str) -> Option<String> {
    let mut text = sql.to_owned();
    while let Some((before, after)) = text.split_once(JSON_ROW) {
        let (head, columns) = before.rsplit_once("SELECT ")?;
        let (_, after) = after.split_once("), CAST(")?;
        let (placeholder, rest) = after.split_once(" AS jsonb))")?;
        let read = |column: &str| format!("json_extract({placeholder}, '$.{column}')");
        let columns: Vec<String> = columns.split(", ").map(read).collect();
        text = format!("{head}SELECT {}{rest}", columns.join(", "));
    }
    Some(text)
}

fn steps(mut statement: Statement, rewriter: &mut Rewriter) -> Result<Vec<Step>, String> {
    rewriter.rewrite(&mut statement)?;
    let parts = match &mut statement {
        Statement::Query(query) if query.with.as_ref().is_some_and(writes) => query.with.take(),
        _ => None,
    };
    let mut steps = Vec::new();
    for part in parts.map_or_else(Vec::new, |with| with.cte_tables) {
        let columns = part.alias.columns.iter().map(|column| column.name.value.clone()).collect();
        steps.push(Step { sql: part.query.to_string(), into: Some((part.alias.name.value, columns)) });
    }
    steps.push(Step { sql: statement.to_string(), into: None });
    Ok(steps)
}

/// SQLite has no `WITH` whose parts write.
fn writes(with: &With) -> bool {
    let changes = |body: &SetExpr| matches!(body, SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_));
    with.cte_tables.iter().any(|part| changes(&part.query.body))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::{
        check::{AccessMode, StatementChecker},
        dialect::Dialect,
        scope::Scope,
    };

    fn translated(sql: &'static str) -> Result<Translated, StorageError> {
        let checker = StatementChecker::new(Dialect::Postgres);
        let mut statement: plugin_api::abi::Statement = plugin_api::sql(sql).into();
        let count = (1..9).take_while(|number| sql.contains(&format!("${number}"))).count();
        statement.params = vec![plugin_api::abi::Value::Null; count].into();
        let checked = checker.check(&Scope::Host, statement, AccessMode::ReadWrite).unwrap();
        translate(checked.sql(), &checked.info)
    }

    fn only_step(sql: &'static str) -> (Effect, String) {
        let translated = translated(sql).unwrap();
        let Work::Steps(mut steps) = translated.work else { unreachable!("no lock") };
        assert_eq!(steps.len(), 1);
        (translated.effect, steps.remove(0).sql)
    }

    #[test]
    fn what_only_postgresql_has_is_rewritten() {
        let (effect, sql) = only_step(
            "SELECT a::BIGINT, 1 / b FROM t WHERE id = ANY (ARRAY(SELECT id FROM u ORDER BY id LIMIT $1)) \
             AND lower(x COLLATE \"C\") = $2 ORDER BY a DESC LIMIT 3 FOR UPDATE OF t SKIP LOCKED",
        );
        assert_eq!(effect, Effect::Lock);
        assert_eq!(
            sql,
            "SELECT CAST(a AS BIGINT), sim_divide(1, b) FROM t WHERE id IN (SELECT id FROM u ORDER BY id NULLS LAST LIMIT $1) \
             AND lower(x) = $2 ORDER BY a DESC NULLS FIRST LIMIT 3"
        );
    }

    #[test]
    fn a_row_of_json_is_read_column_by_column() {
        let sql = "DELETE FROM t WHERE (\"a\", \"b\") = (SELECT \"a\", \"b\" FROM jsonb_populate_record(CAST(NULL AS t), CAST($1 AS jsonb)))";
        assert_eq!(
            with_json_columns(sql).unwrap(),
            r#"DELETE FROM t WHERE ("a", "b") = (SELECT json_extract($1, '$."a"'), json_extract($1, '$."b"'))"#
        );
    }

    #[test]
    fn every_lock_of_rows_is_a_lock() {
        for lock in ["SELECT a FROM t FOR UPDATE", "SELECT a FROM t FOR KEY SHARE", "SELECT a FROM t FOR SHARE"] {
            assert_eq!(only_step(lock), (Effect::Lock, "SELECT a FROM t".to_owned()));
        }
    }

    #[test]
    fn parts_that_write_become_steps() {
        let translated = translated(
            "WITH gone AS (DELETE FROM a WHERE id > $1 RETURNING owner), few AS (SELECT owner FROM gone) \
             INSERT INTO b (owner) SELECT owner FROM few",
        )
        .unwrap();
        let Work::Steps(steps) = translated.work else { unreachable!("no lock") };
        let names: Vec<_> = steps.iter().map(|step| step.into.as_ref().map(|(name, _)| name.as_str())).collect();
        assert_eq!(names, [Some("gone"), Some("few"), None]);
        assert_eq!(translated.effect, Effect::Write);
    }

    #[test]
    fn what_is_not_known_is_refused_with_its_text() {
        for sql in ["SELECT a FROM t WHERE a ILIKE 'x'", "SELECT a::jsonb FROM t", "CREATE TABLE t (a TEXT)"] {
            let error = translated(sql).unwrap_err().to_string();
            assert!(error.contains("does not run this") && error.contains(sql), "{error}");
        }
    }
}
