package boxoffice

import (
	"context"
	"time"
)

// Webhooks are endpoints of the tenant that get its events. [VerifyWebhook] is for these endpoints.
type Webhooks struct {
	rest *rest
}

// Webhook is an endpoint, without its secret.
type Webhook struct {
	// The id of the webhook.
	ID string `json:"id"`
	// Where events go.
	URL string `json:"url"`
	// Which types of events it gets. None: all.
	Types []EventType `json:"types"`
	// As given. May be empty.
	Description string `json:"description"`
	// Whether events are delivered, or wait.
	State WebhookState `json:"state"`
	// Why it is paused. Empty: it is active.
	PausedBy WebhookPauser `json:"paused_by,omitzero"`
	// Since when it is paused. Zero: it is active.
	PausedAt time.Time `json:"paused_at,omitzero"`
	// Every wanted event up to this number has been delivered.
	DeliveredSeq uint64 `json:"delivered_seq"`
	// Failed attempts to deliver the next event.
	Failures int64 `json:"failures"`
	// When the next event is tried again. Zero: it has not failed, or is not retried.
	RetryAt time.Time `json:"retry_at,omitzero"`
	// When it was created.
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// WebhookState is whether a webhook gets events.
type WebhookState string

// States of webhooks.
const (
	WebhookActive WebhookState = "active"
	// WebhookPaused delivers nothing; events wait.
	WebhookPaused WebhookState = "paused"
)

// WebhookPauser is why a webhook is paused.
type WebhookPauser string

// Reasons of pauses.
const (
	// PausedByTenant is a request.
	PausedByTenant WebhookPauser = "tenant"
	// PausedByFailing is the last attempt of a delivery, which failed.
	PausedByFailing WebhookPauser = "failing"
	// PausedByGone is an answer with the status 410.
	PausedByGone WebhookPauser = "gone"
)

// CreateWebhook is the request of [Webhooks.Create]: the webhook to create.
type CreateWebhook struct {
	// Where events go: an https URL of the public internet, without user name, password and fragment.
	URL string `json:"url"`
	// Which types of events it gets. None: all.
	Types []EventType `json:"types,omitzero"`
	// For your own lists.
	Description string `json:"description,omitzero"`
}

// CreatedWebhook is a webhook with new secrets.
type CreatedWebhook struct {
	// The webhook without its secrets.
	Webhook Webhook `json:"webhook"`
	// For [VerifyWebhook]. Shown once.
	Secret string `json:"secret"`
	// Verifies the signatures v1a, and may be public. Shown once.
	PublicKey string `json:"public_key"`
}

// GetWebhook is the request of [Webhooks.Get]: which webhook.
type GetWebhook struct {
	// Id of the webhook.
	ID string `json:"id"`
}

// ChangeWebhook is the request of [Webhooks.Change]: what to change. What is nil stays as it is.
type ChangeWebhook struct {
	// Id of the webhook.
	ID string `json:"id"`
	// Where events go. Another address is tried at once.
	URL *string `json:"url,omitzero"`
	// Which types of events it gets. Empty and not nil: all.
	Types []EventType `json:"types,omitzero"`
	// For your own lists.
	Description *string `json:"description,omitzero"`
	// True: deliver nothing for now. False: go on at once, where the deliveries stopped.
	Paused *bool `json:"paused,omitzero"`
}

// DeleteWebhook is the request of [Webhooks.Delete]: which webhook.
type DeleteWebhook struct {
	// Id of the webhook.
	ID string `json:"id"`
}

// RotateWebhookSecret is the request of [Webhooks.RotateSecret]: which webhook.
type RotateWebhookSecret struct {
	// Id of the webhook.
	ID string `json:"id"`
	// How long the old secrets sign too, in whole seconds; nil: a day; at most a week.
	OverlapSeconds *int64 `json:"overlap_seconds,omitzero"`
}

// RotatedWebhookSecret is the replacement of a secret.
type RotatedWebhookSecret struct {
	CreatedWebhook
	// Until when the old secrets sign too.
	OldSecretRetires time.Time `json:"old_secret_retires,omitzero"`
}

// Create creates a webhook, which gets the events that happen from then on. Only this answer contains the secret;
// for 24 hours, a call with the same idempotency key gets it again. A tenant has 20 webhooks at most.
func (w *Webhooks) Create(ctx context.Context, request CreateWebhook, options ...CallOption) (*CreatedWebhook, error) {
	answer := new(CreatedWebhook)
	op := operation{
		name: "Webhooks.Create", method: "POST", path: "/v1/webhooks", body: request,
		isWrite: true, hasSecret: true,
	}
	return orNil(answer, w.rest.call(ctx, op, answer, options))
}

// List reads all webhooks, oldest first.
func (w *Webhooks) List(ctx context.Context, options ...CallOption) ([]*Webhook, error) {
	var answer struct {
		Webhooks []*Webhook `json:"webhooks"`
	}
	op := operation{name: "Webhooks.List", method: "GET", path: "/v1/webhooks", mayRepeat: true}
	if err := w.rest.call(ctx, op, &answer, options); err != nil {
		return nil, err
	}
	return answer.Webhooks, nil
}

// Get reads a webhook: how far its deliveries are, and what stops them.
func (w *Webhooks) Get(ctx context.Context, request GetWebhook, options ...CallOption) (*Webhook, error) {
	path, err := pathOfWebhook(request.ID, "")
	if err != nil {
		return nil, err
	}
	answer := new(Webhook)
	op := operation{name: "Webhooks.Get", method: "GET", path: path, mayRepeat: true}
	return orNil(answer, w.rest.call(ctx, op, answer, options))
}

// Change changes, pauses or resumes a webhook. One that is resumed begins with the event where it stopped.
func (w *Webhooks) Change(ctx context.Context, request ChangeWebhook, options ...CallOption) (*Webhook, error) {
	path, err := pathOfWebhook(request.ID, "")
	if err != nil {
		return nil, err
	}
	body := struct {
		URL         *string     `json:"url,omitzero"`
		Types       []EventType `json:"types,omitzero"`
		Description *string     `json:"description,omitzero"`
		Paused      *bool       `json:"paused,omitzero"`
	}{request.URL, request.Types, request.Description, request.Paused}
	answer := new(Webhook)
	op := operation{name: "Webhooks.Change", method: "PATCH", path: path, body: body, isWrite: true}
	return orNil(answer, w.rest.call(ctx, op, answer, options))
}

// Delete ends a webhook. A request that is under way may still arrive.
func (w *Webhooks) Delete(ctx context.Context, request DeleteWebhook, options ...CallOption) error {
	path, err := pathOfWebhook(request.ID, "")
	if err != nil {
		return err
	}
	op := operation{name: "Webhooks.Delete", method: "DELETE", path: path, isWrite: true}
	return w.rest.call(ctx, op, nil, options)
}

// RotateSecret replaces the secret. The old ones sign too for the overlap; at most 4 sign together. Only this
// answer contains the new one, as with Create.
func (w *Webhooks) RotateSecret(ctx context.Context, request RotateWebhookSecret, options ...CallOption) (*RotatedWebhookSecret, error) {
	path, err := pathOfWebhook(request.ID, "/rotate")
	if err != nil {
		return nil, err
	}
	body := struct {
		OverlapSeconds *int64 `json:"overlap_seconds,omitzero"`
	}{request.OverlapSeconds}
	answer := new(RotatedWebhookSecret)
	op := operation{
		name: "Webhooks.RotateSecret", method: "POST", path: path, body: body,
		isWrite: true, hasSecret: true,
	}
	return orNil(answer, w.rest.call(ctx, op, answer, options))
}

// pathOfWebhook is the path of a webhook, or of what is below it.
func pathOfWebhook(id, below string) (string, error) {
	escaped, err := segment("id", id)
	if err != nil {
		return "", err
	}
	return "/v1/webhooks/" + escaped + below, nil
}
