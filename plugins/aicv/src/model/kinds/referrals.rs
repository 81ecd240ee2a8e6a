//! Kinds of the plugin referrals: who brought whom.

use crate::model::vocabulary::{Form, Kind, kind, must};

pub const REFERRAL: Kind = Kind {
    fields: &[must("referred", Form::Int), must("paidOut", Form::Int)],
    asserted: Some(("gateway", "signed")),
    ..kind("Referral", "referrals")
};
