//! Which libraries came with this gateway.

use super::inspect::Inspection;
use std::{path::Path, sync::OnceLock};

/// The sha256 of the libraries of this release, with a space between.
static RELEASED: OnceLock<&str> = OnceLock::new();

/// Says which libraries came with this program: their sha256, with a space between. The program says it, not this crate, so that only the
/// program is compiled for a release; and before it loads any, once.
pub fn set_released_plugins(hashes: &'static str) {
    RELEASED.get_or_init(|| hashes);
}

/// Whether the library came with this gateway.
pub(super) fn is_released(inspection: &Inspection) -> bool {
    // Of the folder, not of the program: a file that was replaced meanwhile has no path any more.
    let folder = std::env::current_exe().ok().and_then(|program| program.parent()?.canonicalize().ok());
    came_with(RELEASED.get().copied(), folder.as_deref(), inspection)
}

/// By the hashes of the release; without them, in a build of one's own, by lying where cargo puts what it builds: in the
/// program's folder or below.
fn came_with(released: Option<&str>, program_folder: Option<&Path>, inspection: &Inspection) -> bool {
    match released {
        Some(hashes) => hashes.split(' ').any(|hash| hash == inspection.sha256),
        None => program_folder
            .zip(inspection.path.canonicalize().ok())
            .is_some_and(|(folder, library)| library.starts_with(folder)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn library(path: &Path, sha256: &str) -> Inspection {
        let (name, version) = ("bank".to_owned(), "1.0.0".to_owned());
        Inspection { path: path.to_owned(), name, version, abi: (1, 0), sha256: sha256.to_owned(), bytes: 0 }
    }

    #[test]
    fn the_release_knows_its_libraries_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libbank.so");
        std::fs::write(&path, "").unwrap();
        let list = Some("aa bb");
        assert!(came_with(list, None, &library(&path, "bb")));
        assert!(!came_with(list, Some(folder.path()), &library(&path, "b")), "its place says nothing");
        assert!(!came_with(Some(""), Some(folder.path()), &library(&path, "cc")));
    }

    #[test]
    fn a_build_of_ones_own_knows_what_lies_with_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let (target, elsewhere) = (folder.path().join("target"), folder.path().join("plugins"));
        for place in [target.join("deps"), elsewhere.clone()] {
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("libbank.so"), "").unwrap();
        }
        let came = |path: &Path| came_with(None, Some(&target), &library(path, "aa"));
        assert!(came(&target.join("deps/libbank.so")));
        assert!(!came(&elsewhere.join("libbank.so")));
        assert!(!came(&target.join("deps/../../plugins/libbank.so")));
        assert!(!came_with(None, None, &library(&elsewhere.join("libbank.so"), "aa")));
    }
}
