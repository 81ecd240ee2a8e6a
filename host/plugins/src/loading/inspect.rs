//! What a plugin's file says about itself, read without running any of its code.
//!
//! The rule: nothing here maps or executes the file. A wrong file costs one line: what was found, what was expected,
//! what to do.

use object::{
    Architecture, BinaryFormat, FileFlags, Object, ObjectKind, ObjectSection, ObjectSegment,
    read::{ReadCache, ReadRef},
};
use plugin_api::abi::{ABI_MAJOR, ABI_MINOR, STAMP_SECTION, StampFacts};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::{
    fmt,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

const RUSTC_SECTION: &str = ".rustc";
/// Far above any plugin; a larger file is not read into memory.
const FILE_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// A plugin's file that this gateway can load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    pub path: PathBuf,
    pub name: String,
    pub version: String,
    /// Major and minor version of the plugin API that it was built against.
    pub abi: (u32, u32),
    /// Of the whole file, in lower-case hex.
    pub sha256: String,
    pub bytes: u64,
}

/// The same with the content, so that exactly the inspected bytes are loaded, even if the file changes meanwhile.
#[derive(Clone)]
pub struct PluginFile {
    pub inspection: Inspection,
    pub(super) content: Vec<u8>,
}

/// Why a file is refused, with the path for a reader who has no other context.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct InspectError {
    pub path: PathBuf,
    pub problem: InspectProblem,
}

#[derive(Debug, thiserror::Error)]
pub enum InspectProblem {
    #[error("cannot be read ({0}): check the path and the permissions of the file")]
    Unreadable(io::Error),
    #[error("is not a file, expected a shared library: name the library itself")]
    NoFile,
    #[error(
        "has {bytes} bytes, expected at most {FILE_MAX_BYTES}: build the plugin without embedded data or debug info"
    )]
    TooLarge { bytes: u64 },
    #[error("is {found}, expected a shared library: give it the lib<name>.so that cargo builds from a plugin")]
    NoLibrary { found: &'static str },
    #[error("is a library cut short or damaged ({detail}; {bytes} bytes found): copy the whole file again")]
    Truncated { detail: String, bytes: u64 },
    #[error("is built for {found}, this gateway needs {expected}: rebuild the plugin for this machine")]
    OtherMachine { found: Machine, expected: Machine },
    #[error("is a library but no plugin (no section {STAMP_SECTION}): build it with plugin_api::export_plugin!")]
    NoStamp,
    #[error("has a section {STAMP_SECTION} that is no stamp: rebuild it with plugin_api::export_plugin!")]
    BadStamp,
    #[error(
        "speaks plugin API {}.{}, this gateway speaks {ABI_MAJOR}.{ABI_MINOR}: rebuild it against plugin-api {ABI_MAJOR}.x",
        found.0, found.1
    )]
    OtherMajor { found: (u32, u32) },
    #[error("is the plugin `{stamped}`, expected from its file name `{from_file}`: rename the file to lib{stamped}.so")]
    OtherName { stamped: String, from_file: String },
    #[error(
        "has sha256 {found}, expected the pinned {pinned}: put the pinned file back, or pin the new hash if you trust it"
    )]
    OtherHash { found: String, pinned: String },
}

/// Reads the file at `path`; with `pinned_sha256` (hex) its content must be exactly that.
pub fn inspect(path: &Path, pinned_sha256: Option<&str>) -> Result<Inspection, InspectError> {
    Ok(open(path, pinned_sha256)?.inspection)
}

/// The same, and keeps what was read.
pub fn open(path: &Path, pinned_sha256: Option<&str>) -> Result<PluginFile, InspectError> {
    let opened = read_file(path).and_then(|content| {
        let inspection = inspect_content(path, &content, pinned_sha256)?;
        Ok(PluginFile { inspection, content })
    });
    opened.map_err(|problem| InspectError { path: path.to_owned(), problem })
}

