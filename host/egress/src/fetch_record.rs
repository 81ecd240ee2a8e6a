//! What became of a fetch, for metrics and the log.

use tokio::time::Instant;

/// Counts a fetch once, when it is over: one that its caller gives up counts as `dropped`.
pub(super) struct FetchRecord {
    owner: String,
    started: Instant,
    outcome: &'static str,
}

impl FetchRecord {
    pub(crate) fn begin(owner: &str) -> Self {
        Self { owner: owner.to_owned(), started: Instant::now(), outcome: "dropped" }
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// `ok`, or the code of an error.
    pub(crate) fn set_outcome(&mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for FetchRecord {
    fn drop(&mut self) {
        let Self { owner, started, outcome } = self;
        let (plugin, outcome) = (std::mem::take(owner), *outcome);
        tracing::debug!(plugin, outcome, elapsed_ms = started.elapsed().as_millis(), "fetch");
        metrics::counter!("gateway_egress_fetches_total", "plugin" => plugin, "outcome" => outcome).increment(1);
    }
}
