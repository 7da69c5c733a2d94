package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/clocktest"
)

var errNoSpace = errors.New("no space")

// fakeDisk stores sessions' records, and can be made to fail or to wait.
type fakeDisk struct {
	clock    *clocktest.Clock
	sessions *sessions

	mu     sync.Mutex
	stored []Record
	events []Event
	// checkpoints are what running sessions would have recorded, each second.
	checkpoints [][]unrecorded
	isBroken    bool
	// held are records that wait while the disk is slow.
	held   []func()
	isSlow bool
}

func newFakeDisk(t *testing.T) *fakeDisk {
	d := &fakeDisk{clock: clocktest.New(noon)}
	ids := 0
	d.sessions = newSessions(sessionsOptions{
		interval: 30 * time.Second,
		clock:    d.clock,
		emit:     d.note,
		newID: func(session string) string {
			ids++
			return fmt.Sprintf("%s.%d", session, ids)
		},
		record:     func(next unrecorded) *appending { return d.record(next.record) },
		checkpoint: func() { d.checkpoints = append(d.checkpoints, d.sessions.unrecorded()) },
	})
	t.Cleanup(func() { d.sessions.close()() })
	return d
}

func (d *fakeDisk) note(event Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, event)
}

func (d *fakeDisk) record(usage Record) *appending {
	d.mu.Lock()
	defer d.mu.Unlock()
	added := &appending{done: make(chan struct{})}
	finish := func() {
		if d.isBroken {
			added.finish(errNoSpace)
			return
		}
		d.stored = append(d.stored, usage)
		added.finish(nil)
	}
	if d.isSlow {
		d.held = append(d.held, finish)
	} else {
		finish()
	}
	return added
}

func (d *fakeDisk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// records returns what is stored, once no cut is in progress.
func (d *fakeDisk) records() []Record {
	d.sessions.cuts.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.stored)
}

var who = SessionStart{Room: "main", Participant: "Ada", Role: Audience, Tier: HD}

