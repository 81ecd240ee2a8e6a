//! Handlers of chain events, one file per contract. Rule: a row follows from the event and from derived rows alone, so that
//! a new index produces the same rows.

mod escrow;
mod registry;
mod reputation;
mod tables;
mod validation;

pub use escrow::{JobDelivered, JobRefunded};
pub use reputation::{FeedbackRevoked, NewFeedback};
pub use validation::{ValidationRequest, ValidationResponse};

use crate::Agents;
use plugin_api::Definition;

/// Subscribes to the events of the four contracts.
pub fn subscribe(definition: Definition<Agents>) -> Definition<Agents> {
    let definition = registry::subscribe(definition);
    let definition = escrow::subscribe(definition);
    let definition = validation::subscribe(definition);
    reputation::subscribe(definition)
}
