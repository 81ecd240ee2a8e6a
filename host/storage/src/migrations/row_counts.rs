//! `{{row_counts TABLE (COLUMN, …)}}` in a migration: the table `TABLE_counts` with the number of rows (`row_count`) for each
//! value of the columns, or of all rows where no column is named. On PostgreSQL it is a view: see [`super::count_changes`].
//!
//! The rule: the number changes in the transaction that changes the rows, by triggers, whatever statement that is. The columns
//! are NOT NULL: a NULL equals nothing, so its rows would be counted nowhere.

use super::{count_changes, directive::Directive};
use crate::dialect::Dialect;
use std::fmt::Write as _;

pub(crate) fn write(sql: &mut String, directive: &Directive<'_>, dialect: Dialect) -> std::fmt::Result {
    match dialect {
        Dialect::Sqlite => {
            let counts = RowCounts::new(directive);
            counts.write_table(sql)?;
            write_triggers(sql, directive, &format!("{}{}", counts.make, counts.more), &counts.less)
        }
        Dialect::Postgres => count_changes::write(sql, directive),
    }
}

/// Triggers of SQLite that run `more` for each row that is there from now on, and `less` for each that is gone.
pub(crate) fn write_triggers(sql: &mut String, directive: &Directive<'_>, more: &str, less: &str) -> std::fmt::Result {
    let Directive { table, columns } = directive;
    write!(
        sql,
        "CREATE TRIGGER {table}_counts_insert AFTER INSERT ON {table} BEGIN {more}END; \
         CREATE TRIGGER {table}_counts_delete AFTER DELETE ON {table} BEGIN {less}END;"
    )?;
    if columns.is_empty() {
        return Ok(());
    }
    let changes: Vec<String> = columns.iter().map(|column| format!("new.{column} <> old.{column}")).collect();
    write!(
        sql,
        " CREATE TRIGGER {table}_counts_update AFTER UPDATE OF {} ON {table} WHEN {} BEGIN {less}{more}END;",
        columns.join(", "),
        changes.join(" OR ")
    )
}

/// The parts of SQLite's statements.
struct RowCounts<'a> {
    table: &'a str,
    /// Empty where all rows are counted together.
    columns: String,
    /// Makes the number of the values in `new`, unless there is one.
    make: String,
    more: String,
    less: String,
}

impl<'a> RowCounts<'a> {
    fn new(directive: &'a Directive<'_>) -> Self {
        let table = directive.table;
        let columns = directive.columns.join(", ");
        let each = |text: &dyn Fn(&str) -> String, separator: &str| {
            directive.columns.iter().map(|column| text(column)).collect::<Vec<_>>().join(separator)
        };
        let add = |number: &str, row: &str| {
            let condition = each(&|column| format!("{column} = {row}.{column}"), " AND ");
            let filter = if condition.is_empty() { condition } else { format!(" WHERE {condition}") };
            format!("UPDATE {table}_counts SET row_count = row_count {number}{filter}; ")
        };
        // The plain form of it: `OR IGNORE` would do what the statement that fires the trigger says of conflicts.
        let make = if columns.is_empty() {
            String::new()
        } else {
            let values = each(&|column| format!("new.{column}"), ", ");
            let is_known = each(&|column| format!("c.{column} = new.{column}"), " AND ");
            format!(
                "INSERT INTO {table}_counts ({columns}, row_count) SELECT {values}, 0 \
                 WHERE NOT EXISTS (SELECT 1 FROM {table}_counts c WHERE {is_known}); "
            )
        };
        Self { table, more: add("+ 1", "new"), less: add("- 1", "old"), columns, make }
    }

    /// With the numbers of the rows that there are.
    fn write_table(&self, sql: &mut String) -> std::fmt::Result {
        let Self { table, columns, .. } = self;
        if columns.is_empty() {
            return write!(sql, "CREATE TABLE {table}_counts AS SELECT count(*) AS row_count FROM {table}; ");
        }
        write!(
            sql,
            "CREATE TABLE {table}_counts AS SELECT {columns}, count(*) AS row_count FROM {table} GROUP BY {columns}; \
             CREATE UNIQUE INDEX {table}_counts_key ON {table}_counts ({columns}); "
        )
    }
}
