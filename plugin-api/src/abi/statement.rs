//! SQL statements, their parameters and their outcomes.

use super::Rows;
use abi_stable::{
    StableAbi,
    std_types::{RCowStr, RString, RVec},
};

/// A value bound to a placeholder. Booleans are `Int(0 | 1)`, 256-bit numbers decimal `Text`.
#[repr(C, u8)]
#[derive(StableAbi, Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(RString),
    Blob(RVec<u8>),
}

/// One statement with `$1 … $n` placeholders and exactly n parameters.
/// Borrowed text is a constant of the plugin: libraries are never unloaded, so it lives as long as the process.
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct Statement {
    pub sql: RCowStr<'static>,
    pub params: RVec<Value>,
}

/// The outcome of one statement: its rows (`SELECT`, `… RETURNING`) and the number of rows that it changed.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct StatementResult {
    pub rows: Rows,
    pub changes: u64,
}
