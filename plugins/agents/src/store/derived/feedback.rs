//! Feedback of clients, keyed by agent, client and index.

use crate::chain::{FeedbackRevoked, NewFeedback};
use plugin_api::{Sql, contracts::ChainEvent, sql};

pub fn insert(event: &ChainEvent<NewFeedback>) -> Sql {
    let given = &event.args;
    sql("INSERT INTO agents_feedback (agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint, \
         feedback_uri, feedback_hash, given_at, tx, revoked) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0)")
    .bind((given.agent_id, given.client_address, given.feedback_index, &given.value, given.value_decimals))
    .bind((&given.tag1, &given.tag2, &given.endpoint, &given.feedback_uri, given.feedback_hash, event.time_s))
    .bind(event.tx)
}

pub fn revoke(revoked: &FeedbackRevoked) -> Sql {
    sql("UPDATE agents_feedback SET revoked = 1 WHERE agent_id = $1 AND client = $2 AND feedback_index = $3").bind((
        revoked.agent_id,
        revoked.client_address,
        revoked.feedback_index,
    ))
}
