//! What operators switch in plugins: the contributions to [`point::CONTROLS`].

use crate::Gateway;
use plugin_api::point::{self, Control, ControlPress, ControlsInput};
use serde::Serialize;

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

impl Gateway {
    pub async fn controls(&self) -> Vec<PluginControls> {
        let parts = self.extension_points.collect_decoded(point::CONTROLS, &ControlsInput { press: None }).await;
        parts.into_iter().map(|(plugin, controls)| PluginControls { plugin, controls }).collect()
    }

    /// Presses a button that the plugin offers; answers the switch as it is then.
    pub async fn press(&self, plugin: &str, control: &str, action: &str) -> Result<Control, PressError> {
        let find = |controls: Vec<Control>| controls.into_iter().find(|one| one.name == control);
        let offered = self.controls_of(plugin, None).await.and_then(find);
        if !offered.is_some_and(|offered| offered.actions.iter().any(|one| one == action)) {
            return Err(PressError::NotOffered);
        }
        let press = ControlPress { control: control.to_owned(), action: action.to_owned() };
        self.controls_of(plugin, Some(press)).await.and_then(find).ok_or(PressError::NoAnswer)
    }

    async fn controls_of(&self, plugin: &str, press: Option<ControlPress>) -> Option<Vec<Control>> {
        self.extension_points.collect_decoded_from(plugin, point::CONTROLS, &ControlsInput { press }).await
    }
}
