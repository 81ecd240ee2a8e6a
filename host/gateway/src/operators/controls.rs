//! What operators switch in plugins: the contributions to [`point::CONTROLS`].

use gateway_plugins::ExtensionPoints;
use plugin_api::point::{self, Control, ControlPress, ControlsInput};
use serde::Serialize;
use std::sync::Arc;

/// The switches of one plugin.
#[derive(Clone, Debug, Serialize)]
pub struct PluginControls {
    pub plugin: String,
    pub controls: Vec<Control>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PressError {
    #[error("the plugin does not offer this now")]
    NotOffered,
    #[error("the plugin did not answer: what came of it is on the page")]
    NoAnswer,
}

/// The switches of all plugins.
#[derive(Clone)]
pub struct Controls {
    points: Arc<ExtensionPoints>,
}

impl Controls {
    pub(crate) fn new(points: Arc<ExtensionPoints>) -> Self {
        Self { points }
    }

    pub async fn list(&self) -> Vec<PluginControls> {
        let parts = self.points.collect_decoded(point::CONTROLS, &ControlsInput { press: None }).await;
        parts.into_iter().map(|(plugin, controls)| PluginControls { plugin, controls }).collect()
    }

    /// Presses a button that the plugin offers; answers the switch as it is then.
    pub async fn press(&self, plugin: &str, control: &str, action: &str) -> Result<Control, PressError> {
        let find = |controls: Vec<Control>| controls.into_iter().find(|one| one.name == control);
        let offered = self.of_plugin(plugin, None).await.and_then(find);
        if !offered.is_some_and(|offered| offered.actions.iter().any(|one| one == action)) {
            return Err(PressError::NotOffered);
        }
        let press = ControlPress { control: control.to_owned(), action: action.to_owned() };
        self.of_plugin(plugin, Some(press)).await.and_then(find).ok_or(PressError::NoAnswer)
    }

    async fn of_plugin(&self, plugin: &str, press: Option<ControlPress>) -> Option<Vec<Control>> {
        self.points.collect_decoded_from(plugin, point::CONTROLS, &ControlsInput { press }).await
    }
}
