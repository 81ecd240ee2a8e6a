//! Writes a new plugin into a folder that does not exist yet.

use crate::TemplateFile;
use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

/// Why a plugin was not written.
#[derive(Debug)]
pub enum WriteError {
    Exists { folder: PathBuf },
    Failed { path: PathBuf, source: io::Error },
}

impl fmt::Display for WriteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists { folder } => {
                write!(out, "{} exists already: choose another name, or another folder", folder.display())
            }
            Self::Failed { path, source } => write!(out, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for WriteError {}

/// Creates the folder with these files. Whatever is there already, a file or a link too, stays as it is.
pub fn write(folder: &Path, files: &[TemplateFile]) -> Result<(), WriteError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| WriteError::Failed { path, source }
    };
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(failed(parent))?;
    }
    fs::create_dir(folder).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => WriteError::Exists { folder: folder.to_owned() },
        _ => WriteError::Failed { path: folder.to_owned(), source },
    })?;
    for file in files {
        let path = folder.join(file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed(parent))?;
        }
        fs::write(&path, &file.text).map_err(failed(&path))?;
    }
    Ok(())
}
