//! How plugins write: in the closure of `cx.write(…)`, which may run again and therefore does nothing but its transaction.
//!
//! What gets a transaction from elsewhere (a handler of chain events, a service within a write) cannot use `write`: its file says why,
//! in a comment that begins with [`REASON`].

use crate::{
    modules::without_tests_and_comments,
    repository::{File, assert_none, files},
};

const REASON: &str = "Not by `cx.write`: ";
/// A shorter text gives no reason.
const REASON_CHARS_MIN: usize = 40;
/// Writes that run once and hold a lock meanwhile.
const OWN_TRANSACTIONS: [&str; 3] = [".begin()", ".transaction()", ".own_transactions()"];

fn sources() -> Vec<File> {
    let sources: Vec<File> = files()
        .into_iter()
        .filter(|file| file.is_rust() && file.below("plugins") && file.path.contains("/src/"))
        .collect();
    assert!(sources.len() > 100, "only {} files of plugins", sources.len());
    sources
}

#[test]
fn what_does_not_write_by_write_says_why() {
    let (mut exceptions, mut found) = (0, Vec::new());
    for File { path, text } in sources() {
        let others = other_writes(&text);
        exceptions += others.len();
        if !others.is_empty() && !has_reason(&text) {
            found.push(format!("{path}: {}", others.join(", ")));
        }
        if others.is_empty() && text.contains(REASON) {
            found.push(format!("{path}: it has a reason, and nothing that needs one"));
        }
    }
    assert!(exceptions > 0, "handlers of chain events are found");
    assert_none(&format!("write in `cx.write(…)`, or say in the file `{REASON}…`"), &found);
}

/// The lines in which a transaction comes from elsewhere: an owned `Tx` as a parameter, or one that the plugin begins and commits itself.
fn other_writes(text: &str) -> Vec<String> {
    let code = without_tests_and_comments(text);
    let is_other = |line: &&str| {
        after(line, ": Tx").any(|rest| !rest.starts_with(|letter: char| letter.is_alphanumeric()))
            || OWN_TRANSACTIONS.iter().any(|call| line.contains(call))
    };
    code.lines().filter(is_other).map(|line| line.trim().to_owned()).collect()
}

/// What follows each occurrence of `mark` in the line.
fn after<'l>(line: &'l str, mark: &'l str) -> impl Iterator<Item = &'l str> {
    line.match_indices(mark).map(move |(start, _)| &line[start + mark.len()..])
}

fn has_reason(text: &str) -> bool {
    text.lines().any(|line| {
        let comment = line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!', ' ']));
        comment.and_then(|comment| comment.strip_prefix(REASON)).is_some_and(|why| why.len() >= REASON_CHARS_MIN)
    })
}

#[test]
fn a_write_reaches_nothing_but_its_transaction() {
    let (mut closures, mut found) = (0, Vec::new());
    for File { path, text } in sources() {
        let code = without_tests_and_comments(&text);
        for closure in write_closures(&code) {
            closures += 1;
            found.extend(reached(&code, closure).map(|name| format!("{path}: `{name}` in `{}`", first_line(closure))));
        }
        found.extend(functions_with_both(&code).map(|signature| format!("{path}: {signature}")));
    }
    assert!(closures > 80, "only {closures} writes of plugins were found");
    assert_none(
        "a write may run again, and on SQLite all other writers wait for it: do this before or after it, and move what it \
         returned into the closure",
        &found,
    );
}

fn first_line(closure: &str) -> &str {
    closure.lines().next().unwrap_or_default()
}

/// The arguments of `….write(async …)`.
fn write_closures(code: &str) -> impl Iterator<Item = &str> {
    let calls = code.match_indices(".write(").map(|(start, call)| argument(&code[start + call.len()..]));
    calls.filter(|argument| argument.starts_with("async"))
}

/// Up to the parenthesis that closes the call.
fn argument(rest: &str) -> &str {
    let mut depth = 1;
    let end = rest.find(|letter| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    &rest[..end.unwrap_or(rest.len())]
}

/// Contexts of the gateway that a closure uses for more than the plugin's own state, by any name they were given.
fn reached<'c>(code: &'c str, closure: &'c str) -> impl Iterator<Item = &'c str> {
    let clones = code.lines().filter_map(|line| {
        let (name, value) = line.trim().strip_prefix("let ")?.split_once(" = ")?;
        ["cx.clone();", "host.clone();", "plugin_context().clone();"]
            .iter()
            .any(|end| value.ends_with(end))
            .then_some(name)
    });
    clones.chain(["cx", "host"]).filter(|name| {
        closure.match_indices(name).any(|(start, _)| {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
            let rest = &closure[start + name.len()..];
            !closure[..start].ends_with(is_word) && !rest.starts_with(is_word) && !rest.starts_with(".plugin()")
        })
    })
}

/// Functions that a write calls (they have a `&Tx`) and that could reach beyond it (they have a context).
fn functions_with_both(code: &str) -> impl Iterator<Item = String> {
    let signatures = code.split("fn ").skip(1).map(|rest| rest.split(['{', ';']).next().unwrap_or_default());
    let contexts = ["PluginContext<", "RequestContext<", "HostHandle", ": Cx"];
    signatures
        .filter(move |signature| {
            signature.contains("&Tx") && contexts.iter().any(|context| signature.contains(context))
        })
        .map(|signature| signature.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn the_checks_find_what_they_look_for() {
    let handler = "async fn seen(_: Cx, tx: Tx, event: Event) {}\nfn insert(tx: &Tx) {}\n// let tx: Tx = other();\n";
    assert_eq!(other_writes(handler), ["async fn seen(_: Cx, tx: Tx, event: Event) {}"]);
    assert_eq!(
        other_writes("let tx = cx.begin();\nplaces.begin(7);\nlet sent: TxState = state;\n"),
        ["let tx = cx.begin();"]
    );
    assert!(has_reason(
        "//! Rows of blocks.\n//! Not by `cx.write`: the index opens the transaction of a whole block.\n"
    ));
    assert!(!has_reason("// Not by `cx.write`: for speed.\n") && !has_reason(handler));

    let code =
        "let copy = cx.clone();\nlet n = copy.write(async move |tx| f(tx, copy.db()).await);\nout.write(b\"x\");\n";
    let closures: Vec<&str> = write_closures(code).collect();
    assert_eq!(closures, ["async move |tx| f(tx, copy.db()).await"]);
    assert_eq!(reached(code, closures[0]).collect::<Vec<_>>(), ["copy"]);
    assert_eq!(reached("", "async |tx| store(tx, cx.now_s())").collect::<Vec<_>>(), ["cx"]);
    assert_eq!(reached(code, "async |tx| store(tx, &copy.plugin().config, copyright, hosts::all())").count(), 0);

    let both = "async fn a(\n    cx: &PluginContext<X>,\n    tx: &Tx,\n) -> u8 { 1 }\nfn b(tx: &Tx) {}\nfn c(cx: &HostHandle) {}";
    assert_eq!(functions_with_both(both).collect::<Vec<_>>(), ["a( cx: &PluginContext<X>, tx: &Tx, ) -> u8"]);
}
