//! Keys as an operator configures them: opened, or unavailable with a reason, and never shown.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::{KeySource, Signers, generated_key, key::Key, signers::GATEWAY};
use alloy_primitives::{B256, keccak256};
use gateway_config::{Config, SignerConfig};
use secrecy::SecretString;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// Keystores of one key with the password `testpassword`: one from Node.js, one the vector of the Web3 Secret Storage
/// Definition.
const KEY: &str = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";
const ADDRESS: &str = "0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b";
const PASSWORD: &str = "testpassword";
const SCRYPT: &str = r#"{"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"83dbcc02d8ccb40e466191a123791e0e"},
"ciphertext":"91c23c03a8b5117a6e3d78dbb5dfc46f037aff9351dff59c2879586f51756502","kdf":"scrypt","kdfparams":{"dklen":32,
"n":8192,"p":1,"r":8,"salt":"ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19"},
"mac":"8f8639fe08fe1f43d6c13006d66ad2d993c6674ee2ba03f025596797a73614b9"},
"id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","version":3}"#;
const PBKDF2: &str = r#"{"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"6087dab2f9fdbbfaddc31a909735c1e6"},
"ciphertext":"5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46","kdf":"pbkdf2","kdfparams":{"c":262144,
"dklen":32,"prf":"hmac-sha256","salt":"ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"},
"mac":"517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"},
"id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","version":3}"#;

/// A data folder and a configuration.
struct Fixture {
    folder: TempDir,
    config: Config,
}

impl Fixture {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut config = Config::default();
        config.data_dir = folder.path().to_owned();
        Self { folder, config }
    }

    fn file(&self, name: &str, text: &str, rights: u32) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(rights)).unwrap();
        path
    }

    fn keystore(mut self, text: &str, password: &str, rights: u32) -> Self {
        let keystore = Some(self.file("relayer.json", text, 0o644));
        let password_file = Some(self.file("relayer.password", password, rights));
        self.config.signers.insert("relayer".into(), SignerConfig { keystore, password_file, key: None });
        self
    }

    fn open(&self) -> Signers {
        Signers::open(&mut self.config.clone())
    }

    fn reason(&self, role: &str) -> String {
        self.open().key(role).unwrap_err().to_string()
    }
}

#[test]
fn keystores_of_both_kinds_open() {
    for text in [SCRYPT, PBKDF2] {
        let signers = Fixture::new().keystore(text, &format!("{PASSWORD}\n"), 0o600).open();
        let key = signers.key("relayer").unwrap();
        assert_eq!(key.address().to_string(), ADDRESS);
        assert_eq!(*key.to_hex(), KEY);
        assert!(matches!(signers.source("relayer"), Some(KeySource::Keystore(_))));
        assert_eq!(signers.faults(), Vec::<String>::new());
    }
}

#[test]
fn a_key_that_cannot_be_opened_is_unavailable_with_a_reason_without_secrets() {
    let wrong = Fixture::new().keystore(PBKDF2, "hunter2", 0o600);
    assert!(wrong.reason("relayer").contains("the password is another one"), "{}", wrong.reason("relayer"));
    assert!(!wrong.reason("relayer").contains("hunter2"));
    assert_eq!(wrong.open().faults().len(), 1);
    assert!(wrong.open().key("payin").unwrap_err().to_string().contains("GATEWAY_SIGNERS__PAYIN__KEY"));
    assert!(wrong.open().key("nobody").unwrap_err().to_string().contains("no such role"));
    for (text, part) in [
        ("{}", "no Web3 keystore"),
        (&SCRYPT.replace("\"dklen\":32", "\"dklen\":8"), "other lengths"),
        (&SCRYPT.replace("83dbcc02d8ccb40e466191a123791e0e", "83db"), "other lengths"),
        (&SCRYPT.replace("8192", "8193"), "out of range"),
        (&SCRYPT.replace("8192", "2147483648"), "out of range"),
        (&SCRYPT.replace("aes-128-ctr", "aes-128-cbc"), "its cipher"),
        (&PBKDF2.replace("hmac-sha256", "hmac-sha1"), "its prf"),
    ] {
        let reason = Fixture::new().keystore(text, PASSWORD, 0o600).reason("relayer");
        assert!(reason.contains(part), "{reason}");
    }
    let mut missing = Fixture::new();
    let gone = Some(PathBuf::from("/nowhere/at/all"));
    let settings = SignerConfig { keystore: gone.clone(), password_file: gone, key: None };
    missing.config.signers.insert(GATEWAY.into(), settings);
    assert!(missing.reason(GATEWAY).contains("/nowhere/at/all cannot be read"), "{}", missing.reason(GATEWAY));
    assert!(!missing.folder.path().join("gateway.key").exists(), "a key that is set is not replaced by another one");
}

