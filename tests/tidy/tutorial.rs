//! The tutorial: code in plugin-api/README.md is code of the plugin `hello`, word for word, and so is compiled and tested.

use crate::repository::{assert_none, exists, read};

const TUTORIAL: &str = "plugin-api/README.md";

struct Block {
    language: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in document.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => open = Some(Block { language: language.to_owned(), text: String::new() }),
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    blocks
}

/// The file a block is taken from, in its first line as a comment, and the rest.
fn source(block: &Block) -> Option<(&str, &str)> {
    let (first, rest) = block.text.split_once('\n')?;
    let path = ["// ", "-- ", "# "].iter().find_map(|comment| first.strip_prefix(comment))?;
    path.contains('/').then_some((path, rest))
}

#[test]
fn the_tutorial_quotes_the_plugin_hello() {
    let document = read(TUTORIAL);
    let blocks = blocks(&document);
    let quoted: Vec<(&str, &str)> = blocks.iter().filter_map(source).collect();
    assert!(quoted.len() >= 8, "{TUTORIAL} quotes only {} files", quoted.len());
    let differs = |(path, text): &&(&str, &str)| !exists(path) || !read(path).contains(text);
    let found: Vec<String> = quoted.iter().filter(differs).map(|(path, text)| format!("{path}:\n{text}")).collect();
    assert_none("this is no longer in the file it is said to be from", &found);
}

#[test]
fn every_block_of_code_says_where_it_is_from() {
    let document = read(TUTORIAL);
    let code = blocks(&document).into_iter().filter(|block| ["rust", "sql"].contains(&block.language.as_str()));
    let found: Vec<String> = code.filter(|block| source(block).is_none()).map(|block| block.text).collect();
    assert_none("code in the tutorial begins with a comment that names its file, so that it is tested", &found);
}

/// Program and package of each line `const NAME: … = [("program", "package"), …];` in the chore.
fn tools<'a>(chore: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let list = chore.split(&format!("const {name}: ")).nth(1).and_then(|rest| rest.split(';').nth(1)).unwrap();
    let pairs = list.split("(\"").skip(1).map(|rest| rest.split("\")").next().unwrap());
    pairs.map(|pair| pair.split_once("\", \"").unwrap()).collect()
}

#[test]
fn the_tutorial_says_what_the_tests_of_a_plugin_need() {
    let (document, chore) = (read(TUTORIAL), read("xtask/src/test.rs"));
    let row = document.lines().find(|line| line.starts_with("| `cargo xtask test NAME` |")).unwrap();
    let names = |(program, package): &(&str, &str)| {
        row.contains(&format!("`{program}`")) || row.contains(&format!("`{package}`"))
    };
    let (needed, of_clients) = (tools(&chore, "TOOLS"), tools(&chore, "CLIENT_TOOLS"));
    assert!(!needed.is_empty() && !of_clients.is_empty());
    let lacking = needed.iter().filter(|tool| !names(tool)).map(|tool| format!("it lacks {tool:?}"));
    let beyond = of_clients.iter().filter(|tool| names(tool)).map(|tool| format!("it has {tool:?}"));
    let mut found: Vec<String> = lacking.chain(beyond).collect();
    // Looked for by other functions of the chore.
    let others = ["cargo-nextest", "initdb"].into_iter().filter(|tool| !row.contains(&format!("`{tool}`")));
    found.extend(others.map(|tool| format!("it lacks {tool}")));
    assert_none("the row of `cargo xtask test NAME` in the tutorial says what the chore needs", &found);
}

#[test]
fn blocks_are_read_with_their_source() {
    let blocks = blocks("text\n```rust\n// a/b.rs\nfn x() {}\n```\n```sh\nls\n```\n");
    assert_eq!(blocks.iter().map(|block| block.language.as_str()).collect::<Vec<_>>(), ["rust", "sh"]);
    assert_eq!(source(&blocks[0]), Some(("a/b.rs", "fn x() {}\n")));
    assert_eq!(source(&blocks[1]), None);
    assert_eq!(tools("const A: [X; 1] = [(\"cc\", \"gcc\")];", "A"), [("cc", "gcc")]);
}
