//! A relay in a process of its own, for tests that kill it: `run_reporter <spool> <url> <name> <seed>`.
//!
//! It records until it is killed and prints what was acknowledged, a line each: id, seconds, bytes out, bytes in. The
//! name `drain` records nothing: it sends the rest and prints how many records remain.

use std::error::Error;
use std::io::{Write, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use boxoffice::relay::usage::{MeasuredParticipant, ParticipantUsage, UsageReporter};
use boxoffice::{Role, Tier};
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// How many records wait for the disk at once.
const UNACKNOWLEDGED_MAX: usize = 200;

/// Pseudo-random numbers: xorshift.
struct Random(AtomicU64);

impl Random {
    fn below(&self, limit: u64) -> u64 {
        let mut state = self.0.load(Ordering::Relaxed);
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0.store(state, Ordering::Relaxed);
        state % limit
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [spool, url, name, seed] = args.as_slice() else {
        return Err("usage: run_reporter <spool> <url> <name> <seed>".into());
    };
    let random = Random(AtomicU64::new(seed.parse::<u64>()? + 0x9e37_79b9));
    let reporter = UsageReporter::builder()
        .url(url)
        .key("relay-key")
        .spool(spool)
        .relay_id("relay-7")
        .batch_records(40)
        .batch_wait(Duration::from_millis(30))
        // Almost no backoff: retries are immediate.
        .random(|| 0.005)
        .open()
        .await?;
    print("open")?;
    if name == "drain" {
        let left = reporter.close_within(Duration::from_secs(60)).await;
        return Ok(print(&left.to_string())?);
    }
    let (reporter, free) = (
        Arc::new(reporter),
        Arc::new(Semaphore::new(UNACKNOWLEDGED_MAX)),
    );
    for count in 0.. {
        let permit = free.clone().acquire_owned().await?;
        let who = MeasuredParticipant::new(Role::Audience, Tier::Hd)
            .room("main")
            .participant(format!("{name}-{count}"));
        let (seconds, egress, ingress) = (
            random.below(60),
            random.below(1_000_000_000),
            random.below(1_000_000),
        );
        let usage = ParticipantUsage::new(who, seconds)
            .egress_bytes(egress)
            .ingress_bytes(ingress);
        let reporter = reporter.clone();
        tokio::spawn(async move {
            // A record that is refused keeps its permit, so the test sees that nothing more comes.
            match reporter.record(usage).await {
                Ok(ids) => {
                    let _ = print(&format!("{} {seconds} {egress} {ingress}", ids.concat()));
                    drop(permit);
                }
                Err(error) => {
                    eprintln!("{error}");
                    permit.forget();
                }
            }
        });
        if random.below(20) == 0 {
            sleep(Duration::from_millis(1)).await;
        }
    }
    Ok(())
}

/// A line at once: a killed process would not flush it.
fn print(line: &str) -> std::io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
