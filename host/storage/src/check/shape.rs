//! What the tokens alone tell about a statement: how many there are, their kind, and the order of the placeholders.

use super::lex::{Piece, Token};

/// Longest statement; also bounds what the parser has to hold.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// SQLite's own limit for the depth of an expression. It also bounds how deep the parser's tree can be,
/// and with it the stack that visiting and dropping the tree needs.
const OPERATORS_MAX: usize = 1000;
/// SQLite's limit; PostgreSQL has 65535.
const PARAMS_MAX: usize = 32_766;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `SELECT`, `VALUES`, `EXPLAIN`: changes nothing.
    Read,
    /// `INSERT`, `UPDATE`, `DELETE`, `REPLACE`, alone or behind `WITH`.
    Change,
    /// Anything else; only the gateway itself may send it.
    Other,
}

#[derive(Clone, Debug)]
pub struct Shape {
    pub verb: Verb,
    /// Whether a part of the statement writes although its verb reads (`WITH x AS (DELETE …) SELECT …`).
    pub writes_inside: bool,
    /// The numbers of the placeholders (from 1) in the order in which they first occur: SQLite counts them like that.
    pub order: Box<[u16]>,
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
/// Transactions begin and end in the storage only; the rest would reach out of the database or of the transaction.
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

impl Shape {
    pub fn of(pieces: &[Piece<'_>]) -> Result<Self, String> {
        let pieces = single_statement(pieces)?;
        refuse_excess(pieces)?;
        refuse_group_rollback(pieces)?;
        let verb = verb(pieces)?;
        Ok(Self { verb, writes_inside: verb == Verb::Read && writes_inside(pieces), order: placeholder_order(pieces)? })
    }

    pub fn reads_only(&self) -> bool {
        self.verb == Verb::Read && !self.writes_inside
    }
}

fn word_in(piece: &Piece<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| piece.is_word(word))
}

/// The statement without a semicolon at its end.
fn single_statement<'p, 'a>(pieces: &'p [Piece<'a>]) -> Result<&'p [Piece<'a>], String> {
    let pieces = match pieces {
        [head @ .., last] if last.is_symbol(b';') => head,
        all => all,
    };
    if pieces.is_empty() {
        return Err("the statement is empty".into());
    }
    if pieces.iter().any(|piece| piece.is_symbol(b';')) {
        return Err("one statement at a time: ; is not allowed inside".into());
    }
    Ok(pieces)
}

pub fn refuse_excess(pieces: &[Piece<'_>]) -> Result<(), String> {
    let is_operator = |piece: &&Piece<'_>| match piece.token {
        Token::Symbol(symbol) => !b"(),.;".contains(&symbol),
        Token::Word(_) => word_in(piece, &OPERATOR_WORDS),
        _ => false,
    };
    if pieces.iter().filter(is_operator).count() > OPERATORS_MAX {
        return Err(format!("a statement has at most {OPERATORS_MAX} operators"));
    }
    Ok(())
}

/// `OR ROLLBACK` and `ON CONFLICT ROLLBACK` would roll back the other requests of the same commit on SQLite.
pub fn refuse_group_rollback(pieces: &[Piece<'_>]) -> Result<(), String> {
    let found = pieces.windows(2).any(|pair| word_in(&pair[0], &["or", "conflict"]) && pair[1].is_word("rollback"));
    if found {
        return Err("conflict clause ROLLBACK is not allowed: use ABORT or IGNORE".into());
    }
    Ok(())
}

pub fn refuse_transaction_control(pieces: &[Piece<'_>]) -> Result<(), String> {
    match pieces.first() {
        Some(first) if word_in(first, &REFUSED_VERBS) => {
            Err("statements that control transactions, files or the server are not allowed".into())
        }
        _ => Ok(()),
    }
}

fn verb(pieces: &[Piece<'_>]) -> Result<Verb, String> {
    refuse_transaction_control(pieces)?;
    let Some(first) = pieces.iter().find(|piece| !piece.is_symbol(b'(')) else {
        return Err("the statement is empty".into());
    };
    let main = if first.is_word("with") {
        let verbs = [CHANGES.as_slice(), READS.as_slice()].concat();
        pieces.iter().find(|piece| piece.depth == 0 && word_in(piece, &verbs)).unwrap_or(first)
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

fn writes_inside(pieces: &[Piece<'_>]) -> bool {
    pieces.windows(2).any(|pair| pair[0].is_symbol(b'(') && word_in(&pair[1], &CHANGES[..3]))
}

fn placeholder_order(pieces: &[Piece<'_>]) -> Result<Box<[u16]>, String> {
    let mut seen = std::collections::HashSet::new();
    let mut order = Vec::new();
    for piece in pieces {
        if let Token::Param(number) = piece.token
            && seen.insert(number)
        {
            order.push(number);
        }
    }
    if order.len() > PARAMS_MAX {
        return Err(format!("a statement has at most {PARAMS_MAX} placeholders"));
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
