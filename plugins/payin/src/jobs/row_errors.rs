//! Errors of single rows. The rule: a quote or deposit that cannot be read or processed holds no other one up.

use crate::Payin;
use plugin_api::{HostError, HostErrorCode, PluginContext};

/// Servers or databases that do not answer for so many rows answer for none: the others wait for the next run.
const TRANSIENT_MAX: u32 = 3;

/// Whether the next run would meet the error again.
pub fn is_lasting(error: &HostError) -> bool {
    !error.is_transient() && !error.is(HostErrorCode::Conflict)
}

/// What the rows of a run could not be processed for.
#[derive(Debug, Default)]
pub struct RowErrors {
    transient: u32,
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
        let Err(error) = outcome else { return Ok(()) };
        if is_lasting(&error) {
            cx.error(&format!("{row} is left out: {error}"));
            return Ok(());
        }
        cx.warn(&format!("{row} waits for the next run: {error}"));
        if !error.is_transient() {
            return Ok(());
        }
        self.transient += 1;
        if self.transient >= TRANSIENT_MAX {
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
