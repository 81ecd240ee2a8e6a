//! The master keys of a gateway: the newest seals, each of them opens what it sealed.

use super::master_key::{KeyId, MasterKey};

#[derive(Debug)]
pub(crate) struct Keyring {
    newest: MasterKey,
    /// They open what they sealed, and seal nothing new.
    older: Vec<MasterKey>,
}

impl Keyring {
    pub(crate) fn new(newest: MasterKey, older: Vec<MasterKey>) -> Self {
        Self { newest, older }
    }

    pub(crate) fn newest(&self) -> &MasterKey {
        &self.newest
    }

    /// The newest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &MasterKey> {
        std::iter::once(&self.newest).chain(&self.older)
    }

    pub(crate) fn find(&self, id: KeyId) -> Option<&MasterKey> {
        self.iter().find(|key| key.id() == id)
    }
}
