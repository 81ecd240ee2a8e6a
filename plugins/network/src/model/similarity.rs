//! How alike two agents are: shared capabilities, clients in common, and the price.

use super::{AgentRow, Hundredths, Provenance, average};
use plugin_api::{Address, AgentId, JsonSchema, Wei};
use serde::Serialize;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// How the similarity is computed.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Method {
    pub capabilities: &'static str,
    pub clients_in_common: &'static str,
    pub price_band: &'static str,
    pub ranking: &'static str,
}

pub const METHOD: Method = Method {
    capabilities: "Jaccard index of the capabilities that both cards declare, in lower case; nobody checked what a card says",
    clients_in_common: "clients with settled escrow jobs of both, an AgentAccount counted as its owner; of an agent with many clients the \
        50 with the largest volume, and of each of them the 50 agents with the largest volume",
    price_band: "the prices per job differ by a factor of two at most",
    ranking: "3 × Jaccard + 2 × clients in common + 0.5 in the price band; only above 0, ties by the lower id. Agents are looked for \
        by the first 20 capabilities (100 agents each), by the clients, and by the 50 next prices above and below",
};

/// The agent that others are compared with.
pub struct Subject {
    pub agent_id: AgentId,
    pub capabilities: BTreeSet<String>,
    pub price: Wei,
}

/// What the indexes say of an agent that may be like the subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    pub shared_capabilities: usize,
    pub clients_in_common: usize,
}

/// An agent that is like the subject, and why.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimilarAgentView {
    pub agent_id: AgentId,
    pub name: String,
    pub slug: String,
    pub owner: Address,
    /// `None`, `Active`, `Paused` or `Retired`.
    pub status: String,
    pub capabilities: Vec<String>,
    pub shared_capabilities: Vec<String>,
    /// Shared ones ÷ all that one of them declares.
    pub capability_jaccard: Hundredths,
    pub clients_in_common: usize,
    /// Where the clients in common are from; null without one.
    pub co_client_provenance: Option<Provenance>,
    pub price_per_job_wei: Wei,
    pub same_price_band: bool,
    /// By the registry's own count.
    pub jobs_completed: i64,
    /// Null without a rating.
    pub rating_avg: Option<Hundredths>,
    /// The agent's record; null where no plugin serves records.
    pub cv: Option<String>,
    /// One line.
    pub reason: String,
    /// The rank times the number of capabilities that one of the two declares, times two: exact.
    #[serde(skip)]
    rank: (u64, u64),
}

/// The best candidates by what the indexes say, so that few agents are read.
pub fn preselect(candidates: BTreeMap<AgentId, Candidate>, limit: usize) -> BTreeMap<AgentId, Candidate> {
    let mut candidates: Vec<(AgentId, Candidate)> = candidates.into_iter().collect();
    candidates
        .sort_by_key(|(id, candidate)| (Reverse((candidate.clients_in_common, candidate.shared_capabilities)), *id));
    candidates.into_iter().take(limit).collect()
}

/// Those that are like the subject, the most similar first.
pub fn rank(
    subject: &Subject,
    candidates: &BTreeMap<AgentId, Candidate>,
    rows: Vec<AgentRow>,
    cv: impl Fn(AgentId) -> Option<String>,
) -> Vec<SimilarAgentView> {
    let view = |row: AgentRow| {
        let candidate = candidates.get(&row.agent_id).copied().unwrap_or_default();
        let cv = cv(row.agent_id);
        compare(subject, candidate, row, cv)
    };
    let mut similar: Vec<SimilarAgentView> = rows.into_iter().map(view).filter(|view| view.rank.0 > 0).collect();
    // Fractions, compared crosswise.
    let order = |a: &SimilarAgentView, b: &SimilarAgentView| {
        let cross =
            |(numerator, _): (u64, u64), (_, denominator): (u64, u64)| u128::from(numerator) * u128::from(denominator);
        cross(b.rank, a.rank).cmp(&cross(a.rank, b.rank)).then(a.agent_id.cmp(&b.agent_id))
    };
    similar.sort_by(order);
    similar
}

