//! Documents: what README.md names exists, and what it quotes is what it says.

use crate::repository::{assert_none, exists, read};

/// Texts in backticks, outside code blocks.
fn inline_code(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            found.extend(line.split('`').skip(1).step_by(2).map(ToOwned::to_owned));
        }
    }
    found
}

/// Top folders of the repository; what begins with one of them is a path in it.
const TOP: [&str; 9] = [".ci/", ".config/", "config/", "host/", "plugin-api/", "plugins/", "tests/", "xtask/", "docs/"];

fn is_path(code: &str) -> bool {
    TOP.iter().any(|folder| code.starts_with(folder))
        && !code.contains(['<', '*', ' ', '{', '…'])
        && !code.contains("NAME")
}

/// `[text](target)` with a target in the repository.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    local.map(|target| target.split('#').next().unwrap_or(target).to_owned()).collect()
}

#[test]
fn paths_in_readme_exist() {
    let readme = read("README.md");
    let paths = inline_code(&readme).into_iter().filter(|code| is_path(code)).chain(links(&readme));
    let paths: Vec<String> = paths.collect();
    assert!(paths.len() >= 10, "README.md names only {paths:?}");
    assert_none(
        "README.md names what is not there",
        &paths.into_iter().filter(|path| !exists(path)).collect::<Vec<_>>(),
    );
}

#[test]
fn links_in_other_documents_exist() {
    let mut found = Vec::new();
    for file in crate::repository::files().iter().filter(|file| file.name().ends_with(".md")) {
        let folder = file.path.strip_suffix(file.name()).unwrap_or_default();
        let lacking = links(&file.text).into_iter().filter(|target| !exists(&format!("{folder}{target}")));
        found.extend(lacking.map(|target| format!("{}: {target}", file.path)));
    }
    assert_none("a link leads nowhere", &found);
}

/// The walks through the host name a file for each hop, relative to their own folder.
#[test]
fn files_of_the_host_that_its_documents_name_exist() {
    let mut documents = crate::repository::files();
    documents.retain(|file| file.below("host") && file.name() == "README.md");
    let (mut found, mut named) = (Vec::new(), 0);
    for file in &documents {
        let folder = file.path.strip_suffix(file.name()).unwrap_or_default();
        let is_file =
            |code: &String| !code.contains([' ', '*']) && (code.starts_with("src/") || code.contains("/src/"));
        let paths: Vec<String> = inline_code(&file.text).into_iter().filter(is_file).collect();
        named += paths.len();
        let lacking = paths.into_iter().filter(|path| !exists(&format!("{folder}{path}")));
        found.extend(lacking.map(|path| format!("{}: {path}", file.path)));
    }
    assert!(documents.len() >= 10 && named >= 80, "{} documents name {named} files", documents.len());
    assert_none("a document of the host names what is not there", &found);
}

#[test]
fn commands_in_documents_exist() {
    let usage = read("xtask/src/usage.rs");
    let mut found = Vec::new();
    let documents = [
        "README.md",
        "plugin-api/README.md",
        "docs/buy-the-coin.md",
        "docs/packaging.md",
        "docs/payments.md",
        "docs/plugin-outside.md",
        "docs/scale.md",
        "docs/simulation.md",
    ];
    for document in documents {
        let text = read(document);
        let commands = text.split("cargo xtask ").skip(1).map(|rest| {
            rest.split(|character: char| !character.is_ascii_lowercase() && character != '-').next().unwrap_or_default()
        });
        let unknown = commands.filter(|name| !name.is_empty() && !usage.contains(&format!("name: \"{name}\"")));
        found.extend(unknown.map(|name| format!("{document}: cargo xtask {name}")));
    }
    assert!(read("README.md").contains("cargo xtask dev"), "README.md does not say how to start");
    assert_none("xtask has no such command", &found);
}

#[test]
fn packages_in_readme_are_those_ci_installs() {
    let (ci, readme) = (read(".ci/run"), read("README.md"));
    let needed = ci.lines().filter_map(|line| line.strip_prefix("need ")).filter_map(|rest| rest.split(' ').next());
    let lacking = needed.filter(|package| !readme.contains(&format!("`{package}`"))).map(ToOwned::to_owned);
    assert_none("README.md lacks a package that .ci/run installs", &lacking.collect::<Vec<_>>());
}

#[test]
fn scripts_are_quoted_as_they_are_tested() {
    let quotes = [("README.md", "first_request.mjs"), ("README.md", "agents_day.mjs"), ("docs/payments.md", "pay.mjs")];
    let lacking = quotes.into_iter().filter(|(document, name)| {
        let script = read(&format!("tests/clients/{name}"));
        !read(document).contains(&format!("```js\n{script}```\n"))
    });
    let lacking: Vec<String> = lacking.map(|(document, name)| format!("{document}: tests/clients/{name}")).collect();
    assert_none("a document must quote as it is", &lacking);
}

