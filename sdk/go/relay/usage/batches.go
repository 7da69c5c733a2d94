package usage

import "strings"

// batchLimits is the number of records and bytes in one request. Source: specification 4.12.
type batchLimits struct {
	records int
	// bytes of the whole body, in UTF-8.
	bytes int
}

const (
	batchRecordsMax = 5_000
	// batchBytesMax: the service accepts 1 MiB.
	batchBytesMax = 1<<20 - 1

	batchHead = `{"records":[`
	batchTail = `]}`
	// envelopeBytes are those of an empty batch. Each record adds its line and a comma.
	envelopeBytes = len(batchHead) + len(batchTail)
)

func renderBatch(lines []string) string {
	return batchHead + strings.Join(lines, ",") + batchTail
}

// bytesOf returns the bytes that a line adds to a body, including a comma, which the last line does not have.
func bytesOf(line string) int { return len(line) + 1 }

// splitBatches splits lines into batches within both limits, in order. A line that is too long gets a batch of its own.
func splitBatches(lines []string, limits batchLimits) [][]string {
	var batches [][]string
	start, bytes := 0, envelopeBytes
	for at, line := range lines {
		more := bytesOf(line)
		if at > start && (at-start >= limits.records || bytes+more > limits.bytes) {
			batches = append(batches, lines[start:at])
			start, bytes = at, envelopeBytes
		}
		bytes += more
	}
	if start < len(lines) {
		batches = append(batches, lines[start:])
	}
	return batches
}