/// The plugin's name as its file says: `libforum.so` → `forum`.
pub(crate) fn name_of_file(file_name: &str) -> Option<&str> {
    let stem = file_name.strip_suffix(".so").or_else(|| file_name.strip_suffix(".dylib"))?;
    stem.strip_prefix("lib").filter(|name| !name.is_empty())
}

/// Whether the file is an intact shared library without a stamp. Reads the headers only.
pub(super) fn is_foreign_library(path: &Path) -> bool {
    has_sections(path, |file| file.section_by_name(STAMP_SECTION).is_none())
}

/// Whether it is one of those, with what rustc needs of a procedural macro.
pub(super) fn is_compiler_library(path: &Path) -> bool {
    is_foreign_library(path) && has_sections(path, |file| file.section_by_name(RUSTC_SECTION).is_some())
}

fn has_sections(path: &Path, test: impl Fn(&object::File<'_, &ReadCache<File>>) -> bool) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let cache = ReadCache::new(file);
    object::File::parse(&cache).is_ok_and(|file| file.kind() == ObjectKind::Dynamic && test(&file))
}

fn sha256_hex(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

fn read_file(path: &Path) -> Result<Vec<u8>, InspectProblem> {
    let facts = fs::metadata(path).map_err(InspectProblem::Unreadable)?;
    if !facts.is_file() {
        return Err(InspectProblem::NoFile);
    }
    if facts.len() > FILE_MAX_BYTES {
        return Err(InspectProblem::TooLarge { bytes: facts.len() });
    }
    fs::read(path).map_err(InspectProblem::Unreadable)
}

fn inspect_content(path: &Path, content: &[u8], pinned: Option<&str>) -> Result<Inspection, InspectProblem> {
    let sha256 = sha256_hex(content);
    if let Some(pinned) = pinned.filter(|pinned| !pinned.eq_ignore_ascii_case(&sha256)) {
        return Err(InspectProblem::OtherHash { found: sha256, pinned: pinned.to_owned() });
    }
    let library = parse_library(content)?;
    check_machine(&library)?;
    check_segments(&library, content)?;
    let stamp = read_stamp(&library, content)?;
    if stamp.abi_major != ABI_MAJOR {
        return Err(InspectProblem::OtherMajor { found: (stamp.abi_major, stamp.abi_minor) });
    }
    check_name(path, &stamp)?;
    Ok(Inspection {
        path: path.to_owned(),
        name: stamp.name,
        version: stamp.version,
        abi: (stamp.abi_major, stamp.abi_minor),
        sha256,
        bytes: content.len() as u64,
    })
}

fn parse_library(content: &[u8]) -> Result<object::File<'_>, InspectProblem> {
    let no_library = |found| Err(InspectProblem::NoLibrary { found });
    if content.is_empty() {
        return no_library("an empty file");
    }
    if content.starts_with(b"!<arch>\n") {
        return no_library("a static library");
    }
    if !is_binary_magic(content) {
        return no_library(if std::str::from_utf8(content).is_ok() { "a text file" } else { "no library" });
    }
    let library = object::File::parse(content).map_err(|error| truncated(error, content))?;
    match library.kind() {
        ObjectKind::Dynamic => Ok(library),
        ObjectKind::Executable => no_library("a program"),
        ObjectKind::Relocatable => no_library("an object file"),
        _ => no_library("no library"),
    }
}

/// ELF, Mach-O (both widths and byte orders, and several in one) and PE.
fn is_binary_magic(content: &[u8]) -> bool {
    const MACH_O: [[u8; 4]; 5] = [
        [0xfe, 0xed, 0xfa, 0xce],
        [0xfe, 0xed, 0xfa, 0xcf],
        [0xce, 0xfa, 0xed, 0xfe],
        [0xcf, 0xfa, 0xed, 0xfe],
        [0xca, 0xfe, 0xba, 0xbe],
    ];
    let is_mach_o = MACH_O.iter().any(|magic| content.starts_with(magic));
    content.starts_with(b"\x7fELF") || content.starts_with(b"MZ") || is_mach_o
}

fn truncated(detail: impl fmt::Display, content: &[u8]) -> InspectProblem {
    InspectProblem::Truncated { detail: detail.to_string(), bytes: content.len() as u64 }
}

/// What a library needs of the machine it runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    architecture: Architecture,
    is_64_bit: bool,
    is_little_endian: bool,
    format: BinaryFormat,
    /// Number in the ELF header; 0 (System V) and 3 (GNU) mean the same to Linux and are both kept as 0.
    elf_os_abi: u8,
}

