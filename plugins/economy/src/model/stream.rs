//! Streams: payment by the second, until the deposit is used up or a party cancels.

use plugin_api::{Hash256, JsonSchema, Wei, point::Author};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamStatus {
    /// It still flows.
    Open,
    /// The deposit is used up; what was not claimed yet can be.
    Ended,
    Cancelled,
}

impl StreamStatus {
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "open" => Some(Self::Open),
            "ended" => Some(Self::Ended),
            "cancelled" => Some(Self::Cancelled),
            _ => None,
        }
    }
}

/// A payment stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    pub claimable: Wei,
    /// Unix seconds.
    pub start: i64,
    /// Unix seconds; at most 2^63 - 1.
    pub stop: i64,
    pub cancelled: bool,
    pub tx_opened: Option<Hash256>,
    pub updated_at_block: i64,
    pub status: StreamStatus,
}

pub fn status(cancelled: bool, stop_s: i64, now_s: i64) -> StreamStatus {
    match (cancelled, stop_s > now_s) {
        (true, _) => StreamStatus::Cancelled,
        (false, true) => StreamStatus::Open,
        (false, false) => StreamStatus::Ended,
    }
}

/// The amounts of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    pub rate_per_sec: Wei,
    pub deposit: Wei,
    pub claimed: Wei,
    pub start_s: i64,
    pub stop_s: i64,
}

/// The amount that flowed until now and was not claimed, computed like the contract's for a stream that is not cancelled.
pub fn claimable(flow: Flow, now_s: i64) -> Wei {
    let elapsed_s = u64::try_from(now_s.min(flow.stop_s).saturating_sub(flow.start_s)).unwrap_or_default();
    let accrued = flow.rate_per_sec.saturating_mul(elapsed_s).min(flow.deposit);
    accrued.saturating_sub(flow.claimed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn wei(text: &str) -> Wei {
        text.parse().unwrap()
    }

    fn flow(rate: &str, deposit: &str, claimed: &str) -> Flow {
        let (rate_per_sec, deposit, claimed) = (wei(rate), wei(deposit), wei(claimed));
        Flow { rate_per_sec, deposit, claimed, start_s: 100, stop_s: 110 }
    }

    #[test]
    fn it_flows_from_start_to_stop() {
        let at = |now_s| claimable(flow("7", "73", "0"), now_s).to_string();
        assert_eq!([0, 100, 101, 109, 110, 1000].map(at), ["0", "0", "7", "63", "70", "70"]);
    }

    #[test]
    fn what_was_claimed_is_gone() {
        let at = |now_s| claimable(flow("7", "73", "14"), now_s).to_string();
        assert_eq!([101, 102, 103, 200].map(at), ["0", "0", "7", "56"]);
    }

    #[test]
    fn amounts_of_256_bits_neither_wrap_nor_exceed_the_deposit() {
        let max = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        assert_eq!(claimable(flow(max, max, "1"), 105).to_string(), max.replace("9935", "9934"));
        assert_eq!(claimable(flow(max, "5", "0"), 105).to_string(), "5");
    }

    #[test]
    fn a_stop_before_the_start_gives_nothing() {
        let wrapped = Flow { stop_s: 3, ..flow("1", "10", "0") };
        assert_eq!(claimable(wrapped, 1000), Wei::ZERO);
        assert_eq!(claimable(Flow { stop_s: i64::MAX, ..flow("1", "10", "0") }, i64::MAX), wei("10"));
    }

    #[test]
    fn the_second_of_the_stop_is_the_end() {
        assert_eq!(status(false, 110, 109), StreamStatus::Open);
        assert_eq!(status(false, 110, 110), StreamStatus::Ended);
        assert_eq!(status(true, 110, 109), StreamStatus::Cancelled);
    }
}
