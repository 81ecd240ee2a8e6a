//! Looks at every statement before a database does: once per text, then from a cache.
//!
//! The rule: a statement runs on both databases or is refused on both, for the same reason.

mod functions;
pub mod lex;
mod parse;
pub mod schema;
mod shape;
mod tables;

pub use shape::{Shape, Verb};

use super::{Dialect, Scope, StorageError, pace::Pace, scope::owns};
use crate::read_tracking;
use plugin_api::abi::{Statement, Value};
use std::sync::{Arc, OnceLock, atomic::AtomicUsize};
use tables::Tables;

/// Bytes of statement texts that the cache keeps.
const CACHE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What is known about one text.
#[derive(Debug)]
pub struct Plan {
    pub shape: Shape,
    pub pace: Pace,
    /// Size of its last result.
    pub rows_bytes: AtomicUsize,
    /// Filled when a plugin first uses the text: the gateway's own statements need no parser.
    tables: OnceLock<Result<Tables, String>>,
}

/// A statement that may run.
#[derive(Debug)]
pub struct Admitted {
    pub plan: Arc<Plan>,
    pub statement: Statement,
}

impl Admitted {
    pub fn sql(&self) -> &str {
        &self.statement.sql
    }

    /// The same text for the same one with other parameters.
    pub fn again(&self, statement: Statement) -> Result<Self, StorageError> {
        check_params(&self.plan.shape, &statement.params).map_err(StorageError::statement)?;
        Ok(Self { plan: self.plan.clone(), statement })
    }

    /// Tells the observer of an answer, if there is one, where this read gets its rows from.
    pub fn note_sources(&self, scope: &Scope) {
        match (scope, self.plan.tables.get()) {
            (Scope::Plugin { name, .. }, Some(Ok(tables))) if !tables.varies => {
                read_tracking::reads_foreign(tables.reads.iter().filter(|table| !owns(name, table)));
            }
            _ => read_tracking::mark_uncacheable(),
        }
    }
}

/// What the statement is wanted for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Outside a transaction: it must not write.
    Read,
    Transaction,
}

type Verdict = Result<Arc<Plan>, Arc<str>>;

pub struct Checker {
    dialect: Dialect,
    plans: moka::sync::Cache<Arc<str>, Verdict>,
}

impl Checker {
    pub fn new(dialect: Dialect) -> Self {
        let weigh = |text: &Arc<str>, _: &Verdict| u32::try_from(text.len()).unwrap_or(u32::MAX);
        Self { dialect, plans: moka::sync::Cache::builder().max_capacity(CACHE_BYTES_MAX).weigher(weigh).build() }
    }

    /// Says whether that one may run the statement.
    pub fn admit(&self, scope: &Scope, statement: Statement, purpose: Purpose) -> Result<Admitted, StorageError> {
        let plan = self.plan(&statement.sql).map_err(StorageError::statement)?;
        check_params(&plan.shape, &statement.params).map_err(StorageError::statement)?;
        if let Scope::Plugin { name, .. } = scope {
            let tables = self.tables(&plan, &statement.sql)?;
            check_tables(name, scope, tables).map_err(StorageError::statement)?;
        }
        if purpose == Purpose::Read && !plan.shape.reads_only() {
            return Err(StorageError::statement("a statement outside a transaction may only read"));
        }
        Ok(Admitted { plan, statement })
    }

    fn plan(&self, sql: &str) -> Verdict {
        if let Some(verdict) = self.plans.get(sql) {
            return verdict;
        }
        let verdict = self.look_at(sql).map(Arc::new).map_err(Arc::from);
        self.plans.insert(sql.into(), verdict.clone());
        verdict
    }

    fn look_at(&self, sql: &str) -> Result<Plan, String> {
        if sql.len() > shape::TEXT_BYTES_MAX {
            return Err(format!("a statement has at most {} bytes", shape::TEXT_BYTES_MAX));
        }
        let shape = Shape::of(&lex::tokens(sql, self.dialect)?)?;
        Ok(Plan { shape, pace: Pace::default(), rows_bytes: AtomicUsize::default(), tables: OnceLock::new() })
    }

    fn tables<'p>(&self, plan: &'p Plan, sql: &str) -> Result<&'p Tables, StorageError> {
        let known = match plan.tables.get() {
            Some(known) => known,
            None => {
                let found = parse::with_statement(sql, self.dialect, Tables::of)?;
                plan.tables.get_or_init(|| found)
            }
        };
        known.as_ref().map_err(StorageError::statement)
    }
}

fn check_params(shape: &Shape, params: &[Value]) -> Result<(), String> {
    if shape.order.len() != params.len() {
        return Err(format!(
            "the statement has {} placeholders, {} parameters were given",
            shape.order.len(),
            params.len()
        ));
    }
    for (index, param) in params.iter().enumerate() {
        let refused = match param {
            // PostgreSQL has no NUL in texts, SQLite turns NaN into NULL.
            Value::Text(text) if text.as_bytes().contains(&0) => "holds a NUL character",
            Value::Real(number) if number.is_nan() => "is not a number",
            _ => continue,
        };
        return Err(format!("parameter ${} {refused}", index + 1));
    }
    Ok(())
}

fn check_tables(plugin: &str, scope: &Scope, tables: &Tables) -> Result<(), String> {
    if let Some(table) = tables.writes.iter().find(|table| !owns(plugin, table)) {
        return Err(format!("{plugin} writes only its own tables ({plugin}_…), not {table}"));
    }
    if let Scope::Plugin { writes: Some(writes), .. } = scope
        && let Some(table) = tables.writes.iter().find(|table| !writes.contains(*table))
    {
        return Err(format!("a chain event writes derived tables only, and {table} is none of {plugin}'s"));
    }
    let may_read =
        |table: &String| owns(plugin, table) || matches!(scope, Scope::Plugin { views, .. } if views.contains(table));
    let is_catalogue = |table: &String| table.starts_with("sqlite_") || table.starts_with("pg_");
    let refused = |table: &&String| is_catalogue(table) || !may_read(table);
    match tables.reads.iter().find(refused) {
        Some(table) => Err(format!("{plugin} reads only its own tables ({plugin}_…) and published views, not {table}")),
        None => Ok(()),
    }
}
