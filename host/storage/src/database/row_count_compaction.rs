//! On PostgreSQL a row count is the sum of rows with changes in `TABLE_count_changes`; this replaces many of them by their sum.
//!
//! The rule: the count is the same before and after. Rows are replaced by their sum in one statement, and rows that another
//! compaction has locked are left to it. At READ COMMITTED no serialisable transaction can conflict with it.

use crate::{database::Database, dialect::Dialect, error::StorageError};
use plugin_api::sql;

/// A sum of fewer rows costs as much as that of one.
const CHANGES_MIN: i64 = 100;
/// In one statement: it has to end within the time that a statement may take.
const CHANGES_MAX: i64 = 20_000;

/// The tables, and the columns by which each of them counts. The trigger's function is one that only the gateway makes.
const TABLES: &str = "SELECT CAST(c.relname AS TEXT), (SELECT coalesce(string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), '') \
         FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
         AND a.attname NOT IN ('row_count', 'is_sum')) \
     FROM pg_class c WHERE c.relkind = 'r' AND right(c.relname, 14) = '_count_changes' AND pg_table_is_visible(c.oid) \
     AND EXISTS (SELECT 1 FROM pg_proc p WHERE p.proname = left(c.relname, -14) || '_counts_keep' \
         AND pg_function_is_visible(p.oid)) ORDER BY 1";

impl Database {
    /// Compacts the changes of row counts where there are many; any number of gateways may do so at the same time. Does
    /// nothing on SQLite, whose counts are stored.
    pub async fn compact_row_counts(&self) -> Result<(), StorageError> {
        if self.dialect() == Dialect::Sqlite {
            return Ok(());
        }
        let tables: Vec<(String, String)> = self.fetch_all(sql(TABLES)).await?;
        if tables.is_empty() {
            return Ok(());
        }
        let counts: Vec<String> = tables.iter().enumerate().map(count_changes).collect();
        let counted: Vec<(i64, i64)> = self.fetch_all(sql(counts.join(" UNION ALL "))).await?;
        for ((table, columns), place) in tables.iter().zip(0_i64..) {
            if counted.contains(&(place, CHANGES_MIN)) {
                self.execute(sql(compact(table, columns))).await?;
            }
        }
        Ok(())
    }
}

/// Selects the place and how many changes there are, counted no further than needed.
fn count_changes((place, (table, _)): (usize, &(String, String))) -> String {
    format!(
        "SELECT CAST({place} AS BIGINT), count(*) \
         FROM (SELECT 1 FROM {table} WHERE NOT is_sum LIMIT {CHANGES_MIN}) AS changes"
    )
}

/// Replaces changes, and the sums of the same keys, by new sums.
fn compact(table: &str, columns: &str) -> String {
    let (names, is_concerned, group) = if columns.is_empty() {
        (String::new(), "EXISTS (SELECT 1 FROM changes)".to_owned(), String::new())
    } else {
        let is_concerned = format!("({columns}) IN (SELECT {columns} FROM changes)");
        (format!("{columns}, "), is_concerned, format!(" GROUP BY {columns}"))
    };
    format!(
        "WITH changes AS (SELECT {names}t.ctid AS place FROM {table} t WHERE NOT is_sum LIMIT {CHANGES_MAX} \
             FOR UPDATE OF t SKIP LOCKED), \
         sums AS (SELECT t.ctid AS place FROM {table} t WHERE is_sum AND {is_concerned} FOR UPDATE OF t SKIP LOCKED), \
         gone AS (DELETE FROM {table} WHERE ctid = ANY (ARRAY(SELECT place FROM changes UNION ALL SELECT place FROM sums)) \
             RETURNING {names}row_count) \
         INSERT INTO {table} ({names}row_count, is_sum) SELECT {names}CAST(sum(row_count) AS BIGINT), true FROM gone{group} \
             HAVING sum(row_count) <> 0"
    )
}
