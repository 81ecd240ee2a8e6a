//! Rate limits per client IP: they protect this process, not money.

use super::call_window::CallWindow;
use http::{HeaderMap, HeaderName, HeaderValue};
use ipnet::IpNet;
use parking_lot::Mutex;
use plugin_api::{host::client_network, manifest::RateLimit};
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

/// All buckets of the gateway. Buckets of one name and size are shared by the routes that name them.
pub struct IpLimits {
    buckets: Mutex<HashMap<(String, u32, u32), Arc<Bucket>>>,
    shared: Arc<Bucket>,
    search: Arc<Bucket>,
    exempt: Vec<IpNet>,
}

pub(crate) struct Bucket {
    calls_in_window: CallWindow,
    calls: u32,
    window_s: u32,
    name: String,
    code: String,
    /// The same in each response.
    policy: Option<HeaderValue>,
}

/// The buckets that one route counts in.
#[derive(Clone)]
pub struct RouteLimits(Vec<Arc<Bucket>>);

/// The remaining quota of a bucket, in the headers of the RateLimit draft.
#[derive(Debug, PartialEq, Eq)]
pub struct RemainingQuota {
    policy: Option<HeaderValue>,
    state: Option<HeaderValue>,
}

/// A rate limit that was exceeded.
#[derive(Debug)]
pub struct RateLimitExceeded {
    pub code: String,
    pub retry_after_s: u64,
    pub quota: RemainingQuota,
    pub calls: u32,
    pub window_s: u32,
}

impl RemainingQuota {
    pub fn write(&self, headers: &mut HeaderMap) {
        for (name, value) in [("ratelimit-policy", &self.policy), ("ratelimit", &self.state)] {
            if let Some(value) = value {
                headers.insert(HeaderName::from_static(name), value.clone());
            }
        }
    }
}

impl IpLimits {
    pub fn new(per_minute: u32, searches_per_minute: u32, exempt: Vec<IpNet>) -> Self {
        let bucket = |name: &str, calls| {
            let (bucket, code) = (name.into(), "rate_limited".into());
            Arc::new(Bucket::new(&RateLimit { bucket, calls, window_s: 60, code, additional: false }))
        };
        let (shared, search) = (bucket("ip", per_minute), bucket("search", searches_per_minute));
        Self { buckets: Mutex::default(), shared, search, exempt }
    }

    /// The buckets of a route: its own instead of the shared one, or on top of it.
    pub fn of(&self, limits: &[RateLimit]) -> RouteLimits {
        let mut buckets = Vec::with_capacity(limits.len() + 1);
        if limits.iter().all(|limit| limit.additional) {
            buckets.push(self.shared.clone());
        }
        let mut known = self.buckets.lock();
        for limit in limits {
            let key = (limit.bucket.clone(), limit.calls, limit.window_s);
            buckets.push(known.entry(key).or_insert_with(|| Arc::new(Bucket::new(limit))).clone());
        }
        RouteLimits(buckets)
    }

    /// The buckets of a search on a route: those of its other requests, and one for all searches.
    pub(crate) fn of_search(&self, limits: &[RateLimit]) -> RouteLimits {
        let mut of_route = self.of(limits);
        of_route.0.push(self.search.clone());
        of_route
    }

    pub fn is_exempt(&self, ip: IpAddr) -> bool {
        self.exempt.iter().any(|network| network.contains(&ip))
    }

    /// Drops the state of clients that have not called for a while.
    pub fn forget_idle(&self) {
        let (buckets, now) = (self.buckets.lock(), Instant::now());
        for bucket in buckets.values().chain([&self.shared, &self.search]) {
            bucket.calls_in_window.forget_idle(now);
        }
    }
}

impl RouteLimits {
    /// Counts a call and returns what is left in the tightest bucket. The first full bucket refuses the call.
    pub fn check(&self, ip: IpAddr) -> Result<Option<RemainingQuota>, RateLimitExceeded> {
        let (client, now) = (client_network(ip), Instant::now());
        let mut tightest: Option<(usize, &Bucket)> = None;
        for bucket in &self.0 {
            let left = bucket.check(client, now)?;
            if tightest.is_none_or(|(least, _)| left < least) {
                tightest = Some((left, bucket));
            }
        }
        Ok(tightest.map(|(left, bucket)| bucket.remaining_quota(left, u64::from(bucket.window_s))))
    }
}