fn compare(subject: &Subject, candidate: Candidate, row: AgentRow, cv: Option<String>) -> SimilarAgentView {
    let (rating_avg, capabilities) = (row.rating_avg(), row.lower_capabilities());
    let is_shared = |capability: &&String| subject.capabilities.contains(*capability);
    let shared: Vec<String> = capabilities.iter().filter(is_shared).cloned().collect();
    let either = subject.capabilities.len() + capabilities.len() - shared.len();
    let (shared_count, either_count) = (number(shared.len()), number(either));
    let jaccard = average(shared_count, either_count).unwrap_or_default();
    let is_near = within_factor_two(subject.price, row.price_per_job);
    let (shared_count, either_count) = (shared_count.unsigned_abs(), either_count.max(1).unsigned_abs());
    let clients = number(candidate.clients_in_common).unsigned_abs();
    SimilarAgentView {
        agent_id: row.agent_id,
        name: row.name,
        slug: row.slug,
        owner: row.owner,
        status: row.status,
        reason: reason(&shared, candidate.clients_in_common, is_near),
        capabilities,
        shared_capabilities: shared,
        capability_jaccard: jaccard,
        clients_in_common: candidate.clients_in_common,
        co_client_provenance: (candidate.clients_in_common > 0).then_some(Provenance::Chain),
        price_per_job_wei: row.price_per_job,
        same_price_band: is_near,
        jobs_completed: row.jobs_completed,
        rating_avg,
        cv,
        rank: (6 * shared_count + (4 * clients + u64::from(is_near)) * either_count, either_count),
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn within_factor_two(a: Wei, b: Wei) -> bool {
    a <= b.saturating_mul(2) && b <= a.saturating_mul(2)
}

fn reason(shared: &[String], clients: usize, is_near: bool) -> String {
    const NAMED: usize = 5;
    let named = shared.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if shared.len() > NAMED { ", …" } else { "" };
    let parts = [
        (!shared.is_empty()).then(|| {
            format!("{} shared {} ({named}{more})", shared.len(), plural(shared.len(), "capability", "capabilities"))
        }),
        (clients > 0).then(|| format!("{clients} {} in common", plural(clients, "client", "clients"))),
        is_near.then(|| "price within a factor of two".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

const fn plural(count: usize, one: &'static str, several: &'static str) -> &'static str {
    if count == 1 { one } else { several }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn row(id: i64, capabilities: &[&str], price: u64) -> AgentRow {
        AgentRow {
            agent_id: AgentId(id),
            name: String::new(),
            slug: String::new(),
            owner: Address::ZERO,
            status: "Active".to_owned(),
            capabilities: capabilities.iter().map(ToString::to_string).collect(),
            price_per_job: Wei::from(price),
            jobs_completed: 0,
            rating_count: 0,
            rating_sum: 0,
        }
    }

    fn clients(count: usize) -> Candidate {
        Candidate { clients_in_common: count, ..Candidate::default() }
    }

    #[test]
    fn the_rank_is_exact_and_ties_go_to_the_lower_id() {
        let capabilities = ["a", "b", "c"].map(str::to_owned).into();
        let subject = Subject { agent_id: AgentId(1), capabilities, price: Wei::from(100_u64) };
        let rows = vec![
            row(9, &["A", " b ", "c", "a"], 1000), // 3 × 1
            row(8, &[], 100),                      // 0.5
            row(7, &["x"], 1000),                  // 0
            row(6, &["a", "b", "c"], 49),          // 3: below half of the price
            row(5, &["a", "d"], 50),               // 3 / 4 + 0.5
            row(4, &["x"], 900),                   // 2 × 2
            row(3, &[], 201),                      // 0
            row(2, &[], 200),                      // 0.5
        ];
        let candidates = BTreeMap::from([(AgentId(4), clients(2))]);
        let similar = rank(&subject, &candidates, rows, |_| None);
        let ids: Vec<i64> = similar.iter().map(|view| view.agent_id.0).collect();
        assert_eq!(ids, [4, 6, 9, 5, 2, 8]);
        let jaccard: Vec<f64> = similar.iter().map(|view| view.capability_jaccard.into()).collect();
        assert_eq!(jaccard, [0.0, 1.0, 1.0, 0.25, 0.0, 0.0]);
        let reasons: Vec<&str> = similar.iter().map(|view| view.reason.as_str()).collect();
        assert_eq!(reasons[0], "2 clients in common");
        assert_eq!(reasons[3], "1 shared capability (a); price within a factor of two");
    }

    #[test]
    fn prices_at_the_ends_of_the_range_are_compared() {
        let max: Wei =
            "115792089237316195423570985008687907853269984665640564039457584007913129639935".parse().unwrap();
        assert!(within_factor_two(max, max) && within_factor_two(Wei::ZERO, Wei::ZERO));
        assert!(!within_factor_two(max, Wei::ZERO) && !within_factor_two(Wei::ZERO, Wei::from(1_u64)));
    }

    #[test]
    fn the_best_candidates_are_kept() {
        let candidate = |shared_capabilities, clients_in_common| Candidate { shared_capabilities, clients_in_common };
        let all = [(1, candidate(0, 0)), (2, candidate(9, 0)), (3, candidate(0, 1)), (4, candidate(9, 0))];
        let kept = preselect(all.into_iter().map(|(id, candidate)| (AgentId(id), candidate)).collect(), 2);
        assert_eq!(kept.into_keys().collect::<Vec<_>>(), [AgentId(2), AgentId(3)]);
    }
}
