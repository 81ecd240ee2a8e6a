//! Exit codes. Rule: scripts rely on them, so the meaning of a code never changes.

/// How the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    Ok = 0,
    Failure = 1,
    Usage = 2,
    Config = 3,
    Database = 4,
    Plugin = 5,
    Listen = 6,
}

impl ExitCode {
    pub const ALL: [Self; 7] =
        [Self::Ok, Self::Failure, Self::Usage, Self::Config, Self::Database, Self::Plugin, Self::Listen];

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// For help texts.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done",
            Self::Failure => "failed for a reason without a code of its own",
            Self::Usage => "the command line is wrong",
            Self::Config => "the configuration has problems",
            Self::Database => "the database cannot be opened or migrated",
            Self::Plugin => "a plugin is refused, or one that must serve does not",
            Self::Listen => "an address cannot be listened on",
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}

/// What a document is worth that `gateway verify` checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum VerifyExitCode {
    Valid = 0,
    Forged = 1,
    /// It was right, and is stale or superseded.
    Outdated = 2,
    NotCheckable = 3,
}

/// How a command ended: the exit codes of `gateway verify` are its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandResult {
    Command(ExitCode),
    Verified(VerifyExitCode),
}

impl From<CommandResult> for std::process::ExitCode {
    fn from(ended: CommandResult) -> Self {
        match ended {
            CommandResult::Command(code) => code.into(),
            CommandResult::Verified(verdict) => Self::from(verdict as u8),
        }
    }
}

/// The end of `gateway --help`; a test compares it with the enum.
pub(super) const HELP: &str = "\
Exit codes:
  0  done
  1  failed for a reason without a code of its own
  2  the command line is wrong
  3  the configuration has problems
  4  the database cannot be opened or migrated
  5  a plugin is refused, or one that must serve does not
  6  an address cannot be listened on
Those of `gateway verify` are in its own help.";
