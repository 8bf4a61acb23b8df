//! The process metrics of Prometheus's Go client, from `/proc`; nothing where there is none. The crates
//! for it read far more than these four numbers.

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
};
use std::{fmt, fs};

/// Linux counts times in these for every architecture that Kubernetes runs on.
const TICKS: f64 = 100.0;

/// Reads `/proc` at each scrape.
#[derive(Debug)]
pub struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let mut gauge = |name, help, value: Option<f64>| match value {
            Some(value) => {
                let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
                ConstGauge::new(value).encode(metric)
            }
            None => Ok(()),
        };
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        gauge("process_resident_memory_bytes", "Resident memory size in bytes.", resident_bytes())?;
        gauge("process_open_fds", "Number of open file descriptors.", open_files())?;
        gauge(
            "process_start_time_seconds",
            "Start time of the process since unix epoch in seconds.",
            start_time(&stat),
        )?;
        let Some(cpu) = field(&stat, 14).zip(field(&stat, 15)) else { return Ok(()) };
        let help = "Total user and system CPU time spent in seconds.";
        let metric = encoder.encode_descriptor("process_cpu_seconds", help, None, MetricType::Counter)?;
        ConstCounter::new((cpu.0 + cpu.1) / TICKS).encode(metric)
    }
}

/// A field of `/proc/self/stat`, numbered as in proc(5). The program's name, the second, may have spaces.
fn field(stat: &str, number: usize) -> Option<f64> {
    stat.rsplit_once(") ")?.1.split(' ').nth(number - 3)?.parse().ok()
}

fn start_time(stat: &str) -> Option<f64> {
    let boot = fs::read_to_string("/proc/stat").ok()?;
    let boot: f64 = boot.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(boot + field(stat, 22)? / TICKS)
}

fn resident_bytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(kilobytes.trim().strip_suffix(" kB")?.parse::<f64>().ok()? * 1024.0)
}

fn open_files() -> Option<f64> {
    Some(fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1) as f64) // less the folder itself
}
