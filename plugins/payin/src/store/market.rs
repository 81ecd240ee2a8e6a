//! What the venues said last.

use plugin_api::{HostError, HostErrorCode, Query, Tx, sql};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Whose row it is.
#[derive(Clone, Copy, Debug)]
pub enum VenueKind {
    Primary,
    Secondary,
}

impl VenueKind {
    fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
        }
    }
}

/// How the last attempt to read a venue ended.
#[derive(Clone, Debug)]
pub struct VenueAttempt<R> {
    /// Unix seconds.
    pub at: i64,
    /// What was read, or why nothing was, in words for everybody.
    pub outcome: Result<R, String>,
}

#[derive(Deserialize)]
struct Row {
    tried_at: i64,
    reading: Option<String>,
    error: Option<String>,
}

/// A reading that does not parse, such as one of another version, is none: the next one replaces it.
pub async fn find<R: DeserializeOwned>(db: &impl Query, of: VenueKind) -> Result<Option<VenueAttempt<R>>, HostError> {
    let select = "SELECT tried_at, reading, error FROM payin_market WHERE venue = $1";
    let row: Option<Row> = db.row(sql(select).bind(of.name())).await?;
    Ok(row.and_then(|Row { tried_at, reading, error }| {
        let outcome = match error {
            Some(error) => Err(error),
            None => Ok(serde_json::from_str(&reading?).ok()?),
        };
        Some(VenueAttempt { at: tried_at, outcome })
    }))
}

/// Replaces the last attempt.
pub async fn put<R: Serialize>(tx: &Tx, of: VenueKind, attempt: &VenueAttempt<R>) -> Result<(), HostError> {
    let (reading, error) = match &attempt.outcome {
        Ok(reading) => {
            let json = serde_json::to_string(reading);
            (Some(json.map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?), None)
        }
        Err(error) => (None, Some(error.clone())),
    };
    let upsert = "INSERT INTO payin_market (venue, tried_at, reading, error) VALUES ($1, $2, $3, $4) ON CONFLICT (venue) DO UPDATE \
         SET tried_at = excluded.tried_at, reading = excluded.reading, error = excluded.error";
    tx.execute(sql(upsert).bind((of.name(), attempt.at, reading, error))).await.map(drop)
}
