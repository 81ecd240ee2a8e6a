//! Types and rules of the memory, without a database: keys, values, records, trees, quotas, batches, events, response types.

mod anchor_answer;
mod anchoring;
mod batch;
mod contracts;
mod event;
mod key;
mod onchain;
mod proof;
mod quota;
mod record;
mod tree;
mod value;

pub use anchor_answer::{AnchorAnswer, RecordedAnswer};
pub use anchoring::{Anchoring, NewAnchor};
pub use batch::{BatchStatus, BatchView, VerifyTexts};
pub use contracts::Anchored;
pub use event::MemoryAnchored;
pub use key::MemoryKey;
pub use onchain::{CONTRACT, Deployment, Onchain};
pub use proof::{BatchedProof, ChainHead, Continuity, LogView, OnchainProof, ProofView, UnbatchedProof};
pub use quota::{Pricing, Quota, Room};
pub use record::{HeaderDraft, KeyReveal, Op, OwnRecordView, RecordHeader, RecordReceipt, RecordView};
pub use tree::{Tree, leaf_of, verify};
pub use value::{DeletedValue, NewValue, PaidRoom, StoredValue, ValueItem, ValueList, ValueView, json_of};

pub const DAY_S: i64 = 24 * 60 * 60;
/// What a record of the log counts in the limits of all that is stored; about what it takes in the database.
pub const RECORD_BYTES: i64 = 1024;
/// Records of one batch.
pub const BATCH_RECORDS_MAX: u32 = 4096;
