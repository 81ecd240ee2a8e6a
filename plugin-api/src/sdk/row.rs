//! Decodes rows by serde: a struct by column names, a tuple by position, any other type from the only column.
//!
//! Names match without regard to case and `_`, so that a struct with `rename_all = "camelCase"` is row and response in one.
//! Columns in the order of the struct's fields are compared once per result; its rows are then decoded by position.

use crate::abi::{Cell, HostError, HostErrorCode, MalformedRows, Rows};
use serde::{
    Deserializer,
    de::{self, Deserialize, IntoDeserializer, Visitor, value::BorrowedStrDeserializer},
    forward_to_deserialize_any,
};
use std::cell::OnceCell;

/// Decodes rows. The gateway calls it for its own tables; plugins use it through [`super::Query`].
pub fn decode<'r, T: Deserialize<'r>>(rows: &'r Rows) -> Result<Vec<T>, HostError> {
    let columns = rows.columns().map_err(broken)?;
    let mut cells = rows.cells().map_err(broken)?;
    let mut decoded = Vec::with_capacity(rows.row_count().min(rows.byte_count()));
    let mut row = Vec::with_capacity(columns.len());
    let fields = OnceCell::new();
    for _ in 0..rows.row_count() {
        row.clear();
        for _ in 0..columns.len() {
            row.push(cells.next().ok_or(MalformedRows).and_then(|cell| cell).map_err(broken)?);
        }
        decoded.push(T::deserialize(Row { columns: &columns, cells: &row, fields: &fields }).map_err(mismatch)?);
    }
    Ok(decoded)
}

/// Decodes the first row only.
pub(crate) fn decode_first<'r, T: Deserialize<'r>>(rows: &'r Rows) -> Result<Option<T>, HostError> {
    if rows.is_empty() {
        return Ok(None);
    }
    let columns = rows.columns().map_err(broken)?;
    let cells = rows.cells().map_err(broken)?.take(columns.len()).collect::<Result<Vec<_>, _>>().map_err(broken)?;
    let row = Row { columns: &columns, cells: &cells, fields: &OnceCell::new() };
    T::deserialize(row).map(Some).map_err(mismatch)
}

pub(super) fn broken(error: MalformedRows) -> HostError {
    HostError::new(HostErrorCode::Internal, error.to_string())
}

fn mismatch(error: de::value::Error) -> HostError {
    HostError::new(HostErrorCode::Statement, format!("a row does not fit its type: {error}"))
}

/// One row; its texts are borrowed from the buffer, which lives for `'r`.
struct Row<'a, 'r> {
    columns: &'a [&'r str],
    cells: &'a [Cell<'r>],
    /// Set by the first row, for all rows of the result.
    fields: &'a OnceCell<StructFields<'r>>,
}

/// How the columns of a result become the fields of a struct.
struct StructFields<'r> {
    /// The struct that this was computed for: a `Deserialize` of the plugin's own may read several.
    fields: &'static [&'static str],
    /// The name of the field of each column, or the column's own name; `None` when the columns begin with the fields, in order.
    names: Option<Vec<&'r str>>,
}

impl<'r> StructFields<'r> {
    fn new(columns: &[&'r str], fields: &'static [&'static str]) -> Self {
        if columns.starts_with(fields) {
            return Self { fields, names: None };
        }
        let name_of = |column: &&'r str| {
            let exact = fields.iter().find(|field| **field == *column);
            let similar = || fields.iter().find(|field| is_same(field, column) && !columns.contains(field));
            exact.or_else(similar).copied().unwrap_or(*column)
        };
        let names: Vec<&'r str> = columns.iter().map(name_of).collect();
        Self { fields, names: (!names.starts_with(fields)).then_some(names) }
    }
}

/// Whether two names are equal but for case and `_`: `created_at` and `createdAt`.
fn is_same(field: &str, column: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = u8> {
        name.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
    }
    letters(field).eq(letters(column))
}

impl<'r> Row<'_, 'r> {
    fn only(&self) -> Result<CellReader<'r>, de::value::Error> {
        match self.cells {
            [cell] => Ok(CellReader(*cell)),
            cells => Err(de::Error::custom(format!("one column expected, {} found", cells.len()))),
        }
    }
}

impl<'de> Deserializer<'de> for Row<'_, 'de> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.only()?.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.only()?.deserialize_option(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_seq(de::value::SeqDeserializer::new(self.cells.iter().map(|cell| CellReader(*cell))))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Self::Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let pairs = self.columns.iter().zip(self.cells).map(|(name, cell)| (*name, CellReader(*cell)));
        visitor.visit_map(de::value::MapDeserializer::new(pairs))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        let cached = self.fields.get_or_init(|| StructFields::new(self.columns, fields));
        let other;
        let known = if std::ptr::eq(cached.fields, fields) {
            cached
        } else {
            other = StructFields::new(self.columns, fields);
            &other
        };
        let Some(names) = &known.names else { return self.deserialize_seq(visitor) };
        let pairs = names.iter().zip(self.cells).map(|(name, cell)| (*name, CellReader(*cell)));
        visitor.visit_map(de::value::MapDeserializer::new(pairs))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.only()?.deserialize_bool(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.only()?.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct identifier ignored_any
    }
}

struct CellReader<'a>(Cell<'a>);

