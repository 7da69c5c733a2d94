package usage

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/plainjson"
)

// SessionStart is the participant of a session.
type SessionStart struct {
	// SessionID becomes part of the ids. Default: a number from the reporter.
	SessionID string
	// Tenant may be empty. Otherwise it must be the key's tenant.
	Tenant string
	// Room is its name, which the ledger shows. It may be empty.
	Room string
	// Participant is a name, which the ledger shows. It may be empty.
	Participant string
	// Role decides the ceiling of the price.
	Role Role
	// Tier decides the ceiling of the price: see [TierOf].
	Tier Tier
}

func (s *SessionStart) record() Record {
	return Record{
		SessionID:   s.SessionID,
		Tenant:      s.Tenant,
		Room:        s.Room,
		Participant: s.Participant,
		Role:        s.Role,
		Tier:        s.Tier,
	}
}

// tally is the usage of one session in one role and tier that is no record yet.
type tally struct {
	role Role
	tier Tier
	// id is that of the record that it becomes; empty until it is known.
	id   string
	time time.Duration
	// egress and ingress are bytes.
	egress, ingress int64
}

// unrecorded is a record that is not stored yet.
type unrecorded struct {
	id     string
	record Record
}

// storing is a record on its way to the disk.
type storing struct {
	unrecorded
	done <-chan struct{}
	// settle returns the result, and takes the usage back after a failure. It is called after done.
	settle func() error
}

// Session is the stay of one participant; the reporter counts its seconds. It is for concurrent use.
type Session struct {
	id       string
	start    SessionStart
	sessions *sessions

	mu sync.Mutex
	// tallies are in the order in which their roles and tiers were first held.
	tallies      []*tally
	current      *tally
	countedUntil time.Duration
	storing      map[*storing]struct{}
	isEnded      bool
}

// ID is the session's part of the ids of records.
func (s *Session) ID() string { return s.id }

// Add counts bytes since the last call: egress was sent to the participant, ingress was received from the participant.
// Its error is [InvalidUsage], or [Closed] once the session or the reporter has ended.
func (s *Session) Add(egress, ingress int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isEnded {
		return &Error{Code: Closed, message: "the session has ended"}
	}
	for _, count := range []struct {
		name        string
		more, until int64
	}{{"egress", egress, s.current.egress}, {"ingress", ingress, s.current.ingress}} {
		if err := checkCount(count.name, count.more); err != nil {
			return err
		}
		if count.more > plainjson.WholeMax-count.until {
			return invalidUsage("%s of an interval must be at most 2^53 - 1", count.name)
		}
	}
	s.current.egress += egress
	s.current.ingress += ingress
	return nil
}

// Change gives the participant another role or tier from now on. An empty one stays as it is. Its error is
// [InvalidUsage].
func (s *Session) Change(role Role, tier Tier) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if role == "" {
		role = s.current.role
	}
	if tier == "" {
		tier = s.current.tier
	}
	if err := checkGrant(role, tier); err != nil {
		return err
	}
	s.countTime()
	s.current = s.tallyOf(role, tier)
	return nil
}

// End says that the participant left. It returns once the last interval is on disk; after an error, call it again.
func (s *Session) End(ctx context.Context) error {
	return s.finish(ctx, s.cut(true))
}

// cut begins to record the usage so far. It returns what is on its way to the disk, earlier intervals included: if one
// fails, its usage comes back, and the session has not ended.
func (s *Session) cut(isEnd bool) []*storing {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.countTime()
	s.isEnded = s.isEnded || isEnd
	for _, tally := range s.tallies {
		s.store(tally)
	}
	all := make([]*storing, 0, len(s.storing))
	for each := range s.storing {
		all = append(all, each)
	}
	return all
}

// finish waits for the disk.
func (s *Session) finish(ctx context.Context, all []*storing) error {
	var failure error
	for _, each := range all {
		select {
		case <-each.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := each.settle(); err != nil {
			failure = err
		}
	}
	if failure != nil {
		return failure
	}
	s.mu.Lock()
	isOver := s.isEnded && len(s.storing) == 0
	s.mu.Unlock()
	if isOver {
		s.sessions.forget(s)
	}
	return nil
}

// store begins to record a tally. Whole seconds are reported. The remaining fraction waits for the next interval:
// otherwise its bytes would be reported with zero seconds, and so with a price ceiling of zero.
func (s *Session) store(from *tally) {
	seconds := math.Floor(from.time.Seconds())
	if s.isEnded {
		seconds = math.Round(from.time.Seconds())
	}
	isLast := s.isEnded && (from.egress > 0 || from.ingress > 0)
	if seconds == 0 && !isLast {
		return
	}
	next := s.unrecordedOf(from, seconds)
	taken := *from
	taken.time = min(from.time, time.Duration(seconds)*time.Second)
	from.id = ""
	from.time -= taken.time
	from.egress, from.ingress = 0, 0

	added := s.sessions.record(next)
	stored := &storing{unrecorded: next, done: added.done}
	stored.settle = sync.OnceValue(func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.storing, stored)
		if added.err != nil {
			// The last checkpoint may have it: under another id it would be charged twice after a crash.
			from.id = next.id
			from.time += taken.time
			from.egress += taken.egress
			from.ingress += taken.ingress
		}
		return added.err
	})
	s.storing[stored] = struct{}{}
}

