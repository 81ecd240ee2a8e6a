//! Kinds of the plugin economy: streams, plans, disputes and tokens.

use crate::model::vocabulary::{self, EventRule, Field, Form, Kind, bind, check, event, kind, may, must};

const STREAM_OPENED: &str = "StreamOpened(uint256,address,address,uint256,uint256,uint64,uint64)";
const STREAM_FIELDS: &[Field] = &[
    must("streamId", Form::Int),
    must("payer", Form::Address),
    must("payee", Form::Address),
    must("ratePerSecWei", Form::Wei),
    must("depositWei", Form::Wei),
    must("claimedWei", Form::Wei),
    must("start", Form::Int),
    must("stop", Form::Int),
    must("cancelled", Form::Bool),
];

pub const STREAM: Kind = Kind {
    fields: STREAM_FIELDS,
    events: &[event(
        "streamPay",
        STREAM_OPENED,
        &[
            bind("payee", "subject.address"),
            bind("id", "claim.streamId"),
            check("payee", "claim.payee"),
            check("payer", "claim.payer"),
            check("ratePerSec", "claim.ratePerSecWei"),
            check("deposit", "claim.depositWei"),
            check("start", "claim.start"),
            check("stop", "claim.stop"),
        ],
    )],
    ..kind("Stream", "economy")
};

pub const STREAM_PAYMENT: Kind = Kind {
    fields: STREAM_FIELDS,
    events: &[event(
        "streamPay",
        STREAM_OPENED,
        &[
            bind("payer", "subject.address"),
            bind("id", "claim.streamId"),
            check("payee", "claim.payee"),
            check("payer", "claim.payer"),
            check("ratePerSec", "claim.ratePerSecWei"),
            check("deposit", "claim.depositWei"),
            check("start", "claim.start"),
            check("stop", "claim.stop"),
        ],
    )],
    notes: &[("note", "what the owner pays: no income of the agent")],
    ..kind("StreamPayment", "economy")
};

pub const SUBSCRIPTION_PLAN: Kind = Kind {
    fields: &[
        must("planId", Form::Int),
        must("payee", Form::Address),
        must("pricePerPeriodWei", Form::Wei),
        must("periodSeconds", Form::Int),
        must("active", Form::Bool),
        must("activeSubscribers", Form::Int),
        must("metadataURI", Form::Text),
    ],
    events: &[event(
        "streamPay",
        "PlanCreated(uint256,address,uint256,uint64,string)",
        &[
            bind("planId", "claim.planId"),
            bind("payee", "subject.address"),
            check("payee", "claim.payee"),
            check("pricePerPeriod", "claim.pricePerPeriodWei"),
            check("period", "claim.periodSeconds"),
            check("metadataURI", "claim.metadataURI"),
        ],
    )],
    ..kind("SubscriptionPlan", "economy")
};

pub const DISPUTE: Kind = Kind {
    fields: &[
        must("caseId", Form::Int),
        must("jobId", Form::Int),
        must("opener", Form::Address),
        must("closed", Form::Bool),
        may("clientBps", Form::Int),
        must("outcome", Form::Text),
        must("evidenceURI", Form::Text),
    ],
    events: &[
        EventRule {
            outcomes: &["mostly for the client", "mostly for the agent"],
            ..event(
                "arbiterPool",
                "CaseClosed(uint256,uint256,uint16)",
                &[bind("jobId", "claim.jobId"), check("caseId", "claim.caseId"), check("clientBps", "claim.clientBps")],
            )
        },
        EventRule {
            outcomes: &["open"],
            ..event(
                "arbiterPool",
                "CaseOpened(uint256,uint256,address,string)",
                &[
                    bind("jobId", "claim.jobId"),
                    check("caseId", "claim.caseId"),
                    check("opener", "claim.opener"),
                    check("evidenceURI", "claim.evidenceURI"),
                ],
            )
        },
    ],
    notes: &[("note", "clientBps is the client's share in 1/10000")],
    ..kind(vocabulary::DISPUTE, "economy")
};

pub const TOKEN_LAUNCH: Kind = Kind {
    fields: &[
        must("token", Form::Address),
        must("symbol", Form::Text),
        must("buys", Form::Int),
        must("sells", Form::Int),
        must("fmxInWei", Form::Wei),
        must("fmxOutWei", Form::Wei),
    ],
    events: &[event(
        "tokenFactory",
        "Launched(uint256,address,string)",
        &[bind("agentId", "subject.agentId"), bind("token", "claim.token"), check("symbol", "claim.symbol")],
    )],
    notes: &[("standard", "FRC-20")],
    ..kind("TokenLaunch", "economy")
};
