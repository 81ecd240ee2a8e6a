//! The statements of one write, as PostgreSQL logs them, and whether pgbench runs the same.

use anyhow::{Context as _, Result, bail};
use std::{
    collections::HashMap,
    thread::sleep,
    time::{Duration, Instant},
};

use super::database::Server;

/// A signed write has this statement, and no background work of a gateway has it.
const MARK: &str = "INSERT INTO host_replay_guard";
/// Between the order to log and the first statement that is logged.
const RELOAD_PAUSE: Duration = Duration::from_millis(200);
const LIMIT: Duration = Duration::from_secs(60);

/// Has one write's statements logged: each text is one message of the gateway, which may have several statements.
pub fn of_a_write(server: &Server, mut write: impl FnMut() -> Result<()>) -> Result<Vec<String>> {
    server.execute("ALTER SYSTEM SET log_statement = 'all'")?;
    server.execute("SELECT pg_reload_conf()")?;
    let logged = logged(server, &mut write);
    server.execute("ALTER SYSTEM RESET log_statement")?;
    server.execute("SELECT pg_reload_conf()")?;
    logged
}

fn logged(server: &Server, write: &mut impl FnMut() -> Result<()>) -> Result<Vec<String>> {
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        sleep(RELOAD_PAUSE);
        write()?;
        if let Some(statements) = transaction(&server.postgres().log()) {
            return Ok(statements);
        }
    }
    bail!("PostgreSQL logs no signed write within {LIMIT:?}")
}

/// The first whole transaction of a signed write in a log.
fn transaction(log: &str) -> Option<Vec<String>> {
    let mut open: HashMap<&str, Vec<String>> = HashMap::new();
    for (pid, statement) in entries(log) {
        let words = statement.to_ascii_uppercase();
        if words.starts_with("BEGIN") {
            open.insert(pid, Vec::new());
        }
        if let Some(statements) = open.get_mut(pid) {
            statements.push(statement);
        }
        if single(&words).any(|statement| statement == "COMMIT") {
            let done = open.remove(pid).filter(|statements| statements.iter().any(|text| text.contains(MARK)));
            if done.is_some() {
                return done;
            }
        }
    }
    None
}

/// Backend and text of each message, in one line.
fn entries(log: &str) -> Vec<(&str, String)> {
    let mut entries: Vec<(&str, String)> = Vec::new();
    let mut is_statement = false;
    for line in log.lines() {
        if let Some(more) = line.strip_prefix('\t') {
            if let Some((_, statement)) = entries.last_mut().filter(|_| is_statement) {
                statement.push('\n');
                statement.push_str(more);
            }
            continue;
        }
        let entry = entry(line);
        is_statement = entry.is_some();
        entries.extend(entry);
    }
    for (_, statement) in &mut entries {
        let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        words.trim_end_matches(';').clone_into(statement);
    }
    entries
}

/// `TIME [PID] LOG:  statement: SQL`, or `… execute NAME: SQL`.
fn entry(line: &str) -> Option<(&str, String)> {
    let (head, message) = line.split_once("] LOG:  ")?;
    let (_, pid) = head.rsplit_once('[')?;
    let (kind, statement) = message.split_once(": ")?;
    (kind == "statement" || kind.starts_with("execute ")).then(|| (pid, statement.to_owned()))
}

fn single(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').map(str::trim).filter(|statement| !statement.is_empty())
}

/// What statements change, in order: `insert forum_posts`. Reads and settings are left out.
pub fn changes(statements: &[String]) -> Vec<String> {
    let change = |statement: &str| {
        // The storage wraps a statement that must return a row.
        let statement = statement.strip_prefix("WITH returned AS (").unwrap_or(statement);
        let words: Vec<&str> = statement.split_whitespace().collect();
        let verb = words.first()?.to_ascii_lowercase();
        let table = match verb.as_str() {
            "insert" | "delete" => words.get(2)?,
            "update" => words.get(1)?,
            _ => return None,
        };
        let name = table.split(|character: char| !character.is_ascii_alphanumeric() && character != '_').next()?;
        Some(format!("{verb} {name}"))
    };
    statements.iter().flat_map(|message| single(message)).filter_map(change).collect()
}

/// Those of a script of pgbench, without its own commands.
pub fn of_script(script: &str) -> Result<Vec<String>> {
    let lines = script.lines().filter(|line| !line.starts_with(['\\', '-']));
    let sql = lines.collect::<Vec<_>>().join(" ");
    let statements: Vec<String> = single(&sql).map(ToOwned::to_owned).collect();
    statements.last().filter(|last| *last == "COMMIT").context("a script ends with COMMIT")?;
    Ok(statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
2026-11-26 03:33:56.123 UTC [11] LOG:  statement: BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL jit = off
2026-11-26 03:33:56.124 UTC [12] LOG:  execute s1: UPDATE host_job_runs SET runs = 1
2026-11-26 03:33:56.125 UTC [11] LOG:  execute s7: INSERT INTO host_replay_guard
\t    (digest) VALUES ($1)
2026-11-26 03:33:56.125 UTC [11] DETAIL:  parameters: $1 = 'a'
\tmore of the parameters
2026-11-26 03:33:56.126 UTC [12] LOG:  statement: COMMIT;
2026-11-26 03:33:56.127 UTC [11] LOG:  execute <unnamed>: UPDATE forum_threads SET title = $1
2026-11-26 03:33:56.128 UTC [11] LOG:  statement: COMMIT;
";

    #[test]
    fn the_statements_of_a_write_are_found_between_those_of_others() {
        let statements = transaction(LOG).unwrap_or_default();
        let expected = [
            "BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL jit = off",
            "INSERT INTO host_replay_guard (digest) VALUES ($1)",
            "UPDATE forum_threads SET title = $1",
            "COMMIT",
        ];
        assert_eq!(statements, expected);
        assert_eq!(changes(&statements), ["insert host_replay_guard", "update forum_threads"]);
        let unfinished = LOG.rsplit_once("2026").map_or("", |(before, _)| before);
        assert_eq!(transaction(unfinished), None);
    }

    #[test]
    fn a_script_is_read_without_what_only_pgbench_knows() -> Result<()> {
        let script = "-- one; two\n\\set n random(1, 9)\n\\startpipeline\nBEGIN;\nINSERT INTO a (n)\nVALUES (:n);\nCOMMIT;\n\\endpipeline\n";
        assert_eq!(of_script(script)?, ["BEGIN", "INSERT INTO a (n) VALUES (:n)", "COMMIT"]);
        assert!(of_script("BEGIN;\n").is_err());
        Ok(())
    }
}
