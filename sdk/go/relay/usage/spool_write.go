package usage

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

const (
	segmentSuffix = ".segment"
	keptSuffix    = ".kept"
)

var segmentName = regexp.MustCompile(`^(\d{10})(\.segment|\.kept)$`)

// openSegment is the file to which records are appended.
type openSegment struct {
	path string
	file *os.File
	// since is when its first record was stored, by the monotonic clock.
	since     time.Duration
	records   int
	fileBytes int
	bodyBytes int
}

// recover loads the segments of an earlier start.
func (s *spool) recover() error {
	entries, err := os.ReadDir(s.options.folder)
	if err != nil {
		return err
	}
	tornBytes := 0
	for _, entry := range entries {
		match := segmentName.FindStringSubmatch(entry.Name())
		if match == nil {
			continue
		}
		number, err := strconv.Atoi(match[1])
		if err != nil {
			return err
		}
		s.lastNumber = max(s.lastNumber, number)
		if match[2] == segmentSuffix {
			tornBytes += s.recoverSegment(filepath.Join(s.options.folder, entry.Name()))
		}
	}
	if err := s.recoverRunning(); err != nil {
		return err
	}
	if pending := s.pending(); pending.Segments > 0 {
		s.options.emit(SpoolRecovered{Segments: pending.Segments, Records: pending.Records, TornBytes: tornBytes})
	}
	return nil
}

// recoverSegment returns the bytes of an incomplete entry from the earlier start.
func (s *spool) recoverSegment(path string) (tornBytes int) {
	text, err := os.ReadFile(path)
	if err != nil {
		// It is not known to be whole, so the file stays.
		s.putOff(&segment{path: path, fileBytes: math.MaxInt, isCorrupt: true})
		s.options.emit(SegmentFailed{File: path, Cause: err})
		return 0
	}
	parsed := parseSegment(text)
	for _, damage := range parsed.corrupt {
		s.options.emit(SegmentCorrupt{File: path, Offset: damage.offset, Bytes: damage.bytes})
	}
	s.sealed = append(s.sealed, &segment{
		path:      path,
		records:   len(parsed.lines),
		fileBytes: len(text),
		isCorrupt: len(parsed.corrupt) > 0,
	})
	return parsed.tornBytes
}

// writeWaiting stores the lines that wait now. Later ones are left to the next call, so that a busy relay can seal.
// The caller holds work, as of all functions below.
func (s *spool) writeWaiting() {
	for left := s.countWaiting(); left > 0; {
		group, isMore := s.takeGroup()
		switch {
		case len(group) > 0:
			left -= len(group)
			err := s.writeGroup(group)
			for _, each := range group {
				each.finish(err)
			}
		case isMore:
			s.sealOpen()
		default:
			return
		}
	}
}

// countWaiting returns the number of calls that wait. They are stored now, so the timer is not needed.
func (s *spool) countWaiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopTimer != nil {
		s.stopTimer()
		s.stopTimer = nil
	}
	return len(s.waiting)
}

// takeGroup takes as many waiting calls as fit into the open segment; at least one if the segment is empty. It reports
// whether calls wait.
func (s *spool) takeGroup() (group []*appending, isMore bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	records, bytes := 0, envelopeBytes
	if s.open != nil {
		records, bytes = s.open.records, s.open.bodyBytes
	}
	count := 0
	for _, each := range s.waiting {
		limits := s.options.limits
		fits := records+len(each.lines) <= limits.records && bytes+each.bodyBytes <= limits.bytes
		if !fits && records > 0 {
			break
		}
		records += len(each.lines)
		bytes += each.bodyBytes
		s.waitingRecords -= len(each.lines)
		count++
	}
	isMore = len(s.waiting) > 0
	group, s.waiting = s.waiting[:count:count], s.waiting[count:]
	return group, isMore
}

// writeGroup stores calls, all or none.
func (s *spool) writeGroup(group []*appending) error {
	s.mu.Lock()
	to, broken := s.open, s.broken
	s.mu.Unlock()
	if broken != nil {
		return broken
	}
	if to == nil {
		created, err := s.createSegment()
		if err != nil {
			return storeFailed(err)
		}
		to = created
	}
	written, err := s.appendTo(to, group)
	if err != nil {
		return s.undo(to, err)
	}
	s.mu.Lock()
	for _, each := range group {
		to.records += len(each.lines)
		to.bodyBytes += each.bodyBytes
	}
	to.fileBytes += written
	isFull := to.records >= s.options.limits.records
	s.mu.Unlock()
	if isFull {
		s.sealOpen()
	} else {
		s.options.onChange()
	}
	return nil
}

// appendTo returns the number of bytes that are on the disk now.
func (s *spool) appendTo(to *openSegment, group []*appending) (written int, err error) {
	var entries []byte
	for _, each := range group {
		for _, line := range each.lines {
			entries = appendEntry(entries, line)
		}
	}
	if _, err := to.file.Write(entries); err != nil {
		return 0, err
	}
	return len(entries), syncData(to.file)
}

func (s *spool) createSegment() (*openSegment, error) {
	s.mu.Lock()
	s.lastNumber++
	name := fmt.Sprintf("%010d%s", s.lastNumber, segmentSuffix)
	s.mu.Unlock()
	path := filepath.Join(s.options.folder, name)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	// Without this, a power failure could lose the name of the file, and so all of it.
	if err := s.directory.Sync(); err != nil {
		file.Close()
		_ = os.Remove(path)
		return nil, err
	}
	created := &openSegment{path: path, file: file, since: s.options.clock.Now(), bodyBytes: envelopeBytes}
	s.mu.Lock()
	s.open = created
	s.mu.Unlock()
	return created, nil
}

// undo rolls back a failed write, so that the caller may record the same usage again without having it charged twice. A
// file that failed once is not written again.
func (s *spool) undo(failed *openSegment, cause error) error {
	err := failed.file.Truncate(int64(failed.fileBytes))
	if err == nil {
		err = syncData(failed.file)
	}
	if err == nil {
		s.sealOpen()
		return storeFailed(cause)
	}
	broken := &Error{Code: SpoolBroken, message: "a failed write could not be taken back", cause: err}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken, s.refusal = broken, broken
	return broken
}

// sealOpen ends the open segment, if there is one.
func (s *spool) sealOpen() {
	s.mu.Lock()
	ended := s.open
	s.open = nil
	if ended != nil && ended.records > 0 {
		s.sealed = append(s.sealed, &segment{path: ended.path, records: ended.records, fileBytes: ended.fileBytes})
	}
	s.mu.Unlock()
	if ended == nil {
		return
	}
	// Everything acknowledged was synced before, so closing cannot lose data.
	ended.file.Close()
	if ended.records == 0 {
		_ = os.Remove(ended.path)
		return
	}
	s.options.onChange()
}

func storeFailed(cause error) error {
	return &Error{Code: SpoolFailed, message: "usage could not be stored", cause: cause}
}

func errClosed() error { return &Error{Code: Closed, message: "the reporter is closed"} }
