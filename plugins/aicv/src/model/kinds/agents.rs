//! Kinds of the plugin agents: what is registered, paid, judged and observed.

use crate::model::vocabulary::{self, EventRule, Form, Kind, bind, check, event, kind, may, must};

const UNSETTLED: &[&str] = &["Open", "Delivered", "Disputed"];

pub const REGISTRATION: Kind = Kind {
    fields: &[
        must("agentId", Form::Int),
        must("owner", Form::Address),
        must("name", Form::Text),
        may("endpointAtRegistration", Form::Text),
        may("metadataURIAtRegistration", Form::Text),
        may("pricePerJobWeiAtRegistration", Form::Wei),
        may("bondWeiAtRegistration", Form::Wei),
    ],
    events: &[event(
        "registry",
        "AgentRegistered(uint256,address,string,string,string,uint256,uint256)",
        &[
            bind("id", "subject.agentId"),
            bind("owner", "claim.owner"),
            bind("name", "claim.name"),
            bind("endpoint", "claim.endpointAtRegistration"),
            bind("pricePerJob", "claim.pricePerJobWeiAtRegistration"),
            bind("bond", "claim.bondWeiAtRegistration"),
            check("id", "claim.agentId"),
            check("metadataURI", "claim.metadataURIAtRegistration"),
        ],
    )],
    asserted: Some(("gateway", "chain")),
    notes: &[("mutableNote", "as registered; endpoint, price and bond of today are in the claim AgentState")],
    ..kind(vocabulary::REGISTRATION, "agents")
};

pub const ESCROW_JOB: Kind = Kind {
    fields: &[
        must("jobId", Form::Int),
        must("client", Form::Address),
        must("amountWei", Form::Wei),
        may("payoutWei", Form::Wei),
        may("feeWei", Form::Wei),
        must("outcome", Form::Text),
        may("rating", Form::Int),
        may("inputHash", Form::Hash),
        may("outputHash", Form::Hash),
        must("requestedAt", Form::Int),
        may("deliveredAt", Form::Int),
        may("settledAt", Form::Int),
    ],
    events: &[
        EventRule {
            time: Some("settledAt"),
            outcomes: &["Completed"],
            ..event(
                "escrow",
                "JobCompleted(uint256,uint256,uint256,uint8)",
                &[
                    bind("jobId", "claim.jobId"),
                    bind("agentPayout", "claim.payoutWei"),
                    bind("fee", "claim.feeWei"),
                    bind("rating", "claim.rating|0"),
                ],
            )
        },
        EventRule {
            time: Some("settledAt"),
            outcomes: &["Resolved"],
            ..event(
                "escrow",
                "JobResolved(uint256,uint256,uint256,uint256)",
                &[bind("jobId", "claim.jobId"), bind("agentPayout", "claim.payoutWei"), bind("fee", "claim.feeWei")],
            )
        },
        EventRule {
            time: Some("settledAt"),
            outcomes: &["Refunded"],
            ..event("escrow", "JobRefunded(uint256,uint256,bool)", &[bind("jobId", "claim.jobId")])
        },
        EventRule {
            time: Some("requestedAt"),
            outcomes: UNSETTLED,
            ..event(
                "escrow",
                "JobRequested(uint256,uint256,address,uint256,bytes32,string)",
                &[
                    bind("jobId", "claim.jobId"),
                    bind("agentId", "subject.agentId"),
                    check("client", "claim.client"),
                    check("amount", "claim.amountWei"),
                    check("inputHash", "claim.inputHash"),
                ],
            )
        },
        EventRule {
            time: Some("deliveredAt"),
            decides: false,
            ..event(
                "escrow",
                "JobDelivered(uint256,bytes32,string)",
                &[check("jobId", "claim.jobId"), check("outputHash", "claim.outputHash|0")],
            )
        },
    ],
    notes: &[("ratingScale", "1..5")],
    ..kind(vocabulary::ESCROW_JOB, "agents")
};

pub const FEEDBACK: Kind = Kind {
    fields: &[
        must("client", Form::Address),
        must("value", Form::Text),
        must("valueDecimals", Form::Int),
        must("tag1", Form::Text),
        must("tag2", Form::Text),
        must("feedbackURI", Form::Text),
        must("paymentBacked", Form::Bool),
    ],
    events: &[event(
        "reputation8004",
        "NewFeedback(uint256,address,uint64,int128,uint8,string,string,string,string,string,bytes32)",
        &[
            bind("agentId", "subject.agentId"),
            bind("clientAddress", "claim.client"),
            check("value", "claim.value"),
            check("valueDecimals", "claim.valueDecimals"),
            check("tag1", "claim.tag1"),
            check("tag2", "claim.tag2"),
            check("feedbackURI", "claim.feedbackURI"),
        ],
    )],
    notes: &[("paymentBackedNote", "whether this client has a paid escrow job with the agent")],
    ..kind(vocabulary::FEEDBACK, "agents")
};

pub const VALIDATION: Kind = Kind {
    fields: &[
        must("requestHash", Form::Hash),
        must("validator", Form::Address),
        must("validatorTier", Form::Text),
        may("jobId", Form::Int),
        may("response", Form::Int),
        must("tag", Form::Text),
        must("requestURI", Form::Text),
        must("responseURI", Form::Text),
        must("selfAttested", Form::Bool),
    ],
    events: &[
        event(
            "validation8004",
            "ValidationResponse(address,uint256,bytes32,uint8,string,bytes32,string)",
            &[
                bind("agentId", "subject.agentId"),
                bind("requestHash", "claim.requestHash"),
                check("validatorAddress", "claim.validator"),
                check("response", "claim.response"),
                check("tag", "claim.tag"),
                check("responseURI", "claim.responseURI"),
            ],
        ),
        event(
            "validation8004",
            "ValidationRequest(address,uint256,string,bytes32)",
            &[
                check("agentId", "subject.agentId"),
                check("requestHash", "claim.requestHash"),
                check("validatorAddress", "claim.validator"),
                check("requestURI", "claim.requestURI"),
            ],
        ),
    ],
    notes: &[
        ("responseScale", "0..100"),
        (
            "validatorNote",
            "a validator that the owner controls is `self`; others may be his as well, which nothing proves",
        ),
    ],
    ..kind("Validation", "agents")
};

pub const RELIABILITY: Kind = Kind {
    fields: &[
        may("uptimePct", Form::Number),
        must("probes", Form::Int),
        must("probeDays", Form::Int),
        must("online", Form::Bool),
        may("lastSeen", Form::Int),
        must("deliveredJobs", Form::Int),
        must("settledJobs", Form::Int),
    ],
    asserted: Some(("gateway", "observed")),
    ..kind(vocabulary::RELIABILITY, "agents")
};

pub const CAPABILITY: Kind = Kind {
    fields: &[
        must("capabilities", Form::Texts),
        may("model", Form::Text),
        may("version", Form::Text),
        may("pricePerCallWei", Form::Wei),
        may("card", Form::Text),
    ],
    asserted: Some(("selfAttested", "declared")),
    ..kind("Capability", "agents")
};
