//! The reporter of usage, and its spool.

use std::collections::HashSet;
use std::fs;
use std::future::IntoFuture;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use boxoffice::relay::usage::{
    MeasuredParticipant, ParticipantUsage, UsageErrorCode, UsageEvent, UsageReporter,
    UsageReporterBuilder, tier_of,
};
use boxoffice::{Role, Tier};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use crate::support::{Answer, Received, Server};

const KEY: &str = "svc_0123456789abcdef_very-secret";

/// A folder until the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "usage-spool-{}-{}",
            std::process::id(),
            MADE.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Files whose name ends so, the oldest first.
    fn files(&self, end: &str) -> Vec<PathBuf> {
        let paths = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> = paths
            .filter(|path| path.to_string_lossy().ends_with(end))
            .collect();
        paths.sort();
        paths
    }

    /// The records in files whose name ends so.
    fn records(&self, end: &str) -> Vec<Value> {
        let texts = self
            .files(end)
            .into_iter()
            .map(|path| fs::read_to_string(path).unwrap());
        let lines = texts.flat_map(|text| {
            text.lines()
                .map(|line| line[18..].to_owned())
                .collect::<Vec<_>>()
        });
        lines
            .map(|line| serde_json::from_str(&line).unwrap())
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// No service listens here.
const NOWHERE: &str = "http://127.0.0.1:9";

fn builder(folder: &Path, url: &str) -> UsageReporterBuilder {
    let is_reachable = url != NOWHERE;
    UsageReporter::builder()
        .url(url)
        .key(KEY)
        .spool(folder)
        .relay_id("relay-7")
        .batch_wait(Duration::ZERO)
        // Almost no backoff where there is an answer.
        .random(move || if is_reachable { 0.01 } else { 1.0 })
}

fn host() -> MeasuredParticipant {
    MeasuredParticipant::new(Role::Host, Tier::Hd)
}

fn usage(participant: &str) -> ParticipantUsage {
    ParticipantUsage::new(host().room("Bühne 🎭").participant(participant), 60)
        .egress_bytes(50_000_000)
        .ingress_bytes(1_000_000)
}

fn records(received: &Received) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&received.body).unwrap();
    body["records"].as_array().unwrap().clone()
}

fn accepted(received: &Received) -> Answer {
    let charged = records(received).len();
    let answer = json!({ "charged": charged, "duplicates": 0, "unbilled": 0, "admitted": true });
    Answer::json(&answer.to_string())
}

fn status(status: u16, text: &str) -> Answer {
    Answer::Http(
        status,
        vec![("retry-after", "0".into())],
        Bytes::from(text.to_owned()),
    )
}

/// The requests of a server that have records.
fn batches(server: &Server) -> Vec<Received> {
    let all = server.received().into_iter();
    all.filter(|each| !records(each).is_empty()).collect()
}

/// The names of events, as they come.
fn told(builder: UsageReporterBuilder) -> (UsageReporterBuilder, mpsc::UnboundedReceiver<String>) {
    let (tell, told) = mpsc::unbounded_channel();
    let builder = builder.on_event(move |event| {
        let _ = tell.send(format!("{} {event:?}", event.as_str()));
    });
    (builder, told)
}

async fn until(told: &mut mpsc::UnboundedReceiver<String>, name: &str) -> String {
    loop {
        let next = timeout(Duration::from_secs(60), told.recv()).await;
        let event = next.expect("there is no such event").unwrap();
        if event.starts_with(name) {
            return event;
        }
    }
}

