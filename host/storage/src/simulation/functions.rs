//! PostgreSQL's functions in SQLite, and what a statement draws: the time, identities and random numbers.
//!
//! The rule: a statement that runs again draws what it drew the first time.

use super::random::Random;
use rusqlite::{
    Connection, Error,
    functions::{Context, FunctionFlags},
    types::{Value, ValueRef},
};
use std::{
    cmp::Ordering,
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// SQLite passes a function's error on as its text.
pub(super) const DIVISION_BY_ZERO: &str = "division by zero";

/// What the functions of all connections to one server draw from.
#[derive(Clone)]
pub(super) struct Draws(Arc<Mutex<DrawState>>);

struct DrawState {
    random: Random,
    /// The last identity of each table.
    sequences: HashMap<String, i64>,
    now_ms: i64,
    /// Of the run before, while a statement runs again.
    replayed: VecDeque<i64>,
    drawn: Vec<i64>,
}

/// What one run of a statement has drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct DrawnValues {
    pub now_ms: i64,
    numbers: Vec<i64>,
}

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(DrawState {
            random: Random::new(seed),
            sequences: HashMap::new(),
            now_ms: 0,
            replayed: VecDeque::new(),
            drawn: Vec::new(),
        })))
    }

    pub(super) fn begin(&self, now_ms: i64) {
        let mut state = self.state();
        (state.now_ms, state.replayed, state.drawn) = (now_ms, VecDeque::new(), Vec::new());
    }

    pub(super) fn begin_again(&self, before: &DrawnValues) {
        let mut state = self.state();
        (state.now_ms, state.replayed, state.drawn) = (before.now_ms, before.numbers.clone().into(), Vec::new());
    }

    pub(super) fn end(&self) -> DrawnValues {
        let mut state = self.state();
        // What a run that ended early has left is nobody else's: a migration would take it for a new identity.
        state.replayed.clear();
        DrawnValues { now_ms: state.now_ms, numbers: std::mem::take(&mut state.drawn) }
    }

    fn state(&self) -> MutexGuard<'_, DrawState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DrawState {
    fn draw(&mut self, new: impl FnOnce(&mut Self) -> i64) -> i64 {
        let number = match self.replayed.pop_front() {
            Some(number) => number,
            None => new(self),
        };
        self.drawn.push(number);
        number
    }

    fn identity(&mut self, table: &str) -> i64 {
        let last = self.sequences.entry(table.to_owned()).or_default();
        *last += 1;
        *last
    }
}

pub(super) fn install(connection: &Connection, draws: &Draws) -> rusqlite::Result<()> {
    let plain = FunctionFlags::SQLITE_UTF8;
    let pure = plain | FunctionFlags::SQLITE_DETERMINISTIC;
    let clock = draws.clone();
    connection.create_scalar_function("sim_now_ms", 0, plain, move |_| Ok(clock.state().now_ms))?;
    let clock = draws.clone();
    connection.create_scalar_function("unixepoch", 0, plain, move |_| Ok(clock.state().now_ms / 1000))?;
    let sequences = draws.clone();
    connection.create_scalar_function("sim_identity", 1, plain, move |context| {
        let table: String = context.get(0)?;
        Ok(sequences.state().draw(|state| state.identity(&table)))
    })?;
    let random = draws.clone();
    connection.create_scalar_function("random", 0, plain, move |_| {
        let number = random.state().draw(|state| i64::from_ne_bytes(state.random.next().to_ne_bytes()) & 0xffff_ffff);
        // 32 bits are exact in a double.
        Ok(u32::try_from(number).map_or(0.0, f64::from) / (f64::from(u32::MAX) + 1.0))
    })?;
    connection
        .create_scalar_function("sim_divide", 2, pure, |context| divide(context, i64::checked_div, |a, b| a / b))?;
    connection
        .create_scalar_function("sim_remainder", 2, pure, |context| divide(context, i64::checked_rem, |a, b| a % b))?;
    connection.create_scalar_function("greatest", -1, pure, |context| extreme(context, Ordering::Greater))?;
    connection.create_scalar_function("least", -1, pure, |context| extreme(context, Ordering::Less))?;
    connection.create_scalar_function("strpos", 2, pure, |context| {
        let (text, part): (Option<String>, Option<String>) = (context.get(0)?, context.get(1)?);
        let (Some(text), Some(part)) = (text, part) else { return Ok(None) };
        let place = text.find(&part).map_or(0, |byte| text.get(..byte).map_or(0, |before| before.chars().count()) + 1);
        Ok(i64::try_from(place).ok())
    })?;
    connection.create_scalar_function("like", 2, pure, |context| like(context, Some('\\')))?;
    connection.create_scalar_function("like", 3, pure, |context| {
        let escape: String = context.get(2)?;
        like(context, escape.chars().next())
    })
}

fn failure(text: &str) -> Error {
    Error::UserFunctionError(text.into())
}

