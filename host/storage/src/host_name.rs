//! The name of the machine.

use std::fs;

/// Empty where the system does not tell it.
pub fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}
