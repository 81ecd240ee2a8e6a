//! A package for Debian from the folder that `cargo xtask dist` has made: the same files where Debian has them.
//!
//! The rule: nothing is configured at installation. The service is not enabled, and removing the package keeps data and keys.

use crate::{Failure, process, profile::Profile, repository};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

const NAME: &str = "agent-gateway";
/// From the folder of `dist` to the machine: a file, or a folder with what is in it.
const PLACES: [(&str, &str); 11] = [
    ("gateway", "usr/bin/gateway"),
    ("plugins", "usr/lib/gateway/plugins"),
    ("config/packaging/systemd/gateway.service", "usr/lib/systemd/system/gateway.service"),
    ("config/packaging/systemd/sysusers.conf", "usr/lib/sysusers.d/gateway.conf"),
    ("config/packaging/systemd/tmpfiles.conf", "usr/lib/tmpfiles.d/gateway.conf"),
    ("config/packaging/nginx", "usr/share/doc/agent-gateway/examples/nginx"),
    ("config/packaging/caddy", "usr/share/doc/agent-gateway/examples/caddy"),
    ("config/packaging/prometheus", "usr/share/doc/agent-gateway/examples/prometheus"),
    ("config/packaging/grafana", "usr/share/doc/agent-gateway/examples/grafana"),
    ("README.md", "usr/share/doc/agent-gateway/README.md"),
    ("CHANGELOG.md", "usr/share/doc/agent-gateway/CHANGELOG.md"),
];
const CONFIG: &str = "etc/gateway/gateway.toml";
/// Lines of the configuration of `dist`, and what they are on a machine that has the package.
const SETTINGS: [(&str, &str); 2] = [
    ("data_dir = \"./data\"", "data_dir = \"/var/lib/gateway\""),
    ("dir = \"./plugins\"", "dir = \"/usr/lib/gateway/plugins\""),
];
const DOCUMENTS: &str = "usr/share/doc/agent-gateway";
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// Writes `NAME_VERSION_ARCHITECTURE.deb` into `target`; `None` where `dpkg-deb` is not installed.
pub fn build(dist: &Path, target: &Path, profile: &Profile) -> Result<Option<PathBuf>, Failure> {
    if process::find("dpkg-deb").is_none() || process::find("dpkg").is_none() {
        return Ok(None);
    }
    let architecture = process::output(Command::new("dpkg").arg("--print-architecture"))?;
    let package = target.join(format!("{NAME}_{}_{architecture}.deb", repository::VERSION));
    let root = target.join(format!("{NAME}.tree"));
    remove(&root)?;
    lay_out(dist, &root)?;
    write_control(dist, &root, &architecture)?;
    // A debug build is large, and its package is sent nowhere.
    let compression = if profile.name == "dev" { "-z0" } else { "-z6" };
    let mut dpkg_deb = Command::new("dpkg-deb");
    process::run(dpkg_deb.args([compression, "--build", "--root-owner-group"]).arg(&root).arg(&package))?;
    remove(&root)?;
    Ok(Some(package))
}

fn lay_out(dist: &Path, root: &Path) -> Result<(), Failure> {
    for (from, to) in PLACES {
        let (from, to) = (dist.join(from), root.join(to));
        if from.is_dir() {
            for file in repository::files_below(&from)? {
                place(&from.join(&file), &to.join(&file), 0o644)?;
            }
        } else {
            place(&from, &to, if to.ends_with("usr/bin/gateway") { 0o755 } else { 0o644 })?;
        }
    }
    let packaging = dist.join("config/packaging/deb");
    let copyright = repository::read(&packaging.join("copyright"))?;
    let copyright = copyright_of(&copyright, &repository::read(&dist.join("LICENSE-MIT"))?)?;
    write(&root.join(DOCUMENTS).join("copyright"), &copyright, 0o644)?;
    let changelog = repository::read(&packaging.join("changelog"))?
        .replace("@VERSION@", repository::VERSION)
        .replace("@DATE@", &released(&repository::read(&dist.join("CHANGELOG.md"))?)?);
    let file = root.join(DOCUMENTS).join("changelog");
    write(&file, &changelog, 0o644)?;
    process::run(Command::new("gzip").args(["-9", "--no-name"]).arg(&file))?;
    write(&root.join(CONFIG), &config(&repository::read(&dist.join("config/gateway.toml"))?)?, 0o644)
}

/// In Debian's form: lines of a licence are indented, and empty ones are a dot.
fn copyright_of(template: &str, mit: &str) -> Result<String, Failure> {
    let holder = mit.lines().find(|line| line.starts_with("Copyright")).ok_or("LICENSE-MIT names nobody")?;
    let text: Vec<String> =
        mit.trim_end().lines().map(|line| format!(" {}", if line.is_empty() { "." } else { line })).collect();
    let holder = holder.replace("Copyright (c) ", "Copyright: ");
    Ok(template.replace("@COPYRIGHT@", &holder).replace("@MIT@", &text.join("\n")))
}

/// When this version was released, as a mail has it.
fn released(changelog: &str) -> Result<String, Failure> {
    let heading = format!("## [{}] - ", repository::VERSION);
    let day = changelog.lines().find_map(|line| line.strip_prefix(&heading));
    let day = day.ok_or_else(|| format!("CHANGELOG.md has no line {heading:?} with a date"))?;
    process::output(Command::new("date").args(["--utc", "--rfc-email", "--date", day]))
}