/// What a plugin may do, and whether it is contained: the first two cells of the table.
fn containment() -> Vec<(String, String)> {
    let text = read("docs/containment.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("| what a plugin does | contained |")).skip(2);
    let cells = rows.map_while(|row| {
        let (deed, rest) = row.strip_prefix("| ")?.split_once(" | ")?;
        Some((deed.to_owned(), rest.split(" |").next().unwrap_or_default().to_owned()))
    });
    cells.collect()
}

#[test]
fn operators_read_in_one_table_what_is_contained_and_what_is_not() {
    let rows = containment();
    let with = |answer: &str| rows.iter().filter(|(_, contained)| contained == answer).count();
    assert_eq!((with("yes") + with("no"), with("no")), (rows.len(), 5), "a row says yes or no: {rows:?}");
    assert!(with("yes") >= 15, "{rows:?}");
    assert!(read("README.md").contains("(docs/containment.md)"), "README.md leads there");
}

/// What egress does (its tests `a_gzip_bomb_stays_small` and `content_codings_stay_as_they_are`), said where operators and authors
/// of plugins look.
#[test]
fn operators_and_authors_read_that_nothing_is_decompressed() {
    let places = [
        "config/gateway.toml",
        "host/config/src/egress.rs",
        "plugin-api/README.md",
        "plugin-api/src/sdk/fetch.rs",
        "plugin-api/src/sdk/fetch_body.rs",
    ];
    let is_silent = |place: &&str| !read(place).to_lowercase().contains("nothing is decompressed");
    let found: Vec<String> = places.into_iter().filter(is_silent).map(ToOwned::to_owned).collect();
    assert_none("say that bodies from outside are not decompressed", &found);
}

#[test]
fn operators_read_how_to_go_back_to_a_point_in_time() {
    let needed = [
        ("README.md", &["Litestream", "WAL archiving", "point in time"][..]),
        (
            "docs/operating.md",
            &["gateway.db-wal", "litestream replicate", "litestream restore -timestamp", "gateway restore --force"][..],
        ),
        ("docs/operating.md", &["archive_command", "pg_basebackup", "recovery_target_time", "recovery.signal"][..]),
    ];
    let mut found = Vec::new();
    for (document, words) in needed {
        let text = read(document);
        found.extend(words.iter().filter(|word| !text.contains(**word)).map(|word| format!("{document}: {word}")));
    }
    assert_none("say how to get back what no backup has yet", &found);
}

const README_LINES_MAX: usize = 399;
const HOST_README_LINES_MAX: usize = 150;

#[test]
fn readme_is_read_in_one_go() {
    let lines = read("README.md").lines().count();
    assert!(lines <= README_LINES_MAX, "README.md has {lines} lines: what is too long for it goes to docs/");
}

/// One page: the layers and the two walks.
#[test]
fn the_page_about_the_host_is_read_in_one_go() {
    let page = read("host/README.md");
    let lines = page.lines().count();
    assert!(
        lines <= HOST_README_LINES_MAX,
        "host/README.md has {lines} lines: what concerns one crate goes to its README"
    );
    for walk in ["## One request", "## One chain event"] {
        let (_, rest) = page.split_once(walk).unwrap_or_default();
        let hops = rest.lines().skip(1).take_while(|line| !line.starts_with("## "));
        // A hop may go on in the next lines.
        let hops = hops.collect::<Vec<_>>().join("\n");
        let numbered = (1..).map_while(|number| {
            let (_, hop) = hops.split_once(&format!("\n{number}. "))?;
            Some((number, hop.split_once(&format!("\n{}. ", number + 1)).map_or(hop, |(hop, _)| hop)))
        });
        let numbered: Vec<(u32, &str)> = numbered.collect();
        assert!(numbered.len() >= 7, "{walk} has {} hops", numbered.len());
        let lacking = numbered.iter().filter(|(_, hop)| !hop.contains(".rs`"));
        assert_none("a hop names no file", &lacking.map(|(number, _)| format!("{walk}: {number}")).collect::<Vec<_>>());
    }
}

#[test]
fn the_checks_find_what_they_look_for() {
    let text =
        "See `host/src/boot.rs`, `cargo run` and [this](a/b.md#c).\n```\n`host/not/looked/at`\n```\n[web](https://x)";
    assert_eq!(inline_code(text), ["host/src/boot.rs", "cargo run"]);
    assert!(is_path("host/src/boot.rs") && !is_path("cargo run") && !is_path("plugins/<name>/"));
    assert_eq!(links(text), ["a/b.md"]);
}
