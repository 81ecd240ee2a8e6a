//! Handlers of chain events: endorsements, who owns which agent, and which documents owners anchored. The rule: a row follows from events alone.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use crate::{
    Aicv,
    model::{Endorsed, EndorsementGiven, EndorsementRevoked, EndorsementTaken, MetadataSet},
    store::{agents, anchored, endorsements},
};
use plugin_api::{Definition, Event, HostError, PluginContext, Tx, contracts::ChainEvent};

pub const EVENT_TYPES: [&str; 2] = [EndorsementGiven::TYPE, EndorsementTaken::TYPE];

pub fn subscribe(definition: Definition<Aicv>) -> Definition<Aicv> {
    definition
        .derive_agents(agents::TABLE)
        .on_contract_event(&[endorsements::TABLE], endorsed)
        .on_contract_event(&[endorsements::TABLE], revoked)
        .on_contract_event(&[anchored::TABLE], metadata_set)
}

async fn metadata_set(_: PluginContext<Aicv>, tx: Tx, event: ChainEvent<MetadataSet>) -> Result<(), HostError> {
    anchored::insert(&event).map_or(Ok(()), |insert| tx.defer(insert))
}

async fn endorsed(_: PluginContext<Aicv>, tx: Tx, event: ChainEvent<Endorsed>) -> Result<(), HostError> {
    let (owner, from_name) = agents::find_indexed(&tx, event.args.from_agent_id).await?.unzip();
    tx.defer(endorsements::insert(&event, owner))?;
    let to_name = agents::find_indexed(&tx, event.args.to_agent_id).await?.map(|(_, name)| name);
    let given = EndorsementGiven {
        endorsement_id: event.args.id,
        from_agent_id: event.args.from_agent_id,
        from_name: from_name.as_deref(),
        to_agent_id: event.args.to_agent_id,
        to_name: to_name.as_deref(),
        capability: &event.args.capability,
        weight: event.args.weight,
        basis: event.args.basis,
        evidence_job_id: event.args.evidence_job_id,
        owner,
    };
    event.publish(&tx, &given)
}

async fn revoked(_: PluginContext<Aicv>, tx: Tx, event: ChainEvent<EndorsementRevoked>) -> Result<(), HostError> {
    tx.defer(endorsements::revoke(&event))?;
    let taken = EndorsementTaken {
        endorsement_id: event.args.id,
        from_agent_id: event.args.from_agent_id,
        to_agent_id: event.args.to_agent_id,
    };
    event.publish(&tx, &taken)
}
