//! Which of the plugins that claim the same thing gets it: a route, an operation, an action, a type of event, a service, a view,
//! or names of tables.
//!
//! The rule: nobody takes what another one has. One that serves stays; then a plugin that is pinned or came with the gateway comes
//! before others, an earlier one before a later one, and the owner of the prefix (`/api/NAME/`, `NAME.`, `NAME_` of a view)
//! before the alphabet. A plugin that is switched off keeps its tables and views from those that come after it.

use crate::routes::{HOST, shape};
use gateway_storage::shares_tables;
use plugin_api::manifest::{ANY_METHOD, Manifest, RouteSpec};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A plugin that claims something.
pub(crate) struct NameClaims {
    pub manifest: Arc<Manifest>,
    pub serves: bool,
    /// It neither serves nor may start: nothing is its own but the names of its tables and views.
    pub is_off: bool,
    /// Its file is pinned, or came with this gateway.
    pub is_trusted: bool,
    /// When its first migration was applied; `None` for one that never ran, or keeps nothing.
    pub since_s: Option<i64>,
}

impl NameClaims {
    /// The gateway's own routes, which no plugin gets.
    pub(crate) fn host(manifest: &Manifest) -> Self {
        let manifest = Manifest { name: HOST.to_owned(), ..manifest.clone() };
        Self { manifest: Arc::new(manifest), serves: true, is_off: false, is_trusted: true, since_s: Some(i64::MIN) }
    }

    fn name(&self) -> &str {
        &self.manifest.name
    }

    fn rank(&self) -> (Reverse<bool>, Reverse<bool>, i64) {
        (Reverse(self.serves), Reverse(self.is_trusted), self.since_s.unwrap_or(i64::MAX))
    }