impl Bucket {
    fn new(limit: &RateLimit) -> Self {
        let (calls, window_s) = (limit.calls.max(1), limit.window_s.max(1));
        Self {
            calls_in_window: CallWindow::new(calls, Duration::from_secs(u64::from(window_s))),
            calls,
            window_s,
            name: limit.bucket.clone(),
            code: limit.code.clone(),
            policy: format!("\"{}\";q={calls};w={}", limit.bucket, limit.window_s.max(1)).try_into().ok(),
        }
    }

    /// Counts a call and returns how many more may come at once.
    fn check(&self, client: IpAddr, now: Instant) -> Result<usize, RateLimitExceeded> {
        self.calls_in_window.count(client, now).map_err(|wait| {
            metrics::counter!("gateway_limits_refused_total", "limit" => self.name.clone()).increment(1);
            let retry_after_s = (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1);
            RateLimitExceeded {
                code: self.code.clone(),
                retry_after_s,
                quota: self.remaining_quota(0, retry_after_s),
                calls: self.calls,
                window_s: self.window_s,
            }
        })
    }

    fn remaining_quota(&self, left: usize, reset_s: u64) -> RemainingQuota {
        RemainingQuota {
            policy: self.policy.clone(),
            state: format!("\"{}\";r={left};t={reset_s}", self.name).try_into().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(bucket: &str, calls: u32, additional: bool) -> RateLimit {
        RateLimit { bucket: bucket.into(), calls, window_s: 60, code: "x".into(), additional }
    }

    const IP: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    #[test]
    fn routes_of_one_bucket_share_it() {
        let limits = IpLimits::new(1000, 1000, Vec::new());
        let (one, other) = (limits.of(&[limit("w", 2, true)]), limits.of(&[limit("w", 2, true)]));
        assert!(one.check(IP).is_ok() && other.check(IP).is_ok());
        let Err(exceeded) = one.check(IP) else { return assert!(one.check(IP).is_err()) };
        assert_eq!(exceeded.retry_after_s, 60, "until the first call leaves the window");
        let mut headers = HeaderMap::new();
        exceeded.quota.write(&mut headers);
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert_eq!(header("ratelimit-policy"), "\"w\";q=2;w=60");
        assert!(header("ratelimit").starts_with("\"w\";r=0;t="), "{exceeded:?}");
    }

    #[test]
    fn an_own_limit_replaces_the_shared_one() {
        let limits = IpLimits::new(1, 1, Vec::new());
        let own = limits.of(&[limit("own", 5, false)]);
        assert!((0..5).all(|_| own.check(IP).is_ok()));
        assert!(limits.of(&[]).check(IP).is_ok());
        assert!(limits.of(&[]).check(IP).is_err());
    }

    #[test]
    fn searches_of_all_routes_share_a_bucket() {
        let limits = IpLimits::new(1000, 2, Vec::new());
        let (one, other) = (limits.of_search(&[]), limits.of_search(&[limit("own", 5, false)]));
        assert!(one.check(IP).is_ok() && other.check(IP).is_ok());
        assert!(one.check(IP).is_err() && other.check(IP).is_err());
        assert!(limits.of(&[]).check(IP).is_ok(), "other requests go on");
    }

    #[test]
    fn a_prefix_of_ipv6_is_one_client() {
        let limits = IpLimits::new(1, 1, Vec::new());
        let ip = |text: &str| text.parse::<IpAddr>().unwrap_or(IP);
        assert!(limits.of(&[]).check(ip("2001:db8::1")).is_ok());
        assert!(limits.of(&[]).check(ip("2001:db8::2")).is_err());
        assert!(limits.of(&[]).check(ip("2001:db8:0:1::2")).is_ok());
    }
}
