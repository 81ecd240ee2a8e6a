//! The text of a list's statements.
//!
//! The rule: a value is bound once, however often its placeholder is used. Page and total repeat the conditions, so the
//! parameters are numbered first and each text is then written with the same numbers.

use super::{Condition, Hits, List, Window};
use crate::{
    abi::{Statement, Value},
    sdk::{Sql, db::push_renumbered, sql},
};
use abi_stable::std_types::RVec;
use std::fmt::Write as _;

/// Initial capacities, which few lists exceed.
const TEXT_BYTES: usize = 768;
const PARAMS: usize = 8;

impl List {
    /// `SELECT …, total …`
    pub(super) fn page_statement(&self) -> Sql {
        self.select(true)
    }

    /// Without the total.
    pub(super) fn rows_statement(&self) -> Sql {
        self.select(false)
    }

    /// `SELECT total`. With a stored count it has no other parameters than those of the count.
    pub(super) fn count_statement(&self) -> Sql {
        let mut writer = Writer::new();
        if let Some(stored) = &self.stored_total {
            writer.push("SELECT ");
            writer.push_stored(stored);
            return writer.finish();
        }
        let conditions = writer.begin(self);
        writer.push("SELECT ");
        writer.push_count(self, conditions);
        writer.finish()
    }

    fn select(&self, with_total: bool) -> Sql {
        let mut writer = Writer::new();
        let conditions = writer.begin(self);
        writer.push("SELECT ");
        writer.push(self.columns);
        if let Some(Window { start, .. }) = &self.page {
            start.push_columns(&mut writer.text);
        }
        if with_total {
            writer.push(", ");
            match &self.stored_total {
                Some(stored) => writer.push_stored(stored),
                None => writer.push_count(self, conditions),
            }
            writer.push(" AS total");
        }
        writer.push_table(self);
        if !self.joins.is_empty() {
            writer.push(" ");
            writer.push(self.joins);
        }
        writer.push_conditions(self, conditions);
        let Some(Window { limit, start }) = &self.page else {
            writer.push_order(self);
            return writer.finish();
        };
        let is_first = self.hits.is_none() && self.conditions.is_empty();
        let mut writer =
            writer.then(|statement| start.push_after(statement, if is_first { " WHERE " } else { " AND " }));
        writer.push_order(self);
        writer.push_bound(" LIMIT ", (*limit).into());
        start.push_offset(writer.finish())
    }
}

/// A statement that is being written. Text and parameters are allocated once each.
struct Writer {
    text: String,
    params: RVec<Value>,
}

impl Writer {
    fn new() -> Self {
        Self { text: String::with_capacity(TEXT_BYTES), params: RVec::with_capacity(PARAMS) }
    }

    fn finish(self) -> Sql {
        Sql(Statement { params: self.params, ..sql(self.text).0 })
    }

    fn then(self, write: impl FnOnce(Sql) -> Sql) -> Self {
        let Sql(Statement { sql, params }) = write(self.finish());
        Self { text: sql.into_owned().into_string(), params }
    }

