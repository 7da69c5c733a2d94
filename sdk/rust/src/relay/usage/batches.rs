//! Batches of records: the bodies of requests.

/// How much one request may have. Source: specification 4.12.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchLimits {
    pub(super) records: usize,
    /// Of the whole body, in UTF-8.
    pub(super) bytes: usize,
}

pub(super) const BATCH_RECORDS_MAX: usize = 5_000;
/// The service accepts 1 MiB.
pub(super) const BATCH_BYTES_MAX: usize = (1 << 20) - 1;

const HEAD: &str = r#"{"records":["#;
const TAIL: &str = "]}";
/// Bytes of an empty batch. Each record adds its line and a comma.
pub(super) const ENVELOPE_BYTES: usize = HEAD.len() + TAIL.len();

pub(super) fn render_batch(lines: &[String]) -> String {
    format!("{HEAD}{}{TAIL}", lines.join(","))
}

/// What a line adds to a body, with a comma, which the last line does not have.
pub(super) fn bytes_of(line: &str) -> usize {
    line.len() + 1
}

/// Batches within both limits, in order. A line that is too long gets one of its own.
pub(super) fn split_batches(lines: &[String], limits: BatchLimits) -> Vec<&[String]> {
    let mut batches = Vec::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let mut bytes = ENVELOPE_BYTES;
        let fitting = rest.iter().take(limits.records).take_while(|line| {
            bytes += bytes_of(line);
            bytes <= limits.bytes
        });
        let (batch, others) = rest.split_at(fitting.count().max(1));
        batches.push(batch);
        rest = others;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_stay_within_both_limits() {
        let lines: Vec<String> = ["aaaa", "bb", "cc", "dddddddddddd", "e"]
            .map(String::from)
            .into();
        let bytes = ENVELOPE_BYTES + 8;
        let limits = BatchLimits { records: 2, bytes };
        let batches = split_batches(&lines, limits);
        let sizes: Vec<usize> = batches.iter().map(|batch| batch.len()).collect();
        assert_eq!(sizes, [2, 1, 1, 1]);
        assert_eq!(batches.concat(), lines);
        assert_eq!(render_batch(&lines[1..3]), r#"{"records":[bb,cc]}"#);
        assert!(split_batches(&[], limits).is_empty());
    }
}
