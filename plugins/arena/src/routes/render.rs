//! Converts rows to response types: looks up names of agents and statuses of jobs at read time.

use crate::{
    Arena,
    model::{
        AgentId, AgentRef, ChallengeDetail, ChallengeId, ChallengeView, JobId, Status, SubmissionId, SubmissionView,
        mean,
    },
    store::{
        agents::{self, Job},
        challenges::{Awardee, ChallengeRow},
        submissions::{self, SubmissionRow},
        votes,
    },
};
use plugin_api::{Address, Authors, HostError, PluginContext, Query, format};
use std::collections::BTreeMap;

/// Names and statuses from other plugins, for the ids in rows.
pub struct Names {
    authors: Authors,
    agents: BTreeMap<AgentId, String>,
    jobs: BTreeMap<JobId, Job>,
}

impl Names {
    pub async fn of(
        cx: &PluginContext<Arena>,
        challenges: &[ChallengeRow],
        submissions: &[SubmissionRow],
    ) -> Result<Self, HostError> {
        let awardees: Vec<Awardee> = challenges.iter().filter_map(ChallengeRow::awardee).collect();
        let jobs = awardees.iter().filter_map(|awardee| awardee.job);
        let submitting = submissions.iter().filter_map(|submission| submission.agent_id);
        let agents = awardees.iter().map(|awardee| awardee.agent).chain(submitting);
        let creators = challenges.iter().map(|challenge| challenge.creator);
        let authors = creators.chain(submissions.iter().map(|submission| submission.submitter));
        Self::look_up(cx, authors, agents, jobs).await
    }

    /// For writes: call it before the first statement, because an open transaction blocks other writers.
    pub async fn look_up(
        cx: &PluginContext<Arena>,
        authors: impl IntoIterator<Item = Address>,
        agents: impl IntoIterator<Item = AgentId>,
        jobs: impl IntoIterator<Item = JobId>,
    ) -> Result<Self, HostError> {
        let (db, authors): (_, Vec<Address>) = (cx.db(), authors.into_iter().collect());
        let (agents, jobs): (Vec<AgentId>, Vec<JobId>) = (agents.into_iter().collect(), jobs.into_iter().collect());
        let agents = agents::names(&db, agents).await?;
        let jobs = agents::jobs(&db, jobs).await?;
        Ok(Self { authors: cx.authors(authors).await?, agents, jobs })
    }

    /// The paying job, unless it is for another agent or from another client.
    fn job(&self, challenge: &ChallengeRow, awardee: Awardee) -> (Option<JobId>, Option<String>) {
        match awardee.job.map(|id| (id, self.jobs.get(&id))) {
            Some((id, None)) => (Some(id), None),
            Some((id, Some(job))) if job.client == challenge.creator && job.agent_id == awardee.agent => {
                (Some(id), Some(job.status.clone()))
            }
            _ => (None, None),
        }
    }

    pub fn submission(&self, row: SubmissionRow, rank: i64) -> SubmissionView {
        let author = self.authors.get(row.submitter);
        let agent_name = row.agent_id.and_then(|agent| self.agents.get(&agent).cloned());
        SubmissionView {
            id: row.id,
            challenge_id: row.challenge_id,
            submitter: author.clone(),
            author,
            agent_id: row.agent_id,
            agent: row.agent_id.map(|agent_id| AgentRef { agent_id, name: agent_name.clone() }),
            agent_name,
            payload_hash: row.payload_hash,
            payload_uri: row.payload_hash.map(format::payload_uri),
            url: row.url,
            note: row.note,
            created_at: row.created_at,
            my_vote: None,
            votes: row.votes,
            weight_sum: row.weight_sum,
            score: mean(row.points, row.weight_sum),
            points: row.points,
            rank,
        }
    }

    pub fn challenge(&self, row: ChallengeRow, winner: Option<SubmissionView>) -> ChallengeView {
        let awardee = row.awardee();
        let (job_id, job_status) = awardee.map(|awardee| self.job(&row, awardee)).unwrap_or_default();
        let status = match (row.closed_at, awardee) {
            (None, _) => Status::Open,
            (Some(_), None) => Status::Closed,
            (Some(_), Some(_)) => Status::Awarded,
        };
        let creator = self.authors.get(row.creator);
        ChallengeView {
            id: row.id,
            title: row.title,
            brief: row.brief,
            rules: row.rules,
            prize_wei: row.prize,
            tags: row.tags,
            ends_at: row.ends_at,
            status,
            creator: creator.clone(),
            author: creator,
            submission_count: row.submissions,
            vote_count: row.votes,
            winner_submission_id: row.winner_id,
            winner,
            closed_at: row.closed_at,
            awarded_agent_id: awardee.map(|awardee| awardee.agent),
            awarded_agent_name: awardee.and_then(|awardee| self.agents.get(&awardee.agent).cloned()),
            job_id,
            job_status,
            awarded_at: awardee.map(|awardee| awardee.at),
            created_at: row.created_at,
        }
    }
}

/// A page of challenges with their winners, each the first of its ranking.
pub async fn page(
    cx: &PluginContext<Arena>,
    db: &impl Query,
    rows: Vec<ChallengeRow>,
) -> Result<Vec<ChallengeView>, HostError> {
    let winners: Vec<SubmissionId> = rows.iter().filter_map(|row| row.winner_id).collect();
    let winners = submissions::some(db, &winners).await?;
    let names = Names::of(cx, &rows, &winners).await?;
    let mut winners: BTreeMap<ChallengeId, SubmissionView> =
        winners.into_iter().map(|row| (row.challenge_id, names.submission(row, 1))).collect();
    Ok(rows
        .into_iter()
        .map(|row| (winners.remove(&row.id), row))
        .map(|(winner, row)| names.challenge(row, winner))
        .collect())
}

/// A challenge with all submissions, and the viewer's score of each.
pub async fn detail(
    cx: &PluginContext<Arena>,
    db: &impl Query,
    row: ChallengeRow,
    viewer: Option<Address>,
) -> Result<ChallengeDetail, HostError> {
    let id = row.id;
    let ranked = submissions::ranked(db, id).await?;
    let given = match viewer {
        Some(viewer) => Some(votes::of(db, id, viewer).await?.into_iter().collect::<BTreeMap<_, _>>()),
        None => None,
    };
    let rows = [row];
    let names = Names::of(cx, &rows, &ranked).await?;
    let view = |(rank, row)| {
        let mut view = names.submission(row, rank);
        view.my_vote = given.as_ref().map(|given| given.get(&view.id).copied());
        view
    };
    let submissions: Vec<SubmissionView> = (1..).zip(ranked).map(view).collect();
    let [row] = rows;
    let winner = submissions.iter().find(|submission| row.winner_id == Some(submission.id)).cloned();
    let my_votes =
        given.map(|given| given.into_iter().map(|(submission, score)| (submission.to_string(), score)).collect());
    Ok(ChallengeDetail { challenge: names.challenge(row, winner), submissions, viewer, my_votes })
}
