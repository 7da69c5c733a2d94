package boxoffice

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"time"
)

// WebhookEvent is an event in the form that webhooks and [Webhooks.PullEvents] have. The control plane has another
// one: [Event].
type WebhookEvent struct {
	// The same wherever the event appears. Use it to drop repetitions.
	ID string `json:"id"`
	// Events of a tenant are numbered from 1, without a gap. 0: the test event of a webhook.
	Seq uint64 `json:"seq"`
	// What happened. Expect types that you do not know.
	Type EventType `json:"type"`
	// When it happened.
	Timestamp time.Time `json:"timestamp,omitzero"`
	// In webhooks only: so many events before this one were deleted before they could be delivered.
	Skipped uint64 `json:"skipped,omitzero"`
	// An object: what it happened to, as it was right after. It depends on the type.
	Data json.RawMessage `json:"data"`
}

// PullEvents is the request of [Webhooks.PullEvents]: which events.
type PullEvents struct {
	// Only events after the one with this number. Nil: from the oldest event that is kept.
	After *uint64 `json:"after,omitzero"`
	// Only these types. None: all.
	Types []EventType `json:"types,omitzero"`
	// 1 to 1000; 0 is 100.
	Limit int32 `json:"limit,omitzero"`
	// How many seconds to wait for an event if there is none: at most 20.
	WaitSeconds int32 `json:"wait_seconds,omitzero"`
}

// PulledEvents are the next events. There may be none.
type PulledEvents struct {
	// The events, in order.
	Events []*WebhookEvent `json:"events"`
	// After of the next request.
	After uint64 `json:"after"`
	// There are more, or may be: ask again at once.
	More bool `json:"more"`
}

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
// Events are kept for 7 days. An After whose next event is gone, or that the log has not reached, is [ErrInvalid]: read
// the current state from the other methods, and go on without After.
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
