//! Whether the words of a manifest for the gateway's documents (manifest, agent card, llms.txt) fit its routes: agents
//! configure themselves from these documents, so a call that they name must exist.

use plugin_api::manifest::{ANY_METHOD, Manifest, RouteSpec};
use std::collections::{HashMap, HashSet};

/// The routes of each method, by path.
type Routes<'a> = HashMap<&'a str, matchit::Router<&'a RouteSpec>>;

/// Checks endpoints, links, skills and limits.
pub(crate) fn check_documents(manifest: &Manifest, problems: &mut Vec<String>) {
    check_endpoints(&manifest.routes, problems);
    check_skills(manifest, problems);
    for (name, limit) in &manifest.limits {
        if name.is_empty() || !limit.is_number() {
            problems.push(format!("limit `{name}`: expected a name and a number"));
        }
    }
}

fn check_endpoints(routes: &[RouteSpec], problems: &mut Vec<String>) {
    let mut names = HashSet::new();
    for route in routes {
        let mut problem = |text: String| problems.push(format!("route {} {}: {text}", route.method, route.path));
        if let Some(name) = &route.endpoint {
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                problem(format!("endpoint `{name}`: expected letters, digits and _, like `workFeed`"));
            }
            if !names.insert(name) {
                problem(format!("endpoint `{name}` names another route too"));
            }
        }
        if route.briefing.as_ref().is_some_and(|link| link.name.trim().is_empty()) {
            problem("its link in llms.txt has no name".to_owned());
        }
    }
}

fn check_skills(manifest: &Manifest, problems: &mut Vec<String>) {
    let mut routes = Routes::new();
    for route in &manifest.routes {
        // A path that does not fit the router is a problem of its own.
        let _ = routes.entry(route.method.as_str()).or_default().insert(route.path.as_str(), route);
    }
    let mut ids = HashSet::new();
    for skill in &manifest.skills {
        let mut problem = |text: String| problems.push(format!("skill `{}`: {text}", skill.id));
        if [&skill.id, &skill.name, &skill.description].iter().any(|text| text.trim().is_empty()) {
            problem("expected an id, a name and a description".to_owned());
        }
        if !ids.insert(&skill.id) {
            problem("is there twice".to_owned());
        }
        skill.examples.iter().filter_map(|example| wrong_call(example, &routes)).for_each(problem);
    }
}

/// Why an example that begins with a method and a path is no call of a route. Calls: `GET /api/notes?q=a`,
/// `POST /api/notes {text} signed as note.create`.
fn wrong_call(example: &str, routes: &Routes<'_>) -> Option<String> {
    let (method, call) = example.split_once(' ')?;
    if !method.bytes().all(|byte| byte.is_ascii_uppercase()) || !call.starts_with('/') {
        return None;
    }
    let (target, rest) = call.split_once(' ').unwrap_or((call, ""));
    let path = target.split('?').next().unwrap_or_default();
    let route_of = |method| routes.get(method).and_then(|routes| routes.at(path).ok());
    let Some(route) = route_of(method).or_else(|| route_of(ANY_METHOD)) else {
        return Some(format!("example `{example}`: {method} {path} is no route of the plugin"));
    };
    let named = rest.split_once("signed as ").map(|(_, after)| after.split(' ').next().unwrap_or_default());
    let action = route.value.auth.action();
    (named != action).then(|| match action {
        Some(action) => format!("example `{example}`: expected `signed as {action}`, the action of its route"),
        None => format!("example `{example}`: its route is not signed"),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use plugin_api::manifest::{Auth, BriefingSpec, SkillSpec};
    use serde_json::json;

    fn manifest() -> Manifest {
        let mut list = RouteSpec::new("GET", "/api/notes", "list_notes");
        list.endpoint = Some("notes".into());
        list.briefing = Some(BriefingSpec { name: "Notes".into(), note: String::new() });
        let mut create = RouteSpec::new("POST", "/api/notes", "create_note");
        create.auth = Auth::SignedBody { action: "note.create".into() };
        let read = RouteSpec::new("GET", "/api/notes/{id}", "get_note");
        let examples = [
            "GET /api/notes?q=a new one",
            "GET /api/notes/{id}",
            "GET /api/notes/0x…",
            "POST /api/notes {text} signed as note.create by its author",
            "call register(name) on the contract `registry`",
        ];
        Manifest {
            routes: vec![list, create, read],
            skills: vec![SkillSpec {
                id: "notes".into(),
                name: "Notes".into(),
                description: "Pin notes".into(),
                tags: Vec::new(),
                examples: examples.map(str::to_owned).into(),
            }],
            limits: [("noteBytes".to_owned(), json!(280))].into_iter().collect(),
            ..Default::default()
        }
    }

    fn problems(change: impl FnOnce(&mut Manifest)) -> Vec<String> {
        let mut manifest = manifest();
        change(&mut manifest);
        let mut problems = Vec::new();
        check_documents(&manifest, &mut problems);
        problems
    }

    #[track_caller]
    fn expect(part: &str, change: impl FnOnce(&mut Manifest)) {
        let problems = problems(change);
        assert!(problems.len() == 1 && problems[0].contains(part), "expected one with `{part}`: {problems:#?}");
    }

    #[test]
    fn an_example_that_begins_with_a_method_is_a_call_of_a_route() {
        assert_eq!(problems(|_| ()), Vec::<String>::new());
        let example =
            |text: &'static str| move |manifest: &mut Manifest| manifest.skills[0].examples = vec![text.into()];
        expect("GET /api/note is no route", example("GET /api/note?q=a"));
        expect("DELETE /api/notes is no route", example("DELETE /api/notes"));
        expect("expected `signed as note.create`", example("POST /api/notes {text}"));
        expect("expected `signed as note.create`", example("POST /api/notes {text} signed as note.write"));
        expect("its route is not signed", example("GET /api/notes signed as note.read"));
    }

    #[test]
    fn skills_endpoints_links_and_limits_have_names() {
        expect("an id, a name and a description", |manifest| manifest.skills[0].description = " ".into());
        expect("skill `notes`: is there twice", |manifest| manifest.skills.push(manifest.skills[0].clone()));
        expect("endpoint `my notes`", |manifest| manifest.routes[0].endpoint = Some("my notes".into()));
        expect("names another route too", |manifest| manifest.routes[1].endpoint = Some("notes".into()));
        expect("llms.txt has no name", |manifest| manifest.routes[1].briefing = Some(BriefingSpec::default()));
        expect("limit `noteBytes`", |manifest| {
            manifest.limits.insert("noteBytes".into(), json!("many"));
        });
    }
}
