package usage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func wireLines(count int, prefix string) []string {
	var lines []string
	for index := range count {
		usage := Record{Role: Host, Tier: HD, Seconds: 1, EgressBytes: 2, IngressBytes: 3}
		line, _ := usage.render(fmt.Sprintf("%s.%d", prefix, index))
		lines = append(lines, line)
	}
	return lines
}

func TestAnAcknowledgedRecordIsOnTheDisk(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline)
	ids := b.store(reporter, usagesOf(3, func(r *Record) { r.SessionID = "alice" })...)
	wantEqual(t, b.idsOf(segmentNamed(1)), ids)
	wantEqual(t, reporter.Pending(), Pending{Segments: 1, Records: 3})
	for index, id := range ids {
		if !strings.HasPrefix(id, "relay-7.") || !strings.HasSuffix(id, fmt.Sprintf(".alice.%d", index)) {
			t.Errorf("an id is %s", id)
		}
	}
	info, err := os.Stat(filepath.Join(b.folder, segmentNamed(1)))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func TestARecordIsStoredAfter200Milliseconds(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline)
	stored := make(chan error, 1)
	go func() {
		_, err := reporter.Record(context.Background(), usageOf())
		stored <- err
	}()
	b.untilTimer(200 * time.Millisecond)
	b.clock.Advance(199 * time.Millisecond)
	select {
	case <-stored:
		t.Fatal("stored too early")
	case <-time.After(20 * time.Millisecond):
	}
	b.clock.Advance(time.Millisecond)
	if err := <-stored; err != nil {
		t.Fatal(err)
	}
	wantEqual(t, len(b.idsOf(segmentNamed(1))), 1)
}

func TestRecordsAreStoredAtOnceWhen64Wait(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline)
	var all sync.WaitGroup
	for _, usage := range usagesOf(64) {
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := reporter.Record(context.Background(), usage); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	wantEqual(t, len(b.idsOf(segmentNamed(1))), 64)
}

func TestARecordWhoseCallerLeavesIsNotStored(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline)
	ctx, cancel := context.WithCancel(context.Background())
	stored := make(chan error, 1)
	go func() {
		_, err := reporter.Record(ctx, usageOf())
		stored <- err
	}()
	b.untilTimer(200 * time.Millisecond)
	cancel()
	if err := <-stored; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	reporter.Sync()
	wantEqual(t, reporter.Pending(), Pending{})
	ids := b.store(reporter, usageOf())
	wantEqual(t, b.idsOf(segmentNamed(1)), ids)
}

func TestMoreThanADayBecomesSeveralRecordsStoredTogether(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline)
	ids := b.store(reporter, usageOf(func(r *Record) { r.Seconds, r.EgressBytes = 200_000, 1_000_001 }))
	wantEqual(t, b.idsOf(segmentNamed(1)), ids)
	wantEqual(t, len(ids), 3)
}

func TestTheNextStartSendsTheRecordsOfTheLastOneFirst(t *testing.T) {
	b := newBench(t)
	before := b.open(offline, records(4))
	left := b.store(before, usagesOf(10)...)
	wantEqual(t, before.Close(ended()), 10)

	after := b.open(records(4))
	wantEqual(t, eventsOf[SpoolRecovered](b), []SpoolRecovered{{Segments: 3, Records: 10}})
	fresh := b.store(after, usagesOf(4)...)
	b.untilCharged(14)
	wantEqual(t, b.service.chargedIDs(), append(left, fresh...))
	b.untilSettled(after)
	b.wantFiles()
}

func TestTheNextStartSplitsOldRecordsByItsOwnLimits(t *testing.T) {
	b := newBench(t)
	b.write(segmentNamed(3), entriesOf(wireLines(25, "r.b.0")...))
	b.open(records(10))
	b.untilCharged(25)
	var sizes []int
	for _, batch := range b.service.batches() {
		sizes = append(sizes, len(batch.records))
	}
	wantEqual(t, sizes, []int{10, 10, 5})
}

func TestTheNextStartWritesToNoFileOfTheLastOne(t *testing.T) {
	b := newBench(t)
	b.write(segmentNamed(7), entriesOf(wireLines(1, "r.b.0")...))
	b.write("0000000009.kept")
	b.write("00000000011.segment")
	b.store(b.open(offline), usageOf())
	b.wantFiles("00000000011.segment", segmentNamed(7), "0000000009.kept", segmentNamed(10))
}

