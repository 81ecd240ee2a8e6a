//! The bar that an operator sees on a terminal during a backfill.

use super::report::IndexReport;
use gateway_config::LogFormat;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::{io::IsTerminal as _, sync::LazyLock};

/// Draws the bars of several indexes below each other.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

const STYLE: &str = "{prefix} {bar:40} {pos}/{len} blocks{msg}";

pub(crate) struct BackfillBar {
    name: String,
    is_enabled: bool,
    bar: Option<ProgressBar>,
}

impl BackfillBar {
    /// Enabled on a terminal unless the log is JSON, which a program reads.
    pub(crate) fn new(name: String, format: LogFormat) -> Self {
        let is_enabled = format != LogFormat::Json && std::io::stderr().is_terminal();
        Self { name, is_enabled, bar: None }
    }

    pub(crate) fn show(&mut self, report: &IndexReport) {
        if !self.is_enabled {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template(STYLE).unwrap_or_else(|_| ProgressStyle::default_bar());
            BARS.add(ProgressBar::new(0)).with_style(style).with_prefix(self.name.clone())
        });
        let start = report.start_block.unwrap_or_default();
        bar.set_length(report.head.unwrap_or_default().saturating_sub(start));
        bar.set_position(report.indexed_block.unwrap_or(start).saturating_sub(start));
        bar.set_message(match report.left_s {
            Some(left_s) => format!(", {} a second, {left_s} s left", report.blocks_per_s),
            None => String::new(),
        });
    }

    pub(crate) fn hide(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            BARS.remove(&bar);
        }
    }
}

/// An index that is stopped half way leaves no bar on the terminal that nothing moves any more.
impl Drop for BackfillBar {
    fn drop(&mut self) {
        self.hide();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_ends_with_its_index() {
        let mut shown = BackfillBar { name: "forum".to_owned(), is_enabled: true, bar: None };
        shown.show(&IndexReport { head: Some(9), ..IndexReport::default() });
        let bar = shown.bar.clone().unwrap_or_else(ProgressBar::hidden);
        assert_eq!((bar.length(), bar.is_finished()), (Some(9), false));
        drop(shown);
        assert!(bar.is_finished());
    }
}
