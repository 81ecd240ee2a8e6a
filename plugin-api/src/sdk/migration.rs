//! Steps of a plugin's schema.

use crate::manifest::MigrationSpec;

/// A step of the plugin's schema; see [`MigrationSpec`]. A plugin names its files by [`crate::migrations!`].
///
/// ```
/// use plugin_api::Migration;
///
/// let create = Migration::new(1, "create", "CREATE TABLE notes_notes (id {{id}}, text TEXT NOT NULL)");
/// let index = Migration::per_dialect(2, "index", "CREATE INDEX a ON notes_notes (text)", "CREATE INDEX b ON notes_notes (text)");
/// ```
pub struct Migration(pub(super) MigrationSpec);

impl Migration {
    /// SQL that both databases understand, with `{{id}}`, `{{blob}}`, `{{search_index TABLE (COLUMN, …)}}`,
    /// `{{row_counts TABLE (COLUMN, …)}}` and `{{queue TABLE}}`.
    pub fn new(version: u32, name: &str, sql: &str) -> Self {
        Self(MigrationSpec::new(version, name, sql))
    }

    /// SQL that differs between SQLite and PostgreSQL.
    pub fn per_dialect(version: u32, name: &str, sqlite: &str, postgres: &str) -> Self {
        Self(MigrationSpec::per_dialect(version, name, sqlite, postgres))
    }
}

/// Version and name of the file `0001_create`. Of a name without a number the version is 0, which the gateway refuses.
pub fn file_version(file: &str) -> (u32, &str) {
    let (number, name) = file.split_once('_').unwrap_or((file, ""));
    (number.parse().unwrap_or_default(), name)
}

/// The files in the plugin's folder `migrations/`, in their order: `0001_create` is `0001_create.sql`, and
/// `per_dialect("0002_index")` is `0002_index.sqlite.sql` with `0002_index.postgres.sql`.
///
/// ```ignore (it reads the files of the plugin)
/// use plugin_api::{Definition, Migration, Plugin, migrations};
///
/// fn define<P: Plugin>() -> Definition<P> {
///     let files: [Migration; 2] = migrations!["0001_create", per_dialect("0002_index")];
///     Definition::new().migrations(files)
/// }
/// ```
#[macro_export]
macro_rules! migrations {
    ($($file:tt $(($per_dialect:literal))?),* $(,)?) => {
        [$($crate::__migration!($file $(($per_dialect))?)),*]
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __migration {
    (per_dialect ($file:literal)) => {{
        let (version, name) = $crate::__private::file_version($file);
        let sqlite = $crate::__migration!(@ $file, ".sqlite.sql");
        $crate::Migration::per_dialect(version, name, sqlite, $crate::__migration!(@ $file, ".postgres.sql"))
    }};
    ($file:literal) => {{
        let (version, name) = $crate::__private::file_version($file);
        $crate::Migration::new(version, name, $crate::__migration!(@ $file, ".sql"))
    }};
    (@ $file:literal, $end:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/", $file, $end))
    };
}

#[cfg(test)]
mod tests {
    use super::file_version;

    #[test]
    fn a_file_has_version_and_name() {
        assert_eq!(file_version("0012_keep_json"), (12, "keep_json"));
        assert_eq!(file_version("create"), (0, ""));
        assert_eq!(file_version("first_create"), (0, "create"));
    }
}
