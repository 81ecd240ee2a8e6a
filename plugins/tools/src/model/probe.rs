//! Meaning of a probe's status: whether a server responds at the URL, not whether it serves this request.

/// Whether a response to `HEAD` is conclusive. Many tools do not support `HEAD`, so any other status is followed by a `GET`.
pub fn is_alive(head_status: u16) -> bool {
    (200..400).contains(&head_status)
}

/// Whether a response to `GET` counts as online: a tool that asks for a key or a body does, a 404 or a 5xx does not.
pub fn means_alive(get_status: u16) -> bool {
    get_status < 500 && get_status != 404
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_status_but_404_and_5xx_counts_as_online() {
        for status in [200, 204, 301, 399] {
            assert!(is_alive(status), "{status}");
        }
        for status in [199, 400, 404, 405, 500] {
            assert!(!is_alive(status), "{status}");
        }
        for status in [200, 302, 400, 401, 402, 403, 405, 410, 429, 499] {
            assert!(means_alive(status), "{status}");
        }
        for status in [404, 500, 502, 503] {
            assert!(!means_alive(status), "{status}");
        }
    }
}
