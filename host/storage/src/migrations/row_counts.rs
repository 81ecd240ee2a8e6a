//! `{{row_counts TABLE (COLUMN, …)}}` in a migration: the table `TABLE_counts` with the number of rows (`row_count`) for each
//! value of the columns, or of all rows where no column is named.
//!
//! The rule: the number changes in the transaction that changes the rows, by triggers, whatever statement that is. The columns
//! are NOT NULL: a NULL equals nothing, so its rows would be counted nowhere.

use super::directive::Directive;
use crate::dialect::Dialect;
use std::fmt::Write as _;

pub fn write(sql: &mut String, directive: &Directive<'_>, dialect: Dialect) -> std::fmt::Result {
    let counts = Counts { directive };
    counts.write_table(sql)?;
    match dialect {
        Dialect::Sqlite => counts.write_sqlite_triggers(sql),
        Dialect::Postgres => counts.write_postgres_triggers(sql),
    }
}

struct Counts<'a> {
    directive: &'a Directive<'a>,
}

impl Counts<'_> {
    /// With the numbers of the rows that there are.
    fn write_table(&self, sql: &mut String) -> std::fmt::Result {
        let (table, columns) = (self.directive.table, self.directive.columns.join(", "));
        if columns.is_empty() {
            return write!(sql, "CREATE TABLE {table}_counts AS SELECT count(*) AS row_count FROM {table}; ");
        }
        write!(
            sql,
            "CREATE TABLE {table}_counts AS SELECT {columns}, count(*) AS row_count FROM {table} GROUP BY {columns}; \
             CREATE UNIQUE INDEX {table}_counts_key ON {table}_counts ({columns}); "
        )
    }

    /// Adds to the number of the values in `row` (`old` or `new`).
    fn add(&self, number: &str, row: &str) -> String {
        let condition = self.each(|column| format!("{column} = {row}.{column}"), " AND ");
        let filter = if condition.is_empty() { condition } else { format!(" WHERE {condition}") };
        format!("UPDATE {}_counts SET row_count = row_count {number}{filter}; ", self.directive.table)
    }

    /// Makes the number of the values in `new`, unless there is one. The plain form of it: `OR IGNORE` would do what the statement
    /// that fires the trigger says of conflicts.
    fn make(&self) -> String {
        let (table, columns) = (self.directive.table, self.directive.columns.join(", "));
        if columns.is_empty() {
            return String::new();
        }
        let values = self.each(|column| format!("new.{column}"), ", ");
        let is_known = self.each(|column| format!("c.{column} = new.{column}"), " AND ");
        format!(
            "INSERT INTO {table}_counts ({columns}, row_count) SELECT {values}, 0 \
             WHERE NOT EXISTS (SELECT 1 FROM {table}_counts c WHERE {is_known}); "
        )
    }

    fn each(&self, text: impl Fn(&str) -> String, separator: &str) -> String {
        self.directive.columns.iter().map(|column| text(column)).collect::<Vec<_>>().join(separator)
    }

    fn write_sqlite_triggers(&self, sql: &mut String) -> std::fmt::Result {
        let (table, columns) = (self.directive.table, self.directive.columns.join(", "));
        let (make, more, less) = (self.make(), self.add("+ 1", "new"), self.add("- 1", "old"));
        write!(
            sql,
            "CREATE TRIGGER {table}_counts_insert AFTER INSERT ON {table} BEGIN {make}{more}END; \
             CREATE TRIGGER {table}_counts_delete AFTER DELETE ON {table} BEGIN {less}END;"
        )?;
        if columns.is_empty() {
            return Ok(());
        }
        let changes = self.each(|column| format!("new.{column} <> old.{column}"), " OR ");
        write!(
            sql,
            " CREATE TRIGGER {table}_counts_update AFTER UPDATE OF {columns} ON {table} WHEN {changes} \
             BEGIN {less}{make}{more}END;"
        )
    }

    /// One row changes a number after the other: the transactions of a plugin run one at a time on all gateways.
    fn write_postgres_triggers(&self, sql: &mut String) -> std::fmt::Result {
        let (table, columns) = (self.directive.table, self.directive.columns.join(", "));
        let (make, more, less) = (self.make(), self.add("+ 1", "new"), self.add("- 1", "old"));
        write!(
            sql,
            "CREATE FUNCTION {table}_counts_keep() RETURNS trigger LANGUAGE plpgsql AS ' BEGIN \
             IF TG_OP <> ''INSERT'' THEN {less}END IF; IF TG_OP <> ''DELETE'' THEN {make}{more}END IF; \
             RETURN NULL; END '; \
             CREATE TRIGGER {table}_counts_write AFTER INSERT OR DELETE ON {table} \
             FOR EACH ROW EXECUTE FUNCTION {table}_counts_keep();"
        )?;
        if columns.is_empty() {
            return Ok(());
        }
        let changes = self.each(|column| format!("new.{column} <> old.{column}"), " OR ");
        write!(
            sql,
            " CREATE TRIGGER {table}_counts_update AFTER UPDATE OF {columns} ON {table} FOR EACH ROW WHEN ({changes}) \
             EXECUTE FUNCTION {table}_counts_keep();"
        )
    }
}