func TestTheNextStartRecoversFromAnEntryTornAtAnyByte(t *testing.T) {
	b := newBench(t)
	count := len(entriesOf(wireLines(1, "r.000")...))
	for missing := 1; missing <= count; missing++ {
		entries := entriesOf(wireLines(3, fmt.Sprintf("r.%03d", missing))...)
		b.write(segmentNamed(missing), entries[:len(entries)-missing])
	}
	reporter := b.open()
	wantEqual(t, eventsOf[SegmentCorrupt](b), []SegmentCorrupt(nil))
	b.untilSettled(reporter)
	wantEqual(t, len(b.service.chargedIDs()), 2*count)
	b.wantFiles()
}

func TestTheNextStartReportsDamageAndKeepsTheFile(t *testing.T) {
	b := newBench(t)
	lines := wireLines(4, "r.b.0")
	first, second := entriesOf(lines[0]), entriesOf(lines[1])
	second[30] ^= 0x04
	damaged := bytes.Join([][]byte{first, second, entriesOf(lines[2])}, nil)
	b.write(segmentNamed(1), damaged)
	b.write(segmentNamed(2), entriesOf(lines[3]))
	reporter := b.open()
	wantEqual(t, eventsOf[SegmentCorrupt](b), []SegmentCorrupt{
		{File: filepath.Join(b.folder, segmentNamed(1)), Offset: len(first), Bytes: len(second)},
	})
	b.untilSettled(reporter)
	wantEqual(t, b.service.chargedIDs(), []string{"r.b.0.0", "r.b.0.2", "r.b.0.3"})
	b.wantFiles("0000000001.kept")
	wantEqual(t, b.read("0000000001.kept"), damaged)
}

func TestAnUnreadableSegmentBlocksNoOther(t *testing.T) {
	b := newBench(t)
	if err := os.Mkdir(filepath.Join(b.folder, segmentNamed(1)), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := wireLines(2, "r.b.0")
	b.write(segmentNamed(2), entriesOf(lines[0]))
	reporter := b.open()
	failed := eventsOf[SegmentFailed](b)
	if len(failed) != 1 || failed[0].File != filepath.Join(b.folder, segmentNamed(1)) {
		t.Errorf("got %v", failed)
	}
	b.untilCharged(1)
	b.until("the end of the other", func() bool { return reporter.Pending().Segments == 1 })
	if err := os.Remove(filepath.Join(b.folder, segmentNamed(1))); err != nil {
		t.Fatal(err)
	}
	b.write(segmentNamed(1), entriesOf(lines[1]))
	b.pass(time.Second, "another try", func() bool { return len(b.service.chargedIDs()) == 2 })
	b.untilSettled(reporter)
	b.wantFiles("0000000001.kept")
}

func TestASegmentThatCannotBeReadNowCountsAndIsTriedAgain(t *testing.T) {
	b := newBench(t)
	reporter := b.greet()
	b.store(reporter, usageOf())
	path, aside := filepath.Join(b.folder, segmentNamed(1)), filepath.Join(b.folder, "aside")
	if err := errors.Join(os.Rename(path, aside), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	reporter.spool.seal()
	b.until("an event", func() bool { return len(eventsOf[SegmentFailed](b)) == 1 })
	wantEqual(t, reporter.Pending(), Pending{Segments: 1, Records: 1})
	b.store(reporter, usageOf())
	reporter.spool.seal()
	b.untilCharged(1)
	if err := errors.Join(os.Remove(path), os.Rename(aside, path)); err != nil {
		t.Fatal(err)
	}
	b.pass(time.Second, "another try", func() bool { return len(b.service.chargedIDs()) == 2 })
	b.untilSettled(reporter)
}

func TestASegmentThatVanishesIsSkipped(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline)
	b.store(reporter, usageOf())
	if err := os.Remove(filepath.Join(b.folder, segmentNamed(1))); err != nil {
		t.Fatal(err)
	}
	b.pass(time.Second, "an event", func() bool { return len(eventsOf[SegmentFailed](b)) == 1 })
	wantEqual(t, reporter.Pending(), Pending{})
}

func TestAFolderHasOneReporterAtATime(t *testing.T) {
	b := newBench(t)
	first := b.open(offline)
	_, err := b.tryOpen()
	wantError(t, err, SpoolInUse)
	b.store(first, usageOf())
	isLock := func(name string) bool { return strings.HasPrefix(name, lockPrefix) }
	wantEqual(t, len(b.namesWhere(isLock)), 1)
	first.Close(ended())
	b.open(offline)
	wantEqual(t, len(b.namesWhere(isLock)), 1)
}

func TestAFolderGoesToOneOfManyReportersAtOnce(t *testing.T) {
	b := newBench(t)
	errs := make([]error, 10)
	var all sync.WaitGroup
	for index := range errs {
		all.Add(1)
		go func() {
			defer all.Done()
			_, errs[index] = b.tryOpen(offline)
		}()
	}
	all.Wait()
	winners := 0
	for _, err := range errs {
		if err == nil {
			winners++
			continue
		}
		wantError(t, err, SpoolInUse)
	}
	if winners > 1 {
		t.Errorf("%d winners", winners)
	}
	if winners == 0 {
		b.open(offline)
	}
	_, err := b.tryOpen()
	wantError(t, err, SpoolInUse)
}

func TestAFolderMayHaveALongPath(t *testing.T) {
	b := newBench(t)
	spool := func(o *Options) { o.Spool = filepath.Join(b.folder, strings.Repeat("x", 120), "spool") }
	b.open(offline, spool)
	_, err := b.tryOpen(spool)
	wantError(t, err, SpoolInUse)
}

// brokenListener has no free file descriptors.
type brokenListener struct {
	net.Listener
	accepts  atomic.Int32
	isClosed atomic.Bool
}

func (l *brokenListener) Accept() (net.Conn, error) {
	l.accepts.Add(1)
	if l.isClosed.Load() {
		return nil, net.ErrClosed
	}
	return nil, syscall.EMFILE
}

func (l *brokenListener) Close() error {
	l.isClosed.Store(true)
	return nil
}

func TestALockWaitsForFileDescriptors(t *testing.T) {
	listener := &brokenListener{}
	lock := &folderLock{listener: listener, over: make(chan struct{})}
	go lock.answer()
	time.Sleep(20 * time.Millisecond)
	lock.release()
	if accepts := listener.accepts.Load(); accepts > 3 {
		t.Errorf("it tried %d times", accepts)
	}
}

func TestAFolderThatCannotBeCreated(t *testing.T) {
	b := newBench(t)
	b.write("file")
	_, err := b.tryOpen(func(o *Options) { o.Spool = filepath.Join(b.folder, "file") })
	if !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v", err)
	}
}