fn config(text: &str) -> Result<String, Failure> {
    if let Some((line, _)) = SETTINGS.iter().find(|(line, _)| !text.lines().any(|found| found == *line)) {
        return Err(format!("config/gateway.toml of dist has no line {line:?} to set"));
    }
    let set = |line| SETTINGS.iter().find(|(known, _)| *known == line).map_or(line, |(_, set)| *set);
    Ok(text.lines().map(set).collect::<Vec<_>>().join("\n") + "\n")
}

fn write_control(dist: &Path, root: &Path, architecture: &str) -> Result<(), Failure> {
    let (packaging, control) = (dist.join("config/packaging/deb"), root.join("DEBIAN"));
    let sizes =
        repository::files_below(root)?.into_iter().map(|file| fs::metadata(root.join(file)).map(|file| file.len()));
    let bytes: u64 = sizes.filter_map(Result::ok).sum();
    let text = repository::read(&packaging.join("control"))?
        .replace("@VERSION@", repository::VERSION)
        .replace("@ARCHITECTURE@", architecture)
        .replace("@KIB@", &bytes.div_ceil(1024).to_string());
    write(&control.join("control"), &text, 0o644)?;
    write(&control.join("conffiles"), &format!("/{CONFIG}\n"), 0o644)?;
    for script in SCRIPTS {
        place(&packaging.join(script), &control.join(script), 0o755)?;
    }
    Ok(())
}

fn place(from: &Path, to: &Path, mode: u32) -> Result<(), Failure> {
    make_parents(to)?;
    repository::copy(from, to)?;
    set_mode(to, mode)
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    make_parents(path)?;
    repository::write(path, text)?;
    set_mode(path, mode)
}

/// Folders of a package are readable whatever the umask of who builds it.
fn make_parents(path: &Path) -> Result<(), Failure> {
    let Some(parent) = path.parent() else { return Ok(()) };
    if !parent.is_dir() {
        make_parents(parent)?;
        fs::create_dir(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
        set_mode(parent, 0o755)?;
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> Result<(), Failure> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|error| format!("{}: {error}", path.display()))
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {error}", folder.display())),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    /// The folder of `dist`, with this repository's files and no program in it.
    fn dist(folder: &Path) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        write(&folder.join("gateway"), "#!/bin/sh\n", 0o755).unwrap();
        write(&folder.join("plugins/libforum.so"), "no library", 0o755).unwrap();
        let config = repository::read(&root.join("config/gateway.toml")).unwrap();
        let config = config.replace("# dir = \"./plugins\"", "dir = \"./plugins\"");
        write(&folder.join("config/gateway.toml"), &config, 0o644).unwrap();
        for file in repository::files_below(&root.join("config/packaging")).unwrap() {
            let file = Path::new("config/packaging").join(file);
            place(&root.join(&file), &folder.join(&file), 0o644).unwrap();
        }
        for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            place(&root.join(file), &folder.join(file), 0o644).unwrap();
        }
    }

    #[test]
    fn the_package_has_every_file_where_debian_looks_for_it() {
        let folder = std::env::temp_dir().join(format!("gateway-deb-{}", std::process::id()));
        remove(&folder).unwrap();
        dist(&folder.join("dist"));
        let Some(package) = build(&folder.join("dist"), &folder, &Profile { name: "dist".to_owned() }).unwrap() else {
            remove(&folder).unwrap();
            return eprintln!("skipped: dpkg-deb is not installed");
        };
        let contents = process::output(Command::new("dpkg-deb").arg("--contents").arg(&package)).unwrap();
        for (mode, file) in [
            ("-rwxr-xr-x root/root", "./usr/bin/gateway"),
            ("-rw-r--r-- root/root", "./usr/lib/gateway/plugins/libforum.so"),
            ("-rw-r--r-- root/root", "./usr/lib/systemd/system/gateway.service"),
            ("-rw-r--r-- root/root", "./etc/gateway/gateway.toml"),
            ("-rw-r--r-- root/root", "./usr/share/doc/agent-gateway/copyright"),
            ("-rw-r--r-- root/root", "./usr/share/doc/agent-gateway/changelog.gz"),
            ("drwxr-xr-x root/root", "./usr/lib/sysusers.d/"),
        ] {
            let is_there = contents.lines().any(|line| line.starts_with(mode) && line.ends_with(&format!(" {file}")));
            assert!(is_there, "{mode} {file} is missing in\n{contents}");
        }
        let facts = process::output(Command::new("dpkg-deb").arg("--info").arg(&package)).unwrap();
        assert!(
            facts.contains(&format!("Version: {}", repository::VERSION))
                && !facts.contains("@VERSION")
                && !facts.contains("@KIB"),
            "{facts}"
        );
        let installed = folder.join("installed");
        process::run(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(&installed)).unwrap();
        let copyright = repository::read(&installed.join(DOCUMENTS).join("copyright")).unwrap();
        assert!(copyright.contains("\nCopyright: 20") && copyright.contains("\n Permission is hereby"), "{copyright}");
        let config = repository::read(&installed.join(CONFIG)).unwrap();
        assert!(SETTINGS.iter().all(|(_, set)| config.contains(set)), "{config}");
        if process::find("lintian").is_some() {
            let complain = ["--fail-on", "error", "--suppress-tags", "no-manual-page,embedded-library"];
            process::run(Command::new("lintian").args(complain).arg(&package)).unwrap();
        }
        remove(&folder).unwrap();
    }
}
