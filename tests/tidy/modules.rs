//! The direction between modules: inside a crate no module uses one that uses it. Cargo holds it between crates.
//!
//! A reference is counted for the module that defines the name, through re-exports; tests and `pub use` do not count. Neither does the
//! state of a plugin: `lib.rs` declares it, beside the list of what the other modules define, and these name it as the type of their
//! contexts.

use crate::repository::{assert_none, files};
use std::collections::{BTreeMap, BTreeSet};

/// Where the crates are, and how many there are at least.
const FOLDERS: [(&str, usize); 3] = [("host/", 20), ("plugin-api", 6), ("plugins/", 25)];
/// How a path begins that leads through the crate.
const RELATIVE: [&str; 3] = ["crate", "super", "self"];

/// The path of a module in its crate; empty for lib.rs.
type Module = Vec<String>;
/// By module: those that it refers to.
type Edges = BTreeMap<Module, BTreeSet<Module>>;

struct Crate {
    /// Its folder.
    name: String,
    modules: BTreeMap<Module, String>,
    /// By module and name: the module that a `pub use` takes the name from.
    reexports: BTreeMap<(Module, String), Module>,
    /// The type that `export_plugin!` names in lib.rs.
    state: Option<String>,
}

#[test]
fn modules_form_no_cycle() {
    let crates = crates();
    for (folder, crates_min) in FOLDERS {
        let count = crates.iter().filter(|found| found.name.starts_with(folder)).count();
        assert!(count >= crates_min, "only {count} crates below {folder}");
    }
    let cycles: Vec<String> = crates.iter().flat_map(Crate::cycles).collect();
    assert_none("move what both modules need into a third one, or merge the two", &cycles);
}

/// `abi` is below `manifest`, and both are below `sdk`: what a built plugin relies on does not depend on what authors use.
#[test]
fn the_parts_of_plugin_api_form_no_cycle() {
    let crates = crates();
    let plugin_api = crates.iter().find(|found| found.name == "plugin-api").unwrap();
    assert_none("move what both parts need to the lower one, or into `values`", &plugin_api.top_cycles());
}

fn crates() -> Vec<Crate> {
    let mut crates: BTreeMap<String, BTreeMap<Module, String>> = BTreeMap::new();
    let is_checked = |name: &str| FOLDERS.iter().any(|(folder, _)| name.starts_with(folder));
    for file in files().into_iter().filter(|file| file.is_rust()) {
        let Some((name, path)) = file.path.split_once("/src/").filter(|(name, _)| is_checked(name)) else { continue };
        let mut module: Module = path.trim_end_matches(".rs").split('/').map(ToOwned::to_owned).collect();
        if ["mod", "lib", "main"].contains(&module.last().map_or("", String::as_str)) {
            module.pop();
        }
        if !module.iter().any(|part| part == "tests" || part == "fuzz") {
            crates.entry(name.to_owned()).or_default().insert(module, without_tests_and_comments(&file.text));
        }
    }
    crates.into_iter().map(|(name, modules)| Crate::new(name, modules)).collect()
}

