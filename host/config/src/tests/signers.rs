//! `[signers.<role>]`: a key comes from its own variable or a keystore; no other layer and no message holds it.

use rstest::rstest;
use secrecy::ExposeSecret as _;

use super::{ConfigFixture, file, variable};

const KEY: &str = "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";
const SECRET: &str = "7a28b5ba";

#[test]
fn a_key_comes_from_its_variable_and_is_never_shown() {
    for name in ["GATEWAY_SIGNERS__PAYIN__KEY", "GATEWAY_signers__payin__key"] {
        let config = variable(name, KEY).config();
        assert_eq!(config.signers["payin"].key.as_ref().unwrap().expose_secret(), KEY);
        assert!(!format!("{config:?}").contains(SECRET), "it is in no layer");
        assert!(!serde_json::to_string(&config).unwrap().contains(SECRET));
    }
    assert!(ConfigFixture::new().config().signers.is_empty());
}

#[test]
fn a_keystore_has_a_password_file() {
    let config = file("[signers.relayer]\nkeystore = '/a'\npassword_file = '/b'").config();
    let relayer = &config.signers["relayer"];
    assert_eq!(relayer.keystore.as_ref().unwrap().display().to_string(), "/a");
    let by_variable = variable("GATEWAY_SIGNERS__ORACLE__KEYSTORE", "/a")
        .variable("GATEWAY_SIGNERS__ORACLE__PASSWORD_FILE", "/b")
        .config();
    assert_eq!(by_variable.signers["oracle"].password_file.as_ref().unwrap().display().to_string(), "/b");
}

#[rstest]
#[case("[signers.relayer]\nkeystore = '/a'", "signers.relayer.password_file", "missing")]
#[case("[signers.relayer]\npassword_file = '/a'", "signers.relayer.keystore", "missing")]
#[case("[signers.rleayer]\nkeystore = '/a'\npassword_file = '/b'", "signers.rleayer", "no such role")]
#[case("[signers.relayer]\nkey = '0x7a28b5ba'", "signers.relayer.key", "unknown key in [signers.relayer]")]
#[case("[signers]\nrelayer = '0x7a28b5ba'", "signers.relayer", "")]
#[case("[tx]\ntip_gwei = 0", "tx.tip_gwei", "too small")]
#[case("[tx]\ntip_gwei = 51", "tx.tip_gwei", "more than tx.max_fee_gwei")]
fn a_wrong_signer_is_reported(#[case] text: &str, #[case] key: &str, #[case] part: &str) {
    let problems = file(text).problems();
    let found = problems.iter().find(|problem| problem.key == key);
    assert!(found.is_some_and(|problem| problem.message.contains(part)), "{problems:?}");
    assert!(!format!("{problems:?}").contains(SECRET), "{problems:?}");
}

#[test]
fn a_second_key_and_a_key_of_no_role_are_problems_that_do_not_show_it() {
    let twice =
        file("[signers.payin]\nkeystore = '/a'\npassword_file = '/b'").variable("GATEWAY_SIGNERS__PAYIN__KEY", KEY);
    let problems = twice.problems();
    assert!(problems.iter().any(|problem| problem.message.contains("is set as well")), "{problems:?}");
    assert!(!format!("{problems:?}").contains(SECRET), "{problems:?}");
    let no_role = variable("GATEWAY_SIGNERS__MINER__KEY", KEY).problems();
    assert!(no_role.iter().any(|problem| problem.hint.contains("gateway, facilitator")), "{no_role:?}");
    assert!(!format!("{no_role:?}").contains(SECRET), "{no_role:?}");
}
