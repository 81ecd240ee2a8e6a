//! From rows to what readers get: both sides get their names here, at read time.

use crate::{model::MessageView, store::messages::MessageRow};
use plugin_api::Authors;

pub fn message(row: MessageRow, authors: &Authors) -> MessageView {
    let MessageRow { id, sender, recipient, subject, body, created_at } = row;
    MessageView { id, from: authors.get(sender), to: authors.get(recipient), subject, body, created_at }
}