impl Machine {
    /// The one this gateway was built for.
    fn here() -> Self {
        let architecture = match std::env::consts::ARCH {
            "x86_64" => Architecture::X86_64,
            "aarch64" => Architecture::Aarch64,
            "riscv64" => Architecture::Riscv64,
            "loongarch64" => Architecture::LoongArch64,
            "powerpc64" => Architecture::PowerPc64,
            "s390x" => Architecture::S390x,
            "x86" => Architecture::I386,
            "arm" => Architecture::Arm,
            _ => Architecture::Unknown,
        };
        Self {
            architecture,
            is_64_bit: cfg!(target_pointer_width = "64"),
            is_little_endian: cfg!(target_endian = "little"),
            format: BinaryFormat::native_object(),
            elf_os_abi: if cfg!(target_os = "freebsd") { object::elf::ELFOSABI_FREEBSD } else { 0 },
        }
    }

    fn of(library: &object::File<'_>) -> Self {
        let elf_os_abi = match library.flags() {
            FileFlags::Elf { os_abi: object::elf::ELFOSABI_GNU, .. } => 0,
            FileFlags::Elf { os_abi, .. } => os_abi,
            _ => 0,
        };
        Self {
            architecture: library.architecture(),
            is_64_bit: library.is_64(),
            is_little_endian: library.is_little_endian(),
            format: library.format(),
            elf_os_abi,
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = if self.is_64_bit { 64 } else { 32 };
        let order = if self.is_little_endian { "little" } else { "big" };
        let name = match self.architecture {
            Architecture::Unknown => "an unknown architecture".to_owned(),
            known => format!("{known:?}").to_lowercase(),
        };
        let format = format!("{:?}", self.format).to_uppercase();
        write!(out, "{name} ({format}, {bits}-bit, {order}-endian")?;
        if self.elf_os_abi != 0 {
            write!(out, ", OS ABI {}", self.elf_os_abi)?;
        }
        out.write_str(")")
    }
}

fn check_machine(library: &object::File<'_>) -> Result<(), InspectProblem> {
    let (found, expected) = (Machine::of(library), Machine::here());
    // An unmarked file runs on any system; one marked for FreeBSD runs there only.
    let unmarked = Machine { elf_os_abi: 0, ..expected.clone() };
    if found == expected || found == unmarked {
        return Ok(());
    }
    Err(InspectProblem::OtherMachine { found, expected })
}

/// A segment beyond the end of the file maps, and kills the process at the first touch.
fn check_segments(library: &object::File<'_>, content: &[u8]) -> Result<(), InspectProblem> {
    for segment in library.segments() {
        let (start, length) = segment.file_range();
        if content.read_bytes_at(start, length).is_err() {
            let end = start.saturating_add(length);
            return Err(truncated(format_args!("a segment ends at byte {end}"), content));
        }
    }
    Ok(())
}

fn read_stamp(library: &object::File<'_>, content: &[u8]) -> Result<StampFacts, InspectProblem> {
    let section = library.section_by_name(STAMP_SECTION).ok_or(InspectProblem::NoStamp)?;
    let bytes = section.data().map_err(|error| truncated(error, content))?;
    StampFacts::read(bytes).ok_or(InspectProblem::BadStamp)
}

fn check_name(path: &Path, stamp: &StampFacts) -> Result<(), InspectProblem> {
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    let from_file = name_of_file(&file_name).unwrap_or(&file_name);
    if from_file == stamp.name {
        return Ok(());
    }
    Err(InspectProblem::OtherName { stamped: stamp.name.clone(), from_file: from_file.to_owned() })
}
