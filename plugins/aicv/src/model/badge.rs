//! The badge: a picture of what is proven, and of no more.
//!
//! The rule: every text that comes from elsewhere goes through [`plain`] and [`escape`], so that a name is never markup and never turns
//! the text around it.

use super::{
    content::Issue,
    document::{Publisher, iso},
    links,
};
use plugin_api::{Wei, format::xml_escaped};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicode_width::UnicodeWidthChar as _;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    #[default]
    Light,
    Dark,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    #[default]
    Flat,
    Card,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    #[default]
    Jobs,
    Earned,
    Rating,
}

impl Metric {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "" | "jobs" => Some(Self::Jobs),
            "earned" => Some(Self::Earned),
            "rating" => Some(Self::Rating),
            _ => None,
        }
    }
}

/// Columns of a name, and characters, before it is cut: a wide letter takes two columns, a mark on another letter none.
const NAME_COLUMNS_MAX: usize = 22;
/// Tenths of a pixel that a column of label and value takes.
const LABEL_TENTHS: usize = 66;
const VALUE_TENTHS: usize = 64;

/// What a badge shows.
pub struct Badge {
    network: String,
    name: String,
    id: i64,
    status: String,
    chain_id: u64,
    payers: i64,
    jobs: String,
    rating: String,
    earned: String,
    title: String,
}

impl Badge {
    pub fn new(publisher: &Publisher<'_>, issue: &Issue) -> Self {
        let (content, environment) = (&issue.content, publisher.environment);
        let (agent, summary) = (&content.agent, &content.summary);
        let arms_length = summary.get("armsLength").cloned().unwrap_or_default();
        let paid = arms_length["paidJobsCompleted"].as_i64().unwrap_or_default();
        let payers = arms_length["distinctPayers"].as_i64().unwrap_or_default();
        let jobs = format!("{paid} paid job{}", if paid == 1 { "" } else { "s" });
        let rating = match summary.get("ratingAvg").and_then(Value::as_f64) {
            Some(average) => format!("{average:.1}★ ({})", agent.rating_count),
            None => "unrated".to_owned(),
        };
        let wei = |name: &str| -> Option<Wei> { summary.get(name)?.as_str()?.parse().ok() };
        let earned = match (wei("escrowEarnedWei"), wei("x402EarnedWei")) {
            (Some(escrow), Some(x402)) => format!("{} FMX net", fmx(escrow.saturating_add(x402))),
            // A plugin did not answer.
            _ => "earnings unknown".to_owned(),
        };
        let (name, status) = (plain(&agent.name), plain(&agent.status));
        let title = format!(
            "{name} (agent {}, {status}) on chain {}: {jobs} from {payers} payers, rating {rating}, earned {earned}. Built {} at block {}. \
             Verify: {}/verify",
            agent.agent_id,
            environment.chain_id,
            iso(issue.issued_at),
            issue.as_of_block,
            links::document_url(&environment.base_url, agent.agent_id),
        );
        Self {
            network: plain(&environment.brand.network_name),
            name: shortened(&name),
            id: agent.agent_id.0,
            status,
            chain_id: environment.chain_id,
            payers,
            jobs,
            rating,
            earned,
            title,
        }
    }

    fn headline(&self, metric: Metric) -> &str {
        match metric {
            Metric::Jobs => &self.jobs,
            Metric::Earned => &self.earned,
            Metric::Rating => &self.rating,
        }
    }

    fn is_active(&self) -> bool {
        self.status == "Active"
    }

    /// Green while it is active.
    fn accent(&self) -> &'static str {
        if self.is_active() { "#2e7d32" } else { "#757575" }
    }

    pub fn svg(&self, style: Style, theme: Theme, metric: Metric) -> String {
        match style {
            Style::Flat => self.flat(theme, metric),
            Style::Card => self.card(theme, metric),
        }
    }

    fn begin(&self, width: usize, height: usize) -> String {
        let title = xml_escaped(&self.title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{title}\"><title>{title}</title>"
        )
    }

    /// A pill of 20 pixels: the network and the name, then the headline, whose ground covers what a font draws wider than is reckoned here.
    fn flat(&self, theme: Theme, metric: Metric) -> String {
        let status = if self.is_active() { String::new() } else { format!(" ({})", self.status) };
        let label = format!("{} · {}{status}", self.network, self.name);
        let value = self.headline(metric);
        let left = width(&label, LABEL_TENTHS);
        let right = width(value, VALUE_TENTHS);
        let (ground, ink) = match theme {
            Theme::Light => ("#e8eaed", "#202124"),
            Theme::Dark => ("#2b2d31", "#f1f3f4"),
        };
        let (middle_left, middle_right) = (left / 2, left + right / 2);
        format!(
            "{}<g font-family=\"Verdana,Geneva,DejaVu Sans,sans-serif\" font-size=\"11\" text-anchor=\"middle\">\
             <rect width=\"{left}\" height=\"20\" fill=\"{ground}\"/><text x=\"{middle_left}\" y=\"14\" fill=\"{ink}\">{}</text>\
             <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{}\"/>\
             <text x=\"{middle_right}\" y=\"14\" fill=\"#ffffff\">{}</text></g></svg>",
            self.begin(left + right, 20),
            xml_escaped(&label),
            self.accent(),
            xml_escaped(value),
        )
    }

    /// 320 × 90: name, id, status, chain, payers and all three metrics.
    fn card(&self, theme: Theme, metric: Metric) -> String {
        let (ground, ink, faint) = match theme {
            Theme::Light => ("#ffffff", "#202124", "#5f6368"),
            Theme::Dark => ("#1e1f22", "#f1f3f4", "#9aa0a6"),
        };
        let status = if self.is_active() { String::new() } else { format!(" · {}", self.status.to_uppercase()) };
        let others: Vec<&str> = [Metric::Jobs, Metric::Rating, Metric::Earned]
            .into_iter()
            .filter(|other| *other != metric)
            .map(|other| self.headline(other))
            .collect();
        let payers = format!("{} payer{}", self.payers, if self.payers == 1 { "" } else { "s" });
        format!(
            "{}<rect x=\"0.5\" y=\"0.5\" width=\"319\" height=\"89\" rx=\"6\" fill=\"{ground}\" stroke=\"{faint}\"/>\
             <rect x=\"0.5\" y=\"6\" width=\"6\" height=\"78\" fill=\"{}\"/>\
             <g font-family=\"Verdana,Geneva,DejaVu Sans,sans-serif\" fill=\"{ink}\">\
             <text x=\"18\" y=\"25\" font-size=\"14\" font-weight=\"bold\">{}</text>\
             <text x=\"18\" y=\"43\" font-size=\"10\" fill=\"{faint}\">{}</text>\
             <text x=\"18\" y=\"63\" font-size=\"13\">{}</text>\
             <text x=\"18\" y=\"80\" font-size=\"10\" fill=\"{faint}\">{}</text></g></svg>",
            self.begin(320, 90),
            self.accent(),
            xml_escaped(&self.name),
            xml_escaped(&format!("#{}{status} · {} · chain {} · {payers}", self.id, self.network, self.chain_id)),
            xml_escaped(self.headline(metric)),
            xml_escaped(&others.join(" · ")),
        )
    }
}