fn divide(
    context: &Context<'_>,
    integers: fn(i64, i64) -> Option<i64>,
    reals: fn(f64, f64) -> f64,
) -> rusqlite::Result<Value> {
    let real = |value: ValueRef<'_>| match value {
        #[allow(clippy::cast_precision_loss, reason = "as both databases convert it")]
        ValueRef::Integer(value) => Some(value as f64),
        ValueRef::Real(value) => Some(value),
        _ => None,
    };
    match (context.get_raw(0), context.get_raw(1)) {
        (ValueRef::Null, _) | (_, ValueRef::Null) => Ok(Value::Null),
        (ValueRef::Integer(_), ValueRef::Integer(0)) => Err(failure(DIVISION_BY_ZERO)),
        (ValueRef::Integer(a), ValueRef::Integer(b)) => {
            integers(a, b).map(Value::Integer).ok_or_else(|| failure("bigint out of range"))
        }
        (a, b) => match (real(a), real(b)) {
            (Some(_), Some(0.0)) => Err(failure(DIVISION_BY_ZERO)),
            (Some(a), Some(b)) => Ok(Value::Real(reals(a, b))),
            _ => Err(failure("only numbers are divided")),
        },
    }
}

/// The greatest or the least argument that is not NULL.
fn extreme(context: &Context<'_>, wanted: Ordering) -> rusqlite::Result<Value> {
    let mut found = ValueRef::Null;
    for index in 0..context.len() {
        let value = context.get_raw(index);
        let is_better = match (value, found) {
            (ValueRef::Null, _) => false,
            (_, ValueRef::Null) => true,
            (ValueRef::Integer(a), ValueRef::Integer(b)) => a.cmp(&b) == wanted,
            (ValueRef::Real(a), ValueRef::Real(b)) => a.partial_cmp(&b) == Some(wanted),
            (ValueRef::Text(a), ValueRef::Text(b)) => a.cmp(b) == wanted,
            _ => return Err(failure("greatest and least compare values of one type")),
        };
        if is_better {
            found = value;
        }
    }
    Ok(found.try_into()?)
}

fn like(context: &Context<'_>, escape: Option<char>) -> rusqlite::Result<Option<bool>> {
    let (pattern, text): (Option<String>, Option<String>) = (context.get(0)?, context.get(1)?);
    let (Some(pattern), Some(text)) = (pattern, text) else { return Ok(None) };
    let text: Vec<char> = text.chars().collect();
    Ok(Some(matches(&parse_pattern(&pattern, escape), &text)))
}

#[derive(Clone, Copy)]
enum PatternPart {
    Any,
    One,
    Letter(char),
}

fn parse_pattern(pattern: &str, escape: Option<char>) -> Vec<PatternPart> {
    let mut letters = pattern.chars();
    let mut parts = Vec::new();
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            _ if Some(letter) == escape => match letters.next() {
                Some(escaped) => PatternPart::Letter(escaped),
                None => break,
            },
            '%' => PatternPart::Any,
            '_' => PatternPart::One,
            _ => PatternPart::Letter(letter),
        });
    }
    parts
}

/// Goes back to the last `%` where the text does not go on as the pattern does.
fn matches(pattern: &[PatternPart], text: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), text.get(place)) {
            (Some(PatternPart::Any), _) => {
                retry = Some((at, place));
                at += 1;
            }
            (Some(PatternPart::One), Some(_)) => (at, place) = (at + 1, place + 1),
            (Some(PatternPart::Letter(wanted)), Some(letter)) if wanted == letter => (at, place) = (at + 1, place + 1),
            (None, None) => return true,
            _ => match retry {
                Some((any, begun)) if begun < text.len() => {
                    retry = Some((any, begun + 1));
                    (at, place) = (any + 1, begun + 1);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        install(&connection, &Draws::new(1)).unwrap();
        connection
    }

    /// A migration, which begins nothing, once got the identity of a statement whose second run had ended early.
    #[test]
    fn what_a_run_has_left_is_drawn_by_no_other() {
        let draws = Draws::new(1);
        let draw = || draws.state().draw(|state| state.identity("a"));
        draws.begin(0);
        assert_eq!(draw(), 1);
        let drawn = draws.end();
        draws.begin_again(&drawn);
        draws.end();
        assert_eq!(draw(), 2);
        draws.begin_again(&drawn);
        assert_eq!(draw(), 1);
    }

    #[test]
    fn like_matches_as_postgresql_does() {
        let is_like = |text: &str, pattern: &str| -> bool {
            connection().query_row("SELECT ?1 LIKE ?2", [text, pattern], |row| row.get(0)).unwrap()
        };
        assert!(is_like("lost a1", "lost %") && is_like("abcabd", "%ab_") && is_like("100%", "100\\%"));
        assert!(!is_like("Lost a1", "lost %") && !is_like("1000", "100\\%") && !is_like("ab", "ab_"));
    }

    #[test]
    fn a_division_by_zero_is_an_error_and_null_divides_to_null() {
        let value = |sql: &str| connection().query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        assert_eq!(value("SELECT sim_divide(7, -2)").unwrap(), Some(-3));
        assert_eq!(value("SELECT sim_divide(NULL, 0)").unwrap(), None);
        assert!(value("SELECT sim_divide(1, 0)").unwrap_err().to_string().contains(DIVISION_BY_ZERO));
        assert_eq!(value("SELECT greatest(NULL, 3, 5)").unwrap(), Some(5));
    }
}
