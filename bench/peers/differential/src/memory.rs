//! What the process takes, as the kernel counts it.

pub struct Resident {
    pub now: u64,
    pub peak: u64,
}

/// Bytes in memory now and at most; zeros where the system does not tell.
pub fn resident_bytes() -> Resident {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    Resident { now: kilobytes(&status, "VmRSS:") * 1024, peak: kilobytes(&status, "VmHWM:") * 1024 }
}

fn kilobytes(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
