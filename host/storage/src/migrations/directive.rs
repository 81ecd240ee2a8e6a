//! What a directive of a migration is about.

/// `TABLE (COLUMN, …)`
pub(crate) struct Directive<'a> {
    pub table: &'a str,
    pub columns: Vec<&'a str>,
}
