//! The columns of an order, and the condition that a row comes after another one in it.

use crate::abi::Value;

/// The order of a list: `created_at DESC, id DESC`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyset {
    keys: Vec<Key>,
    id: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    expression: &'static str,
    is_descending: bool,
    /// NULLs may occur, and come first.
    has_nulls_first: bool,
}

impl Keyset {
    /// `table` tells apart the same order of two lists.
    pub fn new(table: &str, order: &'static str) -> Self {
        let keys = split(order).map(Key::parse).collect();
        // FNV-1a: a different order must have another number, on every machine and after every restart.
        let id = table
            .bytes()
            .chain(order.bytes())
            .fold(0x811c_9dc5, |id: u32, byte| (id ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        Self { keys, id }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// `, EXPRESSION AS page_key_0, …`, for the end of the selected columns.
    pub fn push_columns(&self, text: &mut String) {
        for (number, key) in self.keys.iter().enumerate() {
            // No type of the row has a field of this name.
            text.extend([", ", key.expression, " AS page_key_", &number.to_string()]);
        }
    }

    /// Writes that a row comes after the one with these values. `bind` returns the placeholder of a value.
    pub(super) fn push_after(&self, text: &mut String, values: &[Value], bind: &mut dyn FnMut(&Value) -> String) {
        let is_plain =
            self.keys.iter().all(|key| !key.has_nulls_first && key.is_descending == self.keys[0].is_descending);
        if is_plain {
            // A comparison of rows, which an index of the order answers.
            let expressions: Vec<&str> = self.keys.iter().map(|key| key.expression).collect();
            let placeholders: Vec<String> = values.iter().map(bind).collect();
            let comparison = if self.keys.first().is_some_and(|key| key.is_descending) { "<" } else { ">" };
            text.push_str(&format!("({}) {comparison} ({})", expressions.join(", "), placeholders.join(", ")));
            return;
        }
        let keys: Vec<(Key, Option<String>)> = self
            .keys
            .iter()
            .zip(values)
            .map(|(key, value)| (*key, (*value != Value::Null).then(|| bind(value))))
            .collect();
        if let Some((first, Some(placeholder))) = keys.first().filter(|(first, _)| !first.has_nulls_first) {
            // Follows from the rest; the database finds the first row by it.
            let comparison = if first.is_descending { "<=" } else { ">=" };
            text.push_str(&format!("{} {comparison} {placeholder} AND ", first.expression));
        }
        let after =
            keys.iter().rev().fold(String::new(), |rest, (key, placeholder)| key.after(placeholder.as_deref(), &rest));
        text.push_str(&after);
    }
}

impl Key {
    fn parse(text: &'static str) -> Self {
        let text = text.trim();
        let (text, has_nulls_first) = text.strip_suffix(" NULLS FIRST").map_or((text, false), |text| (text, true));
        let (expression, is_descending) = text.strip_suffix(" DESC").map_or((text, false), |text| (text, true));
        Self { expression, is_descending, has_nulls_first }
    }

    /// That this key is after the placeholder's value (`None`: NULL), or equal and `rest` is true.
    fn after(self, placeholder: Option<&str>, rest: &str) -> String {
        let Self { expression, is_descending, .. } = self;
        let comparison = if is_descending { '<' } else { '>' };
        let (is_after, is_equal) = match placeholder {
            Some(placeholder) => {
                (format!("{expression} {comparison} {placeholder}"), format!("{expression} = {placeholder}"))
            }
            // Behind the NULLs is everything else.
            None => (format!("{expression} IS NOT NULL"), format!("{expression} IS NULL")),
        };
        if rest.is_empty() { format!("({is_after})") } else { format!("({is_after} OR ({is_equal} AND {rest}))") }
    }
}

/// The parts between the commas that are in no brackets.
fn split(order: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0;
    let parts = order.split(move |letter: char| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(order: &'static str, values: &[Value]) -> String {
        let (mut text, mut number) = (String::new(), 0);
        Keyset::new("t", order).push_after(&mut text, values, &mut |_| {
            number += 1;
            format!("${number}")
        });
        text
    }

    #[test]
    fn one_direction_compares_rows() {
        let (one, two) = (Value::Int(1), Value::Int(2));
        assert_eq!(after("t.id DESC", std::slice::from_ref(&one)), "(t.id) < ($1)");
        assert_eq!(after("a, lower(b)", &[one.clone(), two.clone()]), "(a, lower(b)) > ($1, $2)");
        assert_eq!(after("coalesce(a, 0) DESC, id DESC", &[one, two]), "(coalesce(a, 0), id) < ($1, $2)");
    }

    #[test]
    fn two_directions_compare_one_after_the_other() {
        let values = [Value::Int(1), Value::Int(2)];
        assert_eq!(after("a, id DESC", &values), "a >= $1 AND (a > $1 OR (a = $1 AND (id < $2)))");
    }

    #[test]
    fn nulls_come_first() {
        let order = "c NULLS FIRST, id DESC";
        assert_eq!(after(order, &[Value::Null, Value::Int(2)]), "(c IS NOT NULL OR (c IS NULL AND (id < $1)))");
        assert_eq!(after(order, &[Value::Int(1), Value::Int(2)]), "(c > $1 OR (c = $1 AND (id < $2)))");
    }

    #[test]
    fn the_number_of_an_order_tells_it_apart() {
        let id = |table, order| Keyset::new(table, order).id();
        assert_eq!(id("a", "id DESC"), id("a", "id DESC"));
        assert!(id("a", "id DESC") != id("b", "id DESC") && id("a", "id DESC") != id("a", "id"));
        assert_eq!(Keyset::new("a", "").key_count(), 0);
    }

    #[test]
    fn keys_are_columns() {
        let mut text = String::new();
        Keyset::new("a", "lower(b), id DESC").push_columns(&mut text);
        assert_eq!(text, ", lower(b) AS page_key_0, id AS page_key_1");
    }
}
