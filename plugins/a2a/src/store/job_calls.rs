//! Calls for open jobs, which cost nothing. Rule: what bounds them is written before the call.

use plugin_api::{HostError, JobId, Query as _, Sql, Tx, sql};
use serde::Deserialize;

/// Calls of one job that nobody signed.
pub const CALLS_MAX: i64 = 3;
/// When a gateway dies in a call, the next one may begin after this long: longer than an agent has for its answer.
const IN_FLIGHT_S: i64 = 90;

/// Whether a call may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// The caller ends it with [`end`].
    Counted { until_s: i64 },
    /// The job's client signed it: there may be any number.
    Signed,
    /// Another one waits for its answer.
    InFlight,
    /// There were all that nobody has to sign.
    UsedUp,
    /// The client signed it, and something later, too: it was sent before.
    Replayed,
}

#[derive(Default, Deserialize)]
struct Calls {
    calls: i64,
    in_flight_until: i64,
    signed_ts: i64,
}

/// `signed_ts` is the time of the client's signature, if there is one.
pub async fn begin(tx: &Tx, job: JobId, signed_ts: Option<i64>) -> Result<Begun, HostError> {
    let find = sql("SELECT calls, in_flight_until, signed_ts FROM a2a_job_calls WHERE job_id = $1").bind(job);
    let before: Calls = tx.row(find).await?.unwrap_or_default();
    let (after, begun) = match signed_ts {
        Some(ts) if ts <= before.signed_ts => return Ok(Begun::Replayed),
        Some(ts) => (Calls { signed_ts: ts, ..before }, Begun::Signed),
        None if before.calls >= CALLS_MAX => return Ok(Begun::UsedUp),
        None if before.in_flight_until > tx.now_s() => return Ok(Begun::InFlight),
        None => {
            let until_s = tx.now_s() + IN_FLIGHT_S;
            (Calls { calls: before.calls + 1, in_flight_until: until_s, ..before }, Begun::Counted { until_s })
        }
    };
    let store = Sql::upsert("a2a_job_calls", "job_id", "calls, in_flight_until, signed_ts");
    tx.execute(store.bind((job, after.calls, after.in_flight_until, after.signed_ts))).await?;
    Ok(begun)
}

/// The answer is there. `until_s` tells the call from a later one.
pub async fn end(tx: &Tx, job: JobId, until_s: i64) -> Result<(), HostError> {
    let end = "UPDATE a2a_job_calls SET in_flight_until = 0 WHERE job_id = $1 AND in_flight_until = $2";
    tx.execute(sql(end).bind((job, until_s))).await.map(drop)
}
