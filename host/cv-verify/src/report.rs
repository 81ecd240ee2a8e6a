//! What a credential is worth, step by step.

use serde::Serialize;

/// Findings of one step that are listed; the others are counted.
const LISTED_MAX: usize = 20;

/// How bad it is; the later, the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StepOutcome {
    Ok,
    /// It was right, and a newer document took its place.
    Superseded,
    /// It was right, and time or chain moved on.
    Stale,
    /// What it takes to check it is missing.
    NotCheckable,
    /// It says something that is not so.
    Forged,
}

/// What the whole document is worth: the worst of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    Valid,
    Superseded,
    Stale,
    NotCheckable,
    Forged,
}

impl Verdict {
    /// 0 valid, 1 forged, 2 stale or superseded, 3 not checkable.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Valid => 0,
            Self::Forged => 1,
            Self::Stale | Self::Superseded => 2,
            Self::NotCheckable => 3,
        }
    }
}

impl From<StepOutcome> for Verdict {
    fn from(worst: StepOutcome) -> Self {
        match worst {
            StepOutcome::Ok => Self::Valid,
            StepOutcome::Superseded => Self::Superseded,
            StepOutcome::Stale => Self::Stale,
            StepOutcome::NotCheckable => Self::NotCheckable,
            StepOutcome::Forged => Self::Forged,
        }
    }
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub outcome: StepOutcome,
    /// The member, or the id of the claim. The document says it: print it with care.
    pub about: String,
    pub text: String,
}

/// One of the eleven steps of the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerificationStep {
    pub n: u8,
    pub name: &'static str,
    pub outcome: StepOutcome,
    /// What was found where it is as it should be.
    pub detail: String,
    /// The first of them.
    pub findings: Vec<Finding>,
    pub more_findings: usize,
}

impl VerificationStep {
    pub(crate) fn new(n: u8, name: &'static str) -> Self {
        Self { n, name, outcome: StepOutcome::Ok, detail: String::new(), findings: Vec::new(), more_findings: 0 }
    }

    pub(crate) fn find(&mut self, outcome: StepOutcome, about: impl Into<String>, text: impl Into<String>) {
        self.outcome = self.outcome.max(outcome);
        if self.findings.len() < LISTED_MAX {
            self.findings.push(Finding { outcome, about: about.into(), text: text.into() });
        } else {
            self.more_findings += 1;
        }
    }

    pub(crate) fn forged(&mut self, about: impl Into<String>, text: impl Into<String>) {
        self.find(StepOutcome::Forged, about, text);
    }

    pub(crate) fn stale(&mut self, about: impl Into<String>, text: impl Into<String>) {
        self.find(StepOutcome::Stale, about, text);
    }

    pub(crate) fn not_checkable(&mut self, about: impl Into<String>, text: impl Into<String>) {
        self.find(StepOutcome::NotCheckable, about, text);
    }

    pub(crate) fn detail(&mut self, detail: impl Into<String>) {
        self.detail = detail.into();
    }
}

/// Claims by what they rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ByTrust {
    pub chain: usize,
    pub gateway: usize,
    pub self_attested: usize,
}

/// The agent's jobs as the claims tell them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Jobs {
    /// Completed, and resolved jobs whose transaction recorded a success.
    pub completed: u64,
    /// Refunded, and resolved jobs that were lost.
    pub failed: u64,
    pub resolved: u64,
    /// Whether completed and resolved claims together do not exceed the registry's `jobsCompleted`, as the specification's text says.
    /// Resolved jobs that the agent lost make it false in an honest record.
    pub holds_literally: Option<bool>,
}

/// Where the registry was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadAt {
    pub block: u64,
    /// Whether it is the document's own block; without its state the newest one is read.
    pub is_as_of_block: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CredentialReport {
    pub verdict: Verdict,
    pub exit_code: u8,
    pub agent_id: u64,
    pub name: String,
    /// The owner as the document says.
    pub subject: String,
    /// Who signed it, where that is known.
    pub signer: Option<String>,
    pub document_hash: String,
    pub uri: String,
    pub as_of_block: u64,
    pub valid_until: String,
    pub registry_read_at: Option<ReadAt>,
    pub steps: Vec<VerificationStep>,
    /// Claims at or above the trust that was asked for; the others are dropped.
    pub kept: ByTrust,
    pub dropped: ByTrust,
    pub jobs: Jobs,
    /// Members of the proof that no signature covers: free texts, to be ignored.
    pub unprotected: Vec<String>,
}
