//! How much one call of the database may ask for and get. Whoever asks for more gets an error that names the bound.

/// Longest text of a statement; it also limits the parser's memory.
pub const STATEMENT_TEXT_BYTES_MAX: usize = 256 * 1024;
/// SQLite's limit; PostgreSQL has 65535.
pub const STATEMENT_PARAMS_MAX: usize = 32_766;
/// Statements of one call, with those that were deferred before it: they wait in memory.
pub const CALL_STATEMENTS_MAX: usize = 20_000;
/// Bytes of the parameters of all these statements.
pub const CALL_PARAM_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of rows that one call returns, over all its statements.
pub const CALL_ROWS_BYTES_MAX: usize = 64 * 1024 * 1024;
