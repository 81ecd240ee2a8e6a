//! How often the process died while a plugin started.

use gateway_storage::replace_file;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, fs, io, path::Path};

/// A plugin that ended this many starts is skipped.
pub(crate) const DEATHS_MAX: u32 = 2;
/// Less what the umask takes away.
const FILE_MODE: u32 = 0o666;

/// A step of the start that runs a plugin's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartPhase {
    /// Its library is mapped, and says what it is.
    Load,
    Constructor,
    Migration,
}

impl fmt::Display for StartPhase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Load => "while its library was loaded",
            Self::Constructor => "in its constructor",
            Self::Migration => "in its migration",
        })
    }
}

/// Who is starting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartAttempt {
    pub plugin: String,
    /// Of its file: another build begins anew.
    pub sha256: Option<String>,
    pub phase: StartPhase,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartDeaths {
    pub count: u32,
    pub last: StartAttempt,
}

pub(crate) type DeathsByPlugin = BTreeMap<String, StartDeaths>;

/// Counts a death that was found at the start.
pub(crate) fn count(deaths: &mut DeathsByPlugin, found: StartAttempt) {
    let before = deaths.get(&found.plugin).filter(|deaths| deaths.last.sha256 == found.sha256);
    let count = before.map_or(0, |deaths| deaths.count) + 1;
    deaths.insert(found.plugin.clone(), StartDeaths { count, last: found });
}

impl StartDeaths {
    /// Why this build of the plugin is not started at this step, if it is not.
    pub(crate) fn why_skipped(&self, sha256: Option<&str>, phase: StartPhase) -> Option<String> {
        let Self { count, last } = self;
        if *count < DEATHS_MAX || last.sha256.as_deref() != sha256 || last.phase != phase {
            return None;
        }
        let restart = if phase == StartPhase::Load { ", then restart the gateway" } else { "" };
        Some(format!(
            "skipped: the process has died {count} times {phase}; `gateway plugins enable {}` tries it again{restart}",
            last.plugin
        ))
    }
}

/// A file that is missing or damaged says nothing.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The process may die at any moment, and what it was doing then is what the file has to say.
pub(crate) fn write(path: &Path, document: &impl Serialize) -> io::Result<()> {
    replace_file(path, &serde_json::to_vec(document)?, FILE_MODE)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn starting(sha256: &str) -> StartAttempt {
        StartAttempt { plugin: "bomb".into(), sha256: Some(sha256.into()), phase: StartPhase::Constructor }
    }

    #[test]
    fn the_second_death_of_one_build_is_the_last() {
        let mut deaths = DeathsByPlugin::new();
        let skipped = |deaths: &DeathsByPlugin, sha256: &str| {
            deaths.get("bomb").and_then(|deaths| deaths.why_skipped(Some(sha256), StartPhase::Constructor))
        };
        count(&mut deaths, starting("a"));
        assert_eq!(skipped(&deaths, "a"), None);
        count(&mut deaths, starting("b"));
        assert_eq!(skipped(&deaths, "b"), None, "another build");
        count(&mut deaths, starting("b"));
        assert_eq!(
            skipped(&deaths, "b").unwrap(),
            "skipped: the process has died 2 times in its constructor; `gateway plugins enable bomb` tries it again"
        );
        assert_eq!(skipped(&deaths, "c"), None, "a corrected build is tried");
    }
    #[test]
    fn each_step_of_the_start_is_skipped_by_itself() {
        let skipped = |died: StartPhase, tried: StartPhase| {
            let mut deaths = DeathsByPlugin::new();
            for _ in 0..DEATHS_MAX {
                count(&mut deaths, StartAttempt { phase: died, ..starting("a") });
            }
            deaths["bomb"].why_skipped(Some("a"), tried)
        };
        let again = "`gateway plugins enable bomb` tries it again";
        assert_eq!(
            skipped(StartPhase::Load, StartPhase::Load).unwrap(),
            format!(
                "skipped: the process has died 2 times while its library was loaded; {again}, then restart the gateway"
            )
        );
        assert_eq!(
            skipped(StartPhase::Migration, StartPhase::Migration).unwrap(),
            format!("skipped: the process has died 2 times in its migration; {again}")
        );
        for (died, tried) in [
            (StartPhase::Load, StartPhase::Constructor),
            (StartPhase::Load, StartPhase::Migration),
            (StartPhase::Migration, StartPhase::Load),
            (StartPhase::Migration, StartPhase::Constructor),
        ] {
            assert_eq!(skipped(died, tried), None, "it died {died}");
        }
    }
}
