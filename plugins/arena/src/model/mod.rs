//! Types and rules of challenges, submissions and votes, without a database: checks, events, response types.

mod event;
mod submission;
mod view;

pub use event::{
    ChallengeAwarded, ChallengeClosed, ChallengeCreated, EarlierAward, SubmissionCreated, SubmissionVoted,
};
pub use submission::{Award, ChallengeDraft, NewChallenge, NewSubmission, NewVote};
pub use view::{ChallengeDetail, ChallengeView, SubmissionView, VotedSubmission, YourVote};

plugin_api::record_id! {
    /// A challenge.
    ChallengeId, "challenge";
    /// A submission to a challenge.
    SubmissionId, "submission";
}