/// Whole pixels, with a margin on both sides.
fn width(text: &str, tenths: usize) -> usize {
    (text.chars().map(columns).sum::<usize>() * tenths).div_ceil(10) + 12
}

/// How wide a letter is drawn, in columns: two for those of East Asia and for emoji.
fn columns(letter: char) -> usize {
    letter.width().unwrap_or(0)
}

/// Two decimals, cut; none when there are none, or at 1000 and above.
fn fmx(wei: Wei) -> String {
    let digits = format!("{:0>19}", wei.to_string());
    let (whole, fraction) = digits.split_at(digits.len() - 18);
    let cents = fraction.get(..2).unwrap_or("00");
    if cents == "00" || whole.len() > 3 { whole.to_owned() } else { format!("{whole}.{cents}") }
}

/// Without control characters, without those that turn the direction of a text, and without what XML forbids: each is a space.
fn plain(text: &str) -> String {
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{61c}')
            || matches!(letter, '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
            || u32::from(letter) & 0xfffe == 0xfffe
    };
    let text: String = text.chars().map(|letter| if is_hidden(letter) { ' ' } else { letter }).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() { "agent".to_owned() } else { words.join(" ") }
}

/// At most 22 columns, and as many characters: marks take no room, and a name may be nothing else.
fn shortened(name: &str) -> String {
    let fits = |columns: usize, chars: usize| columns.max(chars) <= NAME_COLUMNS_MAX;
    if fits(name.chars().map(columns).sum(), name.chars().count()) {
        return name.to_owned();
    }
    // The ellipsis takes one of each.
    let mut taken = 1;
    let first = name.chars().take(NAME_COLUMNS_MAX - 1).take_while(|letter| {
        taken += columns(*letter);
        taken <= NAME_COLUMNS_MAX
    });
    let first: String = first.collect();
    first + "…"
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_two_decimals_that_are_cut() {
        for (wei, text) in [
            ("0", "0"),
            ("1000000000000000000", "1"),
            ("1999999999999999999", "1.99"),
            ("5000000000000000", "0"),
            ("10000000000000000", "0.01"),
            ("999990000000000000000", "999.99"),
            ("1000990000000000000000", "1000"),
        ] {
            assert_eq!(fmx(wei.parse().unwrap()), text, "{wei}");
        }
    }

    #[test]
    fn names_are_plain_and_short() {
        assert_eq!(plain("a\u{202e}b\u{0}\u{200f}c\n d"), "a b c d");
        assert_eq!(plain("\u{200b}\u{feff}"), "agent");
        assert_eq!(shortened(&"x".repeat(22)).chars().count(), 22);
        assert_eq!(shortened(&"x".repeat(300)), format!("{}…", "x".repeat(21)));
        assert_eq!(xml_escaped("<a href='\"'>&"), "&lt;a href=&#39;&quot;&#39;&gt;&amp;");
    }

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(shortened(&"\u{6f22}".repeat(11)), "\u{6f22}".repeat(11));
        assert_eq!(shortened(&"\u{6f22}".repeat(12)), format!("{}…", "\u{6f22}".repeat(10)));
        assert_eq!(shortened(&format!("a{}", "\u{1f600}".repeat(11))), format!("a{}…", "\u{1f600}".repeat(10)));
        assert_eq!(shortened(&"\u{ff37}".repeat(300)), format!("{}…", "\u{ff37}".repeat(10)), "fullwidth");
        assert_eq!(shortened(&"\u{5d0}".repeat(300)), format!("{}…", "\u{5d0}".repeat(21)));
        assert_eq!(shortened(&"\u{301}".repeat(300)).chars().count(), 22, "marks alone");
        assert_eq!(width("\u{6f22}\u{6f22}", LABEL_TENTHS), width("xxxx", LABEL_TENTHS));
        assert_eq!(width("e\u{301}\u{302}", LABEL_TENTHS), width("e", LABEL_TENTHS));
    }

    #[test]
    fn a_metric_is_named_or_refused() {
        assert_eq!((Metric::parse(""), Metric::parse("rating")), (Some(Metric::Jobs), Some(Metric::Rating)));
        assert_eq!(Metric::parse("Jobs"), None);
    }
}
