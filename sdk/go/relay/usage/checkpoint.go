package usage

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

func (s *spool) runningPath() string { return filepath.Join(s.options.folder, "running.records") }

// checkpoint keeps what running sessions have used. It has no error: it is repeated soon.
func (s *spool) checkpoint() {
	s.work.Lock()
	defer s.work.Unlock()
	s.writeCheckpoint()
}

// refreshCheckpoint comes before a segment is deleted: a checkpoint from before its records has their ids, so the next
// start would report them again.
func (s *spool) refreshCheckpoint() {
	s.work.Lock()
	defer s.work.Unlock()
	if s.hasCheckpoint {
		s.writeCheckpoint()
	}
}

func (s *spool) writeCheckpoint() {
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()
	// After a failed write it is not known which records are on disk: the last checkpoint still tells.
	if broken != nil {
		return
	}
	lines := s.options.running()
	if len(lines) == 0 && !s.hasCheckpoint {
		return
	}
	if err := s.replaceRunning(lines); err != nil {
		s.options.emit(CheckpointFailed{Cause: err})
		return
	}
	s.hasCheckpoint = len(lines) > 0
}

func (s *spool) replaceRunning(lines []string) error {
	if len(lines) == 0 {
		return removeIfThere(s.runningPath())
	}
	var entries []byte
	for _, line := range lines {
		entries = appendEntry(entries, line)
	}
	path := s.runningPath() + ".new"
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(entries)
	if err == nil {
		err = syncData(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path, s.runningPath()); err != nil {
		return err
	}
	return s.directory.Sync()
}

// recoverRunning makes records of what the sessions of the earlier start had used since their last record.
func (s *spool) recoverRunning() error {
	text, err := os.ReadFile(s.runningPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	parsed := parseSegment(text)
	for _, damage := range parsed.corrupt {
		s.options.emit(SegmentCorrupt{File: s.runningPath(), Offset: damage.offset, Bytes: damage.bytes})
	}
	recorded := s.recordedIDs()
	var stored []*appending
	for _, line := range parsed.lines {
		if !recorded[idOf(line)] {
			stored = append(stored, s.append([]string{line}))
		}
	}
	s.sync()
	for _, each := range stored {
		<-each.done
		if each.err != nil {
			return each.err
		}
	}
	return removeIfThere(s.runningPath())
}

// recordedIDs are those of all records that an earlier start has left.
func (s *spool) recordedIDs() map[string]bool {
	recorded := map[string]bool{}
	for _, each := range append([]*segment(nil), s.sealed...) {
		lines, _ := s.read(each)
		for _, line := range lines {
			recorded[idOf(line)] = true
		}
	}
	return recorded
}

func idOf(line string) string {
	var record struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal([]byte(line), &record)
	return record.ID
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
