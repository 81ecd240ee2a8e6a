//! A statement as it is sent: its text, and under which key it stays prepared.

use super::bind::{Param, type_letters};
use crate::{
    check::CheckedStatement,
    commit_statement::{CommitRefusal, CommitStatement},
};
use plugin_api::abi::Value;
use std::borrow::Cow;
use tokio_postgres::types::Type;

/// What the planner was told when it made a plan: a plan that is kept must not serve under other settings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanFor {
    Anything,
    /// See [`super::session_settings`].
    Serializable,
}

pub(crate) struct Query<'s> {
    pub statement: &'s CheckedStatement,
    /// A division by zero is its refusal.
    pub may_refuse: bool,
    text: Cow<'s, str>,
}

impl<'s> Query<'s> {
    pub(crate) fn new(statement: &'s CheckedStatement) -> Self {
        Self { statement, may_refuse: false, text: statement.sql().into() }
    }

    pub(crate) fn of_commit(commit: &'s CommitStatement<CheckedStatement>) -> Self {
        let statement = &commit.statement;
        let text = match commit.refusal {
            CommitRefusal::Never | CommitRefusal::ByDivision => statement.sql().into(),
            CommitRefusal::WithoutRow => failing_without_row(statement.sql()).into(),
        };
        Self { statement, may_refuse: commit.refusal != CommitRefusal::Never, text }
    }

    /// The statement was checked: it is one, and the parameters are sent separately.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn values(&self) -> &'s [Value] {
        &self.statement.statement.params
    }

    pub(crate) fn params(&self) -> impl ExactSizeIterator<Item = Param<'s>> {
        self.values().iter().map(Param)
    }

    pub(crate) fn typed_params(&self) -> impl Iterator<Item = (Param<'s>, Type)> {
        self.values().iter().map(|value| (Param(value), Param::type_of(value)))
    }

    pub(crate) fn types(&self) -> Vec<Type> {
        self.values().iter().map(Param::type_of).collect()
    }

    pub(crate) fn key(&self, plan_for: PlanFor) -> String {
        let mut key = String::with_capacity(self.text.len() + self.values().len() + 2);
        key.push_str(&self.text);
        key.push('\0');
        key.extend(type_letters(self.values()));
        if plan_for == PlanFor::Serializable {
            key.push('s');
        }
        key
    }
}

/// The statement, which fails with a division by zero when it returns no row: COMMIT travels with it, and would commit.
///
/// A left join reads its left side in any case, and that divides; a condition on no row would not be computed.
fn failing_without_row(sql: &str) -> String {
    let sql = sql.trim_end().trim_end_matches(';');
    format!(
        "WITH returned AS ({sql}\n) SELECT returned.* \
         FROM (SELECT 1 / count(*) AS is_there FROM returned) one LEFT JOIN returned ON one.is_there IS NOT NULL"
    )
}