func TestNoUsageIsAcceptedOnceTheReporterIsClosed(t *testing.T) {
	b := newBench(t)
	reporter := b.open()
	session, err := reporter.StartSession(SessionStart{Role: Host, Tier: HD})
	if err != nil {
		t.Fatal(err)
	}
	reporter.Close(context.Background())
	_, err = reporter.Record(context.Background(), usageOf())
	wantError(t, err, Closed)
	_, err = reporter.StartSession(SessionStart{Role: Host, Tier: HD})
	wantError(t, err, Closed)
	wantError(t, session.Add(5, 0), Closed)
	b.wantFiles()
}

// A write that cannot be taken back stops the spool.
func TestAWriteThatCannotBeTakenBack(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline)
	b.store(reporter, usageOf())
	reporter.spool.work.Lock()
	reporter.spool.open.file.Close()
	reporter.spool.work.Unlock()
	for range 2 {
		_, added := reporter.store(usageOf())
		reporter.Sync()
		wantError(t, reporter.spool.wait(context.Background(), added), SpoolBroken)
	}
	wantEqual(t, reporter.Close(ended()), 1)
	wantEqual(t, len(b.idsOf(segmentNamed(1))), 1)
}

// Otherwise a relay with many participants would not send.
func TestNewRecordsDoNotHoldUpASeal(t *testing.T) {
	b := newBench(t)
	reporter := b.open(offline, records(batchRecordsMax))
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	for range 2 * syncRecords {
		all.Add(1)
		go func() {
			defer all.Done()
			for ctx.Err() == nil {
				_, _ = reporter.Record(ctx, usageOf())
			}
		}()
	}
	for range 10 {
		before := reporter.Pending().Records
		b.until("records", func() bool { return reporter.Pending().Records > before })
		reporter.spool.seal()
		if stored := reporter.Pending().Records - before; stored > batchRecordsMax {
			t.Errorf("%d records were stored meanwhile", stored)
		}
	}
	cancel()
	all.Wait()
}

func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 64, 1_024} {
		b.Run(fmt.Sprintf("%d callers", callers), func(b *testing.B) {
			options := Options{
				URL: "http://127.0.0.1:1", Key: Key("relay-key"), Spool: b.TempDir(), RelayID: "relay-7",
				BatchRecords: batchRecordsMax, BatchBytes: batchBytesMax,
			}
			offline(&options)
			reporter, err := Open(options)
			if err != nil {
				b.Fatal(err)
			}
			defer reporter.Close(ended())
			b.ResetTimer()
			var all sync.WaitGroup
			for caller := range callers {
				all.Add(1)
				go func() {
					defer all.Done()
					for count := caller; count < b.N; count += callers {
						if _, err := reporter.Record(context.Background(), usageOf()); err != nil {
							b.Error(err)
							return
						}
					}
				}()
			}
			all.Wait()
		})
	}
}
