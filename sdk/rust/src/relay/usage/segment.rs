//! A segment file has entries one after the other, each on a line of its own:
//!
//! ```text
//! <length, 8 hex digits> <CRC-32, 8 hex digits> <JSON>\n
//! ```
//!
//! Length and checksum are those of the JSON in UTF-8. JSON has no line breaks, so after damage a reader continues at the
//! next one. The other SDKs use the same format.

const HEADER_BYTES: usize = 18;
const LINE_BREAK: u8 = b'\n';

#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) lines: Vec<String>,
    pub(super) corrupt: Vec<Stretch>,
    /// Of an incomplete entry at the end, which was never acknowledged.
    pub(super) torn_bytes: usize,
}

/// A damaged part, in bytes from the start of the file.
#[derive(Debug)]
pub(super) struct Stretch {
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

pub(super) fn encode_entry(to: &mut Vec<u8>, line: &str) {
    let header = format!("{:08x} {:08x} ", line.len(), crc32(line.as_bytes()));
    to.extend_from_slice(header.as_bytes());
    to.extend_from_slice(line.as_bytes());
    to.push(LINE_BREAK);
}

pub(super) fn parse_segment(text: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut offset = 0;
    for entry in text.split_inclusive(|&byte| byte == LINE_BREAK) {
        let bytes = entry.len();
        match entry.strip_suffix(&[LINE_BREAK]).map(decode_entry) {
            Some(Some(line)) => parsed.lines.push(line),
            None if is_torn(entry) => parsed.torn_bytes = bytes,
            _ => parsed.corrupt.push(Stretch { offset, bytes }),
        }
        offset += bytes;
    }
    parsed
}

fn decode_entry(entry: &[u8]) -> Option<String> {
    let (length, checksum, json) = read_header(entry)?;
    let is_whole = length == json.len() && checksum == crc32(json);
    is_whole.then(|| String::from_utf8(json.to_vec()).ok())?
}

/// Length, checksum, and what follows.
fn read_header(entry: &[u8]) -> Option<(usize, u32, &[u8])> {
    let (header, json) = entry.split_at_checked(HEADER_BYTES)?;
    let header = std::str::from_utf8(header).ok()?;
    let (length, checksum) = header.strip_suffix(' ')?.split_once(' ')?;
    let length = usize::try_from(read_hex(length)?).ok()?;
    Some((length, read_hex(checksum)?, json))
}

/// Of 8 lower-case digits.
fn read_hex(text: &str) -> Option<u32> {
    let number = u32::from_str_radix(text, 16).ok()?;
    (format!("{number:08x}") == text).then_some(number)
}

/// Whether this is an incomplete entry, as a killed process leaves it; after a power failure it may be zeros. A complete
/// or malformed entry was damaged later.
fn is_torn(rest: &[u8]) -> bool {
    rest.len() < HEADER_BYTES
        || rest.iter().all(|&byte| byte == 0)
        || read_header(rest).is_some_and(|(length, _, json)| json.len() <= length)
}

/// CRC-32 of IEEE 802.3, as in gzip. Records are short, so it needs no table.
fn crc32(bytes: &[u8]) -> u32 {
    let next = |crc: u32| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| next(crc))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 3] = [r#"{"id":"a"}"#, r#"{"id":"Bühne 🎭"}"#, r#"{"id":"c"}"#];

    fn stored() -> Vec<u8> {
        let mut text = Vec::new();
        for line in LINES {
            encode_entry(&mut text, line);
        }
        text
    }

    #[test]
    fn it_is_the_format_of_the_other_sdks() {
        let mut text = Vec::new();
        encode_entry(&mut text, "123456789");
        assert_eq!(text, b"00000009 cbf43926 123456789\n");
    }

    #[test]
    fn torn_at_any_byte_it_loses_the_last_entry_alone() {
        let text = stored();
        assert_eq!(parse_segment(&text).lines, LINES);
        let last = text.len() - (HEADER_BYTES + LINES[2].len() + 1);
        for end in last..text.len() {
            let parsed = parse_segment(&text[..end]);
            assert_eq!((parsed.lines.len(), parsed.torn_bytes), (2, end - last));
            assert!(parsed.corrupt.is_empty());
        }
        let zeros = [&text[..], &[0; 40]].concat();
        assert_eq!(parse_segment(&zeros).torn_bytes, 40);
    }

    #[test]
    fn damage_to_any_byte_in_the_middle_is_told() {
        let first = HEADER_BYTES + LINES[0].len() + 1;
        for at in first..first + HEADER_BYTES + LINES[1].len() {
            let mut text = stored();
            text[at] ^= 1;
            let parsed = parse_segment(&text);
            assert_eq!(parsed.lines, [LINES[0], LINES[2]], "{at}");
            assert_eq!(parsed.corrupt[0].offset, first);
        }
        // The last entry, whole but wrong, is no incomplete one.
        let mut text = stored();
        let last = text.len() - 1;
        text[last] = b'!';
        assert_eq!(parse_segment(&text).corrupt.len(), 1);
    }
}
