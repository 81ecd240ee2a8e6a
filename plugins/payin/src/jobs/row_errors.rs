//! Errors of single rows. The rule: a quote or deposit that cannot be read or processed holds no other one up.

use crate::Payin;
use plugin_api::{HostError, HostErrorCode, PluginContext};

/// Servers or databases that do not answer for so many rows, and for none between them, answer for none: the others wait for the next run.
const PASSING_MAX: u32 = 3;

/// Whether it may be over in the next run, and says nothing against the row: servers or the database did not answer, or were too slow for a
/// transaction.
pub fn is_passing(error: &HostError) -> bool {
    error.is_transient() || error.is(HostErrorCode::Closed)
}

/// Whether the next run would meet the error again.
pub fn is_lasting(error: &HostError) -> bool {
    !is_passing(error) && !error.is(HostErrorCode::Conflict)
}

/// What the rows of a run could not be processed for.
#[derive(Debug, Default)]
pub struct RowErrors {
    /// Since the last row that could be processed.
    passing: u32,
    last: Option<HostError>,
}

impl RowErrors {
    /// Logs an error, and goes on; `Err` when the run should end.
    pub fn note(
        &mut self,
        cx: &PluginContext<Payin>,
        row: &str,
        outcome: Result<(), HostError>,
    ) -> Result<(), HostError> {
        let Err(error) = outcome else {
            self.passing = 0;
            return Ok(());
        };
        if is_lasting(&error) {
            cx.error(&format!("{row} is left out: {error}"));
            return Ok(());
        }
        cx.warn(&format!("{row} waits for the next run: {error}"));
        if !is_passing(&error) {
            return Ok(());
        }
        self.passing += 1;
        if self.passing >= PASSING_MAX {
            return Err(error);
        }
        self.last = Some(error);
        Ok(())
    }

    /// The last error that may be gone in the next run.
    pub fn finish(self) -> Result<(), HostError> {
        self.last.map_or(Ok(()), Err)
    }
}