    fn owns(&self, claim: &str) -> bool {
        let rest = claim.strip_prefix("/api/").unwrap_or(claim);
        rest.strip_prefix(self.name()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
    }
}

/// The plugins that must not start, each with all reasons.
pub(crate) fn refused_by_name(name_claims: &[NameClaims]) -> BTreeMap<String, Vec<String>> {
    let (off, mut ordered): (Vec<&NameClaims>, Vec<&NameClaims>) = name_claims.iter().partition(|plugin| plugin.is_off);
    ordered.sort_by(|one, other| (one.rank(), one.name()).cmp(&(other.rank(), other.name())));
    let mut accepted: Vec<&NameClaims> = Vec::new();
    let mut refused: Vec<&NameClaims> = Vec::new();
    for newcomer in ordered {
        if !shadowing(newcomer).is_empty() || !kept_by(&off, newcomer).is_empty() {
            refused.push(newcomer);
            continue;
        }
        let conflict_with = |holder: &NameClaims| conflicts(newcomer, holder).into_iter().next();
        let held = accepted.iter().copied().filter_map(|holder| Some((holder, conflict_with(holder)?)));
        let (displaced, others): (Vec<_>, Vec<_>) = held.partition(|(holder, NameConflict { claim, .. })| {
            holder.rank() == newcomer.rank() && newcomer.owns(claim) && !holder.owns(claim)
        });
        if !others.is_empty() {
            refused.push(newcomer);
            continue;
        }
        accepted.retain(|plugin| !displaced.iter().any(|(holder, _)| holder.name() == plugin.name()));
        accepted.push(newcomer);
        refused.extend(displaced.into_iter().map(|(holder, _)| holder));
    }
    refused.into_iter().map(|refused| (refused.name().to_owned(), reasons(refused, &accepted, &off))).collect()
}

/// Why the plugin is refused, of all that it claims.
fn reasons(refused: &NameClaims, accepted: &[&NameClaims], off: &[&NameClaims]) -> Vec<String> {
    let shadowing = shadowing(refused).into_iter().map(|route| {
        let would = "would answer for the paths of other plugins: pin its sha256 if you want that";
        format!("{} {} {would}", route.method, route.path)
    });
    let taken = accepted.iter().flat_map(|holder| conflicts(refused, holder)).chain(kept_by(off, refused));
    shadowing.chain(taken.map(|conflict| conflict.reason)).collect()
}

/// Tables and views that plugins have that are switched off and come before the newcomer.
fn kept_by(off: &[&NameClaims], newcomer: &NameClaims) -> Vec<NameConflict> {
    let earlier = off.iter().filter(|holder| holder.rank() < newcomer.rank());
    earlier.flat_map(|holder| stored(&newcomer.manifest, &holder.manifest)).collect()
}

/// Routes of a plugin that nobody trusts with them.
fn shadowing(plugin: &NameClaims) -> Vec<&RouteSpec> {
    plugin.manifest.routes.iter().filter(|route| !plugin.is_trusted && shadows(&route.path)).collect()
}

struct NameConflict {
    /// Why the newcomer does not get it, when the holder keeps it.
    reason: String,
    /// The path or name whose prefix may belong to one of the two; empty where it belongs to neither.
    claim: String,
}

/// What both claim. The first decides who keeps all of it.
fn conflicts(newcomer: &NameClaims, holder: &NameClaims) -> Vec<NameConflict> {
    let is_trusted = newcomer.is_trusted && holder.is_trusted;
    let (newcomer, holder) = (&*newcomer.manifest, &*holder.manifest);
    let pairs = || newcomer.routes.iter().flat_map(|own| holder.routes.iter().map(move |other| (own, other)));
    let is_any = |route: &RouteSpec| route.method == ANY_METHOD;
    let same_place = |(own, other): &(&RouteSpec, &RouteSpec)| {
        (own.method == other.method || is_any(own) || is_any(other)) && shape(&own.path) == shape(&other.path)
    };
    let conflict = |what: String, claim: &str| {
        let reason = format!("{what} is already one of {}", holder.name);
        NameConflict { reason, claim: claim.to_owned() }
    };
    let route = |own: &RouteSpec| conflict(format!("{} {}", own.method, own.path), &own.path);
    let of = |kind: &str, name: &str| conflict(format!("the {kind} {name}"), name);
    let mut conflicts: Vec<NameConflict> = pairs().filter(same_place).map(|(own, _)| route(own)).collect();
    if !is_trusted {
        conflicts.extend(overlapping(newcomer, holder));
    }
    let operations = pairs().filter(|(own, other)| own.operation == other.operation);
    conflicts.extend(operations.map(|(own, _)| of("operation", &own.operation)));
    let actions = |manifest: &Manifest| -> BTreeSet<String> {
        manifest.routes.iter().filter_map(|route| route.auth.action()).map(str::to_owned).collect()
    };
    conflicts.extend(actions(newcomer).intersection(&actions(holder)).map(|action| of("action", action)));
    let kinds = newcomer.event_types.iter().filter(|kind| holder.event_types.contains(kind));
    conflicts.extend(kinds.map(|kind| of("event type", kind)));
    let is_provided = |name: &String| holder.provides.iter().any(|other| *name == other.name);
    let services = newcomer.provides.iter().map(|spec| &spec.name).filter(|name| is_provided(name));
    conflicts.extend(services.map(|service| of("service", service)));
    conflicts.extend(stored(newcomer, holder));
    conflicts
}

/// What both claim in the database, where a prefix tells whose a table or view is.
fn stored(newcomer: &Manifest, holder: &Manifest) -> Vec<NameConflict> {
    let (own, other) = (newcomer.name.as_str(), holder.name.as_str());
    let tables = shares_tables(own, other).then(|| {
        let reason = format!("its tables could not be told from those of {other}: rename one of the two");
        NameConflict { reason, claim: String::new() }
    });
    let claim =
        |view: &str| [own, other].into_iter().find(|name| is_named_after(view, name)).unwrap_or(view).to_owned();
    let published = newcomer.views.iter().filter_map(|view| {
        let reason = if is_named_after(view, other) {
            format!("the view {view} is named like one of {other}")
        } else if holder.views.contains(view) {
            format!("the view {view} is already published by {other}")
        } else {
            return None;
        };
        Some(NameConflict { reason, claim: claim(view) })
    });
    let expected = holder.views.iter().filter(|view| is_named_after(view, own) && !newcomer.views.contains(view));
    let taken = expected.map(|view| {
        let reason = format!("the view {view}, which is named like one of its own, is already published by {other}");
        NameConflict { reason, claim: claim(view) }
    });
    tables.into_iter().chain(published).chain(taken).collect()
}

fn is_named_after(view: &str, plugin: &str) -> bool {
    view.strip_prefix(plugin).is_some_and(|rest| rest.starts_with('_'))
}

/// Routes whose paths are others and match some of the same requests, whatever their methods: one of them would answer for the
/// other, or the router would refuse the one that is mounted later. Plugins that are trusted may share paths in this way.
fn overlapping(newcomer: &Manifest, holder: &Manifest) -> Vec<NameConflict> {
    let conflict = |own: &RouteSpec| {
        let is_same = |other: &RouteSpec| shape(&own.path) == shape(&other.path);
        if holder.routes.iter().any(is_same) {
            return None;
        }
        let other = holder.routes.iter().find(|other| overlap(&own.path, &other.path))?;
        let (method, path, overlapped) = (&own.method, &own.path, &other.path);
        let reason = format!("{method} {path}, which overlaps {overlapped}, is already one of {}", holder.name);
        Some(NameConflict { reason, claim: path.clone() })
    };
    newcomer.routes.iter().filter_map(conflict).collect()
}

/// Whether a request can match both. A segment with a parameter counts as one that matches every segment.
fn overlap(one: &str, other: &str) -> bool {
    let is_rest = |segment: &str| segment.contains("{*");
    let is_param = |segment: &str| segment.contains('{');
    let (mut one, mut other) = (one.split('/'), other.split('/'));
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if is_rest(one) || is_rest(other) => return true,
            (Some(one), Some(other)) if one == other || is_param(one) || is_param(other) => {}
            _ => return false,
        }
    }
}

