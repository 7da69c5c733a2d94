package usage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// syncRecords: flush when this many records wait for the disk,
	syncRecords = 64
	// syncWait: or when one has waited this long.
	syncWait = 200 * time.Millisecond
	// readAgainWait: a segment that cannot be read is tried again after this time.
	readAgainWait = time.Minute
)

type spoolOptions struct {
	folder string
	// limits: a segment never exceeds a batch, so that one request sends it all.
	limits batchLimits
	clock  Clock
	emit   emit
	// onChange is called when there is something new to send, or soon will be. It must not block.
	onChange func()
	// running returns what running sessions would record if they ended now, under the ids that it will have.
	running func() []string
}

// segment is a sealed file.
type segment struct {
	path    string
	records int
	// fileBytes are the acknowledged bytes of the file.
	fileBytes int
	// isCorrupt: some bytes are damaged.
	isCorrupt bool
	// readAgainAt is for one that could not be read.
	readAgainAt time.Duration
}

// appending is the lines of one call, which become durable together or not at all.
type appending struct {
	lines     []string
	bodyBytes int
	// done closes when they are on disk, or err says why not.
	done chan struct{}
	err  error
}

func (a *appending) finish(err error) {
	a.err = err
	close(a.done)
}

// refusedAppending was not accepted.
func refusedAppending(err error) *appending {
	refused := &appending{done: make(chan struct{})}
	refused.finish(err)
	return refused
}

// spool keeps records on disk, from their acknowledgement until the service has them.
//
// A folder of numbered segment files (segment.go). New records are appended to the open segment, and many share one
// fsync. A sealed segment is never written again: a batch is made from it, and it is deleted once the service has
// settled all its records. Segments of an earlier start are sealed. What running sessions have used since their last
// record is kept beside it, and becomes records at the next start.
//
//	0000000042.segment   records to be sent
//	0000000007.kept      a segment for a person to inspect
//	quarantine.jsonl     records the service refused, with the reason
//	running.records      what running sessions would record if they ended now
//	lock.*               the owner of the folder
type spool struct {
	options   spoolOptions
	directory *os.File
	lock      *folderLock

	// work serializes the work on the open segment. It is taken before mu.
	work sync.Mutex
	// hasCheckpoint: the usage of running sessions is on disk. Guarded by work.
	hasCheckpoint bool

	mu     sync.Mutex
	sealed []*segment
	// unread are segments that cannot be read now, in the order in which they are tried again.
	unread         []*segment
	open           *openSegment
	lastNumber     int
	waiting        []*appending
	waitingRecords int
	// stopTimer is not nil while a timer will flush.
	stopTimer func()
	// refusal says why no more records are accepted; broken, why none is written.
	refusal, broken error

	// flush wakes the writer.
	flush chan struct{}
	// isOver closes to end the writer, which then closes isWritten.
	isOver, isWritten chan struct{}
}

// openSpool locks the folder, and loads what an earlier start left in it. It returns [SpoolInUse], or the file system's
// error.
func openSpool(options spoolOptions) (*spool, error) {
	folder, err := filepath.Abs(options.folder)
	if err != nil {
		return nil, err
	}
	options.folder = folder
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	directory, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	lock, err := lockFolder(folder, directory)
	if err != nil {
		directory.Close()
		return nil, err
	}
	s := &spool{
		options:   options,
		directory: directory,
		lock:      lock,
		flush:     make(chan struct{}, 1),
		isOver:    make(chan struct{}),
		isWritten: make(chan struct{}),
	}
	if err := s.recover(); err != nil {
		lock.release()
		directory.Close()
		return nil, err
	}
	go s.write()
	return s, nil
}

// pending returns the stored and unsettled records.
func (s *spool) pending() Pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pending Pending
	for _, each := range slices.Concat(s.sealed, s.unread) {
		pending.Segments++
		pending.Records += each.records
	}
	if s.open != nil {
		pending.Segments++
		pending.Records += s.open.records
	}
	return pending
}

// openSince returns when the first record of the open segment was stored. It reports whether there is one.
func (s *spool) openSince() (since time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return 0, false
	}
	return s.open.since, true
}

// oldest returns the next segment to send; nil if there is none.
func (s *spool) oldest() *segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.unread) > 0 && s.unread[0].readAgainAt <= s.options.clock.Now() {
		s.sealed, s.unread = append(s.sealed, s.unread[0]), s.unread[1:]
	}
	if len(s.sealed) == 0 {
		return nil
	}
	return s.sealed[0]
}