#[tokio::test]
async fn an_acknowledged_record_is_on_the_disk_and_is_sent() {
    let folder = Folder::new();
    let server = Server::start(|_, received| accepted(received)).await;
    let reporter = builder(&folder.0, NOWHERE).open().await.unwrap();
    let ids = reporter.record(usage("ann")).await.unwrap();
    let stored = folder.records(".segment");
    let expected = json!({
        "id": ids[0], "room": "Bühne 🎭", "participant": "ann", "role": "host", "tier": "hd",
        "seconds": 60, "egress_bytes": 50_000_000, "ingress_bytes": 1_000_000,
    });
    assert_eq!(stored, std::slice::from_ref(&expected));
    assert_eq!(reporter.pending().records, 1);
    assert_eq!(reporter.admitted(), None);
    // Dropped without a close, the folder is free at once, and the next start sends what is in it.
    drop(reporter);

    let (next, mut events) = told(builder(&folder.0, &server.url));
    let reporter = next.open().await.unwrap();
    until(&mut events, "spool_recovered").await;
    until(&mut events, "batch_accepted").await;
    assert_eq!(reporter.close().await, 0);
    assert_eq!(reporter.admitted(), Some(true));
    let sent = batches(&server);
    assert_eq!(records(&sent[0]), [expected]);
    assert_eq!(sent[0].path, "/v1/usage");
    assert_eq!(sent[0].headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(folder.files("").len(), 0);
}

#[tokio::test]
async fn a_record_waits_200_ms_for_others_and_goes_with_a_caller_who_leaves() {
    let folder = Folder::new();
    let reporter = builder(&folder.0, NOWHERE).open().await.unwrap();
    let begun = Instant::now();
    reporter.record(usage("ann")).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(200));

    let reporter = Arc::new(reporter);
    let mut all = tokio::task::JoinSet::new();
    for number in 0..64 {
        let reporter = reporter.clone();
        all.spawn(async move { reporter.record(usage(&number.to_string())).await.unwrap() });
    }
    let ids: HashSet<_> = all.join_all().await.concat().into_iter().collect();
    assert_eq!(ids.len(), 64);

    // A caller who leaves takes the record along.
    let record = reporter.record(usage("gone"));
    assert!(timeout(Duration::from_millis(50), record).await.is_err());
    reporter.sync().await;
    assert_eq!(reporter.pending().records, 65);
}

