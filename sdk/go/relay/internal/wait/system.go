package wait

import "time"

// SystemClock is the clock of the machine.
type SystemClock struct{ start time.Time }

// System returns the clock of the machine.
func System() SystemClock { return SystemClock{start: time.Now()} }

// Now returns the monotonic time.
func (c SystemClock) Now() time.Duration { return time.Since(c.start) }

// Wall returns the time of the wall clock.
func (SystemClock) Wall() time.Time { return time.Now() }

// AfterFunc calls f in its own goroutine after d, unless it is stopped before.
func (SystemClock) AfterFunc(d time.Duration, f func()) (stop func()) {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}
