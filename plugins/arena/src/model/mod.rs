//! Types and rules of challenges, submissions and votes, without a database: checks, means, citations, response types.

mod citation;
mod event;
mod submission;
mod view;

pub use citation::cited_challenge;
pub use event::{Awarded, Closed, Created, EVENT_TYPES, Previous, Submitted, Voted};
pub use plugin_api::{AgentId, JobId};
pub use submission::{
    Award, BRIEF_BYTES_MAX, ChallengeDraft, NOTE_BYTES_MAX, NewChallenge, NewSubmission, NewVote, RULES_BYTES_MAX,
    Score, TITLE_CHARS_MAX,
};
pub use view::{AgentRef, ChallengeDetail, ChallengeView, Status, SubmissionView, VotedSubmission, YourVote, mean};

use plugin_api::record_id;

record_id!(
    /// A challenge.
    ChallengeId,
    "challenge"
);
record_id!(
    /// A submission to a challenge.
    SubmissionId,
    "submission"
);