pub fn without_tests_and_comments(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let code = code.split("#[cfg(test)]\n#[allow").next().unwrap_or(code);
    code.lines().map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

impl Crate {
    fn new(name: String, modules: BTreeMap<Module, String>) -> Self {
        let mut reexports = BTreeMap::new();
        for (module, text) in &modules {
            for (path, is_public) in uses(text) {
                let child: Module = module.iter().cloned().chain(path.first().cloned()).collect();
                if is_public && path.len() > 1 && modules.contains_key(&child) {
                    let source = module.iter().cloned().chain(path[..path.len() - 1].iter().cloned()).collect();
                    reexports.insert((module.clone(), path[path.len() - 1].clone()), source);
                }
            }
        }
        let state = modules.get(&Module::new()).and_then(|library| exported_state(library));
        Self { name, modules, reexports, state }
    }

    /// The modules that `module` refers to.
    fn references(&self, module: &Module, text: &str) -> BTreeSet<Module> {
        let private = uses(text).into_iter().filter(|(_, is_public)| !is_public).map(|(path, _)| path);
        let inline = inline_paths(text);
        private.chain(inline).filter_map(|path| self.target(module, &path)).filter(|target| target != module).collect()
    }

    /// The module that defines what a path names; `None` for a path into another crate, and for a plugin's state.
    fn target(&self, module: &Module, path: &[String]) -> Option<Module> {
        let name = path.iter().find(|part| !RELATIVE.contains(&part.as_str()));
        if name.is_some() && name == self.state.as_ref() {
            return None;
        }
        let mut absolute: Module = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "super" | "self" => module.clone(),
            child => {
                let is_child = self.modules.contains_key(&[module.as_slice(), &[child.to_owned()]].concat());
                return is_child.then(|| self.resolve(&[module.as_slice(), path].concat(), 0));
            }
        };
        let rest = path.iter().skip_while(|part| RELATIVE.contains(&part.as_str()));
        path.iter().filter(|part| *part == "super").for_each(|_| drop(absolute.pop()));
        absolute.extend(rest.cloned());
        Some(self.resolve(&absolute, 0))
    }

    fn resolve(&self, path: &[String], depth: usize) -> Module {
        let mut module = Module::new();
        for part in path {
            let child = [module.as_slice(), std::slice::from_ref(part)].concat();
            if self.modules.contains_key(&child) {
                module = child;
                continue;
            }
            return match self.reexports.get(&(module.clone(), part.clone())) {
                Some(source) if *source != module && depth < 5 => {
                    self.resolve(&[source.as_slice(), std::slice::from_ref(part)].concat(), depth + 1)
                }
                _ => module,
            };
        }
        module
    }

    fn edges(&self) -> Edges {
        self.modules.iter().map(|(module, text)| (module.clone(), self.references(module, text))).collect()
    }

    /// One line for each pair of modules that reach each other.
    fn cycles(&self) -> Vec<String> {
        self.cycles_of(&self.edges())
    }

    /// The same of the modules that lib.rs declares, each with all modules below it.
    fn top_cycles(&self) -> Vec<String> {
        let top = |module: &Module| module.iter().take(1).cloned().collect::<Module>();
        let mut edges = Edges::new();
        for (from, targets) in self.edges() {
            let from = top(&from);
            let others: Vec<Module> = targets.iter().map(top).filter(|target| *target != from).collect();
            edges.entry(from).or_default().extend(others);
        }
        self.cycles_of(&edges)
    }

    fn cycles_of(&self, edges: &Edges) -> Vec<String> {
        let reaches = |from: &Module, to: &Module| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(next) = open.pop() {
                for target in edges.get(next).into_iter().flatten() {
                    if target == to {
                        return true;
                    }
                    if seen.insert(target) {
                        open.push(target);
                    }
                }
            }
            false
        };
        let shown = |module: &Module| if module.is_empty() { "lib.rs".to_owned() } else { module.join("::") };
        let mut found = Vec::new();
        for (from, targets) in edges {
            for to in targets.iter().filter(|to| reaches(to, from)) {
                found.push(format!("{}: {} uses {}, which uses it", self.name, shown(from), shown(to)));
            }
        }
        found
    }
}

fn exported_state(library: &str) -> Option<String> {
    let (_, exported) = library.split_once("export_plugin!(")?;
    exported.split_once(')').map(|(state, _)| state.to_owned())
}

/// The paths of all `use` items, one by one, and whether each is a re-export.
pub fn uses(text: &str) -> Vec<(Vec<String>, bool)> {
    let mut found = Vec::new();
    for item in text.split(';') {
        let Some(start) = item.rfind("use ").filter(|start| is_item_start(&item[..*start])) else { continue };
        let is_public = item[..start].trim_end().ends_with("pub") || item[..start].trim_end().ends_with(')');
        let mut paths = Vec::new();
        expand(&[], &item[start + 4..], &mut paths);
        found.extend(paths.into_iter().map(|path| (path, is_public)));
    }
    found
}

