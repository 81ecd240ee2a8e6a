//! Inserts: several rows in one statement, and a row in place of another.

use super::{Sql, db::Params, sql};
use crate::abi::Statement;
use abi_stable::std_types::RVec;
use std::fmt::Write as _;

impl Sql {
    /// `INSERT INTO table (columns) VALUES …` with one tuple per row; `None` without rows. Append `ON CONFLICT` or
    /// `RETURNING` with [`Sql::push`]. The rows must be few: a statement has at most 32,766 values.
    ///
    /// ```
    /// use plugin_api::Sql;
    ///
    /// fn tag_note(note: i64, tags: &[String]) -> Option<Sql> {
    ///     Sql::insert_rows("notes_tags", "tag, note_id", tags.iter().map(|tag| (tag, note)))
    /// }
    /// ```
    pub fn insert_rows<R: Params>(table: &str, columns: &str, rows: impl IntoIterator<Item = R>) -> Option<Self> {
        let mut text = format!("INSERT INTO {table} ({columns}) VALUES ");
        let mut params = RVec::new();
        for row in rows {
            let first = params.len() + 1;
            text.push_str(if first == 1 { "(" } else { ", (" });
            for number in first..first + R::COUNT {
                let separator = if number == first { "" } else { ", " };
                let _ = write!(text, "{separator}${number}");
            }
            text.push(')');
            row.push_to(&mut params);
        }
        (!params.is_empty()).then(|| Self(Statement { params, ..sql(text).0 }))
    }

    /// Stores a row in place of the one with the same keys: bind the values of the keys, then of the other columns.
    ///
    /// ```
    /// use plugin_api::{Address, Sql};
    ///
    /// fn store_draft(author: Address, text: &str, at_s: i64) -> Sql {
    ///     Sql::upsert("notes_drafts", "author", "text, written_at").bind((author, text, at_s))
    /// }
    /// ```
    pub fn upsert(table: &str, keys: &str, columns: &str) -> Self {
        let names = |list: &str| list.split(',').count();
        let places: Vec<String> = (1..=names(keys) + names(columns)).map(|number| format!("${number}")).collect();
        let set: Vec<String> = columns.split(',').map(|name| format!("{0} = excluded.{0}", name.trim())).collect();
        sql(format!(
            "INSERT INTO {table} ({keys}, {columns}) VALUES ({}) ON CONFLICT ({keys}) DO UPDATE SET {}",
            places.join(", "),
            set.join(", "),
        ))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::abi::Value;

    #[test]
    fn each_row_has_its_placeholders() {
        let Sql(insert) = Sql::insert_rows("notes_tags", "tag, note_id", [("a", 1), ("b", 2)]).unwrap();
        assert_eq!(insert.sql.to_string(), "INSERT INTO notes_tags (tag, note_id) VALUES ($1, $2), ($3, $4)");
        assert_eq!(insert.params[2], Value::Text("b".into()));
        assert_eq!(insert.params[3], Value::Int(2));
        let Sql(insert) = Sql::insert_rows("notes_ids", "id", [(7,)]).unwrap();
        assert_eq!(insert.sql.to_string(), "INSERT INTO notes_ids (id) VALUES ($1)");
    }

    #[test]
    fn an_upsert_replaces_all_but_the_keys() {
        let Sql(upsert) = Sql::upsert("notes_days", "author, day", "notes, last_at");
        assert_eq!(
            upsert.sql.to_string(),
            "INSERT INTO notes_days (author, day, notes, last_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (author, day) DO UPDATE SET notes = excluded.notes, last_at = excluded.last_at"
        );
    }

    #[test]
    fn no_rows_are_no_statement() {
        assert!(Sql::insert_rows("notes_tags", "tag, note_id", Vec::<(String, i64)>::new()).is_none());
    }
}
