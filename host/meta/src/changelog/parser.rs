//! Parses the format of keepachangelog.com: `## [0.6.0] - 2026-11-21`, `### Added`, list items. The rule: no text in the file
//! fails a build or a request; lines that are no release, heading or list item are skipped.

use super::release::{Change, ChangeType, Release};

pub(super) fn parse_releases(markdown: &str) -> Vec<Release> {
    let mut parser = Parser { releases: Vec::new(), heading: ChangeType::Changed, in_item: false };
    markdown.lines().for_each(|line| parser.parse_line(line));
    parser.releases
}

struct Parser {
    releases: Vec<Release>,
    heading: ChangeType,
    in_item: bool,
}

impl Parser {
    fn parse_line(&mut self, line: &str) {
        if let Some(title) = line.strip_prefix("## ") {
            self.releases.push(parse_title(title));
            (self.heading, self.in_item) = (ChangeType::Changed, false);
        } else if let Some(heading) = line.strip_prefix("### ") {
            (self.heading, self.in_item) = (change_type(heading), false);
        } else if let Some(text) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            self.begin_item(text);
        } else if line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            self.continue_item(line.trim());
        } else {
            self.in_item = false;
        }
    }

    fn begin_item(&mut self, text: &str) {
        let kind = self.heading;
        if let Some(release) = self.releases.last_mut() {
            release.changes.push(Change { kind, text: text.trim().to_owned() });
            *release.counts.entry(kind).or_default() += 1;
            self.in_item = true;
        }
    }

    fn continue_item(&mut self, text: &str) {
        let item = self.releases.last_mut().and_then(|release| release.changes.last_mut());
        if let (true, Some(item)) = (self.in_item, item) {
            item.text.push(' ');
            item.text.push_str(text);
        }
    }
}

fn parse_title(title: &str) -> Release {
    let mut words = title.split_whitespace();
    let version = words.next().unwrap_or_default().trim_matches(['[', ']']).trim_start_matches('v');
    let unreleased = version.is_empty() || version.eq_ignore_ascii_case("unreleased");
    let date = words.map(|word| word.trim_matches(['(', ')'])).find(|word| is_date(word)).map(str::to_owned);
    let version = if unreleased { "unreleased".to_owned() } else { version.to_owned() };
    Release { version, date, unreleased, changes: Vec::new(), counts: Default::default() }
}

pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn change_type(heading: &str) -> ChangeType {
    match heading.trim().to_ascii_lowercase().as_str() {
        "added" => ChangeType::Added,
        "deprecated" => ChangeType::Deprecated,
        "removed" => ChangeType::Removed,
        "fixed" => ChangeType::Fixed,
        "security" => ChangeType::Security,
        _ => ChangeType::Changed,
    }
}
