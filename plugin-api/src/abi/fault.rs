//! Errors of plugins and of the gateway's capabilities.

use abi_stable::{StableAbi, std_types::RString};

/// Why a call into a plugin failed.
#[repr(u8)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The plugin returned an error that is not for the caller.
    Error,
    /// The plugin panicked; the SDK caught it.
    Panic,
    /// The plugin's own configuration is wrong (constructor only).
    Config,
    /// What the plugin passes on from outside broke off: the response ends with an error, and no failure of the plugin is
    /// counted (streamed bodies only).
    Source,
}

/// A failure inside a plugin, for the log and the report; the caller of a route never sees it.
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: RString,
    /// `file:line:column` of a panic; empty otherwise.
    pub location: RString,
}

/// The error of a capability of the gateway.
/// `code` is one of the numbers of [`HostErrorCode`]; later versions only add numbers.
///
/// ```
/// use plugin_api::{HostError, HostErrorCode};
///
/// let error = HostError::new(HostErrorCode::Invalid, "the card is no JSON");
/// assert!(error.is(HostErrorCode::Invalid));
/// ```
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct HostError {
    pub code: u32,
    pub message: RString,
}

/// The known values of [`HostError::code`].
///
/// ```
/// use plugin_api::{HostError, HostErrorCode, HostHandle};
///
/// /// Whether the gateway has the key of this role.
/// async fn can_sign(host: &HostHandle, role: &str) -> Result<bool, HostError> {
///     match host.signer(role).address().await {
///         Ok(_) => Ok(true),
///         Err(error) if error.is(HostErrorCode::Disabled) => Ok(false),
///         Err(error) => Err(error),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum HostErrorCode {
    /// The gateway failed; the log has the details.
    Internal = 1,
    /// The database (or the chain) is unavailable; retrying later may help.
    Unavailable = 2,
    /// The time limit of the call ran out; for a statement: it was too slow, or its transaction was open or idle for too long and was
    /// rolled back. The database itself works.
    Timeout = 3,
    /// A statement the plugin sent is not allowed or not valid: a bug of the plugin.
    Statement = 4,
    /// A constraint of the database refused the row (unique, check, not null, foreign key).
    Constraint = 5,
    /// The transaction is over: rolled back by a failed statement, or already committed.
    Closed = 6,
    /// The plugin has no grant for this capability, or this gateway does not offer it.
    Refused = 7,
    /// The input of the capability is malformed.
    Invalid = 8,
    /// An outbound request was refused or failed; the message starts with its code and a colon.
    Fetch = 9,
    /// The feature is off on this gateway, for example a role without a key; the message gives the reason and may be shown
    /// to callers.
    Disabled = 10,
    /// The database rolled the transaction back because of another one at the same time; the same statements may succeed in a
    /// new transaction.
    Conflict = 11,
    /// The statement waited too long for its turn (a connection, a lock, the writer): the database itself works, and retrying
    /// later may help.
    Busy = 12,
}

impl HostError {
    pub fn new(code: HostErrorCode, message: impl Into<String>) -> Self {
        Self { code: code as u32, message: message.into().into() }
    }

    /// Whether this error has the given code; an unknown number of a newer gateway matches no code.
    pub fn is(&self, code: HostErrorCode) -> bool {
        self.code == code as u32
    }

    /// Whether it says nothing against the call itself, so that the same one may succeed later: a server does not respond, all places are
    /// taken, or what is needed is off, such as a chain that cannot be read or a key that cannot pay.
    pub fn is_transient(&self) -> bool {
        use HostErrorCode::{Busy, Disabled, Timeout, Unavailable};
        [Unavailable, Timeout, Disabled, Busy].into_iter().any(|code| self.is(code))
    }
}

impl std::fmt::Display for HostError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} (host error {})", self.message, self.code)
    }
}

impl std::error::Error for HostError {}
