//! What the author of a new plugin reads.

use crate::TemplateFile;
use std::path::Path;

/// The files that were written, and each next step with what it does.
pub fn report(folder: &Path, files: &[TemplateFile], steps: &[(String, &str)]) -> String {
    let mut lines = vec![format!("{} is a plugin now:", folder.display()), String::new()];
    lines.extend(files.iter().map(|file| format!("  {}", file.path)));
    lines.extend([String::new(), "Next:".to_owned(), String::new()]);
    let width = steps.iter().map(|(step, _)| step.len()).max().unwrap_or_default();
    lines.extend(steps.iter().map(|(step, what)| format!("  {step:<width$}   {what}").trim_end().to_owned()));
    lines.join("\n")
}
