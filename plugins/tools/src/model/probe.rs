//! What an answer says of a tool: whether something serves there, not whether it serves us.

/// After `HEAD`: whether that settles it. Many tools know no `HEAD`, so what is no success is asked again with `GET`.
pub fn is_alive(head_status: u16) -> bool {
    (200..400).contains(&head_status)
}

/// After `GET`: who refuses without a key or a body is there, who finds nothing or fails is not.
pub fn means_alive(get_status: u16) -> bool {
    get_status < 500 && get_status != 404
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_answers_is_there_unless_it_fails_or_finds_nothing() {
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
