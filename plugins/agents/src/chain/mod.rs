//! Handlers of chain events, one file per contract. Rule: a row follows from the event and from derived rows alone, so that
//! a new index produces the same rows.

mod escrow;
mod registry;
mod reputation;
mod validation;

pub use escrow::{JobDelivered, JobRefunded};
pub use reputation::{FeedbackRevoked, NewFeedback};
pub use validation::{ValidationRequest, ValidationResponse};

use crate::Agents;
use plugin_api::Definition;

/// Every derived table: the gateway undoes their changes on a reorganisation.
const TABLES: [&str; 10] = [
    "agents_agents",
    "agents_jobs",
    "agents_payers",
    "agents_validations",
    "agents_feedback",
    "agents_counts",
    "agents_totals",
    "agents_records",
    "agents_clients",
    "agents_validators",
];

/// Subscribes to the events of the four contracts.
pub fn subscribe(definition: Definition<Agents>) -> Definition<Agents> {
    let definition = registry::subscribe(definition);
    let definition = escrow::subscribe(definition);
    let definition = validation::subscribe(definition);
    reputation::subscribe(definition)
}