    fn push_order(&mut self, list: &List) {
        if !list.order.is_empty() {
            self.push(" ORDER BY ");
            self.push(list.order);
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn push_placeholder(&mut self, number: usize) {
        let _ = write!(self.text, "${number}");
    }

    /// Writes the text with the placeholder of the value at its end.
    fn push_bound(&mut self, text: &str, value: i64) {
        self.push(text);
        self.params.push(Value::Int(value));
        self.push_placeholder(self.params.len());
    }

    /// Writes the `WITH` of the hits and binds the values of the conditions; returns how many parameters precede these.
    fn begin(&mut self, list: &List) -> usize {
        if let Some(Hits { select, .. }) = &list.hits {
            self.push("WITH hits (hit_id) AS (");
            self.push_fragment(select);
            self.push(") ");
        }
        let first = self.params.len();
        self.params.extend(list.conditions.iter().filter_map(|condition| match condition {
            Condition::Text(_, value) => value.clone(),
            Condition::Contains(search, _) => Some(Value::Text(search.needle().into())),
        }));
        first
    }

    /// `FROM …`. With hits, the database begins with them: there are fewer of them than rows.
    fn push_table(&mut self, list: &List) {
        self.push(" FROM ");
        if list.hits.is_some() {
            self.push("hits CROSS JOIN ");
        }
        self.push(list.table);
    }

    /// `WHERE …`, or nothing. `bound` is the number of parameters before those of the conditions.
    fn push_conditions(&mut self, list: &List, mut bound: usize) {
        let mut word = " WHERE ";
        if let Some(Hits { key, .. }) = &list.hits {
            self.text.extend([word, *key, " = hits.hit_id"]);
            word = " AND ";
        }
        for condition in &list.conditions {
            self.push(word);
            word = " AND ";
            match condition {
                Condition::Text(text, None) => self.push(text),
                Condition::Text(text, Some(_)) => {
                    bound += 1;
                    self.push_condition(text, bound);
                }
                Condition::Contains(search, columns) => {
                    bound += 1;
                    let placeholder = format!("${bound}");
                    for (index, column) in columns.iter().enumerate() {
                        self.push(if index == 0 { "(" } else { " OR " });
                        search.push_condition(&mut self.text, column, &placeholder);
                    }
                    self.push(")");
                }
            }
        }
    }

    /// `{}` becomes the placeholder.
    fn push_condition(&mut self, text: &str, number: usize) {
        for (index, part) in text.split("{}").enumerate() {
            if index > 0 {
                self.push_placeholder(number);
            }
            self.push(part);
        }
    }

    /// The number of matches.
    fn push_count(&mut self, list: &List, bound: usize) {
        if list.hits.is_some() && list.conditions.is_empty() {
            return self.push("(SELECT count(*) FROM hits)");
        }
        self.push("(SELECT count(*)");
        self.push_table(list);
        self.push_conditions(list, bound);
        self.push(")");
    }

    fn push_stored(&mut self, select: &Sql) {
        self.push("coalesce((");
        self.push_fragment(select);
        self.push("), 0)");
    }

    /// Writes a statement into this one; its placeholders follow those there are.
    fn push_fragment(&mut self, Sql(Statement { sql, params }): &Sql) {
        push_renumbered(&mut self.text, sql, self.params.len());
        self.params.extend(params.iter().cloned());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::sdk::{
        Bind as _, Search,
        list::{PageStart, keyset::Keyset},
    };

    const NOTES: List = List::new("notes_notes n", "n.id, n.text").order_by("n.id DESC");

    fn text(statement: Sql) -> String {
        statement.0.sql.to_string()
    }

    fn values(statement: &Sql) -> Vec<Value> {
        statement.0.params.to_vec()
    }

    fn search(dialect: &str) -> Option<Search> {
        Search::in_dialect(dialect, "X")
    }

    #[test]
    fn one_statement_reads_page_and_total() {
        let page = NOTES.page(25, 50_u32).page_statement();
        assert_eq!(values(&page), [Value::Int(25), Value::Int(50)]);
        assert_eq!(
            text(page),
            "SELECT n.id, n.text, n.id AS page_key_0, (SELECT count(*) FROM notes_notes n) AS total FROM notes_notes n \
             ORDER BY n.id DESC LIMIT $1 OFFSET $2"
        );
        assert_eq!(text(NOTES.page(25, 50_u32).count_statement()), "SELECT (SELECT count(*) FROM notes_notes n)");
        assert_eq!(text(NOTES.rows_statement()), "SELECT n.id, n.text FROM notes_notes n ORDER BY n.id DESC");
    }

    #[test]
    fn conditions_are_repeated_and_their_values_are_not() {
        let list = NOTES
            .join("LEFT JOIN notes_cards c ON c.note_id = n.id")
            .filter("n.author = {}", Some("0x1"))
            .filter("n.kind = {}", None::<&str>)
            .filter_if(true, "n.online = 1")
            .filter_if(false, "n.online = 0")
            .contains(search("sqlite"), &["n.title", "n.text"])
            .page(1, 2_u32);
        let conditions =
            "n.author = $1 AND n.online = 1 AND (instr(lower(n.title), $2) > 0 OR instr(lower(n.text), $2) > 0)";
        let page = list.page_statement();
        assert_eq!(values(&page), ["0x1".into_value(), "x".into_value(), Value::Int(1), Value::Int(2)]);
        assert_eq!(
            text(page),
            format!(
                "SELECT n.id, n.text, n.id AS page_key_0, \
                 (SELECT count(*) FROM notes_notes n WHERE {conditions}) AS total FROM notes_notes n \
                 LEFT JOIN notes_cards c ON c.note_id = n.id WHERE {conditions} ORDER BY n.id DESC LIMIT $3 OFFSET $4"
            )
        );
        let count = list.count_statement();
        assert_eq!(values(&count), ["0x1".into_value(), "x".into_value()]);
        assert_eq!(text(count), format!("SELECT (SELECT count(*) FROM notes_notes n WHERE {conditions})"));
    }

    #[test]
    fn a_cursor_is_a_condition_of_the_page_alone() {
        let list = || NOTES.order_by("n.votes DESC, n.id DESC").filter("n.kind = {}", Some("a"));
        let order = Keyset::new("notes_notes n", "n.votes DESC, n.id DESC").id();
        let start = PageStart::after(&alloy_primitives::hex::encode(format!("[{order},[3,9]]"))).unwrap();
        let page = list().page(5, start).page_statement();
        assert_eq!(values(&page), ["a".into_value(), Value::Int(3), Value::Int(9), Value::Int(5)]);
        assert_eq!(
            text(page),
            "SELECT n.id, n.text, n.votes AS page_key_0, n.id AS page_key_1, \
             (SELECT count(*) FROM notes_notes n WHERE n.kind = $1) AS total FROM notes_notes n \
             WHERE n.kind = $1 AND ((n.votes, n.id) < ($2, $3)) ORDER BY n.votes DESC, n.id DESC LIMIT $4"
        );
    }

    #[test]
    fn a_value_may_be_used_twice() {
        let list = NOTES.filter("substr(n.kind, 1, length({})) = {}", Some("a"));
        assert!(text(list.rows_statement()).contains("substr(n.kind, 1, length($1)) = $1 ORDER"));
    }

    #[test]
    fn each_dialect_searches_in_its_way() {
        let list = NOTES.contains(search("postgres"), &["n.text"]);
        assert!(text(list.rows_statement()).contains(r#"WHERE (strpos(lower(n.text COLLATE "C"), $1) > 0) ORDER"#));
        assert_eq!(text(NOTES.contains(None, &["n.text"]).rows_statement()), text(NOTES.rows_statement()));
    }

    #[test]
    fn a_stored_count_replaces_the_counting() {
        let count = sql("SELECT notes FROM notes_counts WHERE tag = $1").bind("a");
        let list = NOTES.filter("n.tag = {}", Some("a")).stored_total(count).first(1);
        let page = list.page_statement();
        assert_eq!(values(&page), ["a".into_value(), "a".into_value(), Value::Int(1), Value::Int(0)]);
        assert_eq!(
            text(page),
            "SELECT n.id, n.text, coalesce((SELECT notes FROM notes_counts WHERE tag = $2), 0) AS total FROM notes_notes n \
             WHERE n.tag = $1 ORDER BY n.id DESC LIMIT $3 OFFSET $4"
        );
        let count = list.count_statement();
        assert_eq!(values(&count), ["a".into_value()]);
        assert_eq!(text(count), "SELECT coalesce((SELECT notes FROM notes_counts WHERE tag = $1), 0)");
    }

    #[test]
    fn hits_are_selected_once() {
        let hits =
            || sql("SELECT id FROM a WHERE x = $1 UNION SELECT id FROM b WHERE x = $1 AND y = $2").bind(7).bind(8);
        let list = NOTES.hits("n.id", hits()).first(1);
        assert_eq!(
            text(list.page_statement()),
            "WITH hits (hit_id) AS (SELECT id FROM a WHERE x = $1 UNION SELECT id FROM b WHERE x = $1 AND y = $2) \
             SELECT n.id, n.text, (SELECT count(*) FROM hits) AS total FROM hits CROSS JOIN notes_notes n \
             WHERE n.id = hits.hit_id ORDER BY n.id DESC LIMIT $3 OFFSET $4"
        );
        let list = NOTES.filter("n.kind = {}", Some("k")).hits("n.id", hits());
        let conditions = "n.id = hits.hit_id AND n.kind = $3";
        let count = list.count_statement();
        assert_eq!(values(&count), [Value::Int(7), Value::Int(8), "k".into_value()]);
        assert!(
            text(count)
                .ends_with(&format!(" SELECT (SELECT count(*) FROM hits CROSS JOIN notes_notes n WHERE {conditions})"))
        );
    }

    #[test]
    fn placeholders_of_a_fragment_follow_those_before_it() {
        let mut writer = Writer::new();
        writer.params.push(Value::Null);
        writer.push_fragment(&sql("a = $1 AND b IN ($2, $12) AND c = '$'").bind(1));
        assert_eq!(writer.text, "a = $2 AND b IN ($3, $13) AND c = '$'");
        assert_eq!(writer.params.len(), 2);
    }
}
