//! Handlers of chain events: agents, jobs and accounts. The rule: a row follows from events alone, and all three are in one index, so that
//! a client is never seen without the account that it is.

use crate::{
    Referrals,
    store::derived::{self, ACCOUNTS, AGENTS, JOBS},
};
use plugin_api::Definition;

pub fn subscribe(definition: Definition<Referrals>) -> Definition<Referrals> {
    definition
        .derive_row(AGENTS, derived::insert_agent)
        .derive_row(AGENTS, derived::set_owner)
        .derive_row(JOBS, derived::insert_job)
        .derive_row(JOBS, derived::complete_job)
        .derive_row(ACCOUNTS, derived::insert_account)
}
