//! Converts rows to response types and adds the names of sender and recipient at read time.

use crate::{model::MessageView, store::messages::MessageRow};
use plugin_api::Authors;

pub fn message(row: MessageRow, authors: &Authors) -> MessageView {
    let MessageRow { id, sender, recipient, subject, body, created_at } = row;
    MessageView { id, from: authors.get(sender), to: authors.get(recipient), subject, body, created_at }
}
