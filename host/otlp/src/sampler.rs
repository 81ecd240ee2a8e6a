//! Which traces are recorded. Rule: the gateway decides at its own border, because anyone can send a `traceparent` with the flag
//! `sampled`; what happens within a request follows the request.

use gateway_config::TracesConfig;
use opentelemetry::{
    Context, KeyValue,
    trace::{Link, SpanKind, TraceContextExt as _, TraceId, TraceState},
};
use opentelemetry_sdk::trace::{SamplingDecision, SamplingResult, ShouldSample};

const MILLION: u32 = 1_000_000;

#[derive(Clone, Debug)]
pub struct Sampler {
    per_million: u32,
    /// A proxy of the operator decides by its flag.
    trusts_clients: bool,
}

impl Sampler {
    pub fn new(config: &TracesConfig) -> Self {
        Self { per_million: config.sampled_per_million, trusts_clients: config.trust_sampled }
    }

    fn is_sampled(&self, parent: Option<&Context>) -> bool {
        let span = parent.map(Context::span);
        let parent = span.as_ref().map(|span| span.span_context()).filter(|parent| parent.is_valid());
        match parent {
            Some(parent) if !parent.is_remote() || self.trusts_clients => parent.is_sampled(),
            _ => rand::random_range(0..MILLION) < self.per_million,
        }
    }
}

impl ShouldSample for Sampler {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        _: TraceId,
        _: &str,
        _: &SpanKind,
        _: &[KeyValue],
        _: &[Link],
    ) -> SamplingResult {
        let decision = if self.is_sampled(parent) { SamplingDecision::RecordAndSample } else { SamplingDecision::Drop };
        SamplingResult { decision, attributes: Vec::new(), trace_state: TraceState::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry::trace::{SpanContext, SpanId, TraceFlags};

    fn parent(is_remote: bool, flags: TraceFlags) -> Context {
        let (trace, span) = (TraceId::from(7), SpanId::from(7));
        Context::new().with_remote_span_context(SpanContext::new(trace, span, flags, is_remote, TraceState::NONE))
    }

    fn sampler(per_million: u32, trusts_clients: bool) -> Sampler {
        Sampler::new(&TracesConfig {
            sampled_per_million: per_million,
            trust_sampled: trusts_clients,
            ..TracesConfig::default()
        })
    }

    #[test]
    fn a_client_decides_nothing_unless_it_is_trusted() {
        for flags in [TraceFlags::SAMPLED, TraceFlags::NOT_SAMPLED] {
            let client = parent(true, flags);
            assert!(!sampler(0, false).is_sampled(Some(&client)));
            assert!(sampler(MILLION, false).is_sampled(Some(&client)));
            for per_million in [0, MILLION] {
                let trusting = sampler(per_million, true);
                assert_eq!(trusting.is_sampled(Some(&client)), flags == TraceFlags::SAMPLED);
                assert_eq!(trusting.is_sampled(None), per_million == MILLION, "without a parent the ratio decides");
            }
        }
    }

    #[test]
    fn a_step_follows_its_request() {
        for (flags, expected) in [(TraceFlags::SAMPLED, true), (TraceFlags::NOT_SAMPLED, false)] {
            for per_million in [0, MILLION] {
                assert_eq!(sampler(per_million, false).is_sampled(Some(&parent(false, flags))), expected);
            }
        }
    }

    #[test]
    fn about_as_many_as_asked_for() {
        let sampled = (0..20_000).filter(|_| sampler(100_000, false).is_sampled(None)).count();
        // Ten standard deviations of a binomial distribution around 2,000.
        assert!((1_576..2_424).contains(&sampled), "{sampled}");
    }
}
