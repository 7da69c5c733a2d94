package usage

import "time"

// Clock is replaceable, so that tests need not sleep.
type Clock interface {
	// Now is a monotonic time, unaffected by changes of the wall clock.
	Now() time.Duration
	// Wall is the time of the wall clock, to compare with a server's dates.
	Wall() time.Time
	// AfterFunc calls f once after d, in any goroutine, unless stop is called before.
	AfterFunc(d time.Duration, f func()) (stop func())
}
