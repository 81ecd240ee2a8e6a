//! From what was collected to what a credential says: claims are checked, put in order, and what is missing is named.

use super::{
    collected::Collected,
    own_claims,
    plugins::{COMMONS, OWN, Plugins, is_own},
    readings::{CONTRIBUTED_MAX, Readings},
    sources::{CLAIMS_MAX, Sources},
};
use crate::{
    Aicv,
    model::{
        AGENT_STATE, Agent, CONTRIBUTION, CheckedClaim, Checks, Content, Exclusion, INDEXING, KINDS, Kind, Omitted,
        Refusal, RegistryState, SLASH, UNAVAILABLE, members_of, own_members, summary,
    },
};
use plugin_api::{HostError, RequestContext, point::CvRecord};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Checks what was collected, and puts it in order. Claims that `last` has keep their leaves.
pub fn content(
    cx: &RequestContext<Aicv>,
    sources: &Sources,
    collected: Collected,
    last: Option<&Content>,
) -> Result<Content, HostError> {
    let Collected { readings, state, behind, plugins, .. } = collected;
    let Readings { mut records, evidence } = readings;
    let agent = with_state(sources.agent.clone(), &state);
    let (types, contributions) = (&sources.contribution_types, &sources.contributions);
    // Whose facts they are comes first: nobody takes a log away from a claim of theirs.
    records.sort_by_key(|(plugin, _)| !is_own(plugin));
    let registry = cx.environment().contract("registry");
    let mut gathered = Gathered::new(evidence.checks(cx, &agent));
    gathered.add_own(AGENT_STATE, own_claims::state(agent.agent_id, &state, registry, cx.environment().chain_id));
    for (activity_type, count) in contributions {
        let claim = own_claims::contribution(cx, &agent, activity_type, *count, sources.serves_activity);
        gathered.add_own(CONTRIBUTION, claim);
    }
    records.into_iter().for_each(|(plugin, record)| gathered.add_checked(cx, &plugin, record));
    behind.iter().for_each(|(plugin, record)| gathered.add_behind(cx, plugin, record));
    plugins.silent.iter().for_each(|plugin| gathered.add_silent(cx, plugin));
    gathered.summary.insert("commonsContributions".to_owned(), contributions.values().sum::<i64>().into());
    gathered.order();
    let registry = registry.map(|registry| registry.to_string());
    let mut summary = summary(&agent, gathered.summary, registry.as_deref());
    let missing = behind.iter().map(|(plugin, _)| plugin).chain(&plugins.silent);
    for name in missing.flat_map(|plugin| members_of(plugin)) {
        summary.insert((*name).to_owned(), Value::Null);
    }
    if !plugins.silent.is_empty() {
        summary.insert("commonsContributions".to_owned(), Value::Null);
    }
    let (covers, excludes) = scope(&gathered.covers, types, &plugins);
    let known = last.into_iter().flat_map(|last| &last.claims).map(|claim| (claim.id.as_str(), claim)).collect();
    let claims = gathered.claims.into_iter().map(|claim| claim.into_claim(&known)).collect::<Result<_, _>>()?;
    let omitted = gathered.omitted.into_iter().filter(|(_, count)| *count > 0);
    let omitted = omitted.map(|((kind, reason), count)| Omitted { kind, count, reason: reason.to_owned() }).collect();
    Ok(Content {
        namesakes: sources.namesakes.clone(),
        namesake_count: sources.namesake_count,
        claims,
        omitted,
        summary,
        covers,
        contribution_types: types.iter().cloned().collect(),
        excludes,
        ..Content::of(agent)
    })
}

/// What the registry answered is newer than the index, and what verifiers read.
fn with_state(mut agent: Agent, state: &RegistryState) -> Agent {
    agent.endpoint.clone_from(&state.endpoint);
    agent.status.clone_from(&state.status);
    (agent.price_per_job, agent.bond) = (state.price_per_job, state.bond);
    (agent.jobs_completed, agent.jobs_failed) = (state.jobs_completed, state.jobs_failed);
    (agent.rating_count, agent.rating_sum) = (state.rating_count, state.rating_sum);
    agent
}

/// What goes into a content.
struct Gathered<'c> {
    checks: Checks<'c>,
    claims: Vec<CheckedClaim>,
    covers: BTreeSet<String>,
    summary: Map<String, Value>,
    /// By kind and reason.
    omitted: BTreeMap<(String, &'static str), u64>,
}

impl<'c> Gathered<'c> {
    fn new(checks: Checks<'c>) -> Self {
        let (claims, covers, summary) = (Vec::new(), BTreeSet::new(), Map::new());
        Self { checks, claims, covers, summary, omitted: BTreeMap::new() }
    }

    /// A claim of this plugin, `None` when its members are not those of its kind.
    fn add_own(&mut self, kind: &str, claim: Option<CheckedClaim>) {
        self.covers.insert(kind.to_owned());
        match claim {
            Some(claim) if claim.is_within_bounds() => self.claims.push(claim),
            Some(_) => self.omit(kind, "size", 1),
            None => self.omit(kind, "unproven", 1),
        }
    }

    fn is_granted(&self, plugin: &str, kind: &str) -> bool {
        Kind::find(kind).is_some_and(|kind| self.checks.is_granted(plugin, kind))
    }