impl<'r> IntoDeserializer<'r, de::value::Error> for CellReader<'r> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for CellReader<'de> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Cell::Null => visitor.visit_unit(),
            Cell::Int(value) => visitor.visit_i64(value),
            Cell::Real(value) => visitor.visit_f64(value),
            Cell::Text(text) => visitor.visit_borrowed_str(text),
            Cell::Blob(bytes) => visitor.visit_borrowed_bytes(bytes),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Cell::Int(value @ (0 | 1)) => visitor.visit_bool(value == 1),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Cell::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            // `Vec<u8>` deserialises from a sequence.
            Cell::Blob(bytes) => visitor.visit_seq(de::value::SeqDeserializer::new(bytes.iter().copied())),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self.0 {
            Cell::Text(text) => BorrowedStrDeserializer::new(text).deserialize_enum(name, variants, visitor),
            _ => Err(de::Error::custom("the name of a variant is a text")),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes unit unit_struct
        tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{abi::RowsBuilder, json_text::json_text};
    use serde::Deserialize;

    fn rows(columns: &[&str], cells: &[Cell<'_>]) -> Rows {
        let mut builder = RowsBuilder::new(columns.iter().copied());
        for row in cells.chunks(columns.len()) {
            row.iter().for_each(|cell| builder.cell(*cell));
            builder.end_row();
        }
        builder.finish()
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        Red,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Thing {
        id: u32,
        name: Option<String>,
        done: bool,
        colour: Colour,
        bytes: Vec<u8>,
    }

    #[test]
    fn structs_take_columns_by_name() {
        let cells = [Cell::Text("red"), Cell::Int(1), Cell::Null, Cell::Int(7), Cell::Blob(&[1, 2])];
        let things: Vec<Thing> = decode(&rows(&["colour", "done", "name", "id", "bytes"], &cells)).unwrap();
        assert_eq!(things, [Thing { id: 7, name: None, done: true, colour: Colour::Red, bytes: vec![1, 2] }]);
    }

    #[test]
    fn a_struct_may_be_the_row_and_the_response() {
        #[derive(Debug, PartialEq, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct View<'r> {
            id: i64,
            created_at: i64,
            #[serde(borrow)]
            last_post: Option<&'r str>,
        }
        let view = |last_post| View { id: 7, created_at: 9, last_post };
        let in_order = rows(&["id", "created_at", "last_post"], &[Cell::Int(7), Cell::Int(9), Cell::Text("x")]);
        assert_eq!(decode::<View<'_>>(&in_order).unwrap(), [view(Some("x"))]);
        let more =
            rows(&["id", "createdAt", "last_post", "total"], &[Cell::Int(7), Cell::Int(9), Cell::Null, Cell::Int(1)]);
        assert_eq!(decode::<View<'_>>(&more).unwrap(), [view(None)]);
        let any_order =
            rows(&["last_post", "total", "CREATED_AT", "id"], &[Cell::Null, Cell::Int(1), Cell::Int(9), Cell::Int(7)]);
        assert_eq!(decode::<View<'_>>(&any_order).unwrap(), [view(None)]);
        assert_eq!(decode_first::<View<'_>>(&any_order).unwrap(), Some(view(None)));
        let missing = rows(&["id", "last_post"], &[Cell::Int(7), Cell::Null]);
        assert!(decode::<View<'_>>(&missing).unwrap_err().message.contains("createdAt"));
    }

    #[test]
    fn a_name_that_equals_the_column_comes_first() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Pair {
            ab: i64,
            a_b: i64,
        }
        let swapped = rows(&["a_b", "ab", "AB"], &[Cell::Int(1), Cell::Int(2), Cell::Int(3)]);
        assert_eq!(decode::<Pair>(&swapped).unwrap(), [Pair { ab: 2, a_b: 1 }]);
    }

    #[test]
    fn tuples_and_plain_values() {
        let pair: Vec<(i64, String)> = decode(&rows(&["a", "b"], &[Cell::Int(1), Cell::Text("x")])).unwrap();
        assert_eq!(pair, [(1, "x".to_owned())]);
        let numbers: Vec<Option<i64>> = decode(&rows(&["n"], &[Cell::Int(5), Cell::Null])).unwrap();
        assert_eq!(numbers, [Some(5), None]);
    }

    #[test]
    fn texts_can_be_borrowed() {
        let rows = rows(&["a", "b"], &[Cell::Text("x"), Cell::Text("y"), Cell::Text("z"), Cell::Null]);
        let pairs: Vec<(&str, Option<&str>)> = decode(&rows).unwrap();
        assert_eq!(pairs, [("x", Some("y")), ("z", None)]);
    }

    #[test]
    fn the_first_row_alone() {
        let two = rows(&["n"], &[Cell::Int(5), Cell::Text("not read")]);
        assert_eq!(decode_first::<i64>(&two).unwrap(), Some(5));
        assert_eq!(decode_first::<i64>(&rows(&["n"], &[])).unwrap(), None);
        assert!(decode_first::<(i64, i64)>(&rows(&["n"], &[Cell::Int(5)])).is_err());
    }

    #[test]
    fn a_text_may_hold_json() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Tagged {
            #[serde(deserialize_with = "json_text")]
            tags: Vec<String>,
        }
        let tagged: Vec<Tagged> = decode(&rows(&["tags"], &[Cell::Text(r#"["a","b"]"#)])).unwrap();
        assert_eq!(tagged, [Tagged { tags: vec!["a".to_owned(), "b".to_owned()] }]);
        assert!(decode::<Tagged>(&rows(&["tags"], &[Cell::Text("{")])).is_err());
    }

    #[test]
    fn a_row_that_does_not_fit_its_type_is_an_error_with_the_reason() {
        let error = decode::<(u8,)>(&rows(&["n"], &[Cell::Int(300)])).unwrap_err();
        assert!(error.message.contains("does not fit"), "{error}");
        assert!(decode::<i64>(&rows(&["a", "b"], &[Cell::Int(1), Cell::Int(2)])).is_err());
    }
}
