// Package clocktest has a clock for tests that advances only when a test moves it.
package clocktest

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Clock is a clock of the relay. Its zero value is not usable: see [New].
type Clock struct {
	mu     sync.Mutex
	now    time.Duration
	wall   time.Time
	timers map[*timer]struct{}
}

type timer struct {
	at time.Duration
	f  func()
}

// New returns a clock that stands at this time of the wall.
func New(wall time.Time) *Clock {
	return &Clock{now: time.Second, wall: wall, timers: map[*timer]struct{}{}}
}

// Now returns the monotonic time.
func (c *Clock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Wall returns the time of the wall clock.
func (c *Clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// AfterFunc calls f once, from the Advance that passes the time.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now + d, f: f}
	c.timers[t] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, t)
	}
}

// Advance lets time pass, and runs what becomes due, in order.
func (c *Clock) Advance(d time.Duration) {
	end := c.Now() + d
	for {
		due := c.takeDue(end)
		if due == nil {
			break
		}
		due.f()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass(end - c.now)
}

func (c *Clock) takeDue(end time.Duration) *timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	var due *timer
	for t := range c.timers {
		if t.at <= end && (due == nil || t.at < due.at) {
			due = t
		}
	}
	if due != nil {
		delete(c.timers, due)
		c.pass(due.at - c.now)
	}
	return due
}

// Timers returns the times until each timer is due, the soonest first.
func (c *Clock) Timers() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := make([]time.Duration, 0, len(c.timers))
	for t := range c.timers {
		left = append(left, t.at-c.now)
	}
	slices.SortFunc(left, cmp.Compare)
	return left
}

// SetWall sets the wall clock.
func (c *Clock) SetWall(wall time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = wall
}

// Jump moves the monotonic clock alone, as after a migration of a virtual machine. No timer runs.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
}

func (c *Clock) pass(d time.Duration) {
	if d > 0 {
		c.now += d
		c.wall = c.wall.Add(d)
	}
}
