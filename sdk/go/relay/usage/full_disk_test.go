//go:build unix

package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"boxoffice.example/boxoffice/sdk/go/internal/leaks"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv("USAGE_TEST_FULL_DISK"); folder != "" {
		os.Exit(fillTheDisk(folder))
	}
	leaks.Main(m)
}

// fullDisk is what a process found that recorded until its disk was full, and then some more.
type fullDisk struct {
	Acknowledged, Refused []string
}

func TestAFullDiskIsReportedAndLosesNoAcknowledgedRecord(t *testing.T) {
	b := newBench(t)
	// A file size limit fails in the middle of a write, like a full disk.
	limited := exec.Command("sh", "-c", `ulimit -f 8; exec "$0"`, os.Args[0])
	limited.Env = append(os.Environ(), "USAGE_TEST_FULL_DISK="+b.folder)
	output, err := limited.Output()
	if err != nil {
		t.Fatal(err)
	}
	var found fullDisk
	if err := json.Unmarshal(output, &found); err != nil {
		t.Fatal(err)
	}
	slices.Sort(found.Refused)
	wantEqual(t, slices.Compact(found.Refused), []string{string(SpoolFailed)})
	if len(found.Acknowledged) <= 20 {
		t.Errorf("%d acknowledged", len(found.Acknowledged))
	}
	var quarantined struct{ Record wireRecord }
	lines := strings.Split(strings.TrimSpace(string(b.read("quarantine.jsonl"))), "\n")
	for _, line := range lines {
		if err := json.Unmarshal([]byte(line), &quarantined); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	wantEqual(t, len(lines), 2)
	reporter := b.open()
	wantEqual(t, eventsOf[SegmentCorrupt](b), []SegmentCorrupt(nil))
	recovered := eventsOf[SpoolRecovered](b)
	if len(recovered) != 1 || recovered[0].Records != len(found.Acknowledged) || recovered[0].TornBytes != 0 {
		t.Errorf("recovered %+v", recovered)
	}
	b.untilSettled(reporter)
	charged := b.service.chargedIDs()
	slices.Sort(charged)
	slices.Sort(found.Acknowledged)
	wantEqual(t, charged, found.Acknowledged)
}

// fillTheDisk records in rounds of five, in a process of its own.
func fillTheDisk(folder string) (exitCode int) {
	signal.Ignore(syscall.SIGXFSZ)
	options := Options{URL: "http://127.0.0.1:1", Key: Key("relay-key"), Spool: folder, RelayID: "relay-7"}
	offline(&options)
	reporter, err := Open(options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var found fullDisk
	for round := range 20 {
		var ids []string
		var waiting []*appending
		for index := range 5 {
			usage := Record{
				Participant: fmt.Sprintf("p-%d-%d", round, index), Role: Host, Tier: HD,
				Seconds: 60, EgressBytes: 1_000, IngressBytes: 1_000,
			}
			stored, added := reporter.store(usage)
			ids, waiting = append(ids, stored...), append(waiting, added)
		}
		reporter.Sync()
		for index, each := range waiting {
			var failure *Error
			switch err := reporter.spool.wait(context.Background(), each); {
			case err == nil:
				found.Acknowledged = append(found.Acknowledged, ids[index])
			case errors.As(err, &failure):
				found.Refused = append(found.Refused, string(failure.Code))
			default:
				found.Refused = append(found.Refused, err.Error())
			}
		}
	}
	// The second one is cut short.
	for _, size := range []int{3_000, 3_000, 1} {
		_ = reporter.spool.quarantine(`{"id":"`+strings.Repeat("x", size)+`"}`, "no")
	}
	reporter.Close(ended())
	text, _ := json.Marshal(found)
	fmt.Println(string(text))
	return 0
}