// append begins to store lines, all or none.
func (s *spool) append(lines []string) *appending {
	added := &appending{lines: lines, done: make(chan struct{})}
	for _, line := range lines {
		added.bodyBytes += bytesOf(line)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal != nil {
		added.finish(s.refusal)
		return added
	}
	s.waiting = append(s.waiting, added)
	s.waitingRecords += len(lines)
	if s.waitingRecords >= syncRecords {
		s.flushSoon()
	} else if s.stopTimer == nil {
		s.stopTimer = s.options.clock.AfterFunc(syncWait, s.flushSoon)
	}
	return added
}

// wait returns once the lines are on disk, or with the reason why they are not. After [SpoolFailed], and after the error
// of the context, none of them is stored, so the call can be repeated.
func (s *spool) wait(ctx context.Context, added *appending) error {
	select {
	case <-added.done:
		return added.err
	case <-ctx.Done():
	}
	if s.withdraw(added) {
		return context.Cause(ctx)
	}
	// The disk is at work on it already.
	<-added.done
	return added.err
}

// withdraw takes lines back that nobody writes yet.
func (s *spool) withdraw(added *appending) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.waiting, added)
	if at < 0 {
		return false
	}
	s.waiting = slices.Delete(s.waiting, at, at+1)
	s.waitingRecords -= len(added.lines)
	return true
}

func (s *spool) flushSoon() {
	select {
	case s.flush <- struct{}{}:
	default:
	}
}

// write stores waiting lines until the spool is closed.
func (s *spool) write() {
	defer close(s.isWritten)
	for {
		select {
		case <-s.flush:
			s.sync()
		case <-s.isOver:
			return
		}
	}
}

// sync stores the waiting lines. It has no error: each append reports to its own caller.
func (s *spool) sync() {
	s.work.Lock()
	defer s.work.Unlock()
	s.writeWaiting()
}

// seal stores the waiting lines, and seals the open segment so that it can be sent.
func (s *spool) seal() {
	s.work.Lock()
	defer s.work.Unlock()
	s.writeWaiting()
	s.sealOpen()
}

// close stores the waiting lines and releases the folder.
func (s *spool) close() {
	s.mu.Lock()
	if s.refusal == nil {
		s.refusal = errClosed()
	}
	s.mu.Unlock()
	s.seal()
	s.checkpoint()
	close(s.isOver)
	<-s.isWritten
	s.lock.release()
	s.directory.Close()
}

// read returns the records of a segment, as they were stored. Otherwise the segment is skipped, for a minute if it is
// still there.
func (s *spool) read(from *segment) (lines []string, ok bool) {
	text, err := os.ReadFile(from.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			s.forget(from)
		} else {
			s.putOff(from)
		}
		s.options.emit(SegmentFailed{File: from.path, Cause: err})
		return nil, false
	}
	return parseSegment(text[:min(len(text), from.fileBytes)]).lines, true
}

// keptPath is the path at which settle keeps a segment.
func (s *spool) keptPath(of *segment) string {
	return strings.TrimSuffix(of.path, segmentSuffix) + keptSuffix
}

// settle ends a segment whose records are all settled: it is deleted, or kept for a person to inspect.
func (s *spool) settle(settled *segment, isKept bool) {
	s.refreshCheckpoint()
	var err error
	if isKept || settled.isCorrupt {
		err = os.Rename(settled.path, s.keptPath(settled))
	} else {
		err = os.Remove(settled.path)
	}
	if err != nil {
		s.options.emit(SegmentFailed{File: settled.path, Cause: err})
	}
	s.forget(settled)
}

func (s *spool) forget(gone *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = slices.DeleteFunc(s.sealed, func(each *segment) bool { return each == gone })
}

// putOff tries a segment again later, and others meanwhile.
func (s *spool) putOff(unread *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = slices.DeleteFunc(s.sealed, func(each *segment) bool { return each == unread })
	unread.readAgainAt = s.options.clock.Now() + readAgainWait
	s.unread = append(s.unread, unread)
}

func (s *spool) quarantinePath() string { return filepath.Join(s.options.folder, "quarantine.jsonl") }

// quarantine keeps a refused record with the reason. After a crash before settle it may be there twice.
func (s *spool) quarantine(line, message string) (err error) {
	file, err := os.OpenFile(s.quarantinePath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return err
	}
	reason, err := renderJSON(message)
	if err != nil {
		return err
	}
	_, err = file.WriteString(`{"message":` + reason + `,"record":` + line + "}\n")
	if err == nil {
		err = syncData(file)
	}
	if err != nil {
		// Half a line would spoil the next one.
		_ = file.Truncate(before.Size())
		return err
	}
	return s.directory.Sync()
}
