package usage

import (
	"bytes"
	"slices"
	"testing"
)

var segmentLines = []string{`{"id":"a","room":"main"}`, `{"id":"b","room":"Bühne 🎭"}`, `{"id":"c","room":"x"}`}

func entriesOf(lines ...string) []byte {
	var entries []byte
	for _, line := range lines {
		entries = appendEntry(entries, line)
	}
	return entries
}

var (
	wholeSegment = entriesOf(segmentLines...)
	secondAt     = len(entriesOf(segmentLines[:1]...))
	lastAt       = len(entriesOf(segmentLines[:2]...))
)

func TestSegmentReturnsWhatWasStored(t *testing.T) {
	wantEqual(t, parseSegment(wholeSegment), parsedSegment{lines: segmentLines})
	wantEqual(t, parseSegment(nil), parsedSegment{})
	if got := string(entriesOf(`{"id":"a"}`)); got != "0000000a 9aa4e643 {\"id\":\"a\"}\n" {
		t.Errorf("got %s", got)
	}
}

func TestSegmentTornAtAnyByteLosesTheLastEntryAlone(t *testing.T) {
	for end := lastAt; end < len(wholeSegment); end++ {
		wantEqual(t, parseSegment(wholeSegment[:end]), parsedSegment{lines: segmentLines[:2], tornBytes: end - lastAt})
	}
	zeros := append(slices.Clone(wholeSegment), make([]byte, 4_096)...)
	wantEqual(t, parseSegment(zeros), parsedSegment{lines: segmentLines, tornBytes: 4_096})
}

func TestSegmentReportsDamageToAnyByteInTheMiddle(t *testing.T) {
	for at := secondAt; at < lastAt-1; at++ {
		damaged := slices.Clone(wholeSegment)
		damaged[at] ^= 0x01
		parsed := parseSegment(damaged)
		wantEqual(t, parsed.lines, []string{segmentLines[0], segmentLines[2]})
		total := 0
		for _, each := range parsed.corrupt {
			total += each.bytes
		}
		if parsed.corrupt[0].offset != secondAt || total != lastAt-secondAt || parsed.tornBytes != 0 {
			t.Errorf("damage at %d: %+v", at, parsed)
		}
	}
}

func TestSegmentLosesTwoEntriesWithTheBreakBetween(t *testing.T) {
	damaged := slices.Clone(wholeSegment)
	damaged[lastAt-1] = ' '
	corrupt := []stretch{{secondAt, len(wholeSegment) - secondAt}}
	wantEqual(t, parseSegment(damaged), parsedSegment{lines: segmentLines[:1], corrupt: corrupt})
}

func TestSegmentDoesNotTakeADamagedLastEntryForAnIncompleteOne(t *testing.T) {
	for at := lastAt + 8; at < len(wholeSegment); at++ {
		damaged := slices.Clone(wholeSegment)
		damaged[at] ^= 0x40
		corrupt := []stretch{{lastAt, len(wholeSegment) - lastAt}}
		wantEqual(t, parseSegment(damaged), parsedSegment{lines: segmentLines[:2], corrupt: corrupt})
	}
}

func FuzzSegment(f *testing.F) {
	f.Add(wholeSegment)
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed := parseSegment(text)
		total := parsed.tornBytes + len(entriesOf(parsed.lines...))
		for _, each := range parsed.corrupt {
			total += each.bytes
		}
		if total != len(text) {
			t.Errorf("%d of %d bytes are accounted for", total, len(text))
		}
		if parsed.tornBytes > 0 && bytes.ContainsRune(text[len(text)-parsed.tornBytes:], lineBreak) {
			t.Error("an entry with a line break is torn")
		}
	})
}
