//! Parses SQL with the grammar of the database that will run it. The rule: no text makes this module panic.

use crate::{dialect::Dialect, error::StorageError};
use sqlparser::{
    ast::{BinaryOperator, Expr, Statement},
    dialect::{Dialect as Grammar, PostgreSqlDialect, Precedence, SQLiteDialect},
    keywords::Keyword,
    parser::{Parser, ParserError},
};
use std::any::TypeId;

/// SQLite's grammar with its own `MATCH`: the parser's panics when the right side is not valid.
#[derive(Debug)]
struct SqliteGrammar(SQLiteDialect);

impl Grammar for SqliteGrammar {
    fn dialect(&self) -> TypeId {
        self.0.dialect()
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        self.0.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        self.0.is_identifier_part(ch)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '"'
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_dollar_placeholder(&self) -> bool {
        true
    }

    fn supports_in_empty_list(&self) -> bool {
        true
    }

    fn supports_asc_desc_in_column_definition(&self) -> bool {
        true
    }

    fn supports_notnull_operator(&self) -> bool {
        true
    }

    fn parse_statement(&self, parser: &mut Parser<'_>) -> Option<Result<Statement, ParserError>> {
        self.0.parse_statement(parser)
    }

    fn parse_infix(&self, parser: &mut Parser<'_>, left: &Expr, _precedence: u8) -> Option<Result<Expr, ParserError>> {
        let op = if parser.parse_keyword(Keyword::MATCH) {
            BinaryOperator::Match
        } else if parser.parse_keyword(Keyword::REGEXP) {
            BinaryOperator::Regexp
        } else {
            return None;
        };
        let precedence = self.prec_value(Precedence::Like);
        Some(parser.parse_subexpr(precedence).map(|right| Expr::BinaryOp {
            left: Box::new(left.clone()),
            op,
            right: Box::new(right),
        }))
    }
}

/// The parser recurses as deep as the text nests: this is enough for the most operators that the check allows.
const STACK_BYTES: usize = 128 * 1024 * 1024;

/// Parses exactly one statement and passes it to `inspect`. Both run on a separate thread, whose stack is large enough
/// for a deep tree; a panic in the parser becomes an error of this statement. This is done once per text. The outer
/// error says that no thread could be started, the inner one what is wrong with the statement.
pub(crate) fn with_statement<T: Send>(
    sql: &str,
    dialect: Dialect,
    inspect: impl FnOnce(&Statement) -> Result<T, String> + Send,
) -> Result<Result<T, String>, StorageError> {
    let work = || inspect(&statement(sql, dialect)?);
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("sql-parser".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
            .map_err(|error| StorageError::Unavailable(format!("no thread: {error}")))
            .map(|thread| {
                let failed = "not understood: the parser failed on it";
                thread.join().unwrap_or_else(|_| Err(failed.into()))
            })
    })
}

fn statement(sql: &str, dialect: Dialect) -> Result<Statement, String> {
    let parsed = match dialect {
        Dialect::Sqlite => Parser::parse_sql(&SqliteGrammar(SQLiteDialect {}), sql),
        Dialect::Postgres => Parser::parse_sql(&PostgreSqlDialect {}, sql),
    };
    let mut statements = parsed.map_err(|error| format!("not understood: {error}"))?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err("exactly one statement is allowed".into()),
    }
}
