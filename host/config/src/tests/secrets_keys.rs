//! `[secrets]`: keys come from their own variables or from files; no other layer and no message holds one.

use secrecy::ExposeSecret as _;

use super::{ConfigFixture, file, variable};
use crate::is_key;

const KEY: &str = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";
const SECRET: &str = "7a28b5ba";

#[test]
fn keys_come_from_their_variables_and_are_never_shown() {
    let old = format!(" {KEY} , 0x{KEY},");
    let config = variable("GATEWAY_secrets__KEY", KEY).variable("GATEWAY_SECRETS__OLD_KEYS", &old).config();
    assert_eq!(config.secrets.key.as_ref().unwrap().expose_secret(), KEY);
    let old: Vec<&str> = config.secrets.old_keys.iter().map(|key| key.expose_secret()).collect();
    assert_eq!(old, [KEY, &format!("0x{KEY}")]);
    assert!(!format!("{config:?}").contains(SECRET), "it is in no layer");
    assert!(!serde_json::to_string(&config).unwrap().contains(SECRET));
    let none = ConfigFixture::new().config().secrets;
    assert!(none.key.is_none() && none.old_keys.is_empty());
}

#[test]
fn the_variables_are_keys_that_nobody_else_may_read() {
    for name in ["GATEWAY_SECRETS__KEY", "gateway_secrets__old_keys", "GATEWAY_SIGNERS__PAYIN__KEY"] {
        assert!(is_key(name), "{name}");
    }
    for name in ["GATEWAY_SECRETS__KEY_FILE", "GATEWAY_SECRETS__OLD_KEY_FILES", "GATEWAY_DATA_DIR"] {
        assert!(!is_key(name), "{name}");
    }
}

#[test]
fn a_key_in_the_file_and_a_second_one_are_problems_that_do_not_show_it() {
    let misplaced = [
        format!("[secrets]\nkey = '{KEY}'"),
        format!("secrets = '{KEY}'"),
        format!("[secrets]\nold_key_files = '{KEY}'"),
    ];
    for text in misplaced {
        let problems = file(&text).problems();
        assert!(problems.iter().any(|problem| problem.key.starts_with("secrets")), "{problems:?}");
        assert!(!format!("{problems:?}").contains(SECRET), "{problems:?}");
    }
    let twice = file("[secrets]\nkey_file = '/a'").variable("GATEWAY_SECRETS__KEY", KEY).problems();
    assert!(twice.iter().any(|problem| problem.message.contains("is set as well")), "{twice:?}");
    assert!(!format!("{twice:?}").contains(SECRET), "{twice:?}");
}
