package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// firstEventMax is the wait for the first event of a stream, which comes at once. A proxy that collects the whole
	// answer first would never let it through.
	firstEventMax = 10 * time.Second
	// pollsFor is how long there are polls after a stream was not offered, or refused.
	pollsFor = 5 * time.Minute
)

// errTooLong is the error of an event that is far too long.
var errTooLong = errors.New("an event is too long")

// deadline ends a request that takes too long.
type deadline struct {
	clock     Clock
	cancel    context.CancelFunc
	stop      func()
	hasPassed atomic.Bool
}

func newDeadline(ctx context.Context, clock Clock, d time.Duration) (context.Context, *deadline) {
	ctx, cancel := context.WithCancel(ctx)
	limit := &deadline{clock: clock, cancel: cancel, stop: func() {}}
	limit.extend(d)
	return ctx, limit
}

func (d *deadline) extend(by time.Duration) {
	d.stop()
	d.stop = d.clock.AfterFunc(by, func() {
		d.hasPassed.Store(true)
		d.cancel()
	})
}

func (d *deadline) end() {
	d.stop()
	d.cancel()
}

func isEventStream(answer *http.Response) bool {
	return strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream")
}

// readStream takes the events of a stream until it ends. It reports whether one brought news.
func (f *Feed) readStream(ctx context.Context, answer *http.Response, tenant string, onEvent func()) (isNew bool, failure *FeedError) {
	defer f.setAdmitted(tenant, nil)
	err := readEvents(answer.Body, func(event, data string) error {
		onEvent()
		switch event {
		case "revocations":
			var isNewer bool
			isNewer, failure = f.accept(ctx, tenant, data)
			isNew = isNew || isNewer
			if failure != nil {
				return failure
			}
		case "admitted":
			return f.readAdmitted(tenant, data)
		}
		return nil
	})
	if err != nil && failure == nil {
		failure = &FeedError{Code: NoAnswer, Tenant: tenant, cause: err}
	}
	return isNew, failure
}

func (f *Feed) readAdmitted(tenant, data string) error {
	var told struct {
		Admitted *bool    `json:"admitted"`
		Reached  []string `json:"reached_budgets"`
	}
	if err := json.Unmarshal([]byte(data), &told); err != nil {
		return err
	}
	f.setAdmitted(tenant, told.Admitted)
	f.mu.Lock()
	before := len(f.reached[tenant])
	f.reached[tenant] = told.Reached
	f.mu.Unlock()
	if f.options.OnBudgets != nil && before+len(told.Reached) > 0 {
		f.options.OnBudgets(tenant)
	}
	return nil
}

func (f *Feed) setAdmitted(tenant string, admitted *bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if admitted == nil {
		delete(f.admitted, tenant)
		delete(f.reached, tenant)
	} else {
		f.admitted[tenant] = *admitted
	}
}

// readEvents reads server-sent events until the stream ends, or take fails. What is incomplete at the end is left out.
// Source: HTML, 9.2.6, with line feeds as ends of lines.
func readEvents(body io.Reader, take func(event, data string) error) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, snapshotBytesMax)
	event, size := "", 0
	var data []string
	for lines.Scan() {
		line := lines.Text()
		if size += len(line); size > snapshotBytesMax {
			return errTooLong
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if len(data) > 0 {
				if err := take(event, strings.Join(data, "\n")); err != nil {
					return err
				}
			}
			event, data, size = "", nil, 0
		case name == "event":
			event = value
		case name == "data":
			data = append(data, value)
		}
	}
	return lines.Err()
}
