//! The object of a plugin. Whoever drops it runs code of the plugin, and if that ends the process, the next start names it.

use crate::polls::{OperationNumber, UnwatchedFrame};
use plugin_api::abi::PluginBox;
use std::ops::Deref;

pub struct OwnedObject {
    object: PluginBox,
    /// From the begin of the drop. It stands behind the object, and so is dropped after it.
    _drop_frame: Option<UnwatchedFrame>,
    operation: OperationNumber,
}

impl OwnedObject {
    /// `operation`: that of its drop.
    pub fn new(object: PluginBox, operation: OperationNumber) -> Self {
        Self { object, _drop_frame: None, operation }
    }
}

impl Deref for OwnedObject {
    type Target = PluginBox;

    fn deref(&self) -> &PluginBox {
        &self.object
    }
}

impl Drop for OwnedObject {
    fn drop(&mut self) {
        self._drop_frame = Some(UnwatchedFrame::enter(self.operation));
    }
}
