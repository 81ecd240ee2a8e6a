//! The expected pages of a gateway without some plugins: the pages of the full gateway minus what these plugins
//! contributed. They are computed from the contributions of each plugin, independently of how the gateway merges them.

use super::{components::drop_what_nothing_names, pages::Pages, standings::ranked};
use plugin_api::{
    manifest::{Manifest, RouteSpec},
    point::{Counters, Discovery, WorkItem},
};
use plugin_testing::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// By plugin.
pub struct Parts {
    pub manifests: Vec<Manifest>,
    pub counters: BTreeMap<String, Value>,
    pub discovery: BTreeMap<String, Value>,
    pub work: BTreeMap<String, Value>,
    pub status: BTreeMap<String, Value>,
    /// Of the leaderboard.
    pub month: BTreeMap<String, Value>,
    pub all: BTreeMap<String, Value>,
}

/// What the removed plugins contributed.
struct Loss<'a> {
    parts: &'a Parts,
    plugins: &'a [String],
    discovery: Vec<Discovery>,
    counters: Vec<Counters>,
}

impl Parts {
    pub fn without(&self, full: &Pages, gone: &[String]) -> Pages {
        fn of<T: serde::de::DeserializeOwned>(parts: &BTreeMap<String, Value>, gone: &[String]) -> Vec<T> {
            let parts = gone.iter().filter_map(|plugin| parts.get(plugin));
            parts.map(|part| serde_json::from_value(part.clone()).unwrap()).collect()
        }
        let discovery = of(&self.discovery, gone);
        let loss = Loss { parts: self, plugins: gone, discovery, counters: of(&self.counters, gone) };
        let mut pages = full.clone();
        loss.take_from_index(&mut pages.index);
        loss.take_from_openapi(&mut pages.openapi);
        loss.take_from_card(&mut pages.card);
        loss.take_from_manifest(&mut pages.manifest);
        let counters: Vec<&str> = loss.counters.iter().flat_map(|one| one.stats.keys()).map(String::as_str).collect();
        remove(&mut pages.stats, &counters);
        loss.take_from_work(&mut pages.work);
        loss.take_from_leaderboard(&mut pages.leaderboard);
        pages.llms = loss.llms(pages.llms.as_str().unwrap()).into();
        loss.take_services(&mut pages.services);
        loss.take_records(&mut pages.records);
        pages
    }
}

fn remove(object: &mut Value, names: &[&str]) {
    object.as_object_mut().unwrap().retain(|name, _| !names.contains(&name.as_str()));
}

