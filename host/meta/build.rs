//! Compresses the files of the docs page at build time: Swagger UI from the crate that vendors it, and our own files.

use flate2::{Compression, write::GzEncoder};
use std::{
    env,
    error::Error,
    fs,
    io::{Cursor, Read as _, Write as _},
    path::Path,
};

const SWAGGER_UI: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];
const DOCS_FILES: [&str; 4] = ["index.html", "docs.css", "docs.js", "icon.svg"];
const DOCS_FOLDER: &str = "src/docs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={DOCS_FOLDER}");
    let out = env::var("OUT_DIR")?;
    let mut archive = zip::ZipArchive::new(Cursor::new(utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED))?;
    for name in SWAGGER_UI {
        // The name of the first folder holds the version.
        let inner = format!("/dist/{name}");
        let path = archive.file_names().flatten().find(|path| path.ends_with(&inner)).map(|path| path.into_owned());
        let path = path.ok_or_else(|| format!("utoipa-swagger-ui-vendored has no {inner}"))?;
        let mut bytes = Vec::new();
        archive.by_name(&path)?.read_to_end(&mut bytes)?;
        write_gzipped(Path::new(&out), name, &bytes)?;
    }
    for name in DOCS_FILES {
        write_gzipped(Path::new(&out), name, &fs::read(Path::new(DOCS_FOLDER).join(name))?)?;
    }
    Ok(())
}

fn write_gzipped(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    fs::write(folder.join(format!("{name}.gz")), encoder.finish()?)?;
    Ok(())
}
