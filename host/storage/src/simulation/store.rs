//! The rows of the server, in SQLite's memory, and how one statement runs on them.

use super::{
    functions::{self, DIVISION_BY_ZERO, DrawnValues, Draws},
    translate::{Step, Translated, Work},
};
use crate::{error::StorageError, sqlite::storage_error};
use plugin_api::abi::{Cell, Rows, RowsBuilder, StatementResult, Value};
use rusqlite::{
    Connection,
    backup::Backup,
    config::DbConfig,
    types::{Value as Stored, ValueRef},
};
use std::fmt::Write as _;

const STATEMENT_CACHE_COUNT: usize = 1024;

pub(super) struct RowStore {
    pub connection: Connection,
    draws: Draws,
}

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    columns: Vec<String>,
    pub rows: Vec<Vec<Stored>>,
    changes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum StatementFailure {
    DivisionByZero,
    Other(StorageError),
}

impl RowStore {
    pub(super) fn open(draws: &Draws) -> Result<Self, StorageError> {
        let connection = Connection::open_in_memory().map_err(|e| storage_error(&e))?;
        configure(&connection, draws).map_err(|e| storage_error(&e))?;
        Ok(Self { connection, draws: draws.clone() })
    }

    /// The committed rows, which nothing changes any more.
    pub(super) fn copy(&self) -> Result<Self, StorageError> {
        let mut copy = Connection::open_in_memory().map_err(|e| storage_error(&e))?;
        let pages = |copy: &mut Connection| Backup::new(&self.connection, copy)?.step(-1);
        pages(&mut copy).map_err(|e| storage_error(&e))?;
        configure(&copy, &self.draws).map_err(|e| storage_error(&e))?;
        Ok(Self { connection: copy, draws: self.draws.clone() })
    }

    pub(super) fn batch(&self, sql: &str) -> Result<(), StorageError> {
        self.connection.execute_batch(sql).map_err(|e| storage_error(&e))
    }

    /// For the first time.
    pub(super) fn run(
        &self,
        statement: &Translated,
        params: &[Value],
        now_ms: i64,
    ) -> (Result<Outcome, StatementFailure>, DrawnValues) {
        self.draws.begin(now_ms);
        let outcome = self.execute(statement, params);
        (outcome, self.draws.end())
    }

    pub(super) fn run_again(
        &self,
        statement: &Translated,
        params: &[Value],
        before: &DrawnValues,
    ) -> Result<Outcome, StatementFailure> {
        self.draws.begin_again(before);
        let outcome = self.execute(statement, params);
        self.draws.end();
        outcome
    }

    fn execute(&self, statement: &Translated, params: &[Value]) -> Result<Outcome, StatementFailure> {
        let Work::Steps(steps) = &statement.work else {
            // One row with a column of no value.
            let columns = vec!["pg_advisory_xact_lock".to_owned()];
            return Ok(Outcome { columns, rows: vec![vec![Stored::Null]], changes: 0 });
        };
        let mut last = Outcome::default();
        for step in steps {
            last = self.step(step, params).map_err(|error| failure(&error))?;
            if let Some((table, columns)) = &step.into {
                self.keep(table, columns, &last).map_err(|error| failure(&error))?;
            }
        }
        // Before anything else changes it.
        last.changes = if statement.counts_changes { self.connection.changes() } else { 0 };
        for (table, _) in steps.iter().filter_map(|step| step.into.as_ref()) {
            self.batch(&format!("DROP TABLE temp.\"{table}\"")).map_err(StatementFailure::Other)?;
        }
        Ok(last)
    }

    fn step(&self, step: &Step, params: &[Value]) -> rusqlite::Result<Outcome> {
        let mut prepared = self.connection.prepare_cached(&step.sql)?;
        for (number, param) in (1_usize..).zip(params) {
            let Some(index) = prepared.parameter_index(&format!("${number}"))? else { continue };
            match param {
                Value::Null => prepared.raw_bind_parameter(index, rusqlite::types::Null),
                Value::Int(value) => prepared.raw_bind_parameter(index, value),
                Value::Real(value) => prepared.raw_bind_parameter(index, value),
                Value::Text(value) => prepared.raw_bind_parameter(index, value.as_str()),
                Value::Blob(value) => prepared.raw_bind_parameter(index, value.as_slice()),
            }?;
        }
        let mut outcome =
            Outcome { columns: prepared.column_names().into_iter().map(str::to_owned).collect(), ..Outcome::default() };
        let mut rows = prepared.raw_query();
        while let Some(row) = rows.next()? {
            let cells = (0..outcome.columns.len()).map(|index| row.get_ref(index).map(stored));
            outcome.rows.push(cells.collect::<rusqlite::Result<_>>()?);
        }
        Ok(outcome)
    }

    /// For the steps after it. The count of changed rows is that of the last step.
    fn keep(&self, table: &str, given: &[String], outcome: &Outcome) -> rusqlite::Result<()> {
        let named = if given.is_empty() { &outcome.columns } else { given };
        let (mut columns, mut places) = (String::new(), String::new());
        for (number, name) in (1..).zip(named) {
            let comma = if number == 1 { "" } else { ", " };
            let _ = write!(columns, "{comma}\"{name}\"");
            let _ = write!(places, "{comma}?{number}");
        }
        if named.is_empty() {
            columns.push_str("\"nothing\"");
        }
        self.connection.execute_batch(&format!("CREATE TEMP TABLE \"{table}\" ({columns})"))?;
        if outcome.rows.is_empty() {
            return Ok(());
        }
        let mut insert = self.connection.prepare(&format!("INSERT INTO temp.\"{table}\" VALUES ({places})"))?;
        outcome.rows.iter().try_for_each(|row| insert.execute(rusqlite::params_from_iter(row)).map(drop))
    }
}

impl Outcome {
    pub(super) fn result(&self) -> StatementResult {
        StatementResult { rows: self.encode(), changes: self.changes }
    }

    fn encode(&self) -> Rows {
        if self.columns.is_empty() {
            return Rows::default();
        }
        let mut builder = RowsBuilder::new(self.columns.iter().map(String::as_str));
        for row in &self.rows {
            for value in row {
                builder.cell(match value {
                    Stored::Null => Cell::Null,
                    Stored::Integer(value) => Cell::Int(*value),
                    Stored::Real(value) => Cell::Real(*value),
                    Stored::Text(value) => Cell::Text(value),
                    Stored::Blob(value) => Cell::Blob(value),
                });
            }
            builder.end_row();
        }
        builder.finish()
    }
}

fn stored(value: ValueRef<'_>) -> Stored {
    match value {
        ValueRef::Null => Stored::Null,
        ValueRef::Integer(value) => Stored::Integer(value),
        ValueRef::Real(value) => Stored::Real(value),
        ValueRef::Text(bytes) => Stored::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Stored::Blob(bytes.to_vec()),
    }
}

fn configure(connection: &Connection, draws: &Draws) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_COUNT);
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "recursive_triggers", true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    functions::install(connection, draws)
}

fn failure(error: &rusqlite::Error) -> StatementFailure {
    if error.to_string().contains(DIVISION_BY_ZERO) {
        StatementFailure::DivisionByZero
    } else {
        StatementFailure::Other(storage_error(error))
    }
}
