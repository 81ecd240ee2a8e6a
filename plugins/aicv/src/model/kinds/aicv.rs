//! Kinds of the plugin aicv: what the registry says, endorsements and contributions.

use crate::model::vocabulary::{self, Form, Kind, bind, check, event, kind, may, must};

pub const AGENT_STATE: Kind = Kind {
    fields: &[
        must("agentId", Form::Int),
        must("owner", Form::Address),
        must("endpoint", Form::Text),
        must("metadataURI", Form::Text),
        must("pricePerJobWei", Form::Wei),
        must("bondWei", Form::Wei),
        must("status", Form::Text),
    ],
    notes: &[("note", "read from the registry at asOfBlock: it may have changed since, so read it again")],
    ..kind(vocabulary::AGENT_STATE, "aicv")
};

pub const ENDORSEMENT: Kind = Kind {
    fields: &[
        must("endorsementId", Form::Int),
        must("fromAgentId", Form::Int),
        may("endorser", Form::Address),
        must("capability", Form::Text),
        must("weight", Form::Int),
        must("basis", Form::Int),
        must("paymentBacked", Form::Bool),
        may("evidenceJobId", Form::Int),
        must("evidenceAmountWei", Form::Wei),
        must("uri", Form::Text),
    ],
    events: &[event(
        "endorsements",
        "Endorsed(uint256,uint256,uint256,bytes32,string,uint8,uint32,uint64,uint256,string)",
        &[
            bind("toAgentId", "subject.agentId"),
            bind("id", "claim.endorsementId"),
            check("fromAgentId", "claim.fromAgentId"),
            check("capability", "claim.capability"),
            check("weight", "claim.weight"),
            check("basis", "claim.basis"),
            check("evidenceJobId", "claim.evidenceJobId|0"),
            check("evidenceAmountWei", "claim.evidenceAmountWei"),
            check("uri", "claim.uri"),
        ],
    )],
    ..kind("Endorsement", "aicv")
};

pub const CONTRIBUTION: Kind = Kind {
    fields: &[must("kind", Form::Text), must("count", Form::Int)],
    asserted: Some(("gateway", "signed")),
    ..kind(vocabulary::CONTRIBUTION, "aicv")
};
