//! Parses SQL with the grammar of the database that will run it. The rule: no text makes this panic.

use crate::storage::Dialect;
use sqlparser::{
    ast::{BinaryOperator, Expr, Statement},
    dialect::{Dialect as Grammar, PostgreSqlDialect, Precedence, SQLiteDialect},
    keywords::Keyword,
    parser::{Parser, ParserError},
};
use std::any::TypeId;

/// SQLite's grammar with a `MATCH` of our own: the parser's panics when the right side is not valid.
#[derive(Debug)]
struct Sqlite(SQLiteDialect);

impl Grammar for Sqlite {
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

/// Exactly one statement.
pub fn statement(sql: &str, dialect: Dialect) -> Result<Statement, String> {
    // The parser is young code: a panic inside it must stay an error of this statement.
    let parsed = std::panic::catch_unwind(|| match dialect {
        Dialect::Sqlite => Parser::parse_sql(&Sqlite(SQLiteDialect {}), sql),
        Dialect::Postgres => Parser::parse_sql(&PostgreSqlDialect {}, sql),
    });
    let mut statements = match parsed {
        Ok(Ok(statements)) => statements,
        Ok(Err(error)) => return Err(format!("not understood: {error}")),
        Err(_) => return Err("not understood: the parser failed on it".into()),
    };
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err("exactly one statement is allowed".into()),
    }
}
