//! Switches of a plugin on the operator's page, such as a pause.
//!
//! Whoever reaches the operator's listener acts as the operator, as he does when he disables a plugin: no signature is asked for. The rule:
//! no plugin can collect this point, and a plugin gets a press of what it offers alone.

use super::point::Point;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Switches for the operator's page, in the order in which it shows them. The gateway alone collects them.
pub const CONTROLS: Point<ControlsInput, Vec<Control>> = Point::new("controls");

/// Asks for the switches; with `press` after an operator has pressed a button of one.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ControlsInput {
    #[serde(default)]
    pub press: Option<ControlPress>,
}

/// A button that was pressed. A moment ago the plugin offered it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlPress {
    pub control: String,
    pub action: String,
}

/// Something that runs, or does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// Which one of the plugin's: letters, digits, `_` and `-`, as it is a part of a path.
    pub name: String,
    /// What it does now, in a word.
    pub state: String,
    /// Why, in a sentence; whatever has a reason to be told is shown as a warning.
    pub reason: Option<String>,
    /// Its buttons: verbs of letters, digits, `_` and `-`.
    pub actions: Vec<String>,
    /// What it has done, in the order in which the page shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<ControlCounter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plot: Option<ControlPlot>,
}

/// A number for people, with its unit.
///
/// ```
/// use plugin_api::point::{Control, ControlCounter};
///
/// let control = Control::new("runner", "running", &["pause"]).counter("fees", "0.12 coins");
/// assert_eq!(control.counters, [ControlCounter { name: "fees".into(), value: "0.12 coins".into() }]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlCounter {
    pub name: String,
    pub value: String,
}

/// Numbers over a time, drawn as a line.
///
/// ```
/// use plugin_api::point::{Control, ControlPlot};
///
/// let plot = ControlPlot { title: "Transactions per hour".into(), since: "2 h ago".into(), values: vec![0, 12, 7] };
/// let control = Control { plot: Some(plot), ..Control::new("runner", "running", &["pause"]) };
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlPlot {
    /// What is counted, and in which time: "Transactions per hour".
    pub title: String,
    /// When the first value was, such as "24 h ago"; the last one is now.
    pub since: String,
    /// One for each equal time, the oldest first. The newest 400 are drawn.
    pub values: Vec<u64>,
}

impl Control {
    pub fn new(name: &str, state: &str, actions: &[&str]) -> Self {
        let actions = actions.iter().map(|action| (*action).to_owned()).collect();
        Self { name: name.to_owned(), state: state.to_owned(), reason: None, actions, counters: Vec::new(), plot: None }
    }

    pub fn counter(mut self, name: &str, value: impl ToString) -> Self {
        self.counters.push(ControlCounter { name: name.to_owned(), value: value.to_string() });
        self
    }
}
