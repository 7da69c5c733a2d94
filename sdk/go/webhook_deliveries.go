package boxoffice

import (
	"context"
	"iter"
	"time"
)

// EventWebhookTest is the type of the event that [Webhooks.Test] sends. It is not in the log of events.
const EventWebhookTest EventType = "webhook_test"

// ResendEvent is the request of [Webhooks.Resend]: which event.
type ResendEvent struct {
	// Id of the webhook.
	ID string `json:"id"`
	// The number of the event, 1 or more.
	Seq uint64 `json:"seq"`
}

// ResendSince is the request of [Webhooks.ResendSince]: from which time on.
type ResendSince struct {
	// Id of the webhook.
	ID string `json:"id"`
	// All wanted events at this time or later are sent again. It is required.
	Since time.Time `json:"since,omitzero"`
}

// Test sends an event of the type [EventWebhookTest] now, also to a webhook that is paused, and tells what became of
// it. Delivered is false if the endpoint refused it or did not answer: that is no error.
func (w *Webhooks) Test(ctx context.Context, request TestWebhook, options ...CallOption) (*WebhookDelivery, error) {
	return w.sendNow(ctx, operation{name: "Webhooks.Test"}, request.ID, "/test", options)
}

// Resend sends one event again now, outside the order and whatever its type, and tells what became of it, like Test.
func (w *Webhooks) Resend(ctx context.Context, request ResendEvent, options ...CallOption) (*WebhookDelivery, error) {
	body := struct {
		Seq uint64 `json:"seq"`
	}{request.Seq}
	return w.sendNow(ctx, operation{name: "Webhooks.Resend", body: body}, request.ID, "/resend", options)
}

func (w *Webhooks) sendNow(ctx context.Context, op operation, id, below string, options []CallOption) (*WebhookDelivery, error) {
	path, err := pathOfWebhook(id, below)
	if err != nil {
		return nil, err
	}
	// The service waits up to 10 s for the endpoint, and needs time for its own answer.
	const patience = (10 + 10) * time.Second
	options = append([]CallOption{Timeout(2 * patience), AttemptTimeout(patience)}, options...)
	var answer struct {
		Delivery WebhookDelivery `json:"delivery"`
	}
	op.method, op.path, op.isWrite = "POST", path, true
	err = w.rest.call(ctx, op, &answer, options)
	return orNil(&answer.Delivery, err)
}

// ResendSince takes the webhook back to the first event of that time. It gets all wanted events from there again, in
// order. It never goes forward.
func (w *Webhooks) ResendSince(ctx context.Context, request ResendSince, options ...CallOption) (*Webhook, error) {
	path, err := pathOfWebhook(request.ID, "/resend")
	if err != nil {
		return nil, err
	}
	if request.Since.IsZero() {
		return nil, invalid("since", "must be given")
	}
	body := struct {
		Since time.Time `json:"since"`
	}{request.Since.UTC()}
	var answer struct {
		Webhook Webhook `json:"webhook"`
	}
	op := operation{name: "Webhooks.ResendSince", method: "POST", path: path, body: body, isWrite: true}
	err = w.rest.call(ctx, op, &answer, options)
	return orNil(&answer.Webhook, err)
}

// ResendFailed is the request of [Webhooks.ResendFailed]: from which time on.
type ResendFailed struct {
	// Id of the webhook.
	ID string `json:"id"`
	// What was given up at this time or later is sent again. It is required.
	Since time.Time `json:"since,omitzero"`
}

// ResentEvents is what was given up and is sent again.
type ResentEvents struct {
	// The webhook, with how many events are put aside now.
	Webhook Webhook `json:"webhook"`
	// How many events that were given up are sent again.
	Resent int64 `json:"resent"`
	// Others stay given up, because no more events may be put aside. Ask again later.
	More bool `json:"more"`
}

// ResendFailed sends again what was given up since a time, put aside; what is put aside and has failed is tried at once.
// The webhook does not go back.
func (w *Webhooks) ResendFailed(ctx context.Context, request ResendFailed, options ...CallOption) (*ResentEvents, error) {
	path, err := pathOfWebhook(request.ID, "/resend")
	if err != nil {
		return nil, err
	}
	if request.Since.IsZero() {
		return nil, invalid("since", "must be given")
	}
	body := struct {
		Since      time.Time `json:"since"`
		OnlyFailed bool      `json:"only_failed"`
	}{request.Since.UTC(), true}
	answer := new(ResentEvents)
	op := operation{name: "Webhooks.ResendFailed", method: "POST", path: path, body: body, isWrite: true}
	return orNil(answer, w.rest.call(ctx, op, answer, options))
}

// DeadLetters yields the events that were given up and not sent again since, newest first.
func (w *Webhooks) DeadLetters(ctx context.Context, request ListDeadLetters, options ...CallOption) iter.Seq2[*DeadLetter, error] {
	return itemsOf(w.DeadLetterPages(ctx, request, options...))
}

// DeadLetterPages yields the pages of DeadLetters.
func (w *Webhooks) DeadLetterPages(ctx context.Context, request ListDeadLetters, options ...CallOption) iter.Seq2[*Page[DeadLetter], error] {
	path, err := pathOfWebhook(request.ID, "/dead-letters")
	if err != nil {
		return func(yield func(*Page[DeadLetter], error) bool) { yield(nil, err) }
	}
	var asked filter
	asked.number("limit", request.PageSize)
	op := operation{name: "Webhooks.DeadLetters", path: path}
	return pagesOfREST[DeadLetter](ctx, w.rest, op, "dead_letters", asked, request.PageToken, options)
}

// Deliveries yields the attempts to send events to a webhook, newest first, for as long as the deployment keeps them: 7
// days or more.
func (w *Webhooks) Deliveries(ctx context.Context, request ListDeliveries, options ...CallOption) iter.Seq2[*WebhookDelivery, error] {
	return itemsOf(w.DeliveryPages(ctx, request, options...))
}

// DeliveryPages yields the pages of Deliveries.
func (w *Webhooks) DeliveryPages(ctx context.Context, request ListDeliveries, options ...CallOption) iter.Seq2[*Page[WebhookDelivery], error] {
	path, err := pathOfWebhook(request.ID, "/deliveries")
	if err != nil {
		return func(yield func(*Page[WebhookDelivery], error) bool) { yield(nil, err) }
	}
	var asked filter
	asked.number("limit", request.PageSize)
	asked.text("outcome", string(request.Outcome))
	op := operation{name: "Webhooks.Deliveries", path: path}
	return pagesOfREST[WebhookDelivery](ctx, w.rest, op, "deliveries", asked, request.PageToken, options)
}
