//! Whether plugins mean the same by the names of extension points and services that they share.
//!
//! The rule: who declares a point or provides a service says what its types are. Another plugin with other types does not start, and
//! nor does a provider beside a plugin that already serves with other types.

use plugin_api::{
    host::call_types,
    manifest::{CallTypes, Manifest, ServiceSpec},
    payment,
};
use serde_json::Value;
use std::sync::LazyLock;

/// A name of a plugin with its types, and what it is in a sentence.
struct DeclaredTypes<'m> {
    kind: &'static str,
    name: &'m str,
    types: &'m CallTypes,
}

/// Why the newcomer cannot provide a service that the gateway itself uses.
pub(crate) fn differs_from_gateway(newcomer: &Manifest) -> Option<String> {
    difference(newcomer, &GATEWAY, true)
}

/// The gateway's own uses of services.
static GATEWAY: LazyLock<Manifest> = LazyLock::new(|| {
    let spec = |name: &str, types| ServiceSpec { name: name.to_owned(), types, in_write: false };
    let uses = vec![
        spec(payment::OFFER.name(), call_types::<payment::OfferInput, payment::Offer>()),
        spec(payment::CHECK.name(), call_types::<payment::CheckInput, payment::Check>()),
        spec(payment::RESERVE.name(), call_types::<payment::ReserveInput, payment::Reserve>()),
        spec(payment::END.name(), call_types::<payment::EndInput, payment::End>()),
    ];
    Manifest { name: "the gateway".to_owned(), uses, ..Manifest::default() }
});

/// Why the newcomer cannot start beside this other plugin.
pub(crate) fn difference(newcomer: &Manifest, other: &Manifest, other_serves: bool) -> Option<String> {
    let joined = differing(newcomer, other).map(|(declared, text)| {
        format!("its {} {} has other types than {} says: {text}", declared.kind, declared.name, other.name)
    });
    let declared = || {
        differing(other, newcomer).filter(|_| other_serves).map(|(declared, text)| {
            format!(
                "{} already serves, and its {} {} has other types: {text}",
                other.name, declared.kind, declared.name
            )
        })
    };
    joined.or_else(declared)
}

/// Services that the plugin uses, and points that it contributes to, which none of these plugins has.
pub(crate) fn missing<'m>(manifest: &'m Manifest, enabled: &[&Manifest]) -> Vec<String> {
    let lacks = |declared: &DeclaredTypes<'m>| enabled.iter().all(|other| authority(declared, other).is_none());
    joined(manifest)
        .filter(lacks)
        .map(|declared| format!("{} {}: no plugin that serves has it", declared.kind, declared.name))
        .collect()
}

/// What the plugin joins and the other one says otherwise, with the first difference.
fn differing<'m>(joining: &'m Manifest, declaring: &Manifest) -> Option<(DeclaredTypes<'m>, String)> {
    joined(joining).find_map(|declared| {
        let said = authority(&declared, declaring)?;
        let input = first_difference("input", &declared.types.input, &said.input);
        let text = input.or_else(|| first_difference("output", &declared.types.output, &said.output))?;
        Some((declared, text))
    })
}

fn joined(manifest: &Manifest) -> impl Iterator<Item = DeclaredTypes<'_>> {
    let used =
        manifest.uses.iter().map(|spec| DeclaredTypes { kind: USED_SERVICE, name: &spec.name, types: &spec.types });
    let points = manifest.contributions.iter().filter_map(|spec| {
        spec.types.as_ref().map(|types| DeclaredTypes { kind: "contribution to", name: &spec.point, types })
    });
    used.chain(points)
}

const USED_SERVICE: &str = "used service";

/// The types by the plugin that declares the point or provides the service.
fn authority<'m>(declared: &DeclaredTypes<'_>, declaring: &'m Manifest) -> Option<&'m CallTypes> {
    let list = if declared.kind == USED_SERVICE { &declaring.provides } else { &declaring.points };
    list.iter().find(|spec| spec.name == declared.name).map(|spec| &spec.types)
}

/// The first place in which two schemas differ.
fn first_difference(place: &str, ours: &Value, theirs: &Value) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let names = ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let (one, other) = (ours.get(name).unwrap_or(&Value::Null), theirs.get(name).unwrap_or(&Value::Null));
                first_difference(&format!("{place}.{name}"), one, other)
            })
        }
        (ours, theirs) if ours == theirs => None,
        (ours, theirs) => Some(format!("{place} is {ours}, not {theirs}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::manifest::{ContributionSpec, ServiceSpec};
    use serde_json::json;

    fn types(output: &str) -> CallTypes {
        CallTypes { input: json!({ "type": "null" }), output: json!({ "type": output }) }
    }

    fn provider() -> Manifest {
        let provides = vec![ServiceSpec { name: "pay".to_owned(), types: types("string"), in_write: false }];
        let points = vec![ServiceSpec { name: "pay.rates".to_owned(), types: types("integer"), in_write: false }];
        Manifest { name: "pay".to_owned(), provides, points, ..Manifest::default() }
    }

    fn user(service: &str, point: &str) -> Manifest {
        let uses = vec![ServiceSpec { name: "pay".to_owned(), types: types(service), in_write: false }];
        let rates = ContributionSpec { point: "pay.rates".to_owned(), cached: false, types: Some(types(point)) };
        let stats = ContributionSpec { point: "stats".to_owned(), cached: false, types: None };
        Manifest { name: "shop".to_owned(), uses, contributions: vec![stats, rates], ..Manifest::default() }
    }

    #[test]
    fn equal_types_are_understood() {
        for serves in [false, true] {
            assert_eq!(difference(&user("string", "integer"), &provider(), serves), None);
            assert_eq!(difference(&provider(), &user("string", "integer"), serves), None);
        }
    }

    #[test]
    fn who_joins_with_other_types_does_not_start() {
        let reason = difference(&user("number", "integer"), &provider(), false);
        let expected = r#"its used service pay has other types than pay says: output.type is "number", not "string""#;
        assert_eq!(reason.as_deref(), Some(expected));
        let reason = difference(&user("string", "number"), &provider(), false);
        let expected =
            r#"its contribution to pay.rates has other types than pay says: output.type is "number", not "integer""#;
        assert_eq!(reason.as_deref(), Some(expected));
    }

    #[test]
    fn a_provider_yields_to_who_serves_alone() {
        assert_eq!(difference(&provider(), &user("number", "integer"), false), None);
        let reason = difference(&provider(), &user("number", "integer"), true);
        let expected =
            r#"shop already serves, and its used service pay has other types: output.type is "number", not "string""#;
        assert_eq!(reason.as_deref(), Some(expected));
    }

    #[test]
    fn what_nobody_has_is_said() {
        let user = user("string", "integer");
        let none = [
            "used service pay: no plugin that serves has it",
            "contribution to pay.rates: no plugin that serves has it",
        ];
        assert_eq!(missing(&user, &[&user]), none);
        assert_eq!(missing(&user, &[&user, &provider()]), Vec::<String>::new());
    }

    #[test]
    fn members_of_one_side_alone_are_differences() {
        let (one, both) = (json!({ "a": 1 }), json!({ "a": 1, "b": 2 }));
        assert_eq!(first_difference("input", &one, &both).as_deref(), Some("input.b is null, not 2"));
        assert_eq!(first_difference("input", &both, &one).as_deref(), Some("input.b is 2, not null"));
    }
}
