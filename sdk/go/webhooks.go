package boxoffice

import "context"

// Webhooks are endpoints of the tenant that get its events. [VerifyWebhook] is for these endpoints.
type Webhooks struct {
	rest *rest
}

// Create creates a webhook, which gets the events that happen from then on. Only this answer contains the secret;
// for 24 hours, a call with the same idempotency key gets it again. A tenant has 20 webhooks at most.
func (w *Webhooks) Create(ctx context.Context, request CreateWebhook, options ...CallOption) (*CreatedWebhook, error) {
	// What is sent has the secrets, which the JSON of the request masks.
	body := struct {
		CreateWebhook
		Headers   []sentHeader   `json:"headers,omitzero"`
		BasicAuth *sentBasicAuth `json:"basic_auth,omitzero"`
	}{request, headersToSend(request.Headers), nil}
	if request.BasicAuth != (BasicAuth{}) {
		body.BasicAuth = basicAuthToSend(&request.BasicAuth)
	}
	answer := new(CreatedWebhook)
	op := operation{
		name: "Webhooks.Create", method: "POST", path: "/v1/webhooks", body: body,
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
		URL          *string        `json:"url,omitzero"`
		Types        []EventType    `json:"types,omitzero"`
		Rooms        []string       `json:"rooms,omitzero"`
		Description  *string        `json:"description,omitzero"`
		Headers      []sentHeader   `json:"headers,omitzero"`
		BasicAuth    *sentBasicAuth `json:"basic_auth,omitzero"`
		Order        WebhookOrder   `json:"order,omitzero"`
		MaxInFlight  int64          `json:"max_in_flight,omitzero"`
		MaxPerSecond *int64         `json:"max_per_second,omitzero"`
		Format       WebhookFormat  `json:"format,omitzero"`
		MaxBatch     int64          `json:"max_batch,omitzero"`
		Paused       *bool          `json:"paused,omitzero"`
	}{
		request.URL, request.Types, request.Rooms, request.Description, headersToSend(request.Headers), basicAuthToSend(request.BasicAuth), request.Order,
		request.MaxInFlight, request.MaxPerSecond, request.Format, request.MaxBatch, request.Paused,
	}
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

// sentHeader is a [WebhookHeader] as it is sent.
type sentHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// headersToSend keeps nil apart from empty, which takes the headers away.
func headersToSend(headers []WebhookHeader) []sentHeader {
	if headers == nil {
		return nil
	}
	sent := make([]sentHeader, len(headers))
	for i, header := range headers {
		sent[i] = sentHeader{header.Name, header.Value.Reveal()}
	}
	return sent
}

// sentBasicAuth is a [BasicAuth] as it is sent.
type sentBasicAuth struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

func basicAuthToSend(auth *BasicAuth) *sentBasicAuth {
	if auth == nil {
		return nil
	}
	return &sentBasicAuth{auth.Username, auth.Password.Reveal()}
}

// pathOfWebhook is the path of a webhook, or of what is below it.
func pathOfWebhook(id, below string) (string, error) {
	escaped, err := segment("id", id)
	if err != nil {
		return "", err
	}
	return "/v1/webhooks/" + escaped + below, nil
}