    fn add_checked(&mut self, cx: &RequestContext<Aicv>, plugin: &str, record: CvRecord) {
        let CvRecord { covers, claims, left_out, too_large, summary, .. } = record;
        self.cover(plugin, &covers);
        for (counts, reason) in [(left_out, "cap"), (too_large, "size")] {
            for (kind, count) in counts {
                self.omit_granted(plugin, &kind, reason, count);
            }
        }
        self.summary.extend(own_members(plugin, summary));
        let mut refused: BTreeMap<Refusal, u64> = BTreeMap::new();
        for (place, claim) in claims.into_iter().enumerate() {
            let kind = claim.kind.clone();
            if place >= CONTRIBUTED_MAX {
                self.omit_granted(plugin, &kind, "cap", 1);
                continue;
            }
            match self.checks.check(plugin, claim) {
                Ok(claim) => self.claims.push(claim),
                Err(refusal) => {
                    *refused.entry(refusal).or_default() += 1;
                    self.omit_refused(plugin, &kind, refusal);
                }
            }
        }
        report(cx, plugin, &refused);
    }

    /// The fact may well be true: the record must not pass for complete. What a third party states and nothing proves is no fact.
    fn omit_refused(&mut self, plugin: &str, kind: &str, refusal: Refusal) {
        let is_owner = Kind::find(kind).is_some_and(|kind| kind.plugin == plugin);
        match refusal {
            Refusal::TooLarge | Refusal::TooMuchEvidence => self.omit_granted(plugin, kind, "size", 1),
            _ if is_owner => self.omit(kind, "unproven", 1),
            _ => {}
        }
    }

    /// Names what is left out because the plugin's index is at another block.
    fn add_behind(&mut self, cx: &RequestContext<Aicv>, plugin: &str, record: &CvRecord) {
        cx.warn(&format!("the index of {plugin} is at another block: its claims are left out"));
        self.cover(plugin, &record.covers);
        for kind in &record.covers {
            let count = record.claims.iter().filter(|claim| claim.kind == *kind).count() as u64;
            self.omit_granted(plugin, kind, INDEXING, count.max(1));
        }
    }

    /// Names what a plugin states that is on and did not answer.
    fn add_silent(&mut self, cx: &RequestContext<Aicv>, plugin: &str) {
        cx.warn(&format!("{plugin} does not answer: its claims are left out"));
        let own = KINDS.iter().filter(|kind| kind.plugin == plugin).map(|kind| kind.name);
        let granted = self.checks.granted.get(plugin).into_iter().flatten().map(String::as_str);
        let mut kinds: Vec<String> = own.chain(granted).map(str::to_owned).collect();
        if kinds.is_empty() {
            kinds.push(CONTRIBUTION.to_owned());
        }
        self.cover(plugin, &kinds);
        kinds.iter().for_each(|kind| self.omit(kind, UNAVAILABLE, 1));
    }

    fn cover(&mut self, plugin: &str, kinds: &[String]) {
        let granted: Vec<String> = kinds.iter().filter(|kind| self.is_granted(plugin, kind)).cloned().collect();
        self.covers.extend(granted);
    }

    fn omit_granted(&mut self, plugin: &str, kind: &str, reason: &'static str, count: u64) {
        if self.is_granted(plugin, kind) {
            self.omit(kind, reason, count);
        }
    }

    fn omit(&mut self, kind: &str, reason: &'static str, count: u64) {
        let omitted = self.omitted.entry((kind.to_owned(), reason)).or_default();
        *omitted = omitted.saturating_add(count);
    }

    /// No record is longer.
    fn order(&mut self) {
        self.claims.sort_by(|one, other| one.order().cmp(&other.order()));
        let max = usize::try_from(CLAIMS_MAX).unwrap_or(usize::MAX);
        for claim in self.claims.split_off(max.min(self.claims.len())) {
            self.omit(claim.kind.name, "cap", 1);
        }
    }
}

/// Refused claims are counted against the plugin that contributed them.
fn report(cx: &RequestContext<Aicv>, plugin: &str, refused: &BTreeMap<Refusal, u64>) {
    for (refusal, count) in refused {
        cx.warn(&format!("{count} claims of {plugin} are left out: {}", refusal.name()));
        cx.count("claims_refused", &[("contributor", plugin), ("reason", refusal.name())].into(), *count);
    }
}

/// What the record is about, and what it leaves out and why.
fn scope(covered: &BTreeSet<String>, types: &BTreeSet<String>, plugins: &Plugins) -> (Vec<String>, Vec<Exclusion>) {
    let is_covered = |kind: &&Kind| covered.contains(kind.name) || kind.plugin == OWN;
    let why = |plugin: &str| match plugins.is_off(plugin) {
        true => format!("the plugin {plugin} is off"),
        false => format!("the plugin {plugin} states none"),
    };
    let covers = KINDS.iter().filter(is_covered).map(|kind| kind.name.to_owned()).collect();
    let missing = KINDS.iter().filter(|kind| !is_covered(kind));
    let missing = missing.map(|kind| (kind.name.to_owned(), why(kind.plugin)));
    let commons = COMMONS.iter().filter(|(plugin, _)| !plugins.silent.contains(*plugin));
    let commons = commons.flat_map(|(plugin, names)| names.iter().map(move |name| (*plugin, *name)));
    let uncounted = commons.filter(|(_, name)| !types.contains(*name));
    let uncounted = uncounted.map(|(plugin, name)| (format!("{CONTRIBUTION} ({name})"), why(plugin)));
    let slash = (SLASH.to_owned(), "nobody states it: slashes are in the audit export".to_owned());
    let exclusion = |(what, why)| Exclusion { what, why };
    (covers, missing.chain(uncounted).chain([slash]).map(exclusion).collect())
}
