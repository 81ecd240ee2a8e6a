//! Where the libraries of plugins are: those of this build, then those that came with the gateway.

use std::{
    env::{
        self,
        consts::{DLL_PREFIX, DLL_SUFFIX},
    },
    path::{Path, PathBuf},
};

/// The library of a plugin. Panics when there is none.
pub fn find(plugin: &str, program: &Path) -> PathBuf {
    // Cargo builds the library of the package under test beside the tests.
    let built = env::current_exe().unwrap_or_else(|error| panic!("the path of the test program: {error}"));
    let program = program.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let folders = [folder_of(&built), folder_of(&program), folder_of(&program).join("plugins")];
    let file = format!("{DLL_PREFIX}{plugin}{DLL_SUFFIX}");
    let found = folders.iter().map(|folder| folder.join(&file)).find(|file| file.is_file());
    found.unwrap_or_else(|| {
        panic!("there is no {file} in {folders:?}: a plugin's Cargo.toml says crate-type = [\"cdylib\", \"rlib\"]")
    })
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_of_another_package_is_the_one_that_came_with_the_gateway() {
        let folder = tempfile::tempdir().unwrap();
        let (program, plugins) = (folder.path().join("gateway"), folder.path().join("plugins"));
        let library = plugins.join(format!("{DLL_PREFIX}came_along{DLL_SUFFIX}"));
        std::fs::create_dir(&plugins).unwrap();
        std::fs::write(&program, "").unwrap();
        std::fs::write(&library, "").unwrap();
        // A link to the program stands for it, as in a folder of PATH.
        let link = plugins.join("gateway");
        std::os::unix::fs::symlink(&program, &link).unwrap();
        assert_eq!(find("came_along", &link), library.canonicalize().unwrap());
    }
}