#[tokio::test]
async fn a_batch_is_repeated_byte_for_byte_until_it_is_answered() {
    let folder = Folder::new();
    let failures = Arc::new(AtomicUsize::new(0));
    let server = Server::start(move |_, received| {
        if records(received).is_empty() {
            return accepted(received);
        }
        match failures.fetch_add(1, Ordering::Relaxed) {
            0 => Answer::Break,
            1 => status(500, r#"{"error":"no"}"#),
            2 => status(429, r#"{"error":"too many"}"#),
            3 => status(200, "<p>welcome</p>"),
            4 => status(200, r#"{"charged":1}"#),
            // Of a proxy.
            5 => status(400, "<p>bad request</p>"),
            6 => status(302, ""),
            _ => accepted(received),
        }
    })
    .await;
    let (options, mut events) = told(builder(&folder.0, &server.url));
    let reporter = options.open().await.unwrap();
    reporter.record(usage("ann")).await.unwrap();
    let reasons = [
        "Network",
        "ServerError",
        "RateLimited",
        "UnexpectedAnswer",
        "UnexpectedAnswer",
        "UnexpectedAnswer",
        "UnexpectedAnswer",
    ];
    for (at, reason) in reasons.into_iter().enumerate() {
        let event = until(&mut events, "send_failed").await;
        assert!(event.contains(&format!("reason: {reason},")), "{event}");
        assert!(event.contains(&format!("attempt: {},", at + 1)), "{event}");
    }
    until(&mut events, "batch_accepted").await;
    assert_eq!(reporter.close().await, 0);
    let sent = batches(&server);
    assert_eq!(sent.len(), reasons.len() + 1);
    assert!(sent.iter().all(|each| each.body == sent[0].body));
}

#[tokio::test]
async fn bad_records_are_set_aside_and_hold_up_no_other() {
    let folder = Folder::new();
    let server = Server::start(|_, received| {
        let is_bad = records(received)
            .iter()
            .any(|record| record["participant"] == "bad");
        if is_bad {
            return status(400, r#"{"error":"seconds: no"}"#);
        }
        accepted(received)
    })
    .await;
    let (options, mut events) =
        told(builder(&folder.0, &server.url).batch_wait(Duration::from_secs(9)));
    let reporter = options.open().await.unwrap();
    let names: Vec<String> = (0..8).map(|number| number.to_string()).collect();
    let all = names.iter().map(String::as_str).chain(["bad"]);
    let recording = all.map(|name| reporter.record(usage(name)).into_future());
    let mut ids = Vec::new();
    let recording: Vec<_> = recording.map(Box::pin).collect();
    for each in recording {
        ids.push(each.await.unwrap().remove(0));
    }
    assert_eq!(reporter.close().await, 0);
    let told = until(&mut events, "record_quarantined").await;
    assert!(told.contains(&ids[8]), "{told}");
    let kept = fs::read_to_string(&folder.files("quarantine.jsonl")[0]).unwrap();
    let kept: Value = serde_json::from_str(kept.trim_end()).unwrap();
    assert_eq!(kept["message"], "seconds: no");
    assert_eq!(kept["record"]["id"], ids[8]);
    let sent = batches(&server).into_iter().flat_map(|each| records(&each));
    let sent: HashSet<_> = sent
        .map(|record| record["participant"].to_string())
        .collect();
    assert_eq!(sent.len(), 9);
    assert_eq!(folder.files("").len(), 1);
}

#[tokio::test]
async fn counts_that_differ_keep_the_segment() {
    let folder = Folder::new();
    let server = Server::start(|_, received| {
        let charged = records(received).len() * 2;
        let answer =
            json!({ "charged": charged, "duplicates": 0, "unbilled": 0, "admitted": false });
        Answer::json(&answer.to_string())
    })
    .await;
    let (options, mut events) = told(builder(&folder.0, &server.url));
    let reporter = options.open().await.unwrap();
    reporter.record(usage("ann")).await.unwrap();
    until(&mut events, "counts_differ").await;
    assert_eq!(reporter.close().await, 0);
    assert_eq!(reporter.admitted(), Some(false));
    assert_eq!(folder.records(".kept").len(), 1);
}

#[tokio::test]
async fn records_are_sent_with_the_next_key() {
    let folder = Folder::new();
    let server = Server::start(|_, received| {
        if received.headers["authorization"] == "Bearer new" {
            return accepted(received);
        }
        status(401, r#"{"error":"no"}"#)
    })
    .await;
    let key = folder.0.join("relay.key");
    fs::write(&key, "\u{feff}old\n").unwrap();
    let (options, mut events) = told(builder(&folder.0.join("spool"), &server.url).key_file(&key));
    let reporter = options.open().await.unwrap();
    until(&mut events, "key_refused").await;
    fs::remove_file(&key).unwrap();
    until(&mut events, "key_unreadable").await;
    fs::write(&key, "two words").unwrap();
    until(&mut events, "key_unreadable").await;
    reporter.record(usage("ann")).await.unwrap();
    fs::write(&key, "new\n").unwrap();
    until(&mut events, "batch_accepted").await;
    assert_eq!(reporter.close().await, 0);
}

#[tokio::test]
async fn no_event_quotes_the_key() {
    let folder = Folder::new();
    let server = Server::start(|_, _| status(401, r#"{"error":"no"}"#)).await;
    let all = Arc::new(Mutex::new(String::new()));
    let log = all.clone();
    let (heard, mut hear) = mpsc::unbounded_channel();
    let options = builder(&folder.0, &server.url).on_event(move |event| {
        *log.lock().unwrap() += &format!("{event:?}");
        let _ = heard.send(());
        // What a listener does wrong stays with it.
        panic!("a listener that fails");
    });
    let debug = format!("{options:?}");
    let reporter = options.open().await.unwrap();
    hear.recv().await.unwrap();
    assert_eq!(reporter.close().await, 0);
    let debug = format!("{debug}{reporter:?}{}", all.lock().unwrap());
    assert!(
        debug.contains("KeyRefused") && !debug.contains("very-secret"),
        "{debug}"
    );
}

#[tokio::test]
async fn a_folder_has_one_reporter_at_a_time() {
    let folder = Folder::new();
    let long = folder.0.join("long".repeat(40));
    let first = builder(&long, NOWHERE).open().await.unwrap();
    let second = builder(&long, NOWHERE).open().await.unwrap_err();
    assert_eq!(second.code, UsageErrorCode::SpoolInUse);
    assert!(second.to_string().contains("(spool_in_use)"), "{second}");
    first.close().await;

    let mut all = tokio::task::JoinSet::new();
    for _ in 0..20 {
        all.spawn(builder(&long, NOWHERE).open());
    }
    let won: Vec<_> = all.join_all().await.into_iter().flatten().collect();
    assert!(won.len() <= 1);
    drop(won);
    builder(&long, NOWHERE).open().await.unwrap();

    fs::write(folder.0.join("file"), "").unwrap();
    let options = builder(&folder.0.join("file/spool"), NOWHERE);
    let error = options.open().await.unwrap_err();
    assert_eq!(error.code, UsageErrorCode::SpoolFailed);
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_reporter_keeps_its_folder_after_the_end_of_its_runtime() {
    let folder = Folder::new();
    let open = || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(builder(&folder.0, NOWHERE).open())
    };
    let reporter = open().unwrap();
    assert_eq!(open().unwrap_err().code, UsageErrorCode::SpoolInUse);
    drop(reporter);
    open().unwrap();
}

#[tokio::test]
async fn the_next_start_reads_what_a_crash_left() {
    let folder = Folder::new();
    let entry = |id: &str| {
        let line = format!(
            r#"{{"id":"{id}","role":"host","tier":"hd","seconds":1,"egress_bytes":1,"ingress_bytes":1}}"#
        );
        (
            line.clone(),
            format!("{:08x} {:08x} {line}\n", line.len(), crc(line.as_bytes())),
        )
    };
    let (first, whole) = entry("a");
    let (_, torn) = entry("b");
    let (running, left) = entry("c");
    fs::write(
        folder.0.join("0000000007.segment"),
        whole.clone() + &torn[..30],
    )
    .unwrap();
    fs::write(
        folder.0.join("0000000008.segment"),
        whole.replace("host", "gost") + &whole,
    )
    .unwrap();
    fs::write(folder.0.join("0000000011.kept"), "").unwrap();
    // One of these became a record before the crash.
    fs::write(folder.0.join("running.records"), whole + &left).unwrap();

    let (options, mut events) = told(builder(&folder.0, NOWHERE));
    let reporter = options.open().await.unwrap();
    let corrupt = until(&mut events, "segment_corrupt").await;
    assert!(corrupt.contains("offset: 0,"), "{corrupt}");
    let recovered = until(&mut events, "spool_recovered").await;
    assert!(
        recovered.contains("segments: 3, records: 3, torn_bytes: 30"),
        "{recovered}"
    );
    assert!(folder.files("running.records").is_empty());
    assert_eq!(folder.files("0000000012.segment").len(), 1);
    drop(reporter);

    let server = Server::start(|_, received| accepted(received)).await;
    let reporter = builder(&folder.0, &server.url).open().await.unwrap();
    assert_eq!(reporter.close().await, 0);
    let sent: Vec<_> = batches(&server).iter().flat_map(records).collect();
    let line = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(sent, [line(&first), line(&first), line(&running)]);
    // What is damaged stays.
    assert_eq!(folder.files(".kept").len(), 2);
}

/// CRC-32, again.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

#[tokio::test]
async fn what_the_disk_refuses_is_not_stored_and_may_be_repeated() {
    let folder = Folder::new();
    let spool = folder.0.join("spool");
    let (options, mut events) = told(builder(&spool, NOWHERE));
    let reporter = options.open().await.unwrap();
    let session = reporter.start_session(host()).unwrap();
    session.add_bytes(5, 6).unwrap();
    fs::remove_dir_all(&spool).unwrap();
    let error = reporter.record(usage("ann")).await.unwrap_err();
    assert_eq!(error.code, UsageErrorCode::SpoolFailed);
    let error = session.end().await.unwrap_err();
    assert_eq!(error.code, UsageErrorCode::SpoolFailed);
    until(&mut events, "interval_not_stored").await;
    fs::create_dir(&spool).unwrap();
    reporter.record(usage("ann")).await.unwrap();
    session.end().await.unwrap();
    let error = session.add_bytes(1, 0).unwrap_err();
    assert_eq!(error.code, UsageErrorCode::Closed);
    assert_eq!(reporter.pending().records, 2);
    let session = reporter.start_session(host()).unwrap();
    assert_eq!(reporter.close_within(Duration::ZERO).await, 2);
    let error = session.add_bytes(1, 0).unwrap_err();
    assert_eq!(error.code, UsageErrorCode::Closed);
    assert_eq!(reporter.close().await, 2);
    let error = reporter.record(usage("late")).await.unwrap_err();
    assert_eq!(error.code, UsageErrorCode::Closed);
    let error = reporter.start_session(host()).unwrap_err();
    assert_eq!(error.code, UsageErrorCode::Closed);
}

/// A record that is refused, on a disk that is full in the middle of the second one.
#[tokio::test]
async fn a_quarantine_that_is_cut_short_spoils_no_line() {
    const FULL_DISK: &str = "USAGE_TEST_FULL_DISK";
    let Some(spool) = std::env::var_os(FULL_DISK) else {
        let folder = Folder::new();
        // A file size limit fails in the middle of a write, like a full disk.
        let script = r#"trap "" XFSZ; ulimit -f 8; exec "$0" "$@""#;
        let name = "usage::a_quarantine_that_is_cut_short_spoils_no_line";
        let run = std::process::Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(FULL_DISK, &folder.0)
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        let text = fs::read_to_string(folder.0.join("quarantine.jsonl")).unwrap();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let tenants: Vec<_> = lines
            .map(|line| line["record"]["tenant"].to_string().len())
            .collect();
        assert_eq!(tenants, [3_002, 3]);
        return;
    };
    let server = Server::start(|_, received| {
        if records(received).is_empty() {
            return accepted(received);
        }
        status(400, r#"{"error":"no"}"#)
    })
    .await;
    let options = builder(Path::new(&spool), &server.url).batch_records(1);
    let reporter = options.open().await.unwrap();
    for size in [3_000, 3_000, 1] {
        let usage = ParticipantUsage::new(host().tenant("x".repeat(size)), 1);
        reporter.record(usage).await.unwrap();
    }
    assert_eq!(reporter.close().await, 0);
}

/// Of each record: role, tier, seconds, bytes out, bytes in.
fn shapes(records: &[Value]) -> Vec<String> {
    let names = ["role", "tier", "seconds", "egress_bytes", "ingress_bytes"];
    let shape = |record: &Value| {
        names
            .map(|name| record[name].to_string().replace('"', ""))
            .join(" ")
    };
    records.iter().map(shape).collect()
}

#[tokio::test(start_paused = true)]
async fn sessions_become_records_by_interval_role_and_tier() {
    let folder = Folder::new();
    let reporter = builder(&folder.0, NOWHERE).open().await.unwrap();
    let session = reporter.start_session(host().session_id("ann")).unwrap();
    assert_eq!(session.id(), "ann");
    sleep(Duration::from_millis(10_300)).await;
    session.add_bytes(100, 10).unwrap();
    session.change_tier(Tier::FullHd).unwrap();
    sleep(Duration::from_millis(19_900)).await;
    session.add_bytes(7, 1).unwrap();
    reporter.sync().await;
    let expected = ["host hd 10 100 10", "host full_hd 19 0 0"];
    assert_eq!(shapes(&folder.records(".segment")), expected);

    // What a crash would leave, each second: parts of seconds are rounded then.
    sleep(Duration::from_millis(1_000)).await;
    assert_eq!(
        shapes(&folder.records("running.records")),
        ["host full_hd 2 7 1"]
    );

    session.change_role(Role::Audience).unwrap();
    sleep(Duration::from_millis(2_000)).await;
    session.end().await.unwrap();
    let all = folder.records(".segment");
    assert_eq!(
        shapes(&all)[2..],
        ["host full_hd 2 7 1", "audience full_hd 2 0 0"]
    );
    let ids: HashSet<_> = all.iter().map(|record| record["id"].to_string()).collect();
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| id.contains(".ann.")), "{ids:?}");
    // After the last one, once more.
    sleep(Duration::from_millis(2_000)).await;
    assert!(folder.files("running.records").is_empty());

    // Dropped, a session ends.
    let session = reporter.start_session(host()).unwrap();
    sleep(Duration::from_millis(3_000)).await;
    drop(session);
    sleep(Duration::from_millis(60_000)).await;
    assert_eq!(shapes(&folder.records(".segment"))[4..], ["host hd 3 0 0"]);
    reporter.close_within(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_reporter_that_is_dropped_or_killed_keeps_what_sessions_used() {
    let folder = Folder::new();
    let reporter = builder(&folder.0, NOWHERE).open().await.unwrap();
    let session = reporter.start_session(host()).unwrap();
    sleep(Duration::from_millis(4_200)).await;
    session.add_bytes(5, 6).unwrap();
    let killed = Folder::new();
    fs::copy(
        folder.0.join("running.records"),
        killed.0.join("running.records"),
    )
    .unwrap();
    drop(reporter);
    assert_eq!(
        session.end().await.unwrap_err().code,
        UsageErrorCode::Closed
    );

    let reporter = builder(&folder.0, NOWHERE).open().await.unwrap();
    assert_eq!(shapes(&folder.records(".segment")), ["host hd 4 5 6"]);
    drop(reporter);
    let reporter = builder(&killed.0, NOWHERE).open().await.unwrap();
    assert_eq!(shapes(&killed.records(".segment")), ["host hd 4 0 0"]);
    assert_eq!(reporter.pending().records, 1);
}

#[tokio::test(start_paused = true)]
async fn what_the_disk_refused_at_first_is_reported_once_after_a_crash() {
    let folder = Folder::new();
    let options = builder(&folder.0, NOWHERE).interval(Duration::from_secs(2));
    let (options, mut events) = told(options);
    let reporter = options.open().await.unwrap();
    let _session = reporter.start_session(host()).unwrap();
    sleep(Duration::from_millis(1_500)).await;
    // Neither the next segment nor a checkpoint can be written.
    fs::write(folder.0.join("0000000001.segment"), "").unwrap();
    fs::create_dir(folder.0.join("running.records.new")).unwrap();
    until(&mut events, "interval_not_stored").await;
    sleep(Duration::from_millis(2_500)).await;
    let killed = Folder::new();
    for name in ["0000000002.segment", "running.records"] {
        fs::copy(folder.0.join(name), killed.0.join(name)).unwrap();
    }
    let _next = builder(&killed.0, NOWHERE).open().await.unwrap();
    assert_eq!(shapes(&killed.records(".segment")), ["host hd 4 0 0"]);
}

#[tokio::test(start_paused = true)]
async fn a_segment_that_cannot_be_read_is_counted_and_tried_again() {
    let folder = Folder::new();
    let options = builder(&folder.0, NOWHERE).batch_wait(Duration::from_secs(5));
    let (options, mut events) = told(options);
    let reporter = options.open().await.unwrap();
    reporter.record(usage("ann")).await.unwrap();
    let path = folder.0.join("0000000001.segment");
    fs::rename(&path, folder.0.join("aside")).unwrap();
    fs::create_dir(&path).unwrap();
    until(&mut events, "segment_failed").await;
    assert_eq!(reporter.pending().records, 1);
    // A minute, and the wait for the next request to a service that is away.
    sleep(Duration::from_secs(130)).await;
    until(&mut events, "segment_failed").await;
    assert_eq!(reporter.close_within(Duration::ZERO).await, 1);
    drop(reporter);

    // So is one that the next start cannot read.
    let (options, mut events) = told(builder(&folder.0, NOWHERE));
    let reporter = options.open().await.unwrap();
    until(&mut events, "segment_failed").await;
    assert_eq!(reporter.pending().segments, 1);
    sleep(Duration::from_secs(130)).await;
    until(&mut events, "segment_failed").await;
}

#[tokio::test]
async fn close_ends_sessions_and_leaves_the_rest_after_its_time() {
    let folder = Folder::new();
    let server = Server::start(|_, _| Answer::Silence).await;
    let reporter = builder(&folder.0, &server.url).open().await.unwrap();
    let session = reporter.start_session(host()).unwrap();
    session.add_bytes(1, 0).unwrap();
    assert_eq!(reporter.close_within(Duration::from_millis(50)).await, 1);
    assert_eq!(shapes(&folder.records(".segment")), ["host hd 0 1 0"]);
    drop(session);
    assert!(
        folder
            .files("")
            .iter()
            .all(|path| path.extension().unwrap() == "segment")
    );
}

#[tokio::test]
async fn a_close_that_was_dropped_is_completed_by_the_next_one() {
    let folder = Folder::new();
    let server = Server::start(|_, _| Answer::Silence).await;
    let reporter = builder(&folder.0, &server.url).open().await.unwrap();
    reporter.record(usage("ann")).await.unwrap();
    let closing = timeout(Duration::from_millis(50), reporter.close());
    assert!(closing.await.is_err());
    let recording = timeout(Duration::from_secs(60), reporter.record(usage("ben")));
    recording.await.expect("it never answers").unwrap();
    assert_eq!(reporter.close_within(Duration::from_millis(50)).await, 2);
    let error = reporter.record(usage("late")).await.unwrap_err();
    assert_eq!(error.code, UsageErrorCode::Closed);
}

#[test]
fn a_reporter_leaves_no_task_behind() {
    let serving = tokio::runtime::Runtime::new().unwrap();
    let server = serving.block_on(Server::start(|_, received| accepted(received)));
    let folder = Folder::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        for is_closed in [true, false] {
            let reporter = builder(&folder.0, &server.url).open().await.unwrap();
            let session = reporter.start_session(host()).unwrap();
            session.add_bytes(1, 1).unwrap();
            reporter.record(usage("ann")).await.unwrap();
            if is_closed {
                assert_eq!(reporter.close().await, 0);
            }
            drop(reporter);
        }
        let end = Instant::now() + Duration::from_secs(60);
        while tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
            > 0
        {
            assert!(Instant::now() < end, "there are tasks left");
            sleep(Duration::from_millis(5)).await;
        }
    });
}

#[tokio::test]
async fn what_the_service_would_refuse_is_refused_at_once() {
    let folder = Folder::new();
    let reporter = builder(&folder.0, NOWHERE).open().await.unwrap();
    let long = "x".repeat(201);
    let mut wrong = vec![
        ParticipantUsage::new(host(), 86_400 * 100 + 1),
        ParticipantUsage::new(host(), 1).egress_bytes(1 << 53),
        ParticipantUsage::new(host(), 1).ingress_bytes(1 << 53),
    ];
    let people = [
        host().room(&long),
        host().participant(&long),
        host().room("a\0b"),
        host().tenant("x".repeat(70_000)),
        host().session_id(""),
        host().session_id("a b"),
        MeasuredParticipant::new(Role::from("king"), Tier::Hd),
        MeasuredParticipant::new(Role::Host, Tier::from("8k")),
    ];
    wrong.extend(people.map(|who| ParticipantUsage::new(who, 1)));
    for each in wrong {
        let error = reporter.record(each.clone()).await.unwrap_err();
        assert_eq!(error.code, UsageErrorCode::InvalidUsage, "{each:?}");
    }
    let session = reporter.start_session(host()).unwrap();
    session.add_bytes((1 << 53) - 1, 0).unwrap();
    assert!(session.add_bytes(1, 0).is_err());
    assert!(session.change_tier(Tier::from("8k")).is_err());
    assert!(session.change_role(Role::from("king")).is_err());

    // 200 characters of more than a byte, and two and a half days.
    let who = host().room("🎭".repeat(200)).participant("");
    let usage = ParticipantUsage::new(who, 216_000).egress_bytes(1_000_001);
    let ids = reporter.record(usage).await.unwrap();
    assert_eq!(ids[1..], [format!("{}.1", ids[0]), format!("{}.2", ids[0])]);
    let stored = folder.records(".segment");
    let expected = [
        "host hd 86400 400000 0",
        "host hd 86400 400000 0",
        "host hd 43200 200001 0",
    ];
    assert_eq!(shapes(&stored), expected);
    assert_eq!(stored[0].get("participant"), None);
    assert_eq!(
        [0, 1, 921_600, 2_073_600, 3_686_400, 3_686_401]
            .map(tier_of)
            .map(|tier| tier.to_string()),
        ["audio", "hd", "hd", "full_hd", "2k", "2k_plus"]
    );
}

#[tokio::test]
async fn options_are_checked() {
    let folder = Folder::new();
    let good = || builder(&folder.0, NOWHERE);
    let second = Duration::from_secs(1);
    let wrong = [
        UsageReporter::builder()
            .url(NOWHERE)
            .spool(&folder.0)
            .relay_id("a"),
        good().url("ftp://a"),
        good().url("http://a/?b=c"),
        good().url("http://user@a"),
        good().spool(""),
        good().relay_id(""),
        good().relay_id("a b"),
        good().interval(second / 2),
        good().interval(second * 3601),
        good().batch_records(0),
        good().batch_records(5001),
        good().batch_bytes(0),
        good().batch_bytes(1 << 20),
        good().batch_wait(second * 3601),
        good().ca_certificates("none"),
    ];
    for options in wrong {
        let text = format!("{options:?}");
        let error = options.open().await.unwrap_err();
        assert_eq!(error.code, UsageErrorCode::InvalidOptions, "{text}");
    }
    assert!(folder.files("").is_empty());
}

#[tokio::test]
async fn batches_stay_within_their_limits_and_are_sent_in_order() {
    let folder = Folder::new();
    let server = Server::start(|_, received| accepted(received)).await;
    let (options, mut events) = told(builder(&folder.0, NOWHERE).batch_records(70));
    let reporter = Arc::new(options.open().await.unwrap());
    let mut ids = Vec::new();
    let mut all = Vec::new();
    for number in 0..200 {
        let reporter = reporter.clone();
        all.push(tokio::spawn(async move {
            reporter.record(usage(&number.to_string())).await.unwrap()
        }));
    }
    for each in all {
        ids.extend(each.await.unwrap());
    }
    until(&mut events, "send_failed").await;
    assert!(folder.files(".segment").len() >= 3);
    drop(reporter);
    // The next start splits old records by its own limits.
    let options = builder(&folder.0, &server.url)
        .batch_records(50)
        .batch_bytes(5_000);
    let reporter = options.open().await.unwrap();
    assert_eq!(reporter.close().await, 0);
    let sent = batches(&server);
    assert!(sent.iter().all(|each| each.body.len() <= 5_000));
    let sent: Vec<_> = sent
        .iter()
        .flat_map(records)
        .map(|record| record["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(sent.len(), 200);
    assert_eq!(
        sent.into_iter().collect::<HashSet<_>>(),
        ids.into_iter().collect()
    );
}

/// Events are compared by their names in logs.
#[test]
fn events_have_names() {
    let cause = || std::io::Error::other("full");
    assert_eq!(
        UsageEvent::CheckpointFailed { cause: cause() }.as_str(),
        "checkpoint_failed"
    );
    let file = PathBuf::new();
    assert_eq!(
        UsageEvent::SegmentFailed {
            file,
            cause: cause()
        }
        .as_str(),
        "segment_failed"
    );
}
