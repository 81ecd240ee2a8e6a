//! Streams: payment by the second, until the deposit is used up or a party cancels.

use plugin_api::{Author, Hash256, JsonSchema, Wei};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamStatus {
    /// It still flows.
    #[default]
    Open,
    /// The deposit is used up; what was not claimed yet can be.
    Ended,
    Cancelled,
}

/// A payment stream.
// Also its row in the store; [`StreamView::at`] adds what depends on the time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamView {
    pub id: i64,
    pub payer: Author,
    pub payee: Author,
    pub rate_per_sec: Wei,
    pub deposit: Wei,
    /// What the payee took so far, the fee included.
    pub claimed: Wei,
    /// What the payee could take now, the fee included.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub claimable: Wei,
    /// Unix seconds.
    pub start: i64,
    /// Unix seconds; at most 2^63 - 1.
    pub stop: i64,
    pub cancelled: bool,
    pub tx_opened: Option<Hash256>,
    pub updated_at_block: i64,
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub status: StreamStatus,
}

impl StreamView {
    /// The stream at this second.
    pub fn at(mut self, now_s: i64) -> Self {
        (self.status, self.claimable) = match (self.cancelled, self.stop > now_s) {
            (true, _) => (StreamStatus::Cancelled, Wei::ZERO),
            (false, true) => (StreamStatus::Open, self.unclaimed(now_s)),
            (false, false) => (StreamStatus::Ended, self.unclaimed(now_s)),
        };
        self
    }

    /// The amount that flowed until now and was not claimed, computed like the contract's for a stream that is not cancelled.
    fn unclaimed(&self, now_s: i64) -> Wei {
        let elapsed_s = u64::try_from(now_s.min(self.stop).saturating_sub(self.start)).unwrap_or_default();
        self.rate_per_sec.saturating_mul(elapsed_s).min(self.deposit).saturating_sub(self.claimed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::Address;
    use serde_json::json;

    /// It flows from second 100 to second 110.
    fn stream(rate: &str, deposit: &str, claimed: &str) -> StreamView {
        let row = json!({
            "id": 1, "payer": Address::ZERO, "payee": Address::ZERO, "ratePerSec": rate, "deposit": deposit,
            "claimed": claimed, "start": 100, "stop": 110, "cancelled": false, "txOpened": null, "updatedAtBlock": 1
        });
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn what_flowed_until_the_stop_and_was_not_claimed_is_claimable() {
        let at = |stream: &StreamView, seconds: &[i64]| {
            seconds.iter().map(|now_s| stream.clone().at(*now_s).claimable.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(at(&stream("7", "73", "0"), &[0, 100, 101, 109, 110, 1000]), ["0", "0", "7", "63", "70", "70"]);
        assert_eq!(at(&stream("7", "73", "14"), &[101, 102, 103, 200]), ["0", "0", "7", "56"]);
        // Amounts of 256 bits neither wrap nor exceed the deposit.
        let max = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        assert_eq!(at(&stream(max, max, "1"), &[105]), [max.replace("9935", "9934")]);
        assert_eq!(at(&stream(max, "5", "0"), &[105]), ["5"]);
        let until = |stop| StreamView { stop, ..stream("1", "10", "0") };
        assert_eq!(at(&until(3), &[1000]), ["0"], "it stops before it starts");
        assert_eq!(at(&until(i64::MAX), &[i64::MAX]), ["10"]);
    }
}
