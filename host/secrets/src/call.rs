//! Calls of plugins: one operation each, with one of their own secrets.
//!
//! The rule: the name of the plugin comes from the gateway, never from the request.

use super::{
    keyring::Keyring,
    master_key::{KeyPurpose, MasterKey},
    seal::{SEAL_BYTES, SealContext, key_id},
    signing_key, webhook_key,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use plugin_api::{
    abi::{HostError, HostErrorCode},
    host::decode_call,
    manifest::{SealedKeyForm, SecretCall, SecretOperation},
};
use serde_json::{Value, json};
use sha2::Sha256;

/// Longer texts belong into files, and would hold up a thread that serves requests.
const TEXT_BYTES_MAX: usize = 1024 * 1024;
const NAME_BYTES_MAX: usize = 64;
const ASSOCIATED_BYTES_MAX: usize = 1024;

/// The response of a call: a JSON value and bytes.
#[derive(Debug, Default)]
pub struct SecretResponse {
    pub value: Value,
    pub bytes: Vec<u8>,
}

/// Runs one call of a plugin.
pub(crate) fn run(keyring: &Keyring, plugin: &str, request: &[u8], body: &[u8]) -> Result<SecretResponse, HostError> {
    let call: SecretCall = decode_call("a call of a secret", request)?;
    check_name(&call.secret)?;
    let bytes_max = match call.operation {
        SecretOperation::Open { .. } | SecretOperation::Reseal { .. } => TEXT_BYTES_MAX + SEAL_BYTES,
        _ => TEXT_BYTES_MAX,
    };
    if body.len() > bytes_max {
        return Err(invalid(format!("{} bytes: at most {TEXT_BYTES_MAX} can be sealed or authenticated", body.len())));
    }
    NamedSecret { keyring, plugin, name: &call.secret }.run(call.operation, body)
}

fn check_name(name: &str) -> Result<(), HostError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_plain) {
        return Ok(());
    }
    Err(invalid(format!("the name of a secret has 1 to {NAME_BYTES_MAX} of a-z, 0-9 and _")))
}

#[derive(Clone, Copy)]
struct NamedSecret<'a> {
    keyring: &'a Keyring,
    plugin: &'a str,
    name: &'a str,
}

