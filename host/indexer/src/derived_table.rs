//! A derived table of a plugin: its triggers, and the statements that undo changes.
//!
//! The rule: every change of a derived row that a reorganisation may undo leaves the row before and after it in the
//! undo log, whichever statement made it; and only the index changes derived rows.

use super::store::{IndexStore, UndoRow};
use gateway_storage::{Database, Dialect, StorageError};
use plugin_api::{
    abi::{Statement, Value},
    sql,
};
use serde_json::{Map, Value as Json};

/// The columns and the primary key, as read from the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DerivedTable {
    pub name: String,
    columns: Vec<String>,
    keys: Vec<String>,
}

impl DerivedTable {
    /// Reads the table's definition; the inner error says why it cannot be a derived table.
    pub(crate) async fn load(store: &IndexStore, name: &str) -> Result<Result<Self, String>, StorageError> {
        let statement = match store.dialect() {
            Dialect::Sqlite => sql("SELECT i.name, CAST(i.pk > 0 AS BIGINT), \
                 CAST(upper(coalesce(m.sql, '')) LIKE '%AUTOINCREMENT%' AS BIGINT) \
                 FROM pragma_table_info($1) AS i LEFT JOIN sqlite_master AS m ON m.name = $1 ORDER BY i.cid"),
            Dialect::Postgres => sql("SELECT CAST(a.attname AS TEXT), \
                 CAST(CASE WHEN a.attnum = ANY(k.indkey) THEN 1 ELSE 0 END AS BIGINT), \
                 CAST(CASE WHEN a.attidentity <> '' THEN 1 ELSE 0 END AS BIGINT) \
                 FROM pg_attribute AS a LEFT JOIN pg_index AS k ON k.indrelid = a.attrelid AND k.indisprimary \
                 WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' \
                 ORDER BY a.attnum"),
        };
        let rows: Vec<(String, i64, i64)> = store.database.fetch_all(statement.bind(name)).await?;
        let references = match store.dialect() {
            Dialect::Sqlite => sql("SELECT count(*) FROM pragma_foreign_key_list($1)"),
            Dialect::Postgres => {
                sql("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass($1)")
            }
        };
        let references: Vec<i64> = store.database.fetch_all(references.bind(name)).await?;
        let keys: Vec<String> = rows.iter().filter(|(_, is_key, _)| *is_key == 1).map(|row| row.0.clone()).collect();
        let has_generated_key = rows.iter().any(|(_, _, is_generated)| *is_generated == 1);
        Ok(if rows.is_empty() {
            Err(format!("the derived table {name} does not exist"))
        } else if keys.is_empty() {
            Err(format!("the derived table {name} has no primary key"))
        } else if references.iter().any(|count| *count > 0) {
            // Databases act on foreign keys in another order than the rows change, so that the undo log could not be
            // undone.
            Err(format!("the derived table {name} has a foreign key: let the handlers keep what it would"))
        } else if has_generated_key {
            Err(format!("the derived table {name} numbers its rows itself: such numbers differ after a reorganisation"))
        } else {
            Ok(Self { name: name.to_owned(), columns: rows.into_iter().map(|row| row.0).collect(), keys })
        })
    }

    /// Creates the triggers that are missing.
    pub(crate) async fn install_triggers(&self, database: &Database, store: &IndexStore) -> Result<(), StorageError> {
        let triggers = self.triggers(store.dialect(), &store.plugin, &store.chain);
        let statement = match store.dialect() {
            Dialect::Sqlite => sql("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = $1"),
            Dialect::Postgres => {
                sql("SELECT CAST(pg_get_triggerdef(oid) AS TEXT) FROM pg_trigger WHERE tgrelid = to_regclass($1)")
            }
        };
        let existing: Vec<String> = store.database.fetch_all(statement.bind(&self.name)).await?;
        // PostgreSQL writes the beginning of the text in its own way.
        let exists = |trigger: &Trigger| existing.iter().any(|text| text.ends_with(&trigger.ending));
        let missing = triggers.into_iter().filter(|trigger| !exists(trigger));
        let texts: Vec<String> = missing.map(|trigger| trigger.drop + &trigger.text).collect();
        if texts.is_empty() {
            return Ok(());
        }
        database.execute_batch(&texts.join(";\n")).await
    }

    fn triggers(&self, dialect: Dialect, plugin: &str, chain: &str) -> Vec<Trigger> {
        let table = &self.name;
        if dialect == Dialect::Postgres {
            let name = format!("host_chain_{table}");
            let ending = format!(" FOR EACH ROW EXECUTE FUNCTION host_chain_write('{plugin}', '{chain}')");
            let text = format!("CREATE TRIGGER {name} AFTER INSERT OR UPDATE OR DELETE ON {table}{ending}");
            return vec![Trigger { drop: format!("DROP TRIGGER IF EXISTS {name} ON {table};"), text, ending }];
        }
        let (old, new) = (self.row_image("OLD"), self.row_image("NEW"));
        let cases = [("INSERT", "NULL", new.as_str()), ("UPDATE", &old, &new), ("DELETE", &old, "NULL")];
        let trigger = |(verb, before, after): (&str, &str, &str)| {
            let name = format!("host_chain_{}_{table}", verb.to_ascii_lowercase());
            let index = format!("plugin = '{plugin}' AND chain = '{chain}'");
            let text = format!(
                "CREATE TRIGGER {name} AFTER {verb} ON {table} \
                 WHEN coalesce((SELECT block FROM host_chain_turn WHERE {index}), 0) >= 0 BEGIN \
                 SELECT RAISE(ABORT, '{table} is derived from the chain: only chain events write it') \
                 WHERE NOT EXISTS (SELECT 1 FROM host_chain_turn WHERE {index}); \
                 INSERT INTO host_chain_journal (plugin, chain, block, tab, before_row, after_row) \
                 SELECT plugin, chain, block, '{table}', {before}, {after} FROM host_chain_turn \
                 WHERE {index}; END"
            );
            Trigger { drop: format!("DROP TRIGGER IF EXISTS {name};"), ending: text.clone(), text }
        };
        cases.into_iter().map(trigger).collect()
    }