func (d *fakeDisk) begin(t *testing.T, start SessionStart) *Session {
	t.Helper()
	session, err := d.sessions.begin(start)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func add(t *testing.T, session *Session, egress, ingress int64) {
	t.Helper()
	if err := session.Add(egress, ingress); err != nil {
		t.Fatal(err)
	}
}

func change(t *testing.T, session *Session, role Role, tier Tier) {
	t.Helper()
	if err := session.Change(role, tier); err != nil {
		t.Fatal(err)
	}
}

func end(t *testing.T, session *Session) {
	t.Helper()
	if err := session.End(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func secondsOf(records []Record) (sum int64) {
	for _, each := range records {
		sum += each.Seconds
	}
	return sum
}

func TestASessionBecomesARecordEvery30SecondsAndAtItsEnd(t *testing.T) {
	disk := newFakeDisk(t)
	session := disk.begin(t, who)
	add(t, session, 100, 0)
	add(t, session, 20, 3)
	disk.clock.Advance(30 * time.Second)
	add(t, session, 7, 0)
	disk.clock.Advance(12 * time.Second)
	end(t, session)
	disk.clock.Advance(time.Minute)
	base := Record{SessionID: "s1", Room: "main", Participant: "Ada", Role: Audience, Tier: HD}
	first, second := base, base
	first.Seconds, first.EgressBytes, first.IngressBytes = 30, 120, 3
	second.Seconds, second.EgressBytes = 12, 7
	wantEqual(t, disk.records(), []Record{first, second})
	wantEqual(t, len(disk.sessions.running), 0)
}

func TestASessionBecomesARecordForEachRoleAndTier(t *testing.T) {
	disk := newFakeDisk(t)
	start := who
	start.SessionID = "ada"
	session := disk.begin(t, start)
	add(t, session, 1, 0)
	disk.clock.Advance(5 * time.Second)
	change(t, session, "", FullHD)
	add(t, session, 10, 0)
	disk.clock.Advance(5 * time.Second)
	change(t, session, Host, HD)
	disk.clock.Advance(5 * time.Second)
	change(t, session, Audience, "")
	add(t, session, 100, 0)
	disk.clock.Advance(5 * time.Second)
	end(t, session)
	base := Record{SessionID: "ada", Room: "main", Participant: "Ada"}
	var want []Record
	for _, each := range []struct {
		role           Role
		tier           Tier
		seconds, bytes int64
	}{{Audience, HD, 10, 101}, {Audience, FullHD, 5, 10}, {Host, HD, 5, 0}} {
		record := base
		record.Role, record.Tier, record.Seconds, record.EgressBytes = each.role, each.tier, each.seconds, each.bytes
		want = append(want, record)
	}
	wantEqual(t, disk.records(), want)
}

func TestASessionLosesNoFractionOfASecond(t *testing.T) {
	disk := newFakeDisk(t)
	session := disk.begin(t, who)
	for range 10 {
		disk.clock.Advance(29_900 * time.Millisecond)
		change(t, session, "", HD)
		disk.clock.Advance(100 * time.Millisecond)
	}
	disk.clock.Advance(700 * time.Millisecond)
	end(t, session)
	wantEqual(t, secondsOf(disk.records()), int64(301))
}

func TestBytesOfLessThanASecondWaitForOne(t *testing.T) {
	disk := newFakeDisk(t)
	disk.clock.Advance(29_500 * time.Millisecond)
	session := disk.begin(t, who)
	add(t, session, 5, 0)
	disk.clock.Advance(500 * time.Millisecond)
	wantEqual(t, len(disk.records()), 0)
	disk.clock.Advance(30 * time.Second)
	records := disk.records()
	wantEqual(t, []int64{records[0].Seconds, records[0].EgressBytes}, []int64{30, 5})
	end(t, session)
	wantEqual(t, secondsOf(disk.records()), int64(31))
}

func TestAClockThatGoesBackOrJumps(t *testing.T) {
	disk := newFakeDisk(t)
	session := disk.begin(t, who)
	disk.clock.SetWall(time.Unix(0, 0))
	disk.clock.Jump(-5 * time.Second)
	end(t, session)
	wantEqual(t, len(disk.records()), 0)
	other := disk.begin(t, who)
	disk.clock.Jump(200_000 * time.Second)
	end(t, other)
	wantEqual(t, secondsOf(disk.records()), int64(200_000))
}

func TestWhatTheDiskRefusedIsKeptForTheNextInterval(t *testing.T) {
	disk := newFakeDisk(t)
	session := disk.begin(t, who)
	add(t, session, 100, 0)
	disk.set(func() { disk.isBroken = true })
	disk.clock.Advance(30 * time.Second)
	disk.sessions.cuts.Wait()
	wantEqual(t, disk.events, []Event{IntervalNotStored{SessionID: "s1", Cause: errNoSpace}})
	add(t, session, 1, 0)
	if err := session.End(context.Background()); !errors.Is(err, errNoSpace) {
		t.Errorf("got %v", err)
	}
	disk.clock.Advance(10 * time.Second)
	disk.set(func() { disk.isBroken = false })
	end(t, session)
	records := disk.records()
	wantEqual(t, []int64{records[0].Seconds, records[0].EgressBytes}, []int64{30, 101})
	end(t, session)
	wantEqual(t, len(disk.records()), 1)
	wantError(t, session.Add(1, 0), Closed)
}

func TestASessionThatEndedOnAFullDiskIsStoredOnceThereIsSpace(t *testing.T) {
	disk := newFakeDisk(t)
	session := disk.begin(t, who)
	disk.clock.Advance(10 * time.Second)
	disk.set(func() { disk.isBroken = true })
	if err := session.End(context.Background()); !errors.Is(err, errNoSpace) {
		t.Errorf("got %v", err)
	}
	disk.set(func() { disk.isBroken = false })
	disk.clock.Advance(20 * time.Second)
	wantEqual(t, secondsOf(disk.records()), int64(10))
}

func TestASessionDoesNotEndWhileAnEarlierIntervalMayFail(t *testing.T) {
	disk := newFakeDisk(t)
	session := disk.begin(t, who)
	add(t, session, 9, 0)
	disk.set(func() { disk.isSlow = true })
	disk.clock.Advance(30 * time.Second)
	ending := make(chan error, 1)
	go func() { ending <- session.End(context.Background()) }()
	if err := session.End(ended()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	disk.set(func() {
		disk.isBroken = true
		for _, finish := range disk.held {
			finish()
		}
		disk.isSlow = false
	})
	if err := <-ending; !errors.Is(err, errNoSpace) {
		t.Errorf("got %v", err)
	}
	disk.sessions.cuts.Wait()
	disk.set(func() { disk.isBroken = false })
	end(t, session)
	records := disk.records()
	wantEqual(t, []int64{records[0].Seconds, records[0].EgressBytes}, []int64{30, 9})
}

func TestSessionsRefuseInvalidCountsRolesAndTiers(t *testing.T) {
	disk := newFakeDisk(t)
	session := disk.begin(t, who)
	wantError(t, session.Add(-1, 0), InvalidUsage)
	wantError(t, session.Add(0, 1<<53), InvalidUsage)
	add(t, session, 1<<53-1, 0)
	wantError(t, session.Add(1, 0), InvalidUsage)
	wantError(t, session.Change("", "4k"), InvalidUsage)
	_, err := disk.sessions.begin(SessionStart{Role: "guest", Tier: HD})
	wantError(t, err, InvalidUsage)
	_, err = disk.sessions.begin(SessionStart{Role: Host, Tier: HD, Room: strings.Repeat("x", 201)})
	wantError(t, err, InvalidUsage)
}

func TestClosingEndsEverySession(t *testing.T) {
	disk := newFakeDisk(t)
	for range 3 {
		disk.begin(t, who)
	}
	disk.clock.Advance(4 * time.Second)
	disk.sessions.close()()
	ids := []string{}
	for _, record := range disk.records() {
		ids = append(ids, record.SessionID)
	}
	slices.Sort(ids)
	wantEqual(t, ids, []string{"s1", "s2", "s3"})
	wantEqual(t, secondsOf(disk.records()), int64(12))
	wantEqual(t, len(disk.clock.Timers()), 0)
}

func TestTheUsageOfRunningSessionsIsKeptEverySecond(t *testing.T) {
	disk := newFakeDisk(t)
	session := disk.begin(t, who)
	add(t, session, 100, 0)
	disk.clock.Advance(time.Second)
	add(t, session, 20, 0)
	disk.clock.Advance(time.Second)
	end(t, session)
	disk.clock.Advance(5 * time.Second)
	wantEqual(t, keptBy(disk), [][]string{{"s1.1 1 100"}, {"s1.1 2 120"}, nil})
}

func TestARecordOnItsWayToTheDiskIsKeptToo(t *testing.T) {
	disk := newFakeDisk(t)
	disk.set(func() { disk.isSlow = true })
	add(t, disk.begin(t, who), 100, 0)
	disk.clock.Advance(31 * time.Second)
	kept := keptBy(disk)
	wantEqual(t, kept[len(kept)-1], []string{"s1.1 30 100", "s1.2 1 0"})
	disk.set(func() {
		for _, finish := range disk.held {
			finish()
		}
		disk.isSlow = false
	})
}

// keptBy returns id, seconds and bytes of what each checkpoint had.
func keptBy(disk *fakeDisk) (all [][]string) {
	for _, checkpoint := range disk.checkpoints {
		var kept []string
		for _, each := range checkpoint {
			kept = append(kept, fmt.Sprintf("%s %d %d", each.id, each.record.Seconds, each.record.EgressBytes))
		}
		all = append(all, kept)
	}
	return all
}