impl NamedSecret<'_> {
    fn run(self, operation: SecretOperation, body: &[u8]) -> Result<SecretResponse, HostError> {
        let (keyring, bytes) = (self.keyring, SecretResponse::bytes);
        match operation {
            SecretOperation::Seal { associated_data } => {
                self.seal_context(KeyPurpose::Text, &decode(&associated_data)?)?.seal(keyring, body).map(bytes)
            }
            SecretOperation::Open { associated_data } => {
                let opened = self.seal_context(KeyPurpose::Text, &decode(&associated_data)?)?.open(keyring, body)?;
                Ok(SecretResponse::bytes(opened.to_vec()))
            }
            SecretOperation::Reseal { associated_data } => self.reseal(&decode(&associated_data)?, body).map(bytes),
            SecretOperation::Hmac => self.hmac_tags(body).map(bytes),
            SecretOperation::VerifyHmac { tag } => {
                Ok(SecretResponse { value: json!(self.verify_hmac(body, &decode(&tag)?)?), bytes: Vec::new() })
            }
            SecretOperation::SealKey { associated_data } => {
                webhook_key::check(body)?;
                self.seal_context(KeyPurpose::Key, &decode(&associated_data)?)?.seal(keyring, body).map(bytes)
            }
            SecretOperation::CreateKey { associated_data, bytes } => {
                let text = webhook_key::generate(bytes)?;
                let associated_data = decode(&associated_data)?;
                let sealed = self.seal_context(KeyPurpose::Key, &associated_data)?.seal(keyring, text.as_bytes())?;
                Ok(SecretResponse { value: json!(*text), bytes: sealed })
            }
            SecretOperation::HmacWithKey { associated_data, sealed, form } => {
                let associated_data = decode(&associated_data)?;
                let text = self.seal_context(KeyPurpose::Key, &associated_data)?.open(keyring, &decode(&sealed)?)?;
                let tag = match form {
                    SealedKeyForm::Text => hmac(&text, body)?,
                    SealedKeyForm::StandardWebhooks => hmac(&webhook_key::decode(&text)?, body)?,
                };
                Ok(SecretResponse::bytes(tag.finalize().into_bytes().to_vec()))
            }
            SecretOperation::WebhookTags { associated_data, sealed, body_from } => {
                let associated_data = decode(&associated_data)?;
                let text = self.seal_context(KeyPurpose::Key, &associated_data)?.open(keyring, &decode(&sealed)?)?;
                let message = body;
                let body =
                    message.get(body_from..).ok_or_else(|| invalid("the body begins after the message".to_owned()))?;
                let tags = [hmac(&text, body)?, hmac(&webhook_key::decode(&text)?, message)?];
                Ok(SecretResponse::bytes(tags.into_iter().flat_map(|tag| tag.finalize().into_bytes()).collect()))
            }
            SecretOperation::CreateSigningKey { associated_data } => {
                let seed = signing_key::generate()?;
                let associated_data = decode(&associated_data)?;
                let sealed = self.seal_context(KeyPurpose::SigningKey, &associated_data)?.seal(keyring, &*seed)?;
                Ok(SecretResponse { value: json!(hex::encode(signing_key::public_key(&*seed)?)), bytes: sealed })
            }
            SecretOperation::Sign { associated_data, sealed } => {
                let associated_data = decode(&associated_data)?;
                let seed =
                    self.seal_context(KeyPurpose::SigningKey, &associated_data)?.open(keyring, &decode(&sealed)?)?;
                Ok(SecretResponse::bytes(signing_key::sign(&seed, body)?.to_vec()))
            }
        }
    }

    fn seal_context<'b>(
        &'b self,
        purpose: KeyPurpose,
        associated_data: &'b [u8],
    ) -> Result<SealContext<'b>, HostError> {
        if associated_data.is_empty() || associated_data.len() > ASSOCIATED_BYTES_MAX {
            let message = format!(
                "the associated data has {} bytes: 1 to {ASSOCIATED_BYTES_MAX} name the record that the text belongs to",
                associated_data.len()
            );
            return Err(invalid(message));
        }
        Ok(SealContext { purpose, plugin: self.plugin, secret: self.name, associated_data })
    }

    /// The same text sealed with the newest key; nothing when it is already.
    fn reseal(&self, associated_data: &[u8], sealed: &[u8]) -> Result<Vec<u8>, HostError> {
        if key_id(sealed)? == self.keyring.newest().id() {
            return Ok(Vec::new());
        }
        for purpose in [KeyPurpose::Text, KeyPurpose::SigningKey] {
            let context = self.seal_context(purpose, associated_data)?;
            if let Ok(text) = context.open(self.keyring, sealed) {
                return context.seal(self.keyring, &text);
            }
        }
        let as_key = self.seal_context(KeyPurpose::Key, associated_data)?;
        as_key.seal(self.keyring, &as_key.open(self.keyring, sealed)?)
    }

    /// A tag for each master key, the newest first.
    fn hmac_tags(self, message: &[u8]) -> Result<Vec<u8>, HostError> {
        let mut tags = Vec::new();
        for key in self.keyring.iter() {
            tags.extend(self.hmac(key, message)?.finalize().into_bytes());
        }
        Ok(tags)
    }

    /// Takes the same time for every tag of the right length.
    fn verify_hmac(self, message: &[u8], tag: &[u8]) -> Result<bool, HostError> {
        let mut is_valid = false;
        for key in self.keyring.iter() {
            is_valid |= self.hmac(key, message)?.verify_slice(tag).is_ok();
        }
        Ok(is_valid)
    }

    fn hmac(self, key: &MasterKey, message: &[u8]) -> Result<Hmac<Sha256>, HostError> {
        hmac(&*key.derive(KeyPurpose::Hmac, self.plugin, self.name), message)
    }
}

impl SecretResponse {
    fn bytes(bytes: Vec<u8>) -> Self {
        Self { value: Value::Null, bytes }
    }
}

fn hmac(key: &[u8], message: &[u8]) -> Result<Hmac<Sha256>, HostError> {
    let hmac = Hmac::<Sha256>::new_from_slice(key);
    let mut hmac = hmac.map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?;
    hmac.update(message);
    Ok(hmac)
}

fn decode(digits: &str) -> Result<Vec<u8>, HostError> {
    hex::decode(digits).map_err(|error| invalid(format!("not hexadecimal digits: {error}")))
}

fn invalid(reason: String) -> HostError {
    HostError::new(HostErrorCode::Invalid, reason)
}