    /// SQL that makes JSON of the row, each value prefixed with a letter for its type: SQLite's columns hold any type.
    fn row_image(&self, row: &str) -> String {
        let tagged = |column: &String| {
            let value = format!("{row}.\"{column}\"");
            format!(
                "'{column}', CASE typeof({value}) WHEN 'null' THEN NULL WHEN 'integer' THEN 'i' || {value} \
                 WHEN 'real' THEN 'r' || quote({value}) WHEN 'text' THEN 't' || {value} ELSE 'b' || hex({value}) END"
            )
        };
        format!("json_object({})", self.columns.iter().map(tagged).collect::<Vec<_>>().join(", "))
    }

    /// Deletes rows, at most so many.
    pub(crate) fn delete_some(&self, rows: u32) -> Statement {
        let (table, keys) = (&self.name, quoted(&self.keys).join(", "));
        sql(format!("DELETE FROM {table} WHERE ({keys}) IN (SELECT {keys} FROM {table} LIMIT {rows})")).into()
    }

    /// The statement that undoes one change.
    pub(crate) fn undo(&self, dialect: Dialect, change: &UndoRow) -> Result<Statement, String> {
        match dialect {
            Dialect::Sqlite => self.undo_on_sqlite(change),
            Dialect::Postgres => self.undo_on_postgres(change),
        }
    }

    fn undo_on_sqlite(&self, change: &UndoRow) -> Result<Statement, String> {
        let before = change.before_row.as_deref().map(|row| column_values(row, &self.columns)).transpose()?;
        let after = change.after_row.as_deref().map(|row| column_values(row, &self.keys)).transpose()?;
        let (table, columns) = (&self.name, quoted(&self.columns));
        let keys = |first: usize| {
            let equals = |(index, key): (usize, &String)| format!("{key} IS ${}", first + index);
            quoted(&self.keys).iter().enumerate().map(equals).collect::<Vec<_>>().join(" AND ")
        };
        let placeholders = (1..=columns.len()).map(|number| format!("${number}")).collect::<Vec<_>>();
        let text = match (&before, &after) {
            (None, Some(_)) => format!("DELETE FROM {table} WHERE {}", keys(1)),
            (Some(_), None) => {
                format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), placeholders.join(", "))
            }
            (Some(_), Some(_)) => {
                let sets: Vec<String> =
                    columns.iter().zip(&placeholders).map(|(column, value)| format!("{column} = {value}")).collect();
                format!("UPDATE {table} SET {} WHERE {}", sets.join(", "), keys(columns.len() + 1))
            }
            (None, None) => return Err("a change in the undo log is empty".to_owned()),
        };
        let params = before.into_iter().chain(after).flatten().collect::<Vec<Value>>();
        Ok(Statement { sql: text.into(), params: params.into() })
    }

    fn undo_on_postgres(&self, change: &UndoRow) -> Result<Statement, String> {
        let table = &self.name;
        let row = |number: usize| format!("jsonb_populate_record(CAST(NULL AS {table}), CAST(${number} AS jsonb))");
        let (columns, keys) = (quoted(&self.columns).join(", "), quoted(&self.keys).join(", "));
        let is_row = |number: usize| format!("({keys}) = (SELECT {keys} FROM {})", row(number));
        let (text, params) = match (&change.before_row, &change.after_row) {
            (None, Some(after)) => (format!("DELETE FROM {table} WHERE {}", is_row(1)), vec![after]),
            (Some(before), None) => {
                (format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM {}", row(1)), vec![before])
            }
            (Some(before), Some(after)) => {
                let text =
                    format!("UPDATE {table} SET ({columns}) = (SELECT {columns} FROM {}) WHERE {}", row(1), is_row(2));
                (text, vec![before, after])
            }
            (None, None) => return Err("a change in the undo log is empty".to_owned()),
        };
        let params = params.into_iter().map(|image| Value::Text(image.as_str().into())).collect();
        Ok(Statement { sql: text.into(), params })
    }
}

struct Trigger {
    text: String,
    drop: String,
    /// What the text in the database's catalogue ends with.
    ending: String,
}

fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("\"{name}\"")).collect()
}

/// The columns of a row that [`DerivedTable::row_image`] wrote.
fn column_values(image: &str, columns: &[String]) -> Result<Vec<Value>, String> {
    let row: Map<String, Json> = serde_json::from_str(image).map_err(|error| format!("the undo log: {error}"))?;
    let column = |column: &String| match row.get(column) {
        Some(Json::Null) => Ok(Value::Null),
        Some(Json::String(tagged)) => tagged_value(tagged).ok_or_else(|| format!("the undo log: {column} is no value")),
        _ => Err(format!("the undo log: {column} is not there")),
    };
    columns.iter().map(column).collect()
}

fn tagged_value(tagged: &str) -> Option<Value> {
    let mut chars = tagged.chars();
    let (kind, text) = (chars.next()?, chars.as_str());
    Some(match kind {
        'i' => Value::Int(text.parse().ok()?),
        'r' => Value::Real(text.parse().ok()?),
        't' => Value::Text(text.into()),
        'b' => Value::Blob(hex::decode(text).ok()?.into()),
        _ => return None,
    })
}