/// Whether the path begins with a parameter, at the root or below `/api`.
fn shadows(path: &str) -> bool {
    let rest = path.strip_prefix("/api").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    path.starts_with("/{") || rest.starts_with("/{")
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::manifest::{Auth, CallTypes, ServiceSpec};

    const PATH: &str = "/api/things/{id}";

    fn claimant(name: &str, routes: Vec<RouteSpec>, event_types: &[&str]) -> NameClaims {
        let event_types = event_types.iter().map(ToString::to_string).collect();
        let manifest = Arc::new(Manifest { name: name.to_owned(), routes, event_types, ..Manifest::default() });
        NameClaims { manifest, serves: false, is_off: false, is_trusted: false, since_s: None }
    }

    fn publisher(name: &str, views: &[&str]) -> NameClaims {
        let views = views.iter().map(ToString::to_string).collect();
        let manifest = Arc::new(Manifest { name: name.to_owned(), views, ..Manifest::default() });
        NameClaims { manifest, ..claimant(name, Vec::new(), &[]) }
    }

    fn plugin(name: &str, path: &str) -> NameClaims {
        claimant(name, vec![RouteSpec::new("GET", path, &format!("get_{name}"))], &[])
    }

    fn refused(one: NameClaims, other: NameClaims) -> (String, String) {
        let refused_by_name = refused_by_name(&[one, other]);
        assert_eq!(refused_by_name.len(), 1, "{refused_by_name:?}");
        refused_by_name.into_iter().next().map(|(name, reasons)| (name, reasons.join("; "))).unwrap_or_default()
    }

    #[test]
    fn the_alphabet_decides_last() {
        let (early, late) = (|| plugin("aaa", PATH), || plugin("zzz", "/api/things/{thing}"));
        assert_eq!(refused(early(), late()).0, "zzz");
        let serving = NameClaims { serves: true, ..late() };
        let trusted = NameClaims { is_trusted: true, ..late() };
        let older = NameClaims { since_s: Some(5), ..late() };
        for holder in [serving, trusted, older] {
            assert_eq!(refused(early(), holder), ("aaa".into(), format!("GET {PATH} is already one of zzz")));
        }
        assert_eq!(refused(early(), plugin("things", PATH)).0, "aaa", "the owner of the prefix");
        let there = NameClaims { since_s: Some(5), ..early() };
        assert_eq!(refused(there, plugin("things", PATH)).0, "things", "a name takes nothing from who was there");
    }

    #[test]
    fn operations_actions_and_event_types_belong_to_one_plugin() {
        let with = |name: &str, operation: &str, action: &str, kind: &str| {
            let auth = Auth::SignedBody { action: action.to_owned() };
            let route = RouteSpec { auth, ..RouteSpec::new("POST", &format!("/api/{name}/x"), operation) };
            claimant(name, vec![route], &[kind])
        };
        let holder = || with("a", "do_x", "x.do", "x.done");
        assert_eq!(refused(holder(), with("b", "do_x", "b.do", "b.done")).1, "the operation do_x is already one of a");
        assert_eq!(refused(holder(), with("b", "do_b", "x.do", "b.done")).1, "the action x.do is already one of a");
        assert_eq!(
            refused(holder(), with("b", "do_b", "b.do", "x.done")).1,
            "the event type x.done is already one of a"
        );
        assert_eq!(refused(holder(), with("x", "do_b", "x.do", "b.done")).0, "a", "the owner of the prefix");
        assert!(refused_by_name(&[holder(), with("b", "do_b", "b.do", "b.done")]).is_empty());
    }

    #[test]
    fn a_service_has_one_provider() {
        let with = |name: &str| {
            let pay = ServiceSpec { name: "pay.check".to_owned(), types: CallTypes::default(), in_write: false };
            let provider = Manifest { name: name.to_owned(), provides: vec![pay], ..Manifest::default() };
            NameClaims { manifest: Arc::new(provider), ..claimant(name, Vec::new(), &[]) }
        };
        assert_eq!(
            refused(with("aaa"), with("zzz")),
            ("zzz".into(), "the service pay.check is already one of aaa".into())
        );
        assert_eq!(refused(with("aaa"), with("pay")).0, "aaa", "the owner of the prefix");
    }

    #[test]
    fn everything_that_is_taken_is_told_at_once() {
        let with = |name: &str, since_s, kinds: &[&str]| {
            let auth = Auth::SignedBody { action: "x.do".to_owned() };
            let write = RouteSpec { auth, ..RouteSpec::new("POST", "/api/x", "do_x") };
            let routes = vec![RouteSpec::new("GET", PATH, "get_x"), write];
            NameClaims { since_s: Some(since_s), ..claimant(name, routes, kinds) }
        };
        let third = NameClaims { since_s: Some(2), ..claimant("c", Vec::new(), &["z.done"]) };
        let refused_by_name = refused_by_name(&[with("b", 3, &["y.done", "z.done"]), with("a", 1, &["y.done"]), third]);
        let of_a =
            ["GET /api/things/{id}", "POST /api/x", "the operation get_x", "the operation do_x", "the action x.do"];
        let mut expected: Vec<String> = of_a.map(|what| format!("{what} is already one of a")).into();
        expected.extend(
            ["the event type y.done is already one of a", "the event type z.done is already one of c"]
                .map(str::to_owned),
        );
        assert_eq!(refused_by_name, BTreeMap::from([("b".to_owned(), expected)]));
    }

    #[test]
    fn the_gateways_own_routes_are_taken() {
        let own = NameClaims::host(&plugin("", PATH).manifest);
        let pinned = NameClaims { is_trusted: true, serves: true, since_s: Some(0), ..plugin("things", PATH) };
        assert_eq!(refused(own, pinned).0, "things");
    }

    #[test]
    fn a_stranger_answers_for_no_other_plugins_paths() {
        for path in ["/api/{name}/rows", "/{anything}", "/api/{*rest}"] {
            let refused_by_name = refused_by_name(&[plugin("catches", path)]);
            assert!(
                refused_by_name["catches"][0].contains("would answer for the paths of other plugins"),
                "{refused_by_name:?}"
            );
        }
        let trusted = NameClaims { is_trusted: true, ..plugin("catches", "/api/{name}/rows") };
        assert!(refused_by_name(&[trusted, plugin("a", "/a/{slug}")]).is_empty());
    }

    #[test]
    fn no_path_of_a_stranger_overlaps_one_of_another_plugin() {
        for path in ["/api/things/1", "/api/things/{*rest}", "/api/things/{id}.svg"] {
            for stranger in ["aaa", "zzz"] {
                let said = format!("GET {path}, which overlaps {PATH}, is already one of things");
                assert_eq!(refused(plugin(stranger, path), plugin("things", PATH)), (stranger.to_owned(), said));
                let trusted = || NameClaims { is_trusted: true, ..plugin("other", PATH) };
                assert_eq!(refused(plugin(stranger, path), trusted()).0, stranger);
                let pinned = NameClaims { is_trusted: true, ..plugin(stranger, path) };
                assert!(refused_by_name(&[pinned, trusted()]).is_empty(), "{path}");
            }
        }
        for path in ["/api/things", "/api/things/1/rows", "/api/others/1"] {
            assert!(refused_by_name(&[plugin("aaa", path), plugin("things", PATH)]).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_path_of_another_method_overlaps_too() {
        let post = RouteSpec::new("POST", "/api/things/1", "post_thing");
        assert_eq!(refused(claimant("aaa", vec![post], &[]), plugin("things", PATH)).0, "aaa");
    }

    #[test]
    fn a_view_belongs_to_the_plugin_that_it_is_named_after() {
        let view = "forum_threads_v1";
        let named = ("aaa".to_owned(), format!("the view {view} is named like one of forum"));
        for owner in [publisher("forum", &[view]), publisher("forum", &[])] {
            assert_eq!(refused(publisher("aaa", &[view]), owner), named);
        }
        let earlier = NameClaims { since_s: Some(5), ..publisher("aaa", &[view]) };
        let said = format!("the view {view}, which is named like one of its own, is already published by aaa");
        assert_eq!(refused(earlier, publisher("forum", &[])), ("forum".to_owned(), said));
        let published = ("b".to_owned(), "the view rows_v1 is already published by a".to_owned());
        assert_eq!(refused(publisher("a", &["rows_v1"]), publisher("b", &["rows_v1"])), published);
        assert!(refused_by_name(&[publisher("forums", &[view]), publisher("b", &["rows_v1"])]).is_empty());
    }

    #[test]
    fn a_stranger_takes_no_names_of_tables() {
        let said = |holder: &str| format!("its tables could not be told from those of {holder}: rename one of the two");
        let trusted = |name: &str| NameClaims { is_trusted: true, ..publisher(name, &[]) };
        assert_eq!(refused(publisher("hello_x", &[]), trusted("hello")), ("hello_x".to_owned(), said("hello")));
        assert_eq!(refused(publisher("hello", &[]), trusted("hello_x")), ("hello".to_owned(), said("hello_x")));
        let earlier = NameClaims { since_s: Some(5), ..publisher("hello_x", &[]) };
        assert_eq!(refused(earlier, publisher("hello", &[])).0, "hello", "a name takes nothing from who was there");
    }

    #[test]
    fn a_plugin_that_is_switched_off_keeps_its_tables_from_later_ones() {
        let off = |since_s| NameClaims { is_off: true, since_s, ..publisher("hello", &["hello_rows_v1"]) };
        let stranger = || publisher("hello_x", &["hello_rows_v1"]);
        let said = "its tables could not be told from those of hello: rename one of the two; \
                    the view hello_rows_v1 is named like one of hello";
        assert_eq!(refused(off(Some(5)), stranger()), ("hello_x".to_owned(), said.to_owned()));
        assert!(refused_by_name(&[off(None), stranger()]).is_empty(), "it never ran: it has no tables");
        for stays in [
            NameClaims { is_trusted: true, ..stranger() },
            NameClaims { serves: true, ..stranger() },
            NameClaims { since_s: Some(4), ..stranger() },
        ] {
            assert!(refused_by_name(&[off(Some(5)), stays]).is_empty());
        }
        let routes = |name: &str, is_off| NameClaims { is_off, since_s: Some(5), ..plugin(name, PATH) };
        assert!(refused_by_name(&[routes("aaa", true), plugin("zzz", PATH)]).is_empty(), "others may have its routes");
    }
}
