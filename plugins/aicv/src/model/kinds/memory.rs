//! Kinds of the plugin memory: anchors of records.

use crate::model::vocabulary::{Form, Kind, bind, check, event, kind, may, must};

pub const MEMORY_ANCHOR: Kind = Kind {
    fields: &[
        must("anchorSeq", Form::Int),
        must("root", Form::Hash),
        must("prevRoot", Form::Hash),
        must("count", Form::Int),
        may("fromSeq", Form::Int),
        may("toSeq", Form::Int),
        must("totalRecords", Form::Int),
        must("uri", Form::Text),
        must("proofs", Form::Text),
    ],
    events: &[event(
        "memoryAnchor",
        "MemoryAnchored(uint256,uint64,bytes32,bytes32,uint32,uint64,address,string)",
        &[
            bind("agentId", "subject.agentId"),
            bind("root", "claim.root"),
            check("seq", "claim.anchorSeq"),
            check("prevRoot", "claim.prevRoot"),
            check("count", "claim.count"),
            check("totalRecords", "claim.totalRecords"),
            check("uri", "claim.uri"),
        ],
    )],
    notes: &[("note", "the root of a batch of records; what they are about is their owner's")],
    ..kind("MemoryAnchor", "memory")
};
