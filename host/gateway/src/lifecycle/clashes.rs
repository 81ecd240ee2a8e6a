//! Which of the plugins that claim the same thing gets it: a route, an operation, an action, a type of event.
//!
//! The rule: nobody takes what another one has. One that serves stays; then a plugin that is pinned or came with the gateway comes
//! before others, an earlier one before a later one, and the owner of the prefix (`/api/NAME/`, `NAME.`) before the alphabet.

use crate::routes::shape;
use plugin_api::manifest::{ANY_METHOD, Manifest, RouteSpec};
use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

/// A plugin that serves, or wants to.
pub struct Claimant {
    pub manifest: Arc<Manifest>,
    pub serves: bool,
    /// Its file is pinned, or came with this gateway.
    pub is_trusted: bool,
    /// When its first migration was applied; `None` for one that never ran, or keeps nothing.
    pub since_ms: Option<i64>,
}

impl Claimant {
    fn name(&self) -> &str {
        &self.manifest.name
    }

    fn rank(&self) -> (Reverse<bool>, Reverse<bool>, i64) {
        (Reverse(self.serves), Reverse(self.is_trusted), self.since_ms.unwrap_or(i64::MAX))
    }

    fn owns(&self, claim: &str) -> bool {
        let rest = claim.strip_prefix("/api/").unwrap_or(claim);
        rest.strip_prefix(self.name()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
    }
}

/// The plugins that must not start, with the reason.
pub fn losers(claimants: &[Claimant]) -> BTreeMap<String, String> {
    let mut ordered: Vec<&Claimant> = claimants.iter().collect();
    ordered.sort_by(|one, other| (one.rank(), one.name()).cmp(&(other.rank(), other.name())));
    let mut accepted: Vec<&Claimant> = Vec::new();
    let mut losers = BTreeMap::new();
    for newcomer in ordered {
        if let Some(route) = newcomer.manifest.routes.iter().find(|route| !newcomer.is_trusted && shadows(&route.path))
        {
            let reason = format!("{} {} would answer for the paths of other plugins", route.method, route.path);
            losers.insert(newcomer.name().to_owned(), format!("{reason}: pin its sha256 if you want that"));
            continue;
        }
        let clash = accepted.iter().find_map(|holder| Some((*holder, clash(&newcomer.manifest, &holder.manifest)?)));
        let Some((holder, Clash { what, claim })) = clash else {
            accepted.push(newcomer);
            continue;
        };
        let is_owner = holder.rank() == newcomer.rank() && newcomer.owns(&claim) && !holder.owns(&claim);
        let (winner, loser) = if is_owner { (newcomer, holder) } else { (holder, newcomer) };
        losers.insert(loser.name().to_owned(), format!("{what} is already one of {}", winner.name()));
        if is_owner {
            accepted.retain(|plugin| plugin.name() != loser.name());
            accepted.push(newcomer);
        }
    }
    losers
}

struct Clash {
    /// In words.
    what: String,
    /// The path or name whose prefix may belong to one of the two.
    claim: String,
}

fn clash(newcomer: &Manifest, holder: &Manifest) -> Option<Clash> {
    let pairs = || newcomer.routes.iter().flat_map(|own| holder.routes.iter().map(move |other| (own, other)));
    let is_any = |route: &RouteSpec| route.method == ANY_METHOD;
    let same_place = |(own, other): &(&RouteSpec, &RouteSpec)| {
        (own.method == other.method || is_any(own) || is_any(other)) && shape(&own.path) == shape(&other.path)
    };
    if let Some((own, _)) = pairs().find(same_place) {
        return Some(Clash { what: format!("{} {}", own.method, own.path), claim: own.path.clone() });
    }
    if let Some((own, _)) = pairs().find(|(own, other)| own.operation == other.operation) {
        return Some(Clash { what: format!("the operation {}", own.operation), claim: own.operation.clone() });
    }
    let same_action = |(own, other): &(&RouteSpec, &RouteSpec)| {
        own.auth.action().is_some() && own.auth.action() == other.auth.action()
    };
    if let Some(action) = pairs().find(same_action).and_then(|(own, _)| own.auth.action()) {
        return Some(Clash { what: format!("the action {action}"), claim: action.to_owned() });
    }
    let kind = newcomer.event_types.iter().find(|kind| holder.event_types.contains(kind))?;
    Some(Clash { what: format!("the event type {kind}"), claim: kind.clone() })
}

/// Whether the path begins with a parameter, at the root or below `/api`.
fn shadows(path: &str) -> bool {
    let rest = path.strip_prefix("/api").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    path.starts_with("/{") || rest.starts_with("/{")
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::manifest::Auth;

    const PATH: &str = "/api/things/{id}";

    fn claimant(name: &str, routes: Vec<RouteSpec>, event_types: &[&str]) -> Claimant {
        let event_types = event_types.iter().map(ToString::to_string).collect();
        let manifest = Arc::new(Manifest { name: name.to_owned(), routes, event_types, ..Manifest::default() });
        Claimant { manifest, serves: false, is_trusted: false, since_ms: None }
    }

    fn plugin(name: &str, path: &str) -> Claimant {
        claimant(name, vec![RouteSpec::new("GET", path, &format!("get_{name}"))], &[])
    }

    fn loser(one: Claimant, other: Claimant) -> (String, String) {
        let losers = losers(&[one, other]);
        assert_eq!(losers.len(), 1, "{losers:?}");
        losers.into_iter().next().unwrap_or_default()
    }

    #[test]
    fn the_alphabet_decides_last() {
        let (early, late) = (|| plugin("aaa", PATH), || plugin("zzz", "/api/things/{thing}"));
        assert_eq!(loser(early(), late()).0, "zzz");
        let serving = Claimant { serves: true, ..late() };
        let trusted = Claimant { is_trusted: true, ..late() };
        let older = Claimant { since_ms: Some(5), ..late() };
        for holder in [serving, trusted, older] {
            assert_eq!(loser(early(), holder), ("aaa".into(), format!("GET {PATH} is already one of zzz")));
        }
        assert_eq!(loser(early(), plugin("things", PATH)).0, "aaa", "the owner of the prefix");
        let there = Claimant { since_ms: Some(5), ..early() };
        assert_eq!(loser(there, plugin("things", PATH)).0, "things", "a name takes nothing from who was there");
    }

    #[test]
    fn operations_actions_and_event_types_belong_to_one_plugin() {
        let with = |name: &str, operation: &str, action: &str, kind: &str| {
            let auth = Auth::SignedBody { action: action.to_owned() };
            let route = RouteSpec { auth, ..RouteSpec::new("POST", &format!("/api/{name}/x"), operation) };
            claimant(name, vec![route], &[kind])
        };
        let holder = || with("a", "do_x", "x.do", "x.done");
        assert_eq!(loser(holder(), with("b", "do_x", "b.do", "b.done")).1, "the operation do_x is already one of a");
        assert_eq!(loser(holder(), with("b", "do_b", "x.do", "b.done")).1, "the action x.do is already one of a");
        assert_eq!(loser(holder(), with("b", "do_b", "b.do", "x.done")).1, "the event type x.done is already one of a");
        assert_eq!(loser(holder(), with("x", "do_b", "x.do", "b.done")).0, "a", "the owner of the prefix");
        assert!(losers(&[holder(), with("b", "do_b", "b.do", "b.done")]).is_empty());
    }

    #[test]
    fn a_stranger_answers_for_no_other_plugins_paths() {
        for path in ["/api/{name}/rows", "/{anything}", "/api/{*rest}"] {
            let losers = losers(&[plugin("catches", path)]);
            assert!(losers["catches"].contains("would answer for the paths of other plugins"), "{losers:?}");
        }
        let trusted = Claimant { is_trusted: true, ..plugin("catches", "/api/{name}/rows") };
        assert!(losers(&[trusted, plugin("a", "/a/{slug}")]).is_empty());
    }
}
