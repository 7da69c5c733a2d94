package usage

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var ann = SessionStart{Room: "main", Participant: "ann", Role: Audience, Tier: HD}

// afterCrash starts a reporter on a copy of the folder, as a crash would leave it now.
func (b *bench) afterCrash() *bench {
	b.t.Helper()
	crashed := newBench(b.t)
	for _, name := range b.namesWhere(func(name string) bool { return !strings.HasPrefix(name, "lock.") }) {
		crashed.write(name, b.read(name))
	}
	crashed.open(offline)
	return crashed
}

func (b *bench) recordsOf(name string) []string {
	b.t.Helper()
	return parseSegment(b.read(name)).lines
}

// begin starts a session, which has sent 700 bytes when it is kept.
func (b *bench) begin(reporter *Reporter) *Session {
	b.t.Helper()
	session, err := reporter.StartSession(ann)
	if err != nil {
		b.t.Fatal(err)
	}
	add(b.t, session, 700, 0)
	b.clock.Advance(time.Second)
	if _, err := os.Stat(filepath.Join(b.folder, "running.records")); err != nil {
		b.t.Fatal(err)
	}
	return session
}

// endAt ends a session, and stores its record.
func endAt(t *testing.T, reporter *Reporter, session *Session) {
	t.Helper()
	all := session.cut(true)
	reporter.Sync()
	if err := session.finish(context.Background(), all); err != nil {
		t.Fatal(err)
	}
}

func TestTheUsageOfRunningSessionsBecomesRecordsAfterACrash(t *testing.T) {
	b := newBench(t)
	b.begin(b.open(offline))
	crashed := b.afterCrash()
	crashed.wantFiles(segmentNamed(1))
	wantEqual(t, crashed.idsOf(segmentNamed(1)), b.idsOf("running.records"))
	wantEqual(t, eventsOf[SpoolRecovered](crashed), []SpoolRecovered{{Segments: 1, Records: 1}})
}

func TestTheUsageOfASessionIsReportedOnceIfItsRecordIsOnDisk(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline)
	endAt(t, reporter, b.begin(reporter))
	b.wantFiles(segmentNamed(1), "running.records")
	crashed := b.afterCrash()
	crashed.wantFiles(segmentNamed(1))
	wantEqual(t, crashed.recordsOf(segmentNamed(1)), b.recordsOf(segmentNamed(1)))
}

func TestTheUsageOfASessionIsReportedOnceIfItsRecordWasSent(t *testing.T) {
	b := newBench(t)
	reporter := b.open()
	endAt(t, reporter, b.begin(reporter))
	// The timer of checkpoints is due later than this.
	reporter.spool.seal()
	b.untilSettled(reporter)
	b.wantFiles()
}

func TestTheUsageOfASessionIsReportedOnceIfTheDiskRefusedItAtFirst(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline, func(o *Options) { o.Interval = 2 * time.Second })
	b.begin(reporter)
	// Neither the next segment nor a checkpoint can be written.
	b.write(segmentNamed(1))
	blocked := filepath.Join(b.folder, "running.records.new")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Second)
	reporter.Sync()
	b.until("a refusal", func() bool { return len(eventsOf[IntervalNotStored](b)) == 1 })
	b.clock.Advance(2 * time.Second)
	reporter.Sync()
	for _, path := range []string{blocked, filepath.Join(b.folder, segmentNamed(1))} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	b.wantFiles(segmentNamed(2), "running.records")
	crashed := b.afterCrash()
	crashed.wantFiles(segmentNamed(2))
	wantEqual(t, crashed.recordsOf(segmentNamed(2)), b.recordsOf(segmentNamed(2)))
}

func TestAFailedCheckpointIsReportedAndRepeated(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline)
	blocked := filepath.Join(b.folder, "running.records.new")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	session, err := reporter.StartSession(ann)
	if err != nil {
		t.Fatal(err)
	}
	add(t, session, 700, 0)
	b.clock.Advance(time.Second)
	wantEqual(t, len(eventsOf[CheckpointFailed](b)), 1)
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Second)
	b.wantFiles("running.records")
}
