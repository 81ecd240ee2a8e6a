//! A valid request in parts, so that a test can change any part before the request is signed and sent.

use plugin_testing::{Value, Wallet};

/// Where a signature stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedIn {
    Body,
    Query,
    Headers,
}

#[derive(Clone, Debug)]
pub struct Signer {
    pub wallet: Wallet,
    pub action: String,
    pub place: SignedIn,
}

#[derive(Clone, Debug)]
pub enum Payload {
    None,
    Json(Value),
    /// With its content type.
    Bytes(String, Vec<u8>),
}

/// One call of an operation.
#[derive(Clone, Debug)]
pub struct Call {
    pub operation: &'static str,
    pub method: String,
    /// As it stands in the request, encoded.
    pub path: String,
    /// Names and values, not encoded.
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub payload: Payload,
    pub signer: Option<Signer>,
    pub status: u16,
}

/// A request as it is sent.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl Call {
    pub fn get(operation: &'static str, path: impl Into<String>) -> Self {
        Self {
            operation,
            method: "GET".to_owned(),
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            payload: Payload::None,
            signer: None,
            status: 200,
        }
    }

    pub fn post(operation: &'static str, path: impl Into<String>, payload: Payload) -> Self {
        Self { method: "POST".to_owned(), payload, ..Self::get(operation, path) }
    }

    /// A signed write.
    pub fn write(operation: &'static str, path: &str, wallet: &Wallet, action: &str, payload: Value) -> Self {
        let call = Self::post(operation, path, Payload::Json(payload));
        Self { status: 201, ..call.signed(wallet, action, SignedIn::Body) }
    }

    #[must_use]
    pub fn method(self, method: &str) -> Self {
        Self { method: method.to_owned(), ..self }
    }

    /// `name=value&…`, not encoded.
    #[must_use]
    pub fn query(mut self, text: &str) -> Self {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        self.query.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        self
    }

    #[must_use]
    pub fn signed(self, wallet: &Wallet, action: &str, place: SignedIn) -> Self {
        Self { signer: Some(Signer { wallet: wallet.clone(), action: action.to_owned(), place }), ..self }
    }

    /// Replaces these members of its JSON payload.
    #[must_use]
    pub fn with(mut self, members: &Value) -> Self {
        if let (Payload::Json(payload), Some(members)) = (&mut self.payload, members.as_object()) {
            for (name, value) in members {
                payload[name] = value.clone();
            }
        }
        self
    }

    /// Signed by another wallet.
    #[must_use]
    pub fn by(mut self, wallet: &Wallet) -> Self {
        if let Some(signer) = &mut self.signer {
            signer.wallet = wallet.clone();
        }
        self
    }

    /// The status of a good answer, where it is not the usual one.
    #[must_use]
    pub fn answered(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Signed at `now_s`.
    pub fn request(&self, now_s: i64) -> Request {
        let mut query: Vec<String> =
            self.query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        let mut headers: Vec<(String, Vec<u8>)> =
            self.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
        let mut body = match &self.payload {
            Payload::None => Vec::new(),
            Payload::Json(value) => value.to_string().into_bytes(),
            Payload::Bytes(_, bytes) => bytes.clone(),
        };
        match &self.payload {
            Payload::None => {}
            Payload::Json(_) => headers.push(("content-type".to_owned(), b"application/json".to_vec())),
            Payload::Bytes(kind, _) => headers.push(("content-type".to_owned(), kind.clone().into_bytes())),
        }
        if let Some(Signer { wallet, action, place }) = &self.signer {
            match (place, &self.payload) {
                (SignedIn::Body, Payload::Json(payload)) => {
                    body = wallet.signed_body(action, now_s, payload).to_string().into_bytes();
                }
                (SignedIn::Body, _) => {}
                (SignedIn::Query, _) => query.push(wallet.signed_query(action, now_s)),
                (SignedIn::Headers, _) => {
                    let signed = wallet.signed_headers(action, now_s, "{}");
                    headers.extend(signed.map(|(name, value)| (name, value.into_bytes())));
                }
            }
        }
        let mark = if query.is_empty() { "" } else { "?" };
        let target = format!("{}{mark}{}", self.path, query.join("&"));
        Request { method: self.method.clone(), target, headers, body }
    }
}

/// For a part of a query.
pub fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let write = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(write).collect()
}
