//! The signature of a job's client under a message, in its metadata: who pays for the job may call as often as the agent answers.

use super::RpcError;
use plugin_api::{Address, JobId, handles::Brand};
use request_signing::canonical;
use serde_json::{Value, json};

/// What the client signs as.
pub const ACTION: &str = "a2a.send";
const WINDOW_S: i64 = 300;

/// `metadata.envelope`: the members of every signed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub address: Address,
    pub ts: i64,
    pub sig: String,
}

impl Envelope {
    pub fn parse(envelope: &Value) -> Result<Self, RpcError> {
        let wrong = || RpcError::invalid_params("params.metadata.envelope: address, ts and sig are needed");
        let text = |name: &str| envelope.get(name).and_then(Value::as_str);
        let address = text("address").and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
        let ts = match envelope.get("ts") {
            Some(Value::Number(ts)) => ts.as_i64(),
            Some(Value::String(ts)) => ts.parse().ok(),
            _ => None,
        };
        Ok(Self { address, ts: ts.ok_or_else(wrong)?, sig: text("sig").ok_or_else(wrong)?.to_owned() })
    }

    /// Whether it was signed now, up to five minutes.
    pub fn is_fresh(&self, now_s: i64) -> bool {
        now_s.abs_diff(self.ts) <= WINDOW_S.unsigned_abs()
    }

    /// The texts of which the client may have signed one: the job and the message are the payload.
    pub fn signed_texts(&self, brand: &Brand, job: JobId, message: &Value) -> Vec<String> {
        let payload = json!({ "jobId": job, "message": message });
        let address = alloy_primitives::Address::from(self.address.0);
        let ts = u64::try_from(self.ts).unwrap_or_default();
        let bodies = canonical::candidates(&payload).filter_map(Result::ok);
        bodies.map(|body| request_signing::message(&brand.message_line, ACTION, &address, ts, &body)).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn envelope() -> Value {
        json!({ "address": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "ts": 1000, "sig": "0x00" })
    }

    #[test]
    fn an_envelope_has_three_members() {
        let parsed = Envelope::parse(&envelope()).unwrap();
        assert_eq!((parsed.ts, parsed.sig.as_str()), (1000, "0x00"));
        let mut in_digits = envelope();
        in_digits["ts"] = json!("1000");
        assert_eq!(Envelope::parse(&in_digits), Ok(parsed));
        for (member, value) in [("address", json!("0x1")), ("ts", json!(1.5)), ("ts", json!("x")), ("sig", json!(7))] {
            let mut wrong = envelope();
            wrong[member] = value;
            assert!(Envelope::parse(&wrong).is_err_and(|error| error.code == -32602), "{wrong}");
        }
        for wrong in [json!(null), json!([]), json!("x"), json!({})] {
            assert!(Envelope::parse(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn it_is_good_for_five_minutes() {
        let envelope = Envelope::parse(&envelope()).unwrap();
        assert!(envelope.is_fresh(700) && envelope.is_fresh(1300));
        assert!(!envelope.is_fresh(699) && !envelope.is_fresh(1301) && !envelope.is_fresh(i64::MIN));
    }

    #[test]
    fn the_text_names_the_job_and_the_message() {
        let envelope = Envelope::parse(&envelope()).unwrap();
        let text = |job, message: &Value| envelope.signed_texts(&Brand::default(), JobId(job), message).remove(0);
        let message = json!({ "role": "user", "parts": [] });
        assert!(text(7, &message).starts_with("Service Commons\naction: a2a.send\naddress: 0x5aAeb6"));
        assert_ne!(text(7, &message), text(8, &message));
        assert_ne!(text(7, &message), text(7, &json!({ "role": "user", "parts": [1] })));
    }
}
