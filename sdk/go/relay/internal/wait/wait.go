// Package wait has the waits between attempts.
package wait

import (
	"context"
	"math"
	"time"
)

// first is the longest wait after the first failure. It doubles with each further one.
const first = 500 * time.Millisecond

// Timers is the part of a clock that wakes.
type Timers interface {
	AfterFunc(d time.Duration, f func()) (stop func())
}

// Pause waits for d, or until the context ends.
func Pause(ctx context.Context, timers Timers, d time.Duration) {
	if d <= 0 || ctx.Err() != nil {
		return
	}
	over := make(chan struct{})
	stop := timers.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// Backoff is the wait after a failure: exponential with full jitter, without a limit on attempts.
// It is not for concurrent use.
type Backoff struct {
	random   func() float64
	longest  time.Duration
	failures int
}

// NewBackoff returns a backoff whose waits grow up to longest. random returns numbers from 0 to 1.
func NewBackoff(random func() float64, longest time.Duration) *Backoff {
	return &Backoff{random: random, longest: longest}
}

// Failures returns the number of failures since the last success.
func (b *Backoff) Failures() int { return b.failures }

// Next counts a failure and returns the wait after it, in whole milliseconds, at least atLeast.
func (b *Backoff) Next(atLeast time.Duration) time.Duration {
	// Shifts of more than 20 bits would overflow, and are far above every ceiling.
	ceiling := min(b.longest, first<<min(b.failures, 20))
	b.failures++
	ms := math.Round(b.random() * float64(ceiling/time.Millisecond))
	return max(atLeast, time.Duration(ms)*time.Millisecond)
}

// Reset forgets the failures, after a success.
func (b *Backoff) Reset() { b.failures = 0 }
