//! Which tables a plugin's statement may read and write.

use super::table_references::TableReferences;
use crate::scope::{Scope, owns_table};

pub(crate) fn check_access(plugin: &str, scope: &Scope, tables: &TableReferences) -> Result<(), String> {
    if let Some(table) = tables.writes.iter().find(|table| !owns_table(plugin, table)) {
        return Err(format!("{plugin} writes only its own tables ({plugin}_…), not {table}"));
    }
    if let Scope::Plugin { writes: Some(writes), .. } = scope
        && let Some(table) = tables.writes.iter().find(|table| !writes.contains(*table))
    {
        return Err(format!("a chain event writes derived tables only, and {table} is none of {plugin}'s"));
    }
    let may_read = |table: &String| {
        owns_table(plugin, table) || matches!(scope, Scope::Plugin { views, .. } if views.contains(table))
    };
    let is_catalogue = |table: &String| table.starts_with("sqlite_") || table.starts_with("pg_");
    let is_refused = |table: &&String| is_catalogue(table) || !may_read(table);
    match tables.reads.iter().find(is_refused) {
        Some(table) => Err(format!("{plugin} reads only its own tables ({plugin}_…) and published views, not {table}")),
        None => Ok(()),
    }
}