fn is_item_start(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before).trim();
    line.is_empty() || line == "pub" || (line.starts_with("pub(") && line.ends_with(')'))
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
fn expand(prefix: &[String], tree: &str, paths: &mut Vec<Vec<String>>) {
    for part in split_outside_braces(tree) {
        let part = part.trim();
        let (head, group) = match part.split_once('{') {
            Some((head, group)) => (head.trim_end_matches("::"), group.strip_suffix('}')),
            None => (part.split(" as ").next().unwrap_or(part), None),
        };
        let segments = head.split("::").map(str::trim).filter(|segment| !segment.is_empty()).map(ToOwned::to_owned);
        let path: Vec<String> = prefix.iter().cloned().chain(segments).collect();
        match group {
            Some(group) => expand(&path, group, paths),
            // Behind the last comma.
            None if part.is_empty() => {}
            None => paths.push(path),
        }
    }
}

fn split_outside_braces(tree: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (position, character) in tree.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    parts
}

/// Paths such as `crate::a::b` and `child::f` outside of `use` items.
fn inline_paths(text: &str) -> Vec<Vec<String>> {
    let code = text.split_inclusive(';').map(|item| match item.rfind("use ") {
        Some(start) if is_item_start(&item[..start]) => &item[..start],
        _ => item,
    });
    let text = code.collect::<String>();
    let is_path = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == ':';
    let words = text.split(|character: char| !is_path(character)).filter(|word| word.contains("::"));
    words.filter(|word| !word.starts_with("::")).map(|word| word.split("::").map(ToOwned::to_owned).collect()).collect()
}

#[test]
fn a_cycle_is_found() {
    let text = |text: &str| without_tests_and_comments(text);
    let modules = [
        (vec![], text("mod a;\nmod b;\npub use b::B;\n")),
        (vec!["a".to_owned()], text("use crate::B;\n// use super::c::C;\nfn f() {}\n")),
        (
            vec!["b".to_owned()],
            text("use super::{\n    a::{self, f as g},\n};\npub struct B;\n#[cfg(test)]\nmod tests {"),
        ),
    ];
    let with_cycle = Crate::new("host/x".to_owned(), modules.clone().into());
    assert_eq!(with_cycle.cycles(), ["host/x: a uses b, which uses it", "host/x: b uses a, which uses it"]);
    let [root, a, (b, _)] = modules;
    let without = Crate::new("host/x".to_owned(), [root, a, (b, "pub struct B;".to_owned())].into());
    assert_eq!(without.cycles(), Vec::<String>::new());
}

/// A crate of modules by their paths.
fn example(name: &str, modules: &[(&str, &str)]) -> Crate {
    let path = |path: &str| path.split("::").filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect::<Module>();
    let modules = modules.iter().map(|(module, text)| (path(module), (*text).to_owned())).collect();
    Crate::new(name.to_owned(), modules)
}

#[test]
fn the_state_of_a_plugin_counts_for_no_module() {
    let library = "mod a;\npub struct X;\nconst Y: u8 = 1;\nfn define() {\n    a::route()\n}\nexport_plugin!(X);\n";
    let cycles = |text: &str| example("plugins/x", &[("", library), ("a", text)]).cycles();
    assert_eq!(cycles("use crate::X;\npub fn route() -> super::X {}\n"), Vec::<String>::new());
    let found = ["plugins/x: lib.rs uses a, which uses it", "plugins/x: a uses lib.rs, which uses it"];
    assert_eq!(cycles("use crate::{X, Y};\npub fn route() {}\n"), found);
}

#[test]
fn a_cycle_of_folders_is_found() {
    let modules = [
        ("a", ""),
        ("a::b", "use crate::c::d::D;"),
        ("a::f", ""),
        ("c", ""),
        ("c::d", ""),
        ("c::e", "use crate::a::f::F;"),
    ];
    let folders = example("plugin-api", &modules);
    assert_eq!(folders.cycles(), Vec::<String>::new());
    assert_eq!(folders.top_cycles(), ["plugin-api: a uses c, which uses it", "plugin-api: c uses a, which uses it"]);
}
