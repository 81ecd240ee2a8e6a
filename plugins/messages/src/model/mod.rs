//! Types and rules of messages, without a database: recipients, checks, response types.

mod event;
mod recipient;
mod submission;
mod view;

pub use event::MessageSent;
pub use plugin_api::AgentId;
pub use recipient::Recipient;
pub use submission::{BODY_BYTES_MAX, Draft, NewMessage, SUBJECT_CHARS_MAX};
pub use view::{Inbox, MessageView};

use plugin_api::record_id;

record_id!(
    /// A message.
    MessageId,
    "message"
);
