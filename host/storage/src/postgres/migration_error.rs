//! What PostgreSQL says about a migration that failed, in its own words, for the operator and the migration's author.
//!
//! The rule: the server's DETAIL, which quotes whole rows, is left out.

use super::error::storage_error;
use crate::{
    error::StorageError,
    migrations::{FailureWords, describe},
};
use plugin_api::host::sanitize_line;
use sqlx::{
    Error,
    postgres::{PgDatabaseError, PgErrorPosition},
};

const DETAIL_CHARS_MAX: usize = 120;

pub(crate) fn migration_error(error: Error, sql: &str) -> StorageError {
    let refusal = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    let words = refusal.map(|refusal| words_of(refusal, sql));
    match (storage_error(error), words) {
        (StorageError::Statement(_) | StorageError::Constraint(_), Some(words)) => StorageError::Migration(words),
        (other, _) => other,
    }
}

fn words_of(refusal: &PgDatabaseError, sql: &str) -> String {
    let message = refusal.message();
    // Most messages name it already.
    let named = |kind: &str, name: Option<&str>| {
        name.filter(|name| !message.contains(name)).map(|name| format!("{kind} {}", short(name)))
    };
    let hint = refusal.hint().map(|hint| format!("hint: {}", short(hint)));
    let details: Vec<String> = [named("constraint", refusal.constraint()), named("table", refusal.table()), hint]
        .into_iter()
        .flatten()
        .collect();
    let position = match refusal.position() {
        // Counted in characters, from 1.
        Some(PgErrorPosition::Original(position)) => Some(byte_at(sql, position.saturating_sub(1))),
        Some(PgErrorPosition::Internal { .. }) | None => None,
    };
    describe(&FailureWords { message, position, details: &details, code: Some(refusal.code()) }, sql)
}

fn byte_at(sql: &str, characters: usize) -> usize {
    sql.char_indices().nth(characters).map_or(sql.len(), |(byte, _)| byte)
}

fn short(text: &str) -> String {
    sanitize_line(text, DETAIL_CHARS_MAX)
}
