//! Kinds of the plugin x402: payments.

use crate::model::vocabulary::{EventRule, Field, Form, Kind, bind, check, event, kind, must};

const SETTLED: EventRule = event(
    "x402Vault",
    "Settled(address,address,uint256,uint256,uint256,bytes32)",
    &[
        bind("payee", "subject.address"),
        bind("payer", "claim.payer"),
        bind("nonce", "claim.nonce"),
        bind("amount", "claim.amountWei"),
        bind("fee", "claim.feeWei"),
        check("payee", "claim.payee"),
    ],
);
const PAID: EventRule = EventRule {
    facts: &[
        bind("payer", "subject.address"),
        bind("payee", "claim.payee"),
        bind("nonce", "claim.nonce"),
        bind("amount", "claim.amountWei"),
        bind("fee", "claim.feeWei"),
        check("payer", "claim.payer"),
    ],
    ..SETTLED
};
const X402_FIELDS: &[Field] = &[
    must("payer", Form::Address),
    must("payee", Form::Address),
    must("amountWei", Form::Wei),
    must("feeWei", Form::Wei),
    must("nonce", Form::Wei),
];

pub const X402_RECEIPT: Kind = Kind { fields: X402_FIELDS, events: &[SETTLED], ..kind("X402Receipt", "x402") };

pub const X402_PAYMENT: Kind = Kind {
    fields: X402_FIELDS,
    events: &[PAID],
    notes: &[("note", "what the owner paid: no income of the agent")],
    ..kind("X402Payment", "x402")
};
