//! Checks statements, with a cache of what is known about each text.

use super::{
    access::check_access,
    lexer, parse,
    statement::{CheckedStatement, StatementInfo},
    statement_kind::StatementKind,
    table_references::TableReferences,
};
use crate::{dialect::Dialect, error::StorageError, scope::Scope, statements::bounds::STATEMENT_TEXT_BYTES_MAX};
use plugin_api::abi::Statement;
use std::sync::Arc;

/// Bytes of statement texts in the cache.
const CACHE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What the caller will do with the statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessMode {
    /// Run it outside a transaction: it must not write.
    ReadOnly,
    ReadWrite,
}

type InfoResult = Result<Arc<StatementInfo>, Arc<str>>;

pub(crate) struct StatementChecker {
    dialect: Dialect,
    infos: moka::sync::Cache<Arc<str>, InfoResult>,
}

impl StatementChecker {
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn new(dialect: Dialect) -> Self {
        let weigh = |text: &Arc<str>, _: &InfoResult| u32::try_from(text.len()).unwrap_or(u32::MAX);
        Self { dialect, infos: moka::sync::Cache::builder().max_capacity(CACHE_BYTES_MAX).weigher(weigh).build() }
    }

    /// Refuses a statement that is not allowed in the scope or for the access mode.
    pub(crate) fn check(
        &self,
        scope: &Scope,
        statement: Statement,
        access: AccessMode,
    ) -> Result<CheckedStatement, StorageError> {
        let info = self.info(&statement.sql).map_err(StorageError::statement)?;
        let checked = CheckedStatement::new(info, statement, scope.owner())?;
        if let Scope::Plugin { name, .. } = scope {
            let tables = self.tables(&checked.info, checked.sql())?;
            check_access(name, scope, tables).map_err(StorageError::statement)?;
        }
        if access == AccessMode::ReadOnly && !checked.info.kind.reads_only() {
            return Err(StorageError::statement("a statement outside a transaction may only read"));
        }
        Ok(checked)
    }

    fn info(&self, sql: &str) -> InfoResult {
        // Before the cache, which would keep it.
        if sql.len() > STATEMENT_TEXT_BYTES_MAX {
            return Err(format!("a statement has {} bytes, at most {STATEMENT_TEXT_BYTES_MAX}", sql.len()).into());
        }
        if let Some(cached) = self.infos.get(sql) {
            return cached;
        }
        let info = self.analyse(sql).map(Arc::new).map_err(Arc::from);
        self.infos.insert(sql.into(), info.clone());
        info
    }

    fn analyse(&self, sql: &str) -> Result<StatementInfo, String> {
        Ok(StatementInfo::new(StatementKind::of(&lexer::tokenize(sql, self.dialect)?)?))
    }

    fn tables<'i>(&self, info: &'i StatementInfo, sql: &str) -> Result<&'i TableReferences, StorageError> {
        let tables = match info.tables.get() {
            Some(tables) => tables,
            None => {
                let parsed = parse::with_statement(sql, self.dialect, TableReferences::of)?;
                info.tables.get_or_init(|| parsed)
            }
        };
        tables.as_ref().map_err(StorageError::statement)
    }
}
