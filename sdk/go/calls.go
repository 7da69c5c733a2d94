package boxoffice

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"time"
)

const (
	firstWait = 500 * time.Millisecond
	maxWait   = 10 * time.Second
)

// CallOption changes one call. An option that does not concern a call is ignored.
type CallOption func(*callOptions)

type callOptions struct {
	timeout        time.Duration
	attemptTimeout time.Duration
	silenceLimit   time.Duration
	// idempotencyKey is nil for a random one.
	idempotencyKey *string
}

// IdempotencyKey replaces the random key of a change: 1 to 128 ASCII characters without spaces; the control
// plane takes spaces too, and REST up to 255 characters. Within 24 hours, the same key returns the first answer without a second effect.
// Another key, such as an empty one, is [ErrInvalid].
func IdempotencyKey(key string) CallOption {
	return func(o *callOptions) { o.idempotencyKey = &key }
}

// key is a random key, or that of the caller. That has 1 to maxLength characters, from first to ~: an empty one would be sent
// as none, and the call would take effect with each of its attempts.
func (o callOptions) key(first byte, maxLength int, accepted string) (string, error) {
	if o.idempotencyKey == nil {
		return rand.Text(), nil
	}
	key := *o.idempotencyKey
	isAccepted := key != "" && len(key) <= maxLength
	for _, each := range []byte(key) {
		isAccepted = isAccepted && each >= first && each <= '~'
	}
	if !isAccepted {
		return "", invalid("IdempotencyKey", accepted)
	}
	return key, nil
}

// Timeout limits the call with all its attempts.
func Timeout(limit time.Duration) CallOption {
	return func(o *callOptions) { o.timeout = limit }
}

// AttemptTimeout limits each attempt of the call.
func AttemptTimeout(limit time.Duration) CallOption {
	return func(o *callOptions) { o.attemptTimeout = limit }
}

// SilenceLimit is after how much silence a stream is reopened, by default 40 s. Bookmarks come at least every
// 15 s.
func SilenceLimit(limit time.Duration) CallOption {
	return func(o *callOptions) { o.silenceLimit = limit }
}

// caller attempts calls in time.
type caller struct {
	limits limits
	logger *slog.Logger
	// life ends when the client is closed.
	life context.Context
	// wait is [waitAfter] except in tests.
	wait func(failures int, atLeast time.Duration) time.Duration
}

func (c *caller) options(given []CallOption) callOptions {
	result := callOptions{
		timeout:        c.limits.timeout,
		attemptTimeout: c.limits.attemptTimeout,
		silenceLimit:   silenceLimit,
	}
	for _, each := range given {
		if each != nil {
			each(&result)
		}
	}
	return result
}

// waitAfter grows exponentially with full jitter, and is at least what the service asks for.
func waitAfter(failures int, atLeast time.Duration) time.Duration {
	ceiling := maxWait
	if failures < 5 {
		ceiling = min(maxWait, firstWait<<failures)
	}
	return atLeast + mathrand.N(ceiling)
}

// attempt calls once until it succeeds, fails permanently, or there is no time for another attempt.
func attempt[T any](
	ctx context.Context,
	c *caller,
	name string,
	options callOptions,
	mayRetry func(*Error) bool,
	once func(context.Context) (T, error),
) (T, error) {
	var none T
	if c.life.Err() != nil {
		return none, closedError()
	}
	endsAt := time.Now().Add(options.timeout)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(endsAt) {
		endsAt = deadline
	}
	for failures := 0; ; failures++ {
		if ctx.Err() != nil {
			return none, errorOfContext(ctx)
		}
		answer, err := inTime(ctx, min(options.attemptTimeout, time.Until(endsAt)), once)
		if err == nil {
			return answer, nil
		}
		if ctx.Err() != nil {
			return none, errorOfContext(ctx)
		}
		var failure *Error
		if !errors.As(err, &failure) || !mayRetry(failure) || failures >= c.limits.retries {
			return none, err
		}
		wait := c.wait(failures, failure.RetryAfter)
		if time.Until(endsAt) <= wait {
			return none, err
		}
		c.logger.LogAttrs(ctx, slog.LevelWarn, "boxoffice: attempt failed, retrying", slog.String("call", name),
			slog.Int("attempt", failures+1), slog.Duration("wait", wait), slog.Any("error", err))
		if err := sleep(ctx, wait); err != nil {
			return none, err
		}
	}
}

// inTime makes one attempt. If the time is over, the error is that of a timeout, whatever once says.
func inTime[T any](ctx context.Context, limit time.Duration, once func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := once(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return answer, timeoutError()
	}
	return answer, err
}

// untilClosed returns a context that also ends when the client is closed. Call the function when it is not needed any more.
func (c *caller) untilClosed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if c.life.Err() != nil {
		cancel(closedError())
	}
	stop := context.AfterFunc(c.life, func() { cancel(closedError()) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// pause waits before what follows events is reopened. It returns why it must not be, if so.
func (c *caller) pause(ctx context.Context, name string, err error, mayReopen func(*Error) bool, failures int) error {
	if ctx.Err() != nil {
		return errorOfContext(ctx)
	}
	var atLeast time.Duration
	if err != nil {
		var failure *Error
		if !errors.As(err, &failure) || !mayReopen(failure) {
			return err
		}
		atLeast = failure.RetryAfter
	}
	wait := c.wait(failures, atLeast)
	c.logger.LogAttrs(ctx, slog.LevelInfo, "boxoffice: stream broke, reopening", slog.String("call", name),
		slog.Duration("wait", wait), slog.Any("error", err))
	return sleep(ctx, wait)
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errorOfContext(ctx)
	}
}

// orNil returns no answer beside an error.
func orNil[T any](answer *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}