#[test]
fn a_password_that_others_can_read_is_not_used() {
    for rights in [0o640, 0o604, 0o622, 0o660] {
        let reason = Fixture::new().keystore(PBKDF2, PASSWORD, rights).reason("relayer");
        assert!(reason.contains("by others than its owner") && reason.contains("chmod 600"), "{reason}");
    }
    let fixture = Fixture::new();
    assert!(fixture.open().key(GATEWAY).is_ok());
    let path = fixture.folder.path().join("gateway.key");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(fixture.reason(GATEWAY).contains("chmod 600"), "{}", fixture.reason(GATEWAY));
}

#[test]
fn a_key_of_the_environment_opens_and_is_never_printed() {
    let mut fixture = Fixture::new();
    fixture.config.signers.insert("payin".into(), SignerConfig::with_key(format!("0x{KEY}")));
    let signers = fixture.open();
    assert_eq!(signers.key("payin").unwrap().address().to_string(), ADDRESS);
    assert_eq!(signers.source("payin"), Some(&KeySource::Environment));
    for text in
        [format!("{:?}", fixture.config), serde_json::to_string(&fixture.config).unwrap(), format!("{signers:#?}")]
    {
        assert!(!text.contains(&KEY[..8]), "{text}");
    }
    for text in ["hunter2", "0x12", &"0".repeat(64), &"f".repeat(64), &format!("{KEY}{KEY}")] {
        fixture.config.signers.insert("payin".into(), SignerConfig::with_key(text));
        let reason = fixture.reason("payin");
        assert!(reason.contains("64 hexadecimal digits") && !reason.contains(text), "{reason}");
    }
}

#[test]
fn opening_takes_the_key_out_of_the_configuration() {
    let mut fixture = Fixture::new();
    fixture.config.signers.insert("payin".into(), SignerConfig::with_key(KEY));
    Signers::open(&mut fixture.config);
    assert!(fixture.config.signers["payin"].key.is_none());
}

#[test]
fn the_gateways_own_key_is_generated_once() {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("gateway.key");
    let first = fixture.open();
    let address = first.gateway().unwrap();
    assert_eq!(first.source(GATEWAY), Some(&KeySource::Generated { path: path.clone(), is_new: true }));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let again = fixture.open();
    assert_eq!(again.gateway(), Some(address));
    assert_eq!(again.source(GATEWAY), Some(&KeySource::Generated { path: path.clone(), is_new: false }));
    fs::write(&path, "half a k").unwrap();
    assert!(fixture.reason(GATEWAY).contains("holds no key"), "what is there is never replaced");
    assert_eq!(fs::read_to_string(&path).unwrap(), "half a k");
    assert_ne!(Fixture::new().open().gateway(), Some(address), "no two gateways have one key");
}

#[test]
fn gateways_that_start_at_once_use_one_key() {
    for _ in 0..20 {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("gateway.key");
        let open = |path: &Path| generated_key::open_or_generate(path).unwrap();
        let made: Vec<(Key, bool)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&path))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(made.iter().filter(|(_, is_new)| *is_new).count(), 1);
        assert!(made.iter().all(|(key, _)| key.address() == made[0].0.address()));
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["gateway.key"], "no draft is left behind");
    }
}

#[test]
fn a_signature_is_that_of_the_address() {
    let key = Key::from_hex(&SecretString::from(KEY)).unwrap();
    for number in 0..32u8 {
        let hash = keccak256([number]);
        let signature = key.sign_hash(&hash).unwrap();
        assert_eq!(signature.recover_address_from_prehash(&hash).unwrap(), key.address());
        assert!(signature.normalize_s().is_none(), "s is in the lower half");
        assert_ne!(signature.recover_address_from_prehash(&B256::ZERO).ok(), Some(key.address()));
    }
}
