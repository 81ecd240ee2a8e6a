//! Small texts that a plugin keeps in the gateway's data folder: what has to survive the loss of the database.
//!
//! The rule: a text is replaced as a whole and durably, and only while it is the one that the plugin expects, whatever other
//! gateways use the same folder.

use gateway_storage::{remove_unfinished, replace_file_durably};
use plugin_api::{
    abi::{HostError, HostErrorCode},
    host::decode_call,
    manifest::{FileCall, FileOperation},
};
use serde_json::{Value, json};
use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// Below `data_dir`, with a folder for each plugin.
const FOLDER: &str = "files";
const TEXT_BYTES_MAX: usize = 64 * 1024;
const NAME_BYTES_MAX: usize = 64;
/// Of one plugin.
const FILES_MAX: usize = 16;
const LOCK_FILE: &str = ".lock";
/// Less what the umask takes away.
const FILE_MODE: u32 = 0o666;

/// Answers a plugin's call of the capability.
pub(crate) async fn call(data_dir: &Path, plugin: &str, request: &[u8], body: &[u8]) -> Result<Value, HostError> {
    let FileCall { file, operation } = decode_call("a call of a file", request)?;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !(1..=NAME_BYTES_MAX).contains(&file.len()) || !file.bytes().all(is_plain) {
        return Err(invalid(format!("the name of a file has 1 to {NAME_BYTES_MAX} of a-z, 0-9 and _")));
    }
    let files = PluginFiles { folder: data_dir.join(FOLDER).join(plugin) };
    let text = String::from_utf8(body.to_vec()).map_err(|error| invalid(error.to_string()))?;
    let work = move || match operation {
        FileOperation::Read => files.read(&file).map(|text| json!(text)),
        FileOperation::Replace { expected } => {
            files.replace(&file, expected.as_deref(), &text).map(|is_replaced| json!(is_replaced))
        }
    };
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?
}

struct PluginFiles {
    folder: PathBuf,
}

impl PluginFiles {
    fn read(&self, name: &str) -> Result<Option<String>, HostError> {
        match fs::read_to_string(self.folder.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(name, &error)),
        }
    }

    /// Returns whether the text was the expected one, and is replaced.
    fn replace(&self, name: &str, expected: Option<&str>, text: &str) -> Result<bool, HostError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(invalid(format!("{} bytes: a file has at most {TEXT_BYTES_MAX}", text.len())));
        }
        // Released when it is dropped, and when the process ends.
        let _lock = self.lock().map_err(|error| self.failed(LOCK_FILE, &error))?;
        let present = self.read(name)?;
        if present.as_deref() != expected {
            return Ok(false);
        }
        if present.is_none() && self.count().map_err(|error| self.failed(name, &error))? >= FILES_MAX {
            return Err(invalid(format!("the plugin has {FILES_MAX} files already")));
        }
        self.write(name, text).map_err(|error| self.failed(name, &error))?;
        Ok(true)
    }

    fn lock(&self) -> io::Result<File> {
        fs::create_dir_all(&self.folder)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(self.folder.join(LOCK_FILE))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Without the lock, and a text that a crash left unfinished.
    fn count(&self) -> io::Result<usize> {
        let names: Vec<_> =
            fs::read_dir(&self.folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
        Ok(names.iter().filter(|name| !name.as_encoded_bytes().starts_with(b".")).count())
    }

    /// A power failure leaves the new text or the old one. The folders above may be new.
    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.folder.join(name);
        remove_unfinished(&path);
        replace_file_durably(&path, text.as_bytes(), FILE_MODE)?;
        self.folder.ancestors().skip(1).take(2).try_for_each(|folder| File::open(folder)?.sync_all())
    }

    fn failed(&self, name: &str, error: &io::Error) -> HostError {
        let message = format!("the file {}: {error}", self.folder.join(name).display());
        HostError::new(HostErrorCode::Unavailable, message)
    }
}

fn invalid(reason: String) -> HostError {
    HostError::new(HostErrorCode::Invalid, reason)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
        thread,
    };

    fn files(folder: &tempfile::TempDir) -> PluginFiles {
        PluginFiles { folder: folder.path().join(FOLDER).join("notes") }
    }

    #[test]
    fn a_text_is_replaced_only_while_it_is_the_expected_one() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(&folder);
        assert_eq!(files.read("newest").unwrap(), None);
        assert!(!files.replace("newest", Some("one"), "two").unwrap());
        assert!(files.replace("newest", None, "one").unwrap());
        assert!(!files.replace("newest", None, "two").unwrap());
        assert_eq!(files.read("newest").unwrap().unwrap(), "one");
        assert!(files.replace("newest", Some("one"), "two").unwrap());
        assert_eq!(files.read("newest").unwrap().unwrap(), "two");
        // The lock and the text: nothing temporary is left.
        assert_eq!(fs::read_dir(&files.folder).unwrap().count(), 2);
    }

    #[test]
    fn of_many_at_once_one_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let wins = AtomicUsize::new(0);
        thread::scope(|scope| {
            for writer in 0..8 {
                let (folder, wins) = (&folder, &wins);
                scope.spawn(move || {
                    let is_replaced = files(folder).replace("newest", None, &writer.to_string()).unwrap();
                    wins.fetch_add(usize::from(is_replaced), Relaxed);
                });
            }
        });
        assert_eq!(wins.into_inner(), 1);
    }

    #[test]
    fn size_and_number_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(&folder);
        assert!(files.replace("a", None, &"x".repeat(TEXT_BYTES_MAX + 1)).is_err());
        for number in 0..FILES_MAX {
            assert!(files.replace(&format!("file{number}"), None, "x").unwrap());
        }
        assert!(files.replace("one_more", None, "x").is_err());
        assert!(files.replace("file0", Some("x"), &"x".repeat(TEXT_BYTES_MAX)).unwrap());
    }

    #[tokio::test]
    async fn a_name_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "..", "a/b", ".lock", "A", &"a".repeat(65)] {
            let call_of = FileCall { file: name.to_owned(), operation: FileOperation::Read };
            let request = serde_json::to_vec(&call_of).unwrap();
            let refused = call(folder.path(), "notes", &request, b"").await.unwrap_err();
            assert!(refused.is(HostErrorCode::Invalid), "{name:?}");
        }
    }
}
