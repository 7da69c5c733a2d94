package boxoffice

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"time"
)

// FollowEvents is the request of [Webhooks.FollowEvents]: which events.
type FollowEvents struct {
	// Only events after the one with this number. Nil: from the oldest event that is kept.
	After *uint64 `json:"after,omitzero"`
	// Only these types. None: all.
	Types []EventType `json:"types,omitzero"`
}

// pullWaitSeconds is the longest wait that the service allows.
const pullWaitSeconds = 20

// PullEvents reads events of the tenant, in the form that webhooks get, and waits up to WaitSeconds if there are none.
//
// Events are kept for 7 days, or longer if the deployment says so. An After whose next event is gone, or that the log has
// not reached, is [ErrInvalid]: read the current state from the other methods, and go on without After.
func (w *Webhooks) PullEvents(ctx context.Context, request PullEvents, options ...CallOption) (*PulledEvents, error) {
	var asked filter
	if request.After != nil {
		asked.text("after", strconv.FormatUint(*request.After, 10))
	}
	words(&asked, "types", request.Types)
	asked.number("limit", request.Limit)
	asked.number("wait_seconds", request.WaitSeconds)
	if request.WaitSeconds > 0 {
		// The longest wait, and time for the answer.
		const patience = (pullWaitSeconds + 10) * time.Second
		options = append([]CallOption{Timeout(2 * patience), AttemptTimeout(patience)}, options...)
	}
	answer := new(PulledEvents)
	op := operation{name: "Webhooks.PullEvents", method: "GET", path: "/v1/events", query: asked.values, mayRepeat: true}
	return orNil(answer, w.rest.call(ctx, op, answer, options))
}

// FollowEvents yields events until the loop or the context ends, and waits for those to come. Temporary failures are
// retried without end. To go on after a crash, store Seq of each event when it has been handled, and begin with it as
// After.
func (w *Webhooks) FollowEvents(ctx context.Context, request FollowEvents, options ...CallOption) iter.Seq2[*WebhookEvent, error] {
	return func(yield func(*WebhookEvent, error) bool) {
		ctx, done := w.rest.calls.untilClosed(ctx)
		defer done()
		next := PullEvents{After: request.After, Types: request.Types, WaitSeconds: pullWaitSeconds}
		for failures := 0; ; {
			page, err := w.PullEvents(ctx, next, options...)
			if err != nil {
				if err := w.rest.calls.pause(ctx, "Webhooks.FollowEvents", err, isTransientREST, failures); err != nil {
					yield(nil, err)
					return
				}
				failures++
				continue
			}
			failures = 0
			for _, event := range page.Events {
				if !yield(event, nil) {
					return
				}
			}
			next.After = &page.After
		}
	}
}

// ParseData reads Data into the type that events of this type have, such as *[BalanceAlertData]. Both results are nil for
// a type of event that is newer than this library.
func (e *WebhookEvent) ParseData() (any, error) {
	data := newEventData(e.Type)
	if data == nil {
		return nil, nil
	}
	if err := json.Unmarshal(e.Data, data); err != nil {
		return nil, fmt.Errorf("boxoffice: the data of the event %s: %w", e.ID, err)
	}
	return data, nil
}
