package usage

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
)

// A segment file has entries one after the other, each on a line of its own:
//
//	<length, 8 hex digits> <CRC-32, 8 hex digits> <JSON>\n
//
// Length and checksum are those of the JSON in UTF-8. JSON has no line breaks, so after damage a reader continues at the
// next one. The other SDKs use the same format.

const (
	headerBytes = 18
	lineBreak   = '\n'
)

type parsedSegment struct {
	lines   []string
	corrupt []stretch
	// tornBytes belong to an incomplete entry at the end, which was never acknowledged.
	tornBytes int
}

// stretch is a damaged part, in bytes from the start of the file.
type stretch struct{ offset, bytes int }

func appendEntry(to []byte, line string) []byte {
	to = fmt.Appendf(to, "%08x %08x ", len(line), crc32.ChecksumIEEE([]byte(line)))
	return append(append(to, line...), lineBreak)
}

func parseSegment(text []byte) parsedSegment {
	var parsed parsedSegment
	for offset := 0; offset < len(text); {
		rest := text[offset:]
		length := bytes.IndexByte(rest, lineBreak)
		if length < 0 {
			if isTorn(rest) {
				parsed.tornBytes = len(rest)
			} else {
				parsed.corrupt = append(parsed.corrupt, stretch{offset, len(rest)})
			}
			return parsed
		}
		if line, ok := decodeEntry(rest[:length]); ok {
			parsed.lines = append(parsed.lines, line)
		} else {
			parsed.corrupt = append(parsed.corrupt, stretch{offset, length + 1})
		}
		offset += length + 1
	}
	return parsed
}

func decodeEntry(entry []byte) (line string, ok bool) {
	length, checksum, ok := readEntryHeader(entry)
	if !ok {
		return "", false
	}
	json := entry[headerBytes:]
	return string(json), length == len(json) && checksum == crc32.ChecksumIEEE(json)
}

func readEntryHeader(entry []byte) (length int, checksum uint32, ok bool) {
	if len(entry) < headerBytes || entry[8] != ' ' || entry[17] != ' ' {
		return 0, 0, false
	}
	first, isFirst := readHex(entry[:8])
	second, isSecond := readHex(entry[9:17])
	return int(first), second, isFirst && isSecond
}

// readHex reads 8 lower-case digits.
func readHex(text []byte) (uint32, bool) {
	number, err := strconv.ParseUint(string(text), 16, 32)
	return uint32(number), err == nil && fmt.Sprintf("%08x", number) == string(text)
}

// isTorn reports whether this is an incomplete entry, as a killed process leaves it; after a power failure it may be
// zeros. A complete or malformed entry was damaged later.
func isTorn(rest []byte) bool {
	if len(rest) < headerBytes || len(bytes.Trim(rest, "\x00")) == 0 {
		return true
	}
	length, _, ok := readEntryHeader(rest)
	return ok && len(rest) <= headerBytes+length
}
