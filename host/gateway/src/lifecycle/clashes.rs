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
pub struct Claimant {
    pub manifest: Arc<Manifest>,
    pub serves: bool,
    /// It neither serves nor may start: nothing is its own but the names of its tables and views.
    pub is_off: bool,
    /// Its file is pinned, or came with this gateway.
    pub is_trusted: bool,
    /// When its first migration was applied; `None` for one that never ran, or keeps nothing.
    pub since_s: Option<i64>,
}

impl Claimant {
    /// The gateway's own routes, which no plugin gets.
    pub fn host(manifest: &Manifest) -> Self {
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
pub fn losers(claimants: &[Claimant]) -> BTreeMap<String, Vec<String>> {
    let (off, mut ordered): (Vec<&Claimant>, Vec<&Claimant>) = claimants.iter().partition(|plugin| plugin.is_off);
    ordered.sort_by(|one, other| (one.rank(), one.name()).cmp(&(other.rank(), other.name())));
    let mut accepted: Vec<&Claimant> = Vec::new();
    let mut lost: Vec<&Claimant> = Vec::new();
    for newcomer in ordered {
        if !shadowing(newcomer).is_empty() || !kept_by(&off, newcomer).is_empty() {
            lost.push(newcomer);
            continue;
        }
        let clash_with = |holder: &Claimant| clashes(newcomer, holder).into_iter().next();
        let held = accepted.iter().copied().filter_map(|holder| Some((holder, clash_with(holder)?)));
        let (beaten, others): (Vec<_>, Vec<_>) = held.partition(|(holder, Clash { claim, .. })| {
            holder.rank() == newcomer.rank() && newcomer.owns(claim) && !holder.owns(claim)
        });
        if !others.is_empty() {
            lost.push(newcomer);
            continue;
        }
        accepted.retain(|plugin| !beaten.iter().any(|(holder, _)| holder.name() == plugin.name()));
        accepted.push(newcomer);
        lost.extend(beaten.into_iter().map(|(holder, _)| holder));
    }
    lost.into_iter().map(|loser| (loser.name().to_owned(), reasons(loser, &accepted, &off))).collect()
}

/// Why the plugin lost, of all that it claims.
fn reasons(loser: &Claimant, accepted: &[&Claimant], off: &[&Claimant]) -> Vec<String> {
    let shadowing = shadowing(loser).into_iter().map(|route| {
        let would = "would answer for the paths of other plugins: pin its sha256 if you want that";
        format!("{} {} {would}", route.method, route.path)
    });
    let taken = accepted.iter().flat_map(|holder| clashes(loser, holder)).chain(kept_by(off, loser));
    shadowing.chain(taken.map(|clash| clash.reason)).collect()
}

/// Tables and views that plugins have that are switched off and come before the newcomer.
fn kept_by(off: &[&Claimant], newcomer: &Claimant) -> Vec<Clash> {
    let earlier = off.iter().filter(|holder| holder.rank() < newcomer.rank());
    earlier.flat_map(|holder| stored(&newcomer.manifest, &holder.manifest)).collect()
}

/// Routes of a plugin that nobody trusts with them.
fn shadowing(plugin: &Claimant) -> Vec<&RouteSpec> {
    plugin.manifest.routes.iter().filter(|route| !plugin.is_trusted && shadows(&route.path)).collect()
}

struct Clash {
    /// Why the newcomer does not get it, when the holder keeps it.
    reason: String,
    /// The path or name whose prefix may belong to one of the two; empty where it belongs to neither.
    claim: String,
}

/// What both claim. The first decides who keeps all of it.
fn clashes(newcomer: &Claimant, holder: &Claimant) -> Vec<Clash> {
    let is_trusted = newcomer.is_trusted && holder.is_trusted;
    let (newcomer, holder) = (&*newcomer.manifest, &*holder.manifest);
    let pairs = || newcomer.routes.iter().flat_map(|own| holder.routes.iter().map(move |other| (own, other)));
    let is_any = |route: &RouteSpec| route.method == ANY_METHOD;
    let same_place = |(own, other): &(&RouteSpec, &RouteSpec)| {
        (own.method == other.method || is_any(own) || is_any(other)) && shape(&own.path) == shape(&other.path)
    };
    let clash = |what: String, claim: &str| {
        let reason = format!("{what} is already one of {}", holder.name);
        Clash { reason, claim: claim.to_owned() }
    };
    let route = |own: &RouteSpec| clash(format!("{} {}", own.method, own.path), &own.path);
    let of = |kind: &str, name: &str| clash(format!("the {kind} {name}"), name);
    let mut clashes: Vec<Clash> = pairs().filter(same_place).map(|(own, _)| route(own)).collect();
    if !is_trusted {
        clashes.extend(overlapping(newcomer, holder));
    }
    let operations = pairs().filter(|(own, other)| own.operation == other.operation);
    clashes.extend(operations.map(|(own, _)| of("operation", &own.operation)));
    let actions = |manifest: &Manifest| -> BTreeSet<String> {
        manifest.routes.iter().filter_map(|route| route.auth.action()).map(str::to_owned).collect()
    };
    clashes.extend(actions(newcomer).intersection(&actions(holder)).map(|action| of("action", action)));
    let kinds = newcomer.event_types.iter().filter(|kind| holder.event_types.contains(kind));
    clashes.extend(kinds.map(|kind| of("event type", kind)));
    let is_provided = |name: &String| holder.provides.iter().any(|other| *name == other.name);
    let services = newcomer.provides.iter().map(|spec| &spec.name).filter(|name| is_provided(name));
    clashes.extend(services.map(|service| of("service", service)));
    clashes.extend(stored(newcomer, holder));
    clashes
}

/// What both claim in the database, where a prefix tells whose a table or view is.
fn stored(newcomer: &Manifest, holder: &Manifest) -> Vec<Clash> {
    let (own, other) = (newcomer.name.as_str(), holder.name.as_str());
    let tables = shares_tables(own, other).then(|| {
        let reason = format!("its tables could not be told from those of {other}: rename one of the two");
        Clash { reason, claim: String::new() }
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
        Some(Clash { reason, claim: claim(view) })
    });
    let expected = holder.views.iter().filter(|view| is_named_after(view, own) && !newcomer.views.contains(view));
    let taken = expected.map(|view| {
        let reason = format!("the view {view}, which is named like one of its own, is already published by {other}");
        Clash { reason, claim: claim(view) }
    });
    tables.into_iter().chain(published).chain(taken).collect()
}

fn is_named_after(view: &str, plugin: &str) -> bool {
    view.strip_prefix(plugin).is_some_and(|rest| rest.starts_with('_'))
}

/// Routes whose paths are others and match some of the same requests, whatever their methods: one of them would answer for the
/// other, or the router would refuse the one that is mounted later. Plugins that are trusted may share paths in this way.
fn overlapping(newcomer: &Manifest, holder: &Manifest) -> Vec<Clash> {
    let clash = |own: &RouteSpec| {
        let is_same = |other: &RouteSpec| shape(&own.path) == shape(&other.path);
        if holder.routes.iter().any(is_same) {
            return None;
        }
        let other = holder.routes.iter().find(|other| overlap(&own.path, &other.path))?;
        let (method, path, overlapped) = (&own.method, &own.path, &other.path);
        let reason = format!("{method} {path}, which overlaps {overlapped}, is already one of {}", holder.name);
        Some(Clash { reason, claim: path.clone() })
    };
    newcomer.routes.iter().filter_map(clash).collect()
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

    fn claimant(name: &str, routes: Vec<RouteSpec>, event_types: &[&str]) -> Claimant {
        let event_types = event_types.iter().map(ToString::to_string).collect();
        let manifest = Arc::new(Manifest { name: name.to_owned(), routes, event_types, ..Manifest::default() });
        Claimant { manifest, serves: false, is_off: false, is_trusted: false, since_s: None }
    }

    fn publisher(name: &str, views: &[&str]) -> Claimant {
        let views = views.iter().map(ToString::to_string).collect();
        let manifest = Arc::new(Manifest { name: name.to_owned(), views, ..Manifest::default() });
        Claimant { manifest, ..claimant(name, Vec::new(), &[]) }
    }

    fn plugin(name: &str, path: &str) -> Claimant {
        claimant(name, vec![RouteSpec::new("GET", path, &format!("get_{name}"))], &[])
    }

    fn loser(one: Claimant, other: Claimant) -> (String, String) {
        let losers = losers(&[one, other]);
        assert_eq!(losers.len(), 1, "{losers:?}");
        losers.into_iter().next().map(|(name, reasons)| (name, reasons.join("; "))).unwrap_or_default()
    }

    #[test]
    fn the_alphabet_decides_last() {
        let (early, late) = (|| plugin("aaa", PATH), || plugin("zzz", "/api/things/{thing}"));
        assert_eq!(loser(early(), late()).0, "zzz");
        let serving = Claimant { serves: true, ..late() };
        let trusted = Claimant { is_trusted: true, ..late() };
        let older = Claimant { since_s: Some(5), ..late() };
        for holder in [serving, trusted, older] {
            assert_eq!(loser(early(), holder), ("aaa".into(), format!("GET {PATH} is already one of zzz")));
        }
        assert_eq!(loser(early(), plugin("things", PATH)).0, "aaa", "the owner of the prefix");
        let there = Claimant { since_s: Some(5), ..early() };
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
    fn a_service_has_one_provider() {
        let with = |name: &str| {
            let pay = ServiceSpec { name: "pay.check".to_owned(), types: CallTypes::default(), in_write: false };
            let provider = Manifest { name: name.to_owned(), provides: vec![pay], ..Manifest::default() };
            Claimant { manifest: Arc::new(provider), ..claimant(name, Vec::new(), &[]) }
        };
        assert_eq!(
            loser(with("aaa"), with("zzz")),
            ("zzz".into(), "the service pay.check is already one of aaa".into())
        );
        assert_eq!(loser(with("aaa"), with("pay")).0, "aaa", "the owner of the prefix");
    }

    #[test]
    fn everything_that_is_taken_is_told_at_once() {
        let with = |name: &str, since_s, kinds: &[&str]| {
            let auth = Auth::SignedBody { action: "x.do".to_owned() };
            let write = RouteSpec { auth, ..RouteSpec::new("POST", "/api/x", "do_x") };
            let routes = vec![RouteSpec::new("GET", PATH, "get_x"), write];
            Claimant { since_s: Some(since_s), ..claimant(name, routes, kinds) }
        };
        let third = Claimant { since_s: Some(2), ..claimant("c", Vec::new(), &["z.done"]) };
        let losers = losers(&[with("b", 3, &["y.done", "z.done"]), with("a", 1, &["y.done"]), third]);
        let of_a =
            ["GET /api/things/{id}", "POST /api/x", "the operation get_x", "the operation do_x", "the action x.do"];
        let mut expected: Vec<String> = of_a.map(|what| format!("{what} is already one of a")).into();
        expected.extend(
            ["the event type y.done is already one of a", "the event type z.done is already one of c"]
                .map(str::to_owned),
        );
        assert_eq!(losers, BTreeMap::from([("b".to_owned(), expected)]));
    }

    #[test]
    fn the_gateways_own_routes_are_taken() {
        let own = Claimant::host(&plugin("", PATH).manifest);
        let pinned = Claimant { is_trusted: true, serves: true, since_s: Some(0), ..plugin("things", PATH) };
        assert_eq!(loser(own, pinned).0, "things");
    }

    #[test]
    fn a_stranger_answers_for_no_other_plugins_paths() {
        for path in ["/api/{name}/rows", "/{anything}", "/api/{*rest}"] {
            let losers = losers(&[plugin("catches", path)]);
            assert!(losers["catches"][0].contains("would answer for the paths of other plugins"), "{losers:?}");
        }
        let trusted = Claimant { is_trusted: true, ..plugin("catches", "/api/{name}/rows") };
        assert!(losers(&[trusted, plugin("a", "/a/{slug}")]).is_empty());
    }

    #[test]
    fn no_path_of_a_stranger_overlaps_one_of_another_plugin() {
        for path in ["/api/things/1", "/api/things/{*rest}", "/api/things/{id}.svg"] {
            for stranger in ["aaa", "zzz"] {
                let said = format!("GET {path}, which overlaps {PATH}, is already one of things");
                assert_eq!(loser(plugin(stranger, path), plugin("things", PATH)), (stranger.to_owned(), said));
                let trusted = || Claimant { is_trusted: true, ..plugin("other", PATH) };
                assert_eq!(loser(plugin(stranger, path), trusted()).0, stranger);
                let pinned = Claimant { is_trusted: true, ..plugin(stranger, path) };
                assert!(losers(&[pinned, trusted()]).is_empty(), "{path}");
            }
        }
        for path in ["/api/things", "/api/things/1/rows", "/api/others/1"] {
            assert!(losers(&[plugin("aaa", path), plugin("things", PATH)]).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_path_of_another_method_overlaps_too() {
        let post = RouteSpec::new("POST", "/api/things/1", "post_thing");
        assert_eq!(loser(claimant("aaa", vec![post], &[]), plugin("things", PATH)).0, "aaa");
    }

    #[test]
    fn a_view_belongs_to_the_plugin_that_it_is_named_after() {
        let view = "forum_threads_v1";
        let named = ("aaa".to_owned(), format!("the view {view} is named like one of forum"));
        for owner in [publisher("forum", &[view]), publisher("forum", &[])] {
            assert_eq!(loser(publisher("aaa", &[view]), owner), named);
        }
        let earlier = Claimant { since_s: Some(5), ..publisher("aaa", &[view]) };
        let said = format!("the view {view}, which is named like one of its own, is already published by aaa");
        assert_eq!(loser(earlier, publisher("forum", &[])), ("forum".to_owned(), said));
        let published = ("b".to_owned(), "the view rows_v1 is already published by a".to_owned());
        assert_eq!(loser(publisher("a", &["rows_v1"]), publisher("b", &["rows_v1"])), published);
        assert!(losers(&[publisher("forums", &[view]), publisher("b", &["rows_v1"])]).is_empty());
    }

    #[test]
    fn a_stranger_takes_no_names_of_tables() {
        let said = |holder: &str| format!("its tables could not be told from those of {holder}: rename one of the two");
        let trusted = |name: &str| Claimant { is_trusted: true, ..publisher(name, &[]) };
        assert_eq!(loser(publisher("hello_x", &[]), trusted("hello")), ("hello_x".to_owned(), said("hello")));
        assert_eq!(loser(publisher("hello", &[]), trusted("hello_x")), ("hello".to_owned(), said("hello_x")));
        let earlier = Claimant { since_s: Some(5), ..publisher("hello_x", &[]) };
        assert_eq!(loser(earlier, publisher("hello", &[])).0, "hello", "a name takes nothing from who was there");
    }

    #[test]
    fn a_plugin_that_is_switched_off_keeps_its_tables_from_later_ones() {
        let off = |since_s| Claimant { is_off: true, since_s, ..publisher("hello", &["hello_rows_v1"]) };
        let stranger = || publisher("hello_x", &["hello_rows_v1"]);
        let said = "its tables could not be told from those of hello: rename one of the two; \
                    the view hello_rows_v1 is named like one of hello";
        assert_eq!(loser(off(Some(5)), stranger()), ("hello_x".to_owned(), said.to_owned()));
        assert!(losers(&[off(None), stranger()]).is_empty(), "it never ran: it has no tables");
        for stays in [
            Claimant { is_trusted: true, ..stranger() },
            Claimant { serves: true, ..stranger() },
            Claimant { since_s: Some(4), ..stranger() },
        ] {
            assert!(losers(&[off(Some(5)), stays]).is_empty());
        }
        let routes = |name: &str, is_off| Claimant { is_off, since_s: Some(5), ..plugin(name, PATH) };
        assert!(losers(&[routes("aaa", true), plugin("zzz", PATH)]).is_empty(), "others may have its routes");
    }
}
