//! Checks every statement before a database runs it: once per text, then from a cache.
//!
//! The rule: what a statement may read, write and call is the same on both databases. Its SQL is that of the database in use,
//! without what SQLite, PostgreSQL and the parser would take apart differently.

mod access;
mod checker;
mod functions;
mod lexer;
mod parse;
mod statement;
mod statement_kind;
mod table_references;

pub(crate) use access::check_access;
pub(crate) use checker::{AccessMode, StatementChecker};
pub(crate) use lexer::{Token, TokenKind, tokenize};
pub(crate) use parse::with_statement;
pub use statement::CheckedStatement;
pub(crate) use statement::{StatementInfo, check_param_bytes};
pub(crate) use statement_kind::{Verb, refuse_group_rollback, refuse_too_many_operators, refuse_transaction_control};
pub(crate) use table_references::{TableReferences, plain_name};