// unrecorded returns what the session would record if it ended now.
func (s *Session) unrecorded() []unrecorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.countTime()
	var all []unrecorded
	for each := range s.storing {
		all = append(all, each.unrecorded)
	}
	for _, tally := range s.tallies {
		seconds := math.Round(tally.time.Seconds())
		if seconds > 0 || tally.egress > 0 || tally.ingress > 0 {
			all = append(all, s.unrecordedOf(tally, seconds))
		}
	}
	return all
}

func (s *Session) unrecordedOf(from *tally, seconds float64) unrecorded {
	if from.id == "" {
		from.id = s.sessions.newID(s.id)
	}
	record := s.start.record()
	record.SessionID = s.id
	record.Role, record.Tier = from.role, from.tier
	record.Seconds = int64(seconds)
	record.EgressBytes, record.IngressBytes = from.egress, from.ingress
	return unrecorded{id: from.id, record: record}
}

func (s *Session) countTime() {
	now := s.sessions.clock.Now()
	if !s.isEnded {
		s.current.time += max(0, now-s.countedUntil)
	}
	s.countedUntil = now
}

func (s *Session) tallyOf(role Role, tier Tier) *tally {
	for _, each := range s.tallies {
		if each.role == role && each.tier == tier {
			return each
		}
	}
	added := &tally{role: role, tier: tier}
	s.tallies = append(s.tallies, added)
	return added
}

// sessions are the stays of participants, split into intervals that become records.
//
// Usage is kept separately by role and tier, so an interval in which these changed becomes one record for each. Usage
// that could not be stored stays here, for the next interval.
type sessions struct {
	sessionsOptions

	mu      sync.Mutex
	running map[*Session]struct{}
	started int
	// stopTimer stops the next cut, and stopCheckpoint the next checkpoint.
	stopTimer, stopCheckpoint func()
	isClosed                  bool
	// cuts in progress.
	cuts sync.WaitGroup
}

type sessionsOptions struct {
	interval time.Duration
	clock    Clock
	emit     emit
	newID    func(sessionID string) string
	// record begins to store usage.
	record func(unrecorded) *appending
	// checkpoint keeps what unrecorded returns, in place of what was kept before.
	checkpoint func()
}

// checkpointWait is how often the usage of running sessions is kept on disk: what a crash can lose.
const checkpointWait = time.Second

func newSessions(options sessionsOptions) *sessions {
	s := &sessions{sessionsOptions: options, running: map[*Session]struct{}{}}
	s.stopTimer = s.clock.AfterFunc(s.interval, s.cutAll)
	return s
}

// unrecorded returns what running sessions would record if they ended now. The ids stay the same until it is recorded.
func (s *sessions) unrecorded() []unrecorded {
	s.mu.Lock()
	running := slices.Collect(maps.Keys(s.running))
	s.mu.Unlock()
	var all []unrecorded
	for _, session := range running {
		all = append(all, session.unrecorded()...)
	}
	return all
}

// checkpointLater keeps the usage of sessions while they run, and once after the last one. The caller holds mu.
func (s *sessions) checkpointLater() {
	if s.stopCheckpoint != nil {
		return
	}
	s.stopCheckpoint = s.clock.AfterFunc(checkpointWait, func() {
		s.mu.Lock()
		s.stopCheckpoint = nil
		isClosed := s.isClosed
		if !isClosed && len(s.running) > 0 {
			s.checkpointLater()
		}
		s.mu.Unlock()
		if !isClosed {
			s.checkpoint()
		}
	})
}

func (s *sessions) begin(start SessionStart) (*Session, error) {
	record := start.record()
	if err := record.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed {
		return nil, errClosed()
	}
	s.started++
	session := &Session{
		id:           start.SessionID,
		start:        start,
		sessions:     s,
		countedUntil: s.clock.Now(),
		storing:      map[*storing]struct{}{},
	}
	if session.id == "" {
		session.id = fmt.Sprintf("s%d", s.started)
	}
	session.current = session.tallyOf(start.Role, start.Tier)
	s.running[session] = struct{}{}
	s.checkpointLater()
	return session, nil
}

func (s *sessions) forget(ended *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, ended)
}

// cutAll records an interval of every session. What cannot be stored is reported as an event.
func (s *sessions) cutAll() {
	s.mu.Lock()
	if s.isClosed {
		s.mu.Unlock()
		return
	}
	s.stopTimer = s.clock.AfterFunc(s.interval, s.cutAll)
	s.mu.Unlock()
	s.cut(false)
}

// close begins to end all sessions. The result waits for the disk.
func (s *sessions) close() (wait func()) {
	s.mu.Lock()
	s.isClosed = true
	s.stopTimer()
	if s.stopCheckpoint != nil {
		s.stopCheckpoint()
	}
	s.mu.Unlock()
	s.cut(true)
	return s.cuts.Wait
}

func (s *sessions) cut(isEnd bool) {
	s.mu.Lock()
	if s.isClosed && !isEnd {
		s.mu.Unlock()
		return
	}
	cuts := make(map[*Session][]*storing, len(s.running))
	for session := range s.running {
		cuts[session] = nil
	}
	s.cuts.Add(1)
	s.mu.Unlock()
	for session := range cuts {
		cuts[session] = session.cut(isEnd)
	}
	go func() {
		defer s.cuts.Done()
		for session, all := range cuts {
			if err := session.finish(context.Background(), all); err != nil {
				s.emit(IntervalNotStored{SessionID: session.id, Cause: err})
			}
		}
	}()
}