impl Loss<'_> {
    fn has(&self, plugin: &str) -> bool {
        self.plugins.iter().any(|gone| gone == plugin)
    }

    fn manifests(&self) -> impl Iterator<Item = &Manifest> {
        self.parts.manifests.iter().filter(|manifest| self.has(&manifest.name))
    }

    /// The removed routes.
    fn specs(&self) -> impl Iterator<Item = &RouteSpec> {
        self.manifests().flat_map(|manifest| &manifest.routes)
    }

    /// Method and path of the removed routes, as documents show them.
    fn routes(&self) -> BTreeSet<(String, String)> {
        self.specs().map(|route| (route.method.clone(), route.path.replace("{*", "{"))).collect()
    }

    fn actions(&self) -> BTreeSet<&str> {
        self.specs().filter_map(|route| route.auth.action()).collect()
    }

    fn endpoints(&self) -> Vec<&str> {
        self.specs().filter_map(|route| route.endpoint.as_deref()).collect()
    }

    /// `… Features: a, b, c.…`
    fn features(&self, text: &str) -> String {
        let (before, rest) = text.split_once("Features: ").unwrap();
        let (list, after) = rest.split_once('.').unwrap();
        let left: Vec<&str> = list.split(", ").filter(|name| !self.has(name)).collect();
        format!("{before}Features: {}.{after}", left.join(", "))
    }

    fn describe(&self, document: &mut Value) {
        let described = self.features(document["description"].as_str().unwrap());
        document["description"] = described.into();
    }

    fn take_from_index(&self, index: &mut Value) {
        self.describe(index);
        let routes = self.routes();
        let stays = |line: &Value| {
            let text = |member: &str| line[member].as_str().unwrap().to_owned();
            !routes.contains(&(text("method"), text("path")))
        };
        let before = index["routes"].as_array().unwrap().len();
        index["routes"].as_array_mut().unwrap().retain(stays);
        assert_eq!(index["routes"].as_array().unwrap().len(), before - routes.len(), "the index lists every route");
        remove(&mut index["start"], &self.endpoints());
        if self.has("rpc") {
            index["chain"]["rpc"] = Value::Null;
        }
    }

    fn take_from_openapi(&self, document: &mut Value) {
        self.describe(&mut document["info"]);
        if self.has("rpc") {
            document["x-service"]["rpc"] = Value::Null;
        }
        for (method, path) in self.routes() {
            let item = document["paths"][&path].as_object_mut().unwrap();
            assert!(item.remove(&method.to_lowercase()).is_some(), "the document tells of {method} {path}");
        }
        document["paths"].as_object_mut().unwrap().retain(|_, item| !item.as_object().unwrap().is_empty());
        let operations = crate::openapi::operations(document);
        let tags: BTreeSet<&str> =
            operations.iter().flat_map(|(_, _, it)| it["tags"].as_array().unwrap()).filter_map(Value::as_str).collect();
        document["tags"].as_array_mut().unwrap().retain(|tag| tags.contains(tag["name"].as_str().unwrap()));
        let actions = self.actions();
        let signing = &mut document["x-service-signing"];
        let is_lost = |action: &Value| actions.contains(action.as_str().unwrap());
        signing["actions"].as_object_mut().unwrap().retain(|_, action| !is_lost(action));
        signing["allActions"].as_array_mut().unwrap().retain(|action| !is_lost(action));
        self.take_example(&mut signing["example"]);
        drop_what_nothing_names(document);
    }

    /// The example shows the first action that is left.
    fn take_example(&self, example: &mut Value) {
        let left = self.parts.manifests.iter().filter(|manifest| !self.has(&manifest.name));
        let first = left.flat_map(|manifest| &manifest.routes).find_map(|route| route.auth.action()).unwrap();
        let line = |action: &str| format!("\naction: {action}\n");
        let shown = line(example["action"].as_str().unwrap());
        example["message"] = example["message"].as_str().unwrap().replace(&shown, &line(first)).into();
        example["action"] = first.into();
    }

    fn take_from_card(&self, card: &mut Value) {
        self.describe(card);
        remove(&mut card["endpoints"], &self.endpoints());
        self.take_counters(&mut card["stats"]);
        let skills: Vec<&str> =
            self.manifests().flat_map(|manifest| &manifest.skills).map(|skill| skill.id.as_str()).collect();
        card["skills"].as_array_mut().unwrap().retain(|skill| !skills.contains(&skill["id"].as_str().unwrap()));
        if self.endpoints().contains(&"activity") {
            card["capabilities"]["stateTransitionHistory"] = false.into();
        }
        if self.has("rpc") {
            card["chain"]["rpc"] = Value::Null;
        }
        if self.endpoints().contains(&"webhooks") {
            card["capabilities"]["pushNotifications"] = false.into();
        }
        self.discovery.iter().for_each(|one| take(card, &Value::Object(one.card.clone())));
    }

    fn take_from_manifest(&self, manifest: &mut Value) {
        self.describe(manifest);
        remove(&mut manifest["endpoints"], &self.endpoints());
        self.take_counters(&mut manifest["live"]["stats"]);
        let limits: Vec<&str> = self.manifests().flat_map(|one| one.limits.keys()).map(String::as_str).collect();
        remove(&mut manifest["limits"], &limits);
        let actions = self.actions();
        let signed = manifest["signing"]["actions"].as_array_mut().unwrap();
        signed.retain(|action| !actions.contains(action.as_str().unwrap()));
        self.discovery.iter().for_each(|one| take(manifest, &Value::Object(one.manifest.clone())));
        if self.has("webhooks") {
            manifest["webhookEvents"] = json!([]);
        }
        if self.has("rpc") {
            manifest["rpc"] = Value::Null;
            manifest["walletAddEthereumChain"]["rpcUrls"] = json!([]);
        }
    }

    fn take_counters(&self, stats: &mut Value) {
        let names = self.counters.iter().flat_map(|one| one.stats.keys().chain(one.manifest.keys()));
        remove(stats, &names.map(String::as_str).collect::<Vec<_>>());
    }

    fn take_from_work(&self, work: &mut Value) {
        if self.has("work") {
            *work = Value::Null;
            return;
        }
        let lost = self.plugins.iter().filter_map(|plugin| self.parts.work.get(plugin));
        for item in lost.flat_map(|part| serde_json::from_value::<Vec<WorkItem>>(part.clone()).unwrap()) {
            let kind = json!(item.kind).as_str().unwrap().to_owned();
            let variant = item.variant.map(|variant| format!("{variant}:")).unwrap_or_default();
            let id = format!("{kind}:{variant}{}", item.ref_id);
            let items = work["items"].as_array_mut().unwrap();
            let before = items.len();
            items.retain(|item| item["id"] != *id);
            assert_eq!(items.len(), before - 1, "{id} was work");
            work["total"] = (work["total"].as_u64().unwrap() - 1).into();
            work["counts"][&kind] = (work["counts"][&kind].as_u64().unwrap() - 1).into();
        }
    }

    fn take_from_leaderboard(&self, board: &mut Value) {
        if self.has("activity") {
            *board = Value::Null;
            return;
        }
        let weights = board["weights"].clone();
        for (period, parts) in [("30d", &self.parts.month), ("all", &self.parts.all)] {
            let authors = std::mem::take(board["periods"][period].as_array_mut().unwrap());
            let stays = parts.iter().filter(|(plugin, _)| !self.has(plugin)).map(|(_, part)| part);
            board["periods"][period] = ranked(stays, &weights, &authors).into();
        }
        self.take_names(board);
    }

    /// Without the plugin agents, authors have no names.
    fn take_names(&self, value: &mut Value) {
        if !self.has("agents") {
            return;
        }
        match value {
            Value::Object(members) => {
                if ["address", "name", "agentId"].iter().all(|name| members.contains_key(*name)) {
                    members.insert("name".to_owned(), Value::Null);
                    members.insert("agentId".to_owned(), Value::Null);
                }
                members.values_mut().for_each(|member| self.take_names(member));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.take_names(item)),
            _ => {}
        }
    }

    fn llms(&self, text: &str) -> String {
        let titles: Vec<&str> =
            self.specs().filter(|route| route.briefing.is_some()).map(|route| route.tag.as_str()).collect();
        let routes = self.routes();
        let mut sections = text.split("\n## ");
        let prose = self.features(sections.next().unwrap());
        let rest = sections.filter(|section| !titles.contains(&section.lines().next().unwrap())).map(|section| {
            let is_lost = |line: &str| {
                let name = line.strip_prefix("- [").and_then(|rest| rest.split_once("](")).map(|(name, _)| name);
                let route = name.and_then(|name| name.split_once(' '));
                route.is_some_and(|(method, path)| routes.contains(&(method.to_owned(), path.to_owned())))
            };
            let is_list = section.starts_with("Routes\n");
            section
                .lines()
                .filter(|line| !is_list || !is_lost(line))
                .map(|line| format!("{line}\n"))
                .collect::<String>()
        });
        std::iter::once(prose).chain(rest).collect::<Vec<_>>().join("\n## ")
    }

    fn take_services(&self, services: &mut Vec<String>) {
        let parts = self.plugins.iter().filter_map(|plugin| self.parts.status.get(plugin));
        let lost: BTreeSet<&String> = parts.flat_map(|part| part.as_object().unwrap().keys()).collect();
        services.retain(|service| !lost.contains(service));
    }

    fn take_records(&self, records: &mut BTreeMap<&'static str, Value>) {
        let lost: BTreeSet<&str> = self.specs().map(|route| route.operation.as_str()).collect();
        for (operation, record) in records {
            if lost.contains(operation) {
                *record = Value::Null;
            }
            self.take_names(record);
            self.take_links(record);
        }
    }

    /// A link to a route that is gone is null, and a list of places to call is without it.
    fn take_links(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match (name.as_str(), self.is_lost_link(member)) {
                        // A registration file has a picture always.
                        ("image", true) => *member = format!("{BASE_URL}/docs/icon.svg").into(),
                        ("cv", _) if self.has("aicv") => *member = Value::Null,
                        (_, true) => *member = Value::Null,
                        (_, false) => self.take_links(member),
                    }
                }
            }
            Value::Array(items) => {
                // A way to pay needs both the plugin that is called and the one that takes payments.
                let is_lost =
                    |item: &Value| self.is_lost_link(&item["endpoint"]) || item["name"] == "x402" && self.has("x402");
                items.retain(|item| !is_lost(item));
                items.iter_mut().for_each(|item| self.take_links(item));
            }
            _ => {}
        }
    }

    fn is_lost_link(&self, value: &Value) -> bool {
        let path = value.as_str().and_then(|text| text.strip_prefix(BASE_URL));
        let path = path.map(|path| path.split('?').next().unwrap());
        path.is_some_and(|path| self.specs().any(|route| is_at(path, &route.path)))
    }
}

/// That of a gateway under test.
const BASE_URL: &str = "http://127.0.0.1:8080";

/// Whether a route's path, which has parameters, is this one.
fn is_at(path: &str, route: &str) -> bool {
    let (given, declared): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), route.split('/').collect());
    given.len() == declared.len()
        && given.iter().zip(&declared).all(|(given, declared)| declared.starts_with('{') || given == declared)
}

fn has(list: &Value, item: &Value) -> bool {
    list.as_array().is_some_and(|items| items.contains(item))
}

fn is_part(list: &Value, of: &[Value]) -> bool {
    list.as_array().is_some_and(|items| items.iter().all(|item| of.contains(item)))
}

/// The members of `part`, as far as they are those of `document`.
fn take(document: &mut Value, part: &Value) {
    let (Value::Object(members), Value::Object(part)) = (document, part) else { return };
    for (name, lost) in part {
        match members.get_mut(name) {
            Some(there) if there == lost => drop(members.remove(name)),
            Some(there) if there.is_object() && lost.is_object() => take(there, lost),
            // A list has the items of all.
            Some(Value::Array(there)) if is_part(lost, there) => there.retain(|item| !has(lost, item)),
            there => panic!("{name}: {lost} was contributed, and {there:?} is there"),
        }
    }
}
