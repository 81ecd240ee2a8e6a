//! Packs the docs page: Swagger UI out of the crate that carries it, and our own files, each compressed once at build time.

use flate2::{Compression, write::GzEncoder};
use std::{
    env,
    error::Error,
    fs,
    io::{Cursor, Read as _, Write as _},
    path::Path,
};

const SWAGGER_UI: [&str; 2] = ["swagger-ui.css", "swagger-ui-bundle.js"];
const OWN: [&str; 4] = ["index.html", "docs.css", "docs.js", "icon.svg"];
const OWN_FOLDER: &str = "src/docs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={OWN_FOLDER}");
    let out = env::var("OUT_DIR")?;
    let mut archive = zip::ZipArchive::new(Cursor::new(utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED))?;
    for name in SWAGGER_UI {
        // The first folder carries the version.
        let inner = format!("/dist/{name}");
        let path = archive.file_names().flatten().find(|path| path.ends_with(&inner)).map(|path| path.into_owned());
        let path = path.ok_or_else(|| format!("utoipa-swagger-ui-vendored has no {inner}"))?;
        let mut bytes = Vec::new();
        archive.by_name(&path)?.read_to_end(&mut bytes)?;
        pack(Path::new(&out), name, &bytes)?;
    }
    for name in OWN {
        pack(Path::new(&out), name, &fs::read(Path::new(OWN_FOLDER).join(name))?)?;
    }
    Ok(())
}

fn pack(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    fs::write(folder.join(format!("{name}.gz")), encoder.finish()?)?;
    Ok(())
}
