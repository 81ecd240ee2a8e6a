//! What the tokens alone show: that the text is one allowed statement, its verb, and the order of its placeholders.

use super::lexer::{Token, TokenKind};
use crate::statements::bounds::STATEMENT_PARAMS_MAX;

/// SQLite's own limit for the depth of an expression. It also limits the depth of the parse tree, and so the stack that
/// visiting and dropping the tree needs.
const OPERATORS_MAX: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// `SELECT`, `VALUES`, `EXPLAIN`: changes nothing.
    Read,
    /// `INSERT`, `UPDATE`, `DELETE`, `REPLACE`, alone or after `WITH`.
    Change,
    /// Anything else; only the gateway itself may run it.
    Other,
}

#[derive(Clone, Debug)]
pub(crate) struct StatementKind {
    pub verb: Verb,
    /// Whether a common table expression writes although the verb reads (`WITH x AS (DELETE …) SELECT …`).
    pub has_writing_cte: bool,
    /// The numbers of the placeholders (from 1) in the order of their first occurrence, which is SQLite's numbering.
    pub placeholder_order: Box<[u16]>,
}

const CHANGES: [&str; 4] = ["insert", "update", "delete", "replace"];
const READS: [&str; 3] = ["select", "values", "explain"];
const OPERATOR_WORDS: [&str; 18] = [
    "and",
    "or",
    "not",
    "is",
    "in",
    "like",
    "ilike",
    "similar",
    "glob",
    "match",
    "regexp",
    "between",
    "collate",
    "union",
    "except",
    "intersect",
    "isnull",
    "notnull",
];
/// Only this crate begins and ends transactions; the other statements would act outside the database or the
/// transaction.
const REFUSED_VERBS: [&str; 15] = [
    "begin",
    "start",
    "commit",
    "end",
    "rollback",
    "abort",
    "savepoint",
    "release",
    "prepare",
    "attach",
    "detach",
    "vacuum",
    "copy",
    "load",
    "discard",
];

impl StatementKind {
    pub(crate) fn of(tokens: &[Token<'_>]) -> Result<Self, String> {
        let tokens = single_statement(tokens)?;
        refuse_too_many_operators(tokens)?;
        refuse_group_rollback(tokens)?;
        let verb = verb(tokens)?;
        Ok(Self {
            verb,
            has_writing_cte: verb == Verb::Read && has_writing_cte(tokens),
            placeholder_order: placeholder_order(tokens)?,
        })
    }

    pub(crate) fn reads_only(&self) -> bool {
        self.verb == Verb::Read && !self.has_writing_cte
    }
}

fn word_in(token: &Token<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| token.is_word(word))
}

/// The statement without its final semicolon.
fn single_statement<'p, 'a>(tokens: &'p [Token<'a>]) -> Result<&'p [Token<'a>], String> {
    let tokens = match tokens {
        [head @ .., last] if last.is_symbol(b';') => head,
        all => all,
    };
    if tokens.is_empty() {
        return Err("the statement is empty".into());
    }
    if tokens.iter().any(|token| token.is_symbol(b';')) {
        return Err("one statement at a time: ; is not allowed inside".into());
    }
    Ok(tokens)
}

pub(crate) fn refuse_too_many_operators(tokens: &[Token<'_>]) -> Result<(), String> {
    let is_operator = |token: &&Token<'_>| match token.kind {
        TokenKind::Symbol(symbol) => !b"(),.;".contains(&symbol),
        TokenKind::Word(_) => word_in(token, &OPERATOR_WORDS),
        _ => false,
    };
    if tokens.iter().filter(is_operator).count() > OPERATORS_MAX {
        return Err(format!("a statement has at most {OPERATORS_MAX} operators"));
    }
    Ok(())
}

/// `OR ROLLBACK` and `ON CONFLICT ROLLBACK` would roll back the other requests of the same commit on SQLite.
pub(crate) fn refuse_group_rollback(tokens: &[Token<'_>]) -> Result<(), String> {
    let found = tokens.windows(2).any(|pair| word_in(&pair[0], &["or", "conflict"]) && pair[1].is_word("rollback"));
    if found {
        return Err("conflict clause ROLLBACK is not allowed: use ABORT or IGNORE".into());
    }
    Ok(())
}

pub(crate) fn refuse_transaction_control(tokens: &[Token<'_>]) -> Result<(), String> {
    match tokens.first() {
        Some(first) if word_in(first, &REFUSED_VERBS) => {
            Err("statements that control transactions, files or the server are not allowed".into())
        }
        _ => Ok(()),
    }
}

fn verb(tokens: &[Token<'_>]) -> Result<Verb, String> {
    refuse_transaction_control(tokens)?;
    let Some(first) = tokens.iter().find(|token| !token.is_symbol(b'(')) else {
        return Err("the statement is empty".into());
    };
    let main = if first.is_word("with") {
        let verbs = [CHANGES.as_slice(), READS.as_slice()].concat();
        tokens.iter().find(|token| token.depth == 0 && word_in(token, &verbs)).unwrap_or(first)
    } else {
        first
    };
    Ok(if word_in(main, &READS) {
        Verb::Read
    } else if word_in(main, &CHANGES) {
        Verb::Change
    } else {
        Verb::Other
    })
}

fn has_writing_cte(tokens: &[Token<'_>]) -> bool {
    tokens.windows(2).any(|pair| pair[0].is_symbol(b'(') && word_in(&pair[1], &CHANGES[..3]))
}

fn placeholder_order(tokens: &[Token<'_>]) -> Result<Box<[u16]>, String> {
    let mut numbers = std::collections::HashSet::new();
    let mut order = Vec::new();
    for token in tokens {
        if let TokenKind::Param(number) = token.kind
            && numbers.insert(number)
        {
            order.push(number);
        }
    }
    if order.len() > STATEMENT_PARAMS_MAX {
        return Err(format!("a statement has {} placeholders, at most {STATEMENT_PARAMS_MAX}", order.len()));
    }
    let highest = order.iter().copied().max().unwrap_or(0);
    if usize::from(highest) != order.len() {
        return Err(format!(
            "placeholders are numbered without holes: ${highest} is used, but there are {}",
            order.len()
        ));
    }
    Ok(order.into())
}
