//! Where the gateway is: `GATEWAY_BIN`, else `gateway` on PATH.

use std::{env, ffi::OsString, path::PathBuf};

const VARIABLE: &str = "GATEWAY_BIN";
const NAME: &str = "gateway";

/// Panics with what to do when there is none.
pub fn find() -> PathBuf {
    find_in(env::var_os(VARIABLE), env::var_os("PATH")).unwrap_or_else(|problem| panic!("{problem}"))
}

fn find_in(named: Option<OsString>, path: Option<OsString>) -> Result<PathBuf, String> {
    if let Some(file) = named.filter(|file| !file.is_empty()).map(PathBuf::from) {
        let problem =
            || format!("{VARIABLE} names {}, which is no file: set it to the program `gateway`", file.display());
        return file.is_file().then_some(&file).cloned().ok_or_else(problem);
    }
    let found = path.iter().flat_map(env::split_paths).map(|folder| folder.join(NAME)).find(|file| file.is_file());
    found.ok_or_else(|| {
        format!(
            "there is no gateway to load the plugin: put the program `{NAME}` into a folder of PATH, or set {VARIABLE} to its \
             path. It is in every release; `cargo xtask dist` in the gateway's repository makes one"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_program_the_test_says_what_to_do() {
        let said = find_in(None, Some("/no/such/folder".into())).unwrap_err();
        assert!(said.contains("put the program `gateway` into a folder of PATH, or set GATEWAY_BIN"), "{said}");
        let said = find_in(Some("/no/such/gateway".into()), None).unwrap_err();
        assert_eq!(said, "GATEWAY_BIN names /no/such/gateway, which is no file: set it to the program `gateway`");
    }

    #[test]
    fn the_variable_comes_before_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gateway");
        std::fs::write(&file, "").unwrap();
        assert_eq!(find_in(Some("".into()), Some(folder.path().into())), Ok(file.clone()));
        assert_eq!(
            find_in(Some(env::current_exe().unwrap().into()), Some(folder.path().into())),
            Ok(env::current_exe().unwrap())
        );
    }
}
